//! What every way goes through.

use super::Flow;
use crate::ir::BlockId;
use petgraph::{algo::dominators, graph::DiGraph};

/// For each block those that every way from the entry to it goes through.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// The last of them before the block itself; none for the entry and for what nothing reaches.
    above: Vec<Option<BlockId>>,
    reached: Vec<bool>,
}

impl Dominators {
    pub(super) fn new(flow: &Flow) -> Self {
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<_> = (0..flow.len()).map(|_| graph.add_node(())).collect();
        for (from, to) in flow.edges() {
            graph.add_edge(nodes[from.index()], nodes[to.index()], ());
        }
        let mut out = Self {
            above: vec![None; flow.len()],
            reached: vec![false; flow.len()],
        };
        if let Some(&entry) = nodes.first() {
            let tree = dominators::simple_fast(&graph, entry);
            for block in flow.order() {
                let above = tree.immediate_dominator(nodes[block.index()]);
                out.above[block.index()] = above.map(|n| BlockId::new(n.index()));
                out.reached[block.index()] = true;
            }
        }
        out
    }

    /// Whether every way to `block` goes through `by`, as it does through itself; so it is of all ways to a block that nothing reaches.
    #[must_use]
    pub fn dominates(&self, by: BlockId, block: BlockId) -> bool {
        let mut at = Some(block);
        while let Some(now) = at {
            if now == by {
                return true;
            }
            at = self.above[now.index()];
        }
        !self.reached[block.index()]
    }
}
