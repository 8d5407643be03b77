//! Flow graphs: where control may go in a function ([`Flow`]), what holds there ([`Flow::forward`], [`Flow::backward`], [`Liveness`]), and who calls or
//! spawns whom ([`CallGraph`]). Every pass that asks such a thing asks it here.
//!
//! A sync is an edge like any other.

mod blocks;
mod calls;
mod dominators;
mod liveness;
mod loops;
mod solve;

pub use blocks::BlockSet;
pub use calls::CallGraph;
pub use dominators::Dominators;
pub use liveness::Liveness;
pub use loops::Loop;

use crate::ir::{Block, BlockId, Function};
use petgraph::{algo::tarjan_scc, graph::DiGraph};
use std::collections::BTreeSet;

/// From a block to one that may be next.
pub type Edge = (BlockId, BlockId);

/// The edges between the blocks of a function, and the orders that they give.
#[derive(Clone, Debug)]
pub struct Flow {
    targets: Adjacency,
    sources: Adjacency,
    order: Vec<BlockId>,
    back_edges: BTreeSet<Edge>,
}

/// The blocks beside each block in compressed rows, one block's behind the other's: passes ask for the flow of each function many times.
#[derive(Clone, Debug)]
struct Adjacency {
    /// Where each block's end.
    ends: Vec<usize>,
    all: Vec<BlockId>,
}

impl Adjacency {
    fn of(&self, block: BlockId) -> &[BlockId] {
        let i = block.index();
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.all[start..self.ends[i]]
    }

    /// For each block those that have it among theirs, by their numbers.
    fn transposed(&self) -> Self {
        let mut ends = vec![0; self.ends.len()];
        self.all.iter().for_each(|b| ends[b.index()] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            // Where they start: each that is put there moves it on.
            *end = sum - *end;
        }
        let mut all = vec![BlockId(0); sum];
        for i in 0..self.ends.len() {
            for to in self.of(BlockId::new(i)) {
                all[ends[to.index()]] = BlockId::new(i);
                ends[to.index()] += 1;
            }
        }
        Self { ends, all }
    }
}

/// Blocks that can all come to each other, or one block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Component {
    /// The blocks.
    pub blocks: Vec<BlockId>,
    /// Whether they come again.
    pub cyclic: bool,
}

impl Flow {
    /// Of a function whose terminators name blocks that exist.
    #[must_use]
    pub fn new(function: &Function) -> Self {
        Self::of(&function.blocks)
    }

    /// Of the blocks of a function.
    #[must_use]
    pub fn of(blocks: &[Block]) -> Self {
        Self::from_targets(blocks.iter().map(|b| b.term.targets()))
    }

    /// Of blocks that go to these; the first is the entry.
    #[must_use]
    pub fn from_targets(
        blocks: impl IntoIterator<Item = impl IntoIterator<Item = BlockId>>,
    ) -> Self {
        let (mut ends, mut all) = (Vec::new(), Vec::new());
        for targets in blocks {
            all.extend(targets);
            ends.push(all.len());
        }
        let targets = Adjacency { ends, all };
        let sources = targets.transposed();
        let (order, back_edges) = visit(&targets);
        Self {
            targets,
            sources,
            order,
            back_edges,
        }
    }

