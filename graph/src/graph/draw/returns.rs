//! Where results go: from which segment into whose frame.

use crate::{
    graph::{ChannelKey, Graph, KernelKey},
    ir::{FuncId, Function, LocalId, Operand, Program, Rvalue, StmtKind, TaskId, Terminator},
    levelized::Levelized,
};
use std::collections::BTreeSet;

/// From each segment that returns to the stacks that name the frames of those who may have spawned it.
pub(super) fn returns(graph: &Graph, program: &Program) -> Vec<(KernelKey, ChannelKey)> {
    let Ok(levelized) = Levelized::new(program.clone(), graph.clone()) else {
        return Vec::new();
    };
    let mut parents: BTreeSet<(TaskId, TaskId)> = BTreeSet::new();
    for (t, segment) in levelized.all_segments() {
        let into_frame = frame_pointers(segment.body);
        for (func, addr) in results(segment.body) {
            let in_frame = matches!(addr, Operand::Local(l) if into_frame.contains(&l));
            let child = levelized.task_of(func).filter(|_| in_frame);
            parents.extend(child.map(|child| (child, t)));
        }
    }
    // A child that only passes sums on lets its own children write into its parent's frame.
    loop {
        let before = parents.len();
        for (t, segment) in levelized.all_segments() {
            for (func, addr) in results(segment.body) {
                let passed = matches!(addr, Operand::Local(l) if Some(l) == segment.ret);
                let Some(child) = levelized.task_of(func).filter(|_| passed) else {
                    continue;
                };
                let own = parents.iter().filter(|(c, _)| *c == t);
                let more: Vec<_> = own.map(|(_, parent)| (child, *parent)).collect();
                parents.extend(more);
            }
        }
        if parents.len() == before {
            break;
        }
    }
    let mut out = Vec::new();
    for (t, task) in levelized.tasks() {
        for (segment, lowered) in task.segments.iter().zip(levelized.segments(t)) {
            if !ends(lowered.body) {
                continue;
            }
            for (_, parent) in parents.iter().filter(|(child, _)| *child == t) {
                let parent = &levelized[*parent];
                let behind = parent.segments.iter().skip(1);
                let consumed = behind.filter_map(|k| graph.kernel(*k)?.consumes);
                let stacks: Vec<ChannelKey> = consumed.collect();
                let stacks = if stacks.is_empty() {
                    vec![parent.calls]
                } else {
                    stacks
                };
                out.extend(stacks.into_iter().map(|stack| (*segment, stack)));
            }
        }
    }
    out
}

fn ends(body: &Function) -> bool {
    body.blocks
        .iter()
        .any(|b| matches!(b.term, Terminator::Return(_)))
}

/// The children of a segment that have a result, and where it goes.
fn results(body: &Function) -> impl Iterator<Item = (FuncId, Operand)> + '_ {
    body.stmts().filter_map(|s| match &s.kind {
        StmtKind::Spawn {
            func,
            dest: Some(dest),
            ..
        } => Some((*func, dest.addr)),
        _ => None,
    })
}

/// The locals that may point into the task's own frame.
fn frame_pointers(body: &Function) -> BTreeSet<LocalId> {
    let mut out = BTreeSet::new();
    let mut before = usize::MAX;
    while out.len() != before {
        before = out.len();
        for stmt in body.stmts() {
            if let StmtKind::Assign { dst, value } = &stmt.kind {
                let mut from = matches!(value, Rvalue::FrameAddr(_));
                if let Rvalue::Use(base) | Rvalue::PtrAdd { base, .. } = value {
                    from |= matches!(base, Operand::Local(l) if out.contains(l));
                } else if let Rvalue::Select(_, a, b) = value {
                    from |= [a, b]
                        .into_iter()
                        .any(|o| matches!(o, Operand::Local(l) if out.contains(l)));
                }
                if from {
                    out.insert(*dst);
                }
            }
        }
    }
    out
}
