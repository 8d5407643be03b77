//! Frames in machine code: where they are reserved, their fields, and the references that continuations wait with.

use super::body::{Gen, MEMORY, clif};
use crate::layout::stride;
use cranelift_codegen::ir::{InstBuilder, Value};
use millstream_graph::{
    ir::{FieldId, SegmentId},
    ty::{PieceKind, Scalar},
};

impl Gen<'_, '_> {
    /// `talloc` of this task's frame.
    pub(super) fn frame_alloc(&mut self) {
        let task = self.task();
        let stack = self
            .unit
            .layouts
            .frame(task)
            .expect("a task that allocates a frame has some");
        let (index, add) = self.talloc(stack);
        let index = if add == 0 {
            index
        } else {
            self.b.ins().iadd_imm_u(index, add as i64)
        };
        let frame = self.channels().frame.expect("as above");
        self.b.def_var(frame, index);
    }

    fn frame(&mut self) -> Value {
        let frame = self
            .channels()
            .frame
            .expect("only tasks with frames use them");
        self.b.use_var(frame)
    }

    fn frame_field(&mut self, field: FieldId) -> (Value, i32, PieceKind) {
        let task = self.task();
        let kind = self.unit.program.frame(task)[field.index()].kind;
        let number = self.unit.layouts.frame_field(task, field);
        let frame = self.frame();
        let (addr, at) = self.field_at(number, frame, 0, kind.layout());
        (addr, at, kind)
    }

    pub(super) fn frame_load(&mut self, field: FieldId) -> Value {
        let (addr, at, kind) = self.frame_field(field);
        let ty = match kind {
            PieceKind::Scalar(ty) => ty,
            PieceKind::Blob(_) => unreachable!("frame loads are of scalar fields"),
        };
        self.b.ins().load(clif(ty), MEMORY, addr, at)
    }

    pub(super) fn frame_store(&mut self, field: FieldId, value: Value) {
        let (addr, at, _) = self.frame_field(field);
        self.b.ins().store(MEMORY, value, addr, at);
    }

    pub(super) fn frame_addr(&mut self, field: FieldId) -> Value {
        let (addr, at, _) = self.frame_field(field);
        self.whole((addr, at))
    }

    /// `enq` of this task's frame on the continuation channel of a segment.
    pub(super) fn enq_continuation(&mut self, next: SegmentId) {
        let task = self.task();
        let stack = self.unit.layouts.continuation(task, next);
        let frame = self.frame();
        let (index, add) = self.talloc(stack);
        let layout = &self.unit.layouts[stack];
        debug_assert_eq!(stride(&layout.fields[0]), Scalar::U32.size());
        let (addr, at) = self.field_at(
            layout.first_field,
            index,
            add,
            layout.fields[0].kind.layout(),
        );
        self.b.ins().istore32(MEMORY, frame, addr, at);
    }
}