    /// How many blocks there are, those that nothing reaches counted.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.targets.ends.len()
    }

    /// Whether there is no block.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.targets.ends.is_empty()
    }

    /// The blocks that a block may go to, one for each arm that goes there.
    #[must_use]
    pub fn targets(&self, block: BlockId) -> &[BlockId] {
        self.targets.of(block)
    }

    /// The blocks that may go to a block, one for each arm that does.
    #[must_use]
    pub fn sources(&self, block: BlockId) -> &[BlockId] {
        self.sources.of(block)
    }

    /// All edges.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        let blocks = (0..self.len()).map(BlockId::new);
        blocks.flat_map(|b| self.targets(b).iter().map(move |t| (b, *t)))
    }

    /// The blocks that the entry reaches in reverse postorder: each before its targets but for back edges.
    #[must_use]
    pub fn order(&self) -> &[BlockId] {
        &self.order
    }

    /// The edges that close a loop: to a block that is on the path to where they leave.
    #[must_use]
    pub const fn back_edges(&self) -> &BTreeSet<Edge> {
        &self.back_edges
    }

    /// The blocks of the loop that these back edges to one block close: that block, its header, and all that reach such an edge without
    /// passing it.
    #[must_use]
    pub fn natural_loop(
        &self,
        header: BlockId,
        from: impl IntoIterator<Item = BlockId>,
    ) -> BlockSet {
        let mut inside = BlockSet::new(self.len());
        inside.insert(header);
        let mut work: Vec<BlockId> = from.into_iter().collect();
        while let Some(block) = work.pop() {
            if inside.insert(block) {
                work.extend(self.sources(block));
            }
        }
        inside
    }

    /// The strongly connected components, each after those that it goes to.
    #[must_use]
    pub fn components(&self) -> Vec<Component> {
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<_> = (0..self.len()).map(|_| graph.add_node(())).collect();
        for (from, to) in self.edges() {
            graph.add_edge(nodes[from.index()], nodes[to.index()], ());
        }
        let components = tarjan_scc(&graph).into_iter().map(|nodes| Component {
            cyclic: nodes.len() > 1 || graph.contains_edge(nodes[0], nodes[0]),
            blocks: nodes.iter().map(|n| BlockId::new(n.index())).collect(),
        });
        components.collect()
    }

    /// The blocks that can come again.
    #[must_use]
    pub fn cyclic(&self) -> BlockSet {
        let mut out = BlockSet::new(self.len());
        for component in self.components().into_iter().filter(|c| c.cyclic) {
            component.blocks.into_iter().for_each(|b| _ = out.insert(b));
        }
        out
    }

    /// What every way to a block goes through.
    #[must_use]
    pub fn dominators(&self) -> Dominators {
        Dominators::new(self)
    }

    /// The blocks that control may come to from `starts`, these first, in the order of a breadth-first search that goes on from the blocks
    /// for which `passes` holds.
    pub fn reach(
        &self,
        starts: impl IntoIterator<Item = BlockId>,
        passes: impl Fn(BlockId) -> bool,
    ) -> Vec<BlockId> {
        self.search(starts, passes, &self.targets)
    }

    /// The blocks from which control may come to `goals`, these first.
    pub fn reaching(&self, goals: impl IntoIterator<Item = BlockId>) -> BlockSet {
        let mut out = BlockSet::new(self.len());
        for block in self.search(goals, |_| true, &self.sources) {
            out.insert(block);
        }
        out
    }

    fn search(
        &self,
        starts: impl IntoIterator<Item = BlockId>,
        passes: impl Fn(BlockId) -> bool,
        next: &Adjacency,
    ) -> Vec<BlockId> {
        let mut seen = BlockSet::new(self.len());
        let mut out: Vec<BlockId> = starts.into_iter().filter(|b| seen.insert(*b)).collect();
        let mut at = 0;
        while let Some(&block) = out.get(at) {
            at += 1;
            if passes(block) {
                out.extend(next.of(block).iter().filter(|b| seen.insert(**b)));
            }
        }
        out
    }
}

/// Reverse postorder and back edges by one depth-first search, the last target of a block first: so the first stands right behind it.
fn visit(targets: &Adjacency) -> (Vec<BlockId>, BTreeSet<Edge>) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Unseen,
        OnPath,
        Done,
    }
    let (mut order, mut back_edges) = (Vec::with_capacity(targets.ends.len()), BTreeSet::new());
    if targets.ends.is_empty() {
        return (order, back_edges);
    }
    let mut state = vec![State::Unseen; targets.ends.len()];
    let mut path = vec![(BlockId(0), targets.of(BlockId(0)).iter())];
    state[0] = State::OnPath;
    while let Some((block, rest)) = path.last_mut() {
        let block = *block;
        match rest.next_back() {
            Some(to) if state[to.index()] == State::OnPath => _ = back_edges.insert((block, *to)),
            Some(to) if state[to.index()] == State::Unseen => {
                state[to.index()] = State::OnPath;
                path.push((*to, targets.of(*to).iter()));
            }
            Some(_) => {}
            None => {
                state[block.index()] = State::Done;
                order.push(block);
                path.pop();
            }
        }
    }
    order.reverse();
    (order, back_edges)
}
