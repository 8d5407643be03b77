//! Rules 7, 19 and 20: what holds on every path.

use super::Checker;
use crate::{
    flow::Flow,
    ir::{Arg, BlockId, LocalId, Operand, StmtKind, Terminator},
};

/// What is assigned on every path to a place: a bit a local, and one for the frame behind them.
#[derive(Clone, PartialEq)]
struct Assigned(Vec<u64>);

impl Assigned {
    fn add(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Keeps what the other has too.
    fn meet(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }

    fn step(&mut self, stmt: &StmtKind, frame: usize) {
        if let Some(dst) = stmt.def() {
            self.add(dst.index());
        }
        if *stmt == StmtKind::FrameAlloc {
            self.add(frame);
        }
    }
}

impl Checker<'_> {
    pub(super) fn check_flow(&mut self) {
        let function = self.function;
        if function.blocks.is_empty() {
            return;
        }
        // The bit of the frame stands behind those of the locals.
        let frame = function.locals.len();
        let mut entry = Assigned(vec![0; frame / 64 + 1]);
        for arg in &function.args {
            if let Arg::Local(id) = arg {
                entry.add(id.index());
            }
        }
        if self.has_frame_from_start() {
            entry.add(frame);
        }
        let flow = Flow::new(function);
        for (i, state) in self.states(&flow, entry, frame).into_iter().enumerate() {
            let Some(mut state) = state else { continue };
            let block = &function.blocks[i];
            self.block = Some(BlockId::new(i));
            for (i, stmt) in block.stmts.iter().enumerate() {
                self.stmt = i;
                self.check_assigned(&stmt.kind.operands(), &state);
                if stmt.kind.uses_frame() && !state.has(frame) {
                    self.fail("the frame is used before it is allocated");
                }
                state.step(&stmt.kind, frame);
            }
            self.stmt = block.stmts.len();
            self.check_assigned(&block.term.operands(), &state);
            match block.term {
                Terminator::Continue(_) if !state.has(frame) => {
                    self.fail("the frame is used before it is allocated")
                }
                Terminator::Return(_) => self.check_return_address(|ret| state.has(ret.index())),
                _ => {}
            }
        }
        self.check_one_frame(&flow);
    }

    /// What is assigned at the start of each block that is reached.
    fn states(&self, flow: &Flow, entry: Assigned, frame: usize) -> Vec<Option<Assigned>> {
        let end = |id: BlockId, mut state: Assigned| {
            let stmts = &self.function.blocks[id.index()].stmts;
            stmts.iter().for_each(|s| state.step(&s.kind, frame));
            state
        };
        flow.forward_all(entry, end, |a, b| a.meet(&b))
    }

    fn check_assigned(&mut self, operands: &[Operand], state: &Assigned) {
        for operand in operands {
            if let Operand::Local(id @ LocalId(_)) = operand
                && !state.has(id.index())
            {
                self.fail(format!("{id} is used before it is assigned"));
            }
        }
    }

    /// No path goes through two allocations of the frame.
    fn check_one_frame(&mut self, flow: &Flow) {
        let blocks = &self.function.blocks;
        let allocs = |i: usize| {
            blocks[i]
                .stmts
                .iter()
                .filter(|s| s.kind == StmtKind::FrameAlloc)
                .count()
        };
        let again = (0..blocks.len()).filter(|i| allocs(*i) > 0).any(|start| {
            let next = flow.targets(BlockId::new(start)).iter().copied();
            let mut onward = flow.reach(next, |_| true).into_iter();
            allocs(start) > 1 || onward.any(|b| allocs(b.index()) > 0)
        });
        if again {
            self.block = None;
            self.fail("the frame is allocated twice on one path");
        }
    }
}
