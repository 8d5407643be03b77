//! What every way goes through.

use super::Flow;
use crate::ir::BlockId;
use petgraph::{algo::dominators, graph::DiGraph};

/// For each block those that every way from the entry to it goes through: a tree, whose blocks are numbered so that those below a block follow it.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// The number of a block, and that behind all below it; none for what nothing reaches.
    below: Vec<Option<(u32, u32)>>,
}

impl Dominators {
    pub(super) fn new(flow: &Flow) -> Self {
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<_> = (0..flow.len()).map(|_| graph.add_node(())).collect();
        for (from, to) in flow.edges() {
            graph.add_edge(nodes[from.index()], nodes[to.index()], ());
        }
        let mut out = Self {
            below: vec![None; flow.len()],
        };
        let Some(&entry) = nodes.first() else {
            return out;
        };
        let tree = dominators::simple_fast(&graph, entry);
        let above = |block: BlockId| {
            let above = tree.immediate_dominator(nodes[block.index()]);
            above.map(|n| n.index())
        };
        // Each block stands behind the one above it in the order.
        let mut sizes = vec![1u32; flow.len()];
        for block in flow.order().iter().rev() {
            if let Some(above) = above(*block) {
                sizes[above] += sizes[block.index()];
            }
        }
        let mut next = vec![0; flow.len()];
        for block in flow.order() {
            let number = match above(*block) {
                Some(above) => {
                    let number = next[above];
                    next[above] += sizes[block.index()];
                    number
                }
                None => 0,
            };
            next[block.index()] = number + 1;
            out.below[block.index()] = Some((number, number + sizes[block.index()]));
        }
        out
    }

    /// Whether every way to `block` goes through `by`, as it does through itself; so it is of all ways to a block that nothing reaches.
    #[must_use]
    pub fn dominates(&self, by: BlockId, block: BlockId) -> bool {
        match (self.below[by.index()], self.below[block.index()]) {
            (Some((first, end)), Some((number, _))) => (first..end).contains(&number),
            (_, reached) => reached.is_none(),
        }
    }
}
