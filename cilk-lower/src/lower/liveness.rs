//! Which locals are still to be read, backward over the control-flow graph.

use super::cfg;
use fixedbitset::FixedBitSet;
use millstream_graph::ir::{Block, BlockId, Function, LocalId, StmtKind, Terminator};

/// The locals that are live where each block starts. A sync is an edge like any other.
#[derive(Debug)]
pub(crate) struct Liveness {
    live_in: Vec<FixedBitSet>,
    locals: usize,
    /// Read by every return: the return address.
    ret: Option<LocalId>,
}

impl Liveness {
    /// Of a function; `ret`, if there is one, is read by each return.
    pub(crate) fn new(function: &Function, ret: Option<LocalId>) -> Self {
        let locals = function.locals.len();
        let mut this = Self {
            live_in: vec![FixedBitSet::with_capacity(locals); function.blocks.len()],
            locals,
            ret,
        };
        let mut order = cfg::reverse_postorder(&function.blocks);
        order.reverse();
        let mut changed = true;
        while changed {
            changed = false;
            for &id in &order {
                let block = &function.blocks[id.index()];
                let mut live = this.live_out(block);
                for stmt in block.stmts.iter().rev() {
                    Self::step(&mut live, &stmt.kind);
                }
                if live != this.live_in[id.index()] {
                    this.live_in[id.index()] = live;
                    changed = true;
                }
            }
        }
        this
    }

    /// The locals that are live where a block starts.
    pub(crate) fn live_in(&self, block: BlockId) -> &FixedBitSet {
        &self.live_in[block.index()]
    }

    /// The locals that are live before a block's terminator.
    pub(crate) fn live_out(&self, block: &Block) -> FixedBitSet {
        let mut live = FixedBitSet::with_capacity(self.locals);
        for target in block.term.targets() {
            live.union_with(&self.live_in[target.index()]);
        }
        cfg::term_operands(&block.term, &mut |o| {
            live.extend(cfg::local_of(o).map(LocalId::index))
        });
        if matches!(block.term, Terminator::Return(_)) {
            live.extend(self.ret.map(LocalId::index));
        }
        live
    }

    /// From what is live after a statement to what is live before it.
    pub(crate) fn step(live: &mut FixedBitSet, kind: &StmtKind) {
        if let Some(dst) = kind.def() {
            live.set(dst.index(), false);
        }
        cfg::operands(kind, &mut |o| {
            live.extend(cfg::local_of(o).map(LocalId::index))
        });
    }
}
