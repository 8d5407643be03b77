//! How many elements a segment may push, so that an element can be given all its room before it starts.

use millstream_graph::{
    flow::{Component, Flow},
    ir::{Block, BlockId, Function, StmtKind, TaskId, Terminator},
    levelized::{Levelized, Push, StackRef},
};
use std::collections::{BTreeMap, BTreeSet};

/// Counts the pushes of every segment.
pub(crate) fn count(program: &mut Levelized) {
    let counts: Vec<Vec<Vec<Push>>> = (program.tasks.iter().enumerate())
        .map(|(t, task)| {
            task.segments
                .iter()
                .map(|s| of_body(program, TaskId::new(t), &s.body))
                .collect()
        })
        .collect();
    for (task, counts) in program.tasks.iter_mut().zip(counts) {
        for (segment, pushes) in task.segments.iter_mut().zip(counts) {
            segment.pushes = pushes;
        }
    }
}

fn of_body(program: &Levelized, task: TaskId, body: &Function) -> Vec<Push> {
    let own: Vec<BTreeMap<StackRef, u32>> = body
        .blocks
        .iter()
        .map(|b| of_block(program, task, b))
        .collect();
    let stacks: BTreeSet<StackRef> = own.iter().flat_map(|m| m.keys().copied()).collect();
    let flow = Flow::new(body);
    debug_assert_eq!(flow.order().len(), flow.len(), "segments are tidy");
    let components = flow.components();
    let count = |stack: &StackRef, b: BlockId| own[b.index()].get(stack).copied().unwrap_or(0);
    stacks
        .into_iter()
        .map(|stack| Push {
            stack,
            max: longest(&flow, &components, |b| count(&stack, b)),
        })
        .collect()
}

fn of_block(program: &Levelized, task: TaskId, block: &Block) -> BTreeMap<StackRef, u32> {
    let mut out = BTreeMap::new();
    let mut push = |stack| *out.entry(stack).or_insert(0) += 1;
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Spawn { func, .. } => program
                .task_of(*func)
                .into_iter()
                .for_each(|t| push(StackRef::Entry(t))),
            StmtKind::Emit { channel, .. } => push(StackRef::Channel(*channel)),
            StmtKind::FrameAlloc => push(StackRef::Frame(task)),
            _ => {}
        }
    }
    if let Terminator::Continue(segment) = block.term {
        push(StackRef::Continuation(task, segment));
    }
    out
}

/// The most that a path from the entry adds up to; none if a cycle adds to it.
fn longest(flow: &Flow, components: &[Component], own: impl Fn(BlockId) -> u32) -> Option<u32> {
    let mut best = vec![0u32; flow.len()];
    for component in components {
        let sum: u32 = component.blocks.iter().map(|b| own(*b)).sum();
        if component.cyclic && sum > 0 {
            return None;
        }
        let onward = component
            .blocks
            .iter()
            .flat_map(|b| flow.targets(*b))
            .map(|t| best[t.index()])
            .max();
        for block in &component.blocks {
            best[block.index()] = sum + onward.unwrap_or(0);
        }
    }
    Some(best[0])
}
