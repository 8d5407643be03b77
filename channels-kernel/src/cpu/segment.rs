//! The element loop: a segment's body, once for each element of a run, from the first one up.
//!
//! The run is cut beforehand to what finds room for all pushes that can be counted, so no element asks again. Where pushes cannot be
//! counted, the element that first asks for more than was meant for the run is its last: it moves the end of the loop to itself.

use super::{
    abi::WorkerContext,
    body::{Exit, Gen, Kept, MEMORY, clif},
    helper,
    program::CompileError,
    unit::Unit,
};
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, condcodes::IntCC, types};
use cranelift_frontend::Variable;
use cranelift_module::{FuncId as ClifFunc, Module};
use millstream_graph::{
    ir::{Function, Rvalue, SegmentId, StmtKind, TaskId},
    levelized::Segment,
    ty::Layout,
};
use std::mem::offset_of;

/// The loop that a segment's body ends an element of.
#[derive(Clone, Copy)]
pub(super) struct ElementLoop {
    /// Number of the element that is consumed, less one, at the head; the number itself from there on.
    pub(super) index: Variable,
    head: Block,
    done: Block,
    /// The number of the last element to consume: the loop runs up to it.
    pub(super) last: Kept,
}

/// Compiles a segment to an `EntryFn` or a `ContinuationFn`.
pub(super) fn compile(
    unit: &mut Unit<'_>,
    task: TaskId,
    segment: SegmentId,
) -> Result<ClifFunc, CompileError> {
    let program = unit.program;
    let lowered = &program[task];
    let mut signature = unit.module.make_signature();
    signature.params.extend([AbiParam::new(types::I64); 3]);
    signature.returns.push(AbiParam::new(types::I64));
    let name = format!("{}.{segment}", lowered.name);
    let user_name = lowered.source_name();
    unit.define(&name, signature, |g| {
        g.segment(task, segment, program.segment(task, segment), user_name)
    })
}

impl<'p> Gen<'_, 'p> {
    fn segment(&mut self, task: TaskId, id: SegmentId, segment: Segment<'p>, name: &'p str) {
        let is_entry = id.0 == 0;
        let params = self
            .b
            .func
            .dfg
            .block_params(self.b.current_block().expect("in the entry block"))
            .to_vec();
        let (run, count) = (params[1], params[2]);
        let facts = helper::of_body(segment.body, &self.unit.facts);
        let zero = self.b.ins().iconst(types::I64, 0);
        // Numbers of elements: on the stack for an entry, within `frames` for a continuation.
        let first = if is_entry { run } else { zero };
        let allowed = self.room_for(task, segment, count);
        let end = self.b.ins().iadd(first, allowed);
        let last = self.b.ins().iadd_imm_s(end, -1);
        let first_slot = self.put_aside(first);
        self.put_ctx_aside();

        let (open, head, done, empty) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        self.b.set_cold_block(empty);
        let index = self.b.declare_var(types::I64);
        let before = self.b.ins().iadd_imm_s(first, -1);
        self.b.def_var(index, before);
        self.b.ins().brif(allowed, open, &[], empty, &[]);
        self.b.switch_to_block(empty);
        self.b.ins().return_(&[zero]);

        // What stays in registers is loaded last, when nothing else asks for them.
        self.b.switch_to_block(open);
        self.load_uniforms(segment.body);
        let roomy = self.open_channels(task, segment, is_entry);
        self.load_cancel(facts.polls, roomy);
        // Where the run may end early, the end of the loop is written to.
        let fixed = !self.has_uncounted();
        let last = self.keep(last, roomy && fixed);
        self.b.ins().jump(head, &[]);

        self.b.switch_to_block(head);
        let below = self.b.use_var(index);
        let here = self.b.ins().iadd_imm_u(below, 1);
        self.b.def_var(index, here);
        self.elements = Some(ElementLoop {
            index,
            head,
            done,
            last,
        });
        let element_fields =
            is_entry.then(|| self.unit.layouts[self.unit.layouts.entry(task)].first_field);
        self.enter(segment.body, name, Exit::Segment, element_fields);
        if is_entry {
            let element = self
                .channels
                .as_ref()
                .and_then(|c| c.element)
                .expect("entries consume elements");
            self.b.def_var(element, here);
            self.load_element();
        } else {
            let frame = self
                .channels
                .as_ref()
                .and_then(|c| c.frame)
                .expect("continuations have frames");
            let at = self.scaled(here, 4);
            let at = self.b.ins().iadd(run, at);
            let reference = self.b.ins().uload32(MEMORY, at, 0);
            self.b.def_var(frame, reference);
        }
        self.blocks();

        self.b.switch_to_block(done);
        self.close_channels();
        let here = self.b.use_var(index);
        let first = self
            .b
            .ins()
            .stack_load(types::I64, types::I64, first_slot, 0);
        let consumed = self.b.ins().isub(here, first);
        let consumed = self.b.ins().iadd_imm_u(consumed, 1);
        self.b.ins().return_(&[consumed]);
        // The element at which it stops is not consumed.
        self.b.switch_to_block(self.stop);
        self.close_channels();
        let here = self.b.use_var(index);
        let first = self
            .b
            .ins()
            .stack_load(types::I64, types::I64, first_slot, 0);
        let consumed = self.b.ins().isub(here, first);
        self.b.ins().return_(&[consumed]);
    }

    /// Puts aside what the body reads of what a graph gives.
    fn load_uniforms(&mut self, body: &Function) {
        let mut table = None;
        for stmt in body.stmts() {
            let StmtKind::Assign {
                value: Rvalue::Uniform { id, ty },
                ..
            } = stmt.kind
            else {
                continue;
            };
            if self.uniforms.contains_key(&id) {
                continue;
            }
            let ctx = self.ctx();
            let at = offset_of!(WorkerContext, uniforms) as i32;
            let table =
                *table.get_or_insert_with(|| self.b.ins().load(types::I64, MEMORY, ctx, at));
            let value = self.b.ins().load(clif(ty), MEMORY, table, id.0 as i32 * 8);
            let slot = self.stack_slot(Layout { size: 8, align: 8 });
            self.b.ins().stack_store(types::I64, value, slot, 0);
            self.uniforms.insert(id, slot);
        }
    }

    /// Ends the element: on to the next, or out of the loop.
    pub(super) fn next_element(&mut self) {
        let ElementLoop {
            index,
            head,
            done,
            last,
        } = self.elements.expect("only segments consume elements");
        let (here, last) = (self.b.use_var(index), self.kept(last));
        let more = self.b.ins().icmp(IntCC::NotEqual, here, last);
        self.b.ins().brif(more, head, &[], done, &[]);
    }
}
