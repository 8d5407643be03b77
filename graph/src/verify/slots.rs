//! Rule 16: who touches the slot of a scalar variable.

use super::Checker;
use crate::{
    ir::{Arg, LocalId, Operand, Rvalue, SlotId, StmtKind},
    ty::{PieceKind, Scalar},
};

impl Checker<'_> {
    pub(super) fn check_scalar_slots(&mut self) {
        // For each local that is the address of such a slot: which, and what it holds.
        let mut holders: Vec<Option<(SlotId, Scalar)>> = vec![None; self.function.locals.len()];
        let mut sets = vec![0u32; self.function.locals.len()];
        for arg in &self.function.args {
            if let Arg::Local(id) = arg {
                sets[id.index()] += 1;
            }
        }
        self.each_stmt(|checker, stmt| {
            if let Some(dst) = stmt.def() {
                sets[dst.index()] += 1;
            }
            if let StmtKind::Assign {
                dst,
                value: Rvalue::SlotAddr(slot),
            } = stmt
                && let Some(scalar) = checker.function.slots[slot.index()].scalar
            {
                holders[dst.index()] = Some((*slot, scalar));
            }
        });
        if holders.iter().all(Option::is_none) {
            return;
        }
        self.each_stmt(|checker, stmt| {
            if let Some((dst, (slot, _))) = stmt.def().and_then(|d| Some((d, holders[d.index()]?)))
                && sets[dst.index()] != 1
            {
                checker.fail(format!(
                    "{dst} is the address of the scalar variable {slot} and is set more than once"
                ));
            }
            checker.check_uses(stmt, &holders);
        });
        for (i, block) in self.function.blocks.iter().enumerate() {
            self.block = Some(crate::ir::BlockId::new(i));
            self.stmt = block.stmts.len();
            self.check_escapes(&block.term.operands(), &holders);
        }
    }

    fn check_uses(&mut self, stmt: &StmtKind, holders: &[Option<(SlotId, Scalar)>]) {
        let held = |operand: Operand| match operand {
            Operand::Local(LocalId(id)) => holders[id as usize],
            Operand::Const(..) => None,
        };
        match stmt {
            StmtKind::Assign {
                value: Rvalue::Load { ty, addr, offset },
                ..
            } => {
                if let Some((slot, scalar)) = held(*addr)
                    && (*ty != scalar || *offset != 0)
                {
                    self.fail(format!(
                        "{slot} is a scalar variable and is loaded only as a whole"
                    ));
                }
            }
            StmtKind::Store {
                addr,
                offset,
                value,
            } => {
                if let Some((slot, scalar)) = held(*addr)
                    && (self.function.type_of(*value) != scalar || *offset != 0)
                {
                    self.fail(format!(
                        "{slot} is a scalar variable and is stored only as a whole"
                    ));
                }
                self.check_escapes(&[*value], holders);
            }
            StmtKind::Spawn {
                func, args, dest, ..
            } => {
                if let Some((slot, scalar)) = dest.and_then(|d| held(d.addr)) {
                    let pieces = self.pieces(&self.program[*func].ret);
                    if pieces.len() != 1 || pieces[0].kind != PieceKind::Scalar(scalar) {
                        self.fail(format!(
                            "{slot} is a scalar variable of another type than the result"
                        ));
                    }
                }
                self.check_escapes(args, holders);
            }
            other => self.check_escapes(&other.operands(), holders),
        }
    }

    fn check_escapes(&mut self, operands: &[Operand], holders: &[Option<(SlotId, Scalar)>]) {
        for operand in operands {
            if let Operand::Local(id) = operand
                && let Some((slot, _)) = holders[id.index()]
            {
                self.fail(format!("{slot} is a scalar variable: its address goes nowhere else than to loads, stores and spawns"));
            }
        }
    }
}
