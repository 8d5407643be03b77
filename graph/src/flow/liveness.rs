//! Which locals are still to be read, backward over the control-flow graph.

use super::Flow;
use crate::ir::{Block, BlockId, Function, LocalId, StmtKind, Terminator};
use fixedbitset::FixedBitSet;

/// The locals that are live where each block starts. A sync is an edge like any other.
#[derive(Debug)]
pub struct Liveness {
    live_in: Vec<FixedBitSet>,
    locals: usize,
    /// Read by every return: the return address.
    ret: Option<LocalId>,
}

impl Liveness {
    /// Of a function; `ret`, if there is one, is read by each return.
    #[must_use]
    pub fn new(function: &Function, ret: Option<LocalId>) -> Self {
        Self::with_flow(&Flow::new(function), function, ret)
    }

    /// [`new`](Self::new), where the function's flow is known.
    #[must_use]
    pub fn with_flow(flow: &Flow, function: &Function, ret: Option<LocalId>) -> Self {
        let locals = function.locals.len();
        let nothing = FixedBitSet::with_capacity(locals);
        let start = |id: BlockId, live: &mut FixedBitSet| {
            let block = &function.blocks[id.index()];
            Self::read_at_end(live, block, ret);
            for stmt in block.stmts.iter().rev() {
                Self::step(live, &stmt.kind);
            }
        };
        Self {
            live_in: flow.backward(&nothing, start, |a, b| a.union_with(b)),
            locals,
            ret,
        }
    }

    /// The locals that are live where a block starts.
    #[must_use]
    pub fn live_in(&self, block: BlockId) -> &FixedBitSet {
        &self.live_in[block.index()]
    }

    /// The locals that are live before a block's terminator.
    #[must_use]
    pub fn live_out(&self, block: &Block) -> FixedBitSet {
        let mut live = FixedBitSet::with_capacity(self.locals);
        for target in block.term.targets() {
            live.union_with(&self.live_in[target.index()]);
        }
        Self::read_at_end(&mut live, block, self.ret);
        live
    }

    /// How many locals are live at once, at most.
    #[must_use]
    pub fn most(&self, function: &Function) -> usize {
        let of = |block: &Block| {
            let mut live = self.live_out(block);
            let mut most = live.count_ones(..);
            for stmt in block.stmts.iter().rev() {
                Self::step(&mut live, &stmt.kind);
                most = most.max(live.count_ones(..));
            }
            most
        };
        function.blocks.iter().map(of).max().unwrap_or(0)
    }

    fn read_at_end(live: &mut FixedBitSet, block: &Block, ret: Option<LocalId>) {
        block
            .term
            .each_operand(&mut |o| live.extend(o.local().map(LocalId::index)));
        if matches!(block.term, Terminator::Return(_)) {
            live.extend(ret.map(LocalId::index));
        }
    }

    /// From what is live after a statement to what is live before it.
    pub fn step(live: &mut FixedBitSet, kind: &StmtKind) {
        if let Some(dst) = kind.def() {
            live.set(dst.index(), false);
        }
        kind.each_operand(&mut |o| live.extend(o.local().map(LocalId::index)));
    }
}
