//! How many elements a segment may push, so that an element can be given all its room before it starts.

use super::cfg;
use fixedbitset::FixedBitSet;
use millstream_graph::{
    ir::{Block, BlockId, Function, StmtKind, TaskId, Terminator},
    levelized::{Levelized, Push, StackRef},
};
use petgraph::{algo::tarjan_scc, graph::DiGraph};
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
    let components = components(body);
    stacks
        .into_iter()
        .map(|stack| Push {
            stack,
            max: longest(body, &components, |b| own[b.index()].get(&stack).copied()),
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
            StmtKind::FrameAlloc => push(StackRef::Frame(task)),
            _ => {}
        }
    }
    if let Terminator::Continue(segment) = block.term {
        push(StackRef::Continuation(task, segment));
    }
    out
}

/// The strongly connected components of a body's graph, each after those that it goes to; with whether it is a cycle.
fn components(body: &Function) -> Vec<(Vec<BlockId>, bool)> {
    let mut graph = DiGraph::<(), ()>::new();
    let nodes: Vec<_> = body.blocks.iter().map(|_| graph.add_node(())).collect();
    for (i, block) in body.blocks.iter().enumerate() {
        for target in block.term.targets() {
            graph.add_edge(nodes[i], nodes[target.index()], ());
        }
    }
    let components = tarjan_scc(&graph).into_iter().map(|component| {
        let cycle = component.len() > 1 || graph.contains_edge(component[0], component[0]);
        (
            component
                .into_iter()
                .map(|n| BlockId::new(n.index()))
                .collect(),
            cycle,
        )
    });
    components.collect()
}

/// The most that a path from the entry adds up to; none if a cycle adds to it.
fn longest(
    body: &Function,
    components: &[(Vec<BlockId>, bool)],
    own: impl Fn(BlockId) -> Option<u32>,
) -> Option<u32> {
    let mut best = vec![0u32; body.blocks.len()];
    let mut reached = FixedBitSet::with_capacity(body.blocks.len());
    cfg::reverse_postorder(&body.blocks)
        .iter()
        .for_each(|b| reached.insert(b.index()));
    for (blocks, cycle) in components {
        let sum: u32 = blocks
            .iter()
            .filter(|b| reached.contains(b.index()))
            .filter_map(|b| own(*b))
            .sum();
        if *cycle && sum > 0 {
            return None;
        }
        let onward = blocks
            .iter()
            .flat_map(|b| body.blocks[b.index()].term.targets())
            .map(|t| best[t.index()])
            .max();
        for block in blocks {
            best[block.index()] = sum + onward.unwrap_or(0);
        }
    }
    Some(best[0])
}
