//! The rules about a task's frame, over all of its segments: fields are written before they are read, and the return address is kept.

use super::CheckError;
use fixedbitset::FixedBitSet;
use millstream_graph::{
    flow::Flow,
    ir::{
        BlockId, Combine, FieldId, Function, LocalId, Operand, Rvalue, StmtKind, TaskId, Terminator,
    },
    levelized::{Field, Levelized, Segment},
    ty::PieceKind,
};
use std::collections::BTreeSet;

/// Checks the frame of a task.
pub(super) fn check(program: &Levelized, task: TaskId, errors: &mut Vec<CheckError>) {
    written_before_read(program, task, errors);
    return_address(program, task, errors);
}

/// Walks the segments until what each finds written no longer shrinks; then reports what is read too early.
fn written_before_read(program: &Levelized, task: TaskId, errors: &mut Vec<CheckError>) {
    let frame = program.frame(task);
    let segments: Vec<_> = program.segments(task).collect();
    let mut at: Vec<Option<FixedBitSet>> = vec![None; segments.len()];
    at[0] = Some(FixedBitSet::with_capacity(frame.len()));
    let mut todo = vec![0];
    let mut early = BTreeSet::new();
    while let Some(i) = todo.pop() {
        let Some(start) = at[i].clone() else { continue };
        for (segment, set) in walk(frame, segments[i], start, |field| {
            early.insert((i, field));
        }) {
            let old = &mut at[segment];
            let new = old.as_ref().map_or_else(|| set.clone(), |o| meet(o, &set));
            if old.as_ref() != Some(&new) {
                *old = Some(new);
                todo.push(segment);
            }
        }
    }
    for (i, field) in early {
        let what = format!(
            "field `{}` may be read before it is written",
            frame[field.index()].name
        );
        errors.push(CheckError {
            segment: segments[i].kernel.name.clone(),
            what,
        });
    }
    for (i, segment) in segments.iter().enumerate() {
        if at[i].is_none() {
            errors.push(CheckError {
                segment: segment.kernel.name.clone(),
                what: "nothing continues here".into(),
            });
        }
    }
}

fn meet(a: &FixedBitSet, b: &FixedBitSet) -> FixedBitSet {
    let mut out = a.clone();
    out.intersect_with(b);
    out
}

/// Follows one segment from the fields that are written where it starts. Gives what is written where it continues.
fn walk(
    frame: &[Field],
    segment: Segment<'_>,
    start: FixedBitSet,
    mut early: impl FnMut(FieldId),
) -> Vec<(usize, FixedBitSet)> {
    let body = segment.body;
    let addresses = addresses(body);
    let field_at = |o: Operand| o.local().and_then(|l| addresses[l.index()]);
    // Whoever else gets the address of a field may write it at any time.
    let lent = lent(body, &addresses);
    let step = |set: &mut FixedBitSet, kind: &StmtKind, early: &mut dyn FnMut(FieldId)| match kind {
        StmtKind::Assign {
            value: Rvalue::FrameLoad(field),
            ..
        } if !set.contains(field.index()) && !lent.contains(field) => early(*field),
        StmtKind::FrameStore { field, .. } => set.insert(field.index()),
        StmtKind::Spawn {
            dest: Some(dest), ..
        } => match field_at(dest.addr) {
            // The result is there when the task continues, and nothing reads it before that.
            Some(field) if dest.combine == Combine::Store => set.insert(field.index()),
            Some(field)
                if matches!(frame[field.index()].kind, PieceKind::Scalar(_))
                    && !set.contains(field.index()) =>
            {
                early(field)
            }
            _ => {}
        },
        _ => {}
    };
    let end = |id: BlockId, mut set: FixedBitSet| {
        for stmt in &body.blocks[id.index()].stmts {
            step(&mut set, &stmt.kind, &mut |_| {});
        }
        set
    };
    let at = Flow::new(body).forward_all(start, end, |a, b| a.intersect_with(&b));
    let mut out = Vec::new();
    for (block, set) in body.blocks.iter().zip(at) {
        let Some(mut set) = set else { continue };
        for stmt in &block.stmts {
            step(&mut set, &stmt.kind, &mut early);
        }
        if let Terminator::Continue(next) = block.term {
            set.extend(lent.iter().map(|f| f.index()));
            out.push((next.index(), set));
        }
    }
    out
}

/// For each local that only ever holds the address of one field, that field.
fn addresses(body: &Function) -> Vec<Option<FieldId>> {
    let mut out: Vec<Option<FieldId>> = vec![None; body.locals.len()];
    let mut other = FixedBitSet::with_capacity(body.locals.len());
    for stmt in body.stmts() {
        match stmt.kind {
            StmtKind::Assign {
                dst,
                value: Rvalue::FrameAddr(field),
            } if out[dst.index()].is_none_or(|f| f == field) => {
                out[dst.index()] = Some(field);
            }
            _ => other.extend(stmt.kind.def().map(LocalId::index)),
        }
    }
    out.into_iter()
        .enumerate()
        .map(|(i, f)| f.filter(|_| !other.contains(i)))
        .collect()
}

/// The fields whose address is used for anything but the destination of a spawn.
fn lent(body: &Function, addresses: &[Option<FieldId>]) -> BTreeSet<FieldId> {
    let mut out = BTreeSet::new();
    for block in &body.blocks {
        let mut mark = |o: Operand| out.extend(o.local().and_then(|l| addresses[l.index()]));
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Spawn { args, .. } => args.iter().for_each(|a| mark(*a)),
                kind => kind.each_operand(&mut mark),
            }
        }
        block.term.each_operand(&mut mark);
        for stmt in &block.stmts {
            if let StmtKind::Assign {
                dst,
                value: Rvalue::FrameAddr(field),
            } = stmt.kind
                && addresses[dst.index()].is_none()
            {
                out.insert(field);
            }
        }
    }
    out
}

/// The return address is never assigned but from its field, and its field never but from it.
fn return_address(program: &Levelized, task: TaskId, errors: &mut Vec<CheckError>) {
    let mut home = None;
    let mut wrong = |segment: Segment<'_>, what: &str| {
        errors.push(CheckError {
            segment: segment.kernel.name.clone(),
            what: what.into(),
        })
    };
    for segment in program.segments(task) {
        let Some(ret) = segment.ret else { continue };
        for stmt in segment.body.stmts().filter(|s| s.kind.def() == Some(ret)) {
            match stmt.kind {
                StmtKind::Assign {
                    value: Rvalue::FrameLoad(field),
                    ..
                } if home.is_none_or(|h| h == field) => home = Some(field),
                _ => wrong(segment, "the return address is overwritten"),
            }
        }
    }
    for segment in program.segments(task) {
        for stmt in segment.body.stmts() {
            if let StmtKind::FrameStore { field, value } = stmt.kind
                && Some(field) == home
                && Some(value) != segment.ret.map(Operand::Local)
            {
                wrong(
                    segment,
                    "something else is stored in the field of the return address",
                );
            }
        }
    }
}
