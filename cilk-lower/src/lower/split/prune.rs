//! Takes out what turned out to be useless once each segment was simplified by itself: continuations that nothing continues at, and
//! fields of the frame that nothing reads.

use crate::lower::simplify;
use millstream_graph::{
    ir::{FieldId, Rvalue, SegmentId, StmtKind, Terminator},
    levelized::LoweredTask,
};

/// Prunes a task until nothing is useless.
pub(super) fn prune(task: &mut LoweredTask) {
    loop {
        let changed = drop_segments(task) | drop_fields(task);
        if !changed {
            break;
        }
        for segment in &mut task.segments {
            segment.ret = simplify::simplify(&mut segment.body, segment.ret);
        }
    }
}

fn drop_segments(task: &mut LoweredTask) -> bool {
    let mut reached = vec![false; task.segments.len()];
    let mut todo = vec![0];
    while let Some(s) = todo.pop() {
        if !std::mem::replace(&mut reached[s], true) {
            todo.extend(
                task.segments[s]
                    .body
                    .blocks
                    .iter()
                    .filter_map(|b| match b.term {
                        Terminator::Continue(next) => Some(next.index()),
                        _ => None,
                    }),
            );
        }
    }
    let number = numbers(&reached);
    let mut keep = reached.iter();
    task.segments.retain(|_| keep.next() == Some(&true));
    for block in task.segments.iter_mut().flat_map(|s| &mut s.body.blocks) {
        if let Terminator::Continue(next) = &mut block.term {
            *next = SegmentId::new(number[next.index()]);
        }
    }
    reached.contains(&false)
}

fn drop_fields(task: &mut LoweredTask) -> bool {
    let mut read = vec![false; task.frame.len()];
    let stmts = task
        .segments
        .iter()
        .flat_map(|s| &s.body.blocks)
        .flat_map(|b| &b.stmts);
    for stmt in stmts {
        if let StmtKind::Assign {
            value: Rvalue::FrameLoad(f) | Rvalue::FrameAddr(f),
            ..
        } = stmt.kind
        {
            read[f.index()] = true;
        }
    }
    let number = numbers(&read);
    let mut keep = read.iter();
    task.frame.retain(|_| keep.next() == Some(&true));
    for block in task.segments.iter_mut().flat_map(|s| &mut s.body.blocks) {
        block.stmts.retain(
            |s| !matches!(s.kind, StmtKind::FrameStore { field, .. } if !read[field.index()]),
        );
        for stmt in &mut block.stmts {
            match &mut stmt.kind {
                StmtKind::Assign {
                    value: Rvalue::FrameLoad(f) | Rvalue::FrameAddr(f),
                    ..
                }
                | StmtKind::FrameStore { field: f, .. } => {
                    *f = FieldId::new(number[f.index()]);
                }
                _ => {}
            }
        }
    }
    read.contains(&false)
}

/// The new number of each thing that is kept.
fn numbers(keep: &[bool]) -> Vec<usize> {
    let mut next = 0;
    let mut number = |kept: &bool| {
        next += usize::from(*kept);
        next - usize::from(*kept)
    };
    keep.iter().map(&mut number).collect()
}
