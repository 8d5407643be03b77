//! Rules 17 to 23: segments.

use super::{Checker, VerifyError, verify_but};
use crate::{
    ir::{
        Combine, FieldId, FuncId, Function, FunctionKind, LocalId, Operand, SegmentId, Span, TaskId,
    },
    levelized::{Levelized, Segment, StackRole},
    ty::{PieceKind, Scalar},
};
use std::collections::BTreeSet;

/// Where a segment belongs.
#[derive(Clone, Copy)]
pub(super) struct SegmentContext<'a> {
    levelized: &'a Levelized,
    task: TaskId,
    id: SegmentId,
}

impl<'a> SegmentContext<'a> {
    fn segment(self) -> Segment<'a> {
        self.levelized.segment(self.task, self.id)
    }
}

/// Checks the program of a levelized program, and all its segments.
///
/// # Errors
/// Everything that does not hold.
pub fn verify_levelized(levelized: &Levelized) -> Result<(), Vec<VerifyError>> {
    let program = &levelized.program;
    let own: BTreeSet<&str> = levelized
        .all_segments()
        .map(|(_, s)| s.body.name.as_str())
        .collect();
    verify_but(program, |segment| {
        let mut checker = Checker::new(program, segment, None);
        if !own.contains(segment.name.as_str()) {
            checker.fail("no kernel of the graph runs this segment");
        }
        checker.errors
    })?;
    let mut errors = Vec::new();
    for (t, task) in levelized.tasks() {
        for s in 0..task.segments.len() {
            let found = verify_segment(levelized, t, SegmentId::new(s));
            errors.extend(found.err().unwrap_or_default());
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// Checks one segment of a levelized program whose [`program`](Levelized::program) the verifier accepts.
///
/// # Errors
/// Everything that does not hold.
pub fn verify_segment(
    levelized: &Levelized,
    task: TaskId,
    segment: SegmentId,
) -> Result<(), Vec<VerifyError>> {
    let fail = |message: String| {
        Err(vec![VerifyError {
            function: String::new(),
            block: None,
            code: String::new(),
            span: Span::default(),
            message,
        }])
    };
    let Some(lowered) = levelized.get(task) else {
        return fail(format!("there is no task {task}"));
    };
    if segment.index() >= lowered.segments.len() {
        return fail(format!("task {task} has no segment {segment}"));
    }
    let context = SegmentContext {
        levelized,
        task,
        id: segment,
    };
    let mut checker = Checker::new(&levelized.program, context.segment().body, Some(context));
    checker.check_segment(&levelized.program[levelized.func(task)]);
    if checker.errors.is_empty() {
        return Ok(());
    }
    // Readers know the kernel.
    for error in &mut checker.errors {
        error.function.clone_from(&context.segment().kernel.name);
    }
    Err(checker.errors)
}

impl Checker<'_> {
    fn check_segment(&mut self, original: &Function) {
        let Some(context) = self.segment else { return };
        if self.function.kind != FunctionKind::Segment || original.kind != FunctionKind::Task {
            self.fail("a segment is the code of a task");
        }
        if !self.function.params.is_empty() {
            self.fail("a segment has no params");
        }
        if self.function.ret != original.ret {
            self.fail("a segment returns what its task returns");
        }
        let returns = !self.pieces(&original.ret).is_empty();
        let element: Vec<PieceKind> = if context.id.0 == 0 {
            let fields = context.levelized.element(context.task).iter();
            fields.map(|f| f.kind).collect()
        } else {
            Vec::new()
        };
        self.check_arrivals(&element, "element");
        if context.id.0 == 0 {
            let mut pieces: Vec<PieceKind> = original
                .params
                .iter()
                .flat_map(|p| self.pieces(&p.ty))
                .map(|p| p.kind)
                .collect();
            if returns {
                pieces.push(PieceKind::Scalar(Scalar::Ptr));
            }
            if pieces != element {
                self.fail("the element is not the pieces of the params and the return address");
            }
        }
        if let Some(ret) = context.segment().ret {
            if !returns {
                self.fail("the task returns nothing, so there is no return address");
            }
            if self.local(ret).is_some_and(|ty| ty != Scalar::Ptr) {
                self.fail("the return address is not an address");
            }
        }
        self.check_body();
    }

    /// The local of the return address is there and assigned where a segment returns.
    pub(super) fn check_return_address(&mut self, assigned: impl Fn(LocalId) -> bool) {
        let Some(context) = self.segment else { return };
        if self.pieces(&self.function.ret).is_empty() {
            return;
        }
        match context.segment().ret {
            None => self.fail("a segment that returns something needs the return address"),
            Some(ret) if !assigned(ret) => self.fail(format!(
                "the return address {ret} is used before it is assigned"
            )),
            Some(_) => {}
        }
    }

    pub(super) fn has_frame_from_start(&self) -> bool {
        self.segment.is_some_and(|s| s.id.0 > 0)
    }

    pub(super) fn check_frame_alloc(&mut self) {
        match self.segment {
            None => self.fail("only segments have a frame"),
            Some(s) if s.id.0 > 0 => self.fail("a continuation has its frame already"),
            Some(s) => self.check_push(StackRole::Frame(s.task)),
        }
    }

    /// What a field of the frame is.
    pub(super) fn frame_field(&mut self, field: FieldId) -> Option<PieceKind> {
        let Some(context) = self.segment else {
            self.fail("only segments have a frame");
            return None;
        };
        let found = context.levelized.frame(context.task).get(field.index());
        if found.is_none() {
            self.fail(format!("the frame has no field {field}"));
        }
        found.map(|f| f.kind)
    }

    pub(super) fn check_field_type(&mut self, field: PieceKind, value: Scalar) {
        match field {
            PieceKind::Scalar(ty) if ty == value => {}
            PieceKind::Scalar(ty) => {
                self.fail(format!("a value of type {value} for a field of type {ty}"))
            }
            PieceKind::Blob(_) => self.fail("an array in the frame has no value, only an address"),
        }
    }

    pub(super) fn check_continue(&mut self, segment: SegmentId) {
        let Some(context) = self.segment else {
            return self.fail("only segments continue");
        };
        if segment.0 == 0 || segment.index() >= context.levelized[context.task].segments.len() {
            self.fail(format!("the task has no continuation {segment}"));
        } else {
            self.check_push(StackRole::Continuation(context.task, segment));
        }
    }

    pub(super) fn check_leaf(&mut self, leaf: Operand) {
        self.expect(leaf, Scalar::Bool, "whether the child is a leaf");
        if self.segment.is_none() {
            self.fail("only segments know that a child is a leaf");
        }
    }

    pub(super) fn check_spawn_in_segment(&mut self, func: FuncId, combine: Combine) {
        let Some(context) = self.segment else { return };
        let Some(task) = context.levelized.task_of(func) else {
            return self.fail("no task was made of this function");
        };
        let made = context.levelized[task].combine;
        if made != combine {
            self.fail(format!("the task combines by `{made}`, not by `{combine}`"));
        }
        self.check_push(StackRole::Entry(task));
    }

    pub(super) fn check_push(&mut self, role: StackRole) {
        let Some(context) = self.segment else { return };
        let stack = context.levelized.stack(role);
        let mut pushes = context.segment().pushes();
        if pushes.all(|p| Some(p.stack) != stack || p.max == Some(0)) {
            self.fail(format!("{role:?} is not in the list of pushes"));
        }
    }
}
