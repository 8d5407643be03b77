//! What a run of a body does that only counts its pushes. Bodies of a tile run twice, and the first time nothing is wanted but how many children each has.
//! So that run goes where this is decided and nowhere else: a search whose result is only handed on is done once, not twice.
//!
//! A check that fails ends the whole run, and then nobody asks what was counted. So it is left out where no load decides on a push, for only loads may go
//! wrong.

use millstream_graph::{
    flow::{BlockSet, Dominators, Flow},
    ir::{BlockId, Function, LocalId, Operand, Rvalue, StmtKind, Terminator},
};
use std::collections::BTreeSet;

/// What of a body decides how much it pushes.
#[derive(Debug)]
pub(super) struct Counting {
    blocks: BlockSet,
    cyclic: BlockSet,
}

impl Counting {
    /// Of a body with these loops, which may be left out; none if what lies in memory decides on a push.
    pub(super) fn find(function: &Function, loops: &[&BlockSet]) -> Option<Self> {
        let flow = Flow::new(function);
        let mut search = Search {
            function,
            flow: &flow,
            behind: Behind::find(&flow)?,
            blocks: BlockSet::new(flow.len()),
            locals: BTreeSet::new(),
            work: Vec::new(),
        };
        for (i, block) in function.blocks.iter().enumerate() {
            let mut pushes = matches!(block.term, Terminator::Continue(_));
            for stmt in &block.stmts {
                pushes |= matches!(stmt.kind, StmtKind::Spawn { .. } | StmtKind::FrameAlloc);
                if let StmtKind::Spawn {
                    leaf: Some(leaf), ..
                } = stmt.kind
                {
                    search.operand(leaf);
                }
            }
            if pushes {
                search.block(BlockId::new(i));
            }
        }
        let cyclic = flow.cyclic();
        loop {
            search.close()?;
            let blocks = &search.blocks;
            let is_left_out = |block: BlockId| {
                let mut around = loops.iter().filter(|l| l.contains(block));
                around.any(|l| !l.iter().any(|b| blocks.contains(b)))
            };
            // Who goes round has to know when to stop.
            let asked = flow.order().iter().copied().find(|b| {
                let asks = flow.targets(*b).len() > 1 && cyclic.contains(*b);
                asks && !blocks.contains(*b) && !is_left_out(*b)
            });
            match asked {
                Some(block) => search.block(block),
                None => break,
            }
        }
        Some(Self {
            blocks: search.blocks,
            cyclic,
        })
    }

    /// Whether a loop is left out.
    pub(super) fn leaves_out(&self, inside: &BlockSet) -> bool {
        !inside.iter().any(|b| self.blocks.contains(b))
    }

    /// Whether it does not matter which way a block goes.
    pub(super) fn is_free(&self, block: BlockId) -> bool {
        !self.blocks.contains(block) && !self.cyclic.contains(block)
    }
}

/// Goes from the pushes back to all that decides on them.
struct Search<'a> {
    function: &'a Function,
    flow: &'a Flow,
    behind: Behind,
    blocks: BlockSet,
    locals: BTreeSet<LocalId>,
    work: Vec<Found>,
}

/// What matters, and is to be looked at.
enum Found {
    /// Whether control comes to a block.
    Block(BlockId),
    /// A value.
    Local(LocalId),
}

impl Search<'_> {
    fn block(&mut self, block: BlockId) {
        if self.blocks.insert(block) {
            self.work.push(Found::Block(block));
        }
    }

    fn operand(&mut self, operand: Operand) {
        if let Operand::Local(id) = operand
            && self.locals.insert(id)
        {
            self.work.push(Found::Local(id));
        }
    }

    /// Follows all that was found; none if it comes to memory.
    fn close(&mut self) -> Option<()> {
        while let Some(found) = self.work.pop() {
            match found {
                Found::Block(block) => {
                    self.asks(block)?;
                    let flow = self.flow;
                    for by in flow.order() {
                        if self.behind.decides(flow, *by, block) {
                            self.block(*by);
                        }
                    }
                }
                Found::Local(id) => self.made(id)?,
            }
        }
        Some(())
    }

    /// What a block asks before it goes on.
    fn asks(&mut self, block: BlockId) -> Option<()> {
        match self.function.blocks[block.index()].term {
            Terminator::Branch { cond: asked, .. } | Terminator::Switch { value: asked, .. } => {
                self.operand(asked);
            }
            Terminator::Room { .. } => return None,
            _ => {}
        }
        Some(())
    }

    /// Where a local comes from.
    fn made(&mut self, id: LocalId) -> Option<()> {
        let function = self.function;
        for (i, block) in function.blocks.iter().enumerate() {
            for stmt in block.stmts.iter().filter(|s| s.kind.def() == Some(id)) {
                let StmtKind::Assign { value, .. } = &stmt.kind else {
                    return None;
                };
                if matches!(value, Rvalue::Load { .. }) {
                    return None;
                }
                self.block(BlockId::new(i));
                stmt.kind
                    .operands()
                    .into_iter()
                    .for_each(|o| self.operand(o));
            }
        }
        Some(())
    }
}

/// What every way from a block to the end goes through: dominators of the flow backwards, from an end that all ends go to.
struct Behind(Dominators);

impl Behind {
    /// None if some block never comes to an end.
    fn find(flow: &Flow) -> Option<Self> {
        let all = || (0..flow.len()).map(BlockId::new);
        let ends = || all().filter(|b| flow.targets(*b).is_empty());
        let ending = flow.reaching(ends());
        if flow.order().iter().any(|b| !ending.contains(*b)) {
            return None;
        }
        let mut back: Vec<Vec<BlockId>> = vec![ends().map(Self::number).collect()];
        back.extend(all().map(|b| flow.sources(b).iter().map(|s| Self::number(*s)).collect()));
        Some(Self(Flow::from_targets(back).dominators()))
    }

    /// A block's number where the end of all is the first.
    fn number(block: BlockId) -> BlockId {
        BlockId::new(block.index() + 1)
    }

    fn is_behind(&self, block: BlockId, from: BlockId) -> bool {
        self.0.dominates(Self::number(block), Self::number(from))
    }

    /// Whether it is by where one block goes that control comes to another or does not.
    fn decides(&self, flow: &Flow, by: BlockId, block: BlockId) -> bool {
        let ways = flow.targets(by);
        ways.len() > 1
            && ways.iter().any(|way| self.is_behind(block, *way))
            && (block == by || !self.is_behind(block, by))
    }
}
