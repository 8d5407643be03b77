//! How many elements a segment may push, so that an element can be given all its room before it starts.

use super::turns;
use millstream_graph::{
    flow::{Component, Flow},
    ir::{Block, BlockId, Function, StmtKind, TaskId, Terminator},
    levelized::{LoweredSegment, Push, StackRole, Tasks},
};
use std::collections::{BTreeMap, BTreeSet};

/// Counts the pushes of every segment. What a loop pushes is counted by its turns if they are known, but not on a wide device, where what each element
/// might push at most would keep the others out.
pub(crate) fn count(program: &mut Tasks, wide: bool) {
    let counts: Vec<Vec<Vec<Push<StackRole>>>> = (program.tasks.iter().enumerate())
        .map(|(t, task)| {
            task.segments
                .iter()
                .map(|s| of_segment(program, TaskId::new(t), s, wide))
                .collect()
        })
        .collect();
    for (task, counts) in program.tasks.iter_mut().zip(counts) {
        for (segment, pushes) in task.segments.iter_mut().zip(counts) {
            segment.pushes = pushes;
        }
    }
}

fn of_segment(
    program: &Tasks,
    task: TaskId,
    segment: &LoweredSegment,
    wide: bool,
) -> Vec<Push<StackRole>> {
    let body = &segment.body;
    let own: Vec<BTreeMap<StackRole, u32>> = body
        .blocks
        .iter()
        .map(|b| of_block(program, task, b))
        .collect();
    let stacks: BTreeSet<StackRole> = own.iter().flat_map(|m| m.keys().copied()).collect();
    let flow = Flow::new(body);
    debug_assert_eq!(flow.order().len(), flow.len(), "segments are tidy");
    let components = flow.components();
    let by_turns = !wide && body.restarts().is_none() && !emits(body);
    let times = by_turns.then(|| turns::each_block(body, &flow));
    // How often each block does it on its own, and how often if the circles that it lies on go round.
    let count = |stack: &StackRole, b: BlockId| {
        let own = own[b.index()].get(stack).copied().unwrap_or(0);
        let times = times.as_ref().and_then(|t| t[b.index()]);
        // What turns out to run never is still there, and is pushed to as far as anybody looks.
        (own, times.and_then(|t| own.checked_mul(t.max(1))))
    };
    let push = |stack| Push {
        stack,
        max: longest(&flow, &components, |b| count(&stack, b)),
    };
    stacks.into_iter().map(push).collect()
}

fn of_block(program: &Tasks, task: TaskId, block: &Block) -> BTreeMap<StackRole, u32> {
    let mut out = BTreeMap::new();
    let mut push = |stack| *out.entry(stack).or_insert(0) += 1;
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Spawn { func, .. } => program
                .task_of(*func)
                .into_iter()
                .for_each(|t| push(StackRole::Entry(t))),
            StmtKind::Emit { channel, .. } => push(StackRole::Channel(*channel)),
            StmtKind::FrameAlloc => push(StackRole::Frame(task)),
            _ => {}
        }
    }
    if let Terminator::Continue(segment) = block.term {
        push(StackRole::Continuation(task, segment));
    }
    out
}

/// What it emits is taken by the graph meanwhile.
fn emits(body: &Function) -> bool {
    body.stmts()
        .any(|s| matches!(s.kind, StmtKind::Emit { .. }))
}

/// The most that a path from the entry adds up to, where each block adds so much, and so much in a cycle; none if nobody knows that.
fn longest(
    flow: &Flow,
    components: &[Component],
    own: impl Fn(BlockId) -> (u32, Option<u32>),
) -> Option<u32> {
    let mut best = vec![0u32; flow.len()];
    for component in components {
        let blocks = component.blocks.iter().map(|b| own(*b));
        let sum = match component.cyclic {
            true => blocks
                .filter(|(once, _)| *once > 0)
                .map(|(_, often)| often)
                .sum::<Option<u32>>()?,
            false => blocks.map(|(once, _)| once).sum(),
        };
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
