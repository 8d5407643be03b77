//! The slots of a function whose address goes nowhere, so that each write and read is seen.

use super::places::{self, Base, Place};
use fixedbitset::FixedBitSet;
use millstream_graph::ir::{
    Arg, FuncId, Function, LocalId, Operand, Program, Rvalue, SlotId, StmtKind,
};

/// The slots of a function of which each write and read is seen, and what points into them.
pub(super) struct Private {
    /// Which slot each local may point into.
    of: Vec<Option<SlotId>>,
    pub(super) slots: FixedBitSet,
    places: Vec<Option<Place>>,
    /// Whether a local is an address in a table.
    pub(super) in_table: FixedBitSet,
}

impl Private {
    pub(super) fn new(program: &Program, function: &Function) -> Self {
        let mut this = Self {
            of: vec![None; function.locals.len()],
            slots: FixedBitSet::with_capacity(function.slots.len()),
            places: places::places(function),
            in_table: places::within(function, |v| matches!(v, Rvalue::DataAddr(_))),
        };
        this.slots.insert_range(..);
        for slot in (0..function.slots.len()).map(SlotId::new) {
            let within = places::within(function, |v| *v == Rvalue::SlotAddr(slot));
            for local in within.ones() {
                if let Some(other) = this.of[local].replace(slot) {
                    // It may be either's.
                    this.slots.set(other.index(), false);
                    this.slots.set(slot.index(), false);
                }
                if this.in_table.contains(local) {
                    this.slots.set(slot.index(), false);
                    this.in_table.set(local, false);
                }
            }
        }
        for arg in &function.args {
            if let Arg::Local(id) = arg {
                this.escapes(Operand::Local(*id));
                this.in_table.set(id.index(), false);
            }
        }
        for block in &function.blocks {
            for stmt in &block.stmts {
                this.look(program, &stmt.kind);
            }
            block.term.each_operand(&mut |o| this.escapes(o));
        }
        this
    }

    /// Gives up slots whose address a statement hands on, or that it may set a local to beside other addresses.
    fn look(&mut self, program: &Program, kind: &StmtKind) {
        match kind {
            StmtKind::Assign { dst, value } => match value {
                Rvalue::Load { .. } => self.set_to_other(*dst),
                Rvalue::Use(base) | Rvalue::PtrAdd { base, .. } => {
                    if self.slot(*base) != self.of[dst.index()] {
                        self.set_to_other(*dst);
                    }
                }
                Rvalue::SlotAddr(_) | Rvalue::DataAddr(_) => {}
                other => {
                    other.each_operand(&mut |o| self.escapes(o));
                    self.set_to_other(*dst);
                }
            },
            StmtKind::Store { value, .. } => self.escapes(*value),
            StmtKind::Copy { .. } | StmtKind::Zero { .. } => {}
            StmtKind::Call {
                func, args, dst, ..
            } => {
                for (value, bytes) in given(program, *func, args) {
                    if bytes.is_none() {
                        self.escapes(value);
                    }
                }
                dst.iter().for_each(|d| self.set_to_other(*d));
            }
            StmtKind::Spawn {
                func, args, dest, ..
            } => {
                for (value, bytes) in given(program, *func, args) {
                    if bytes.is_none() {
                        self.escapes(value);
                    }
                }
                dest.iter().for_each(|d| self.escapes(d.addr));
            }
            other => {
                other.each_operand(&mut |o| self.escapes(o));
                other.def().iter().for_each(|d| self.set_to_other(*d));
            }
        }
    }

    fn set_to_other(&mut self, local: LocalId) {
        self.in_table.set(local.index(), false);
        self.escapes(Operand::Local(local));
    }

    fn escapes(&mut self, operand: Operand) {
        if let Some(slot) = operand.local().and_then(|l| self.of[l.index()]) {
            self.slots.set(slot.index(), false);
        }
    }

    pub(super) fn slot(&self, operand: Operand) -> Option<SlotId> {
        self.of.get(operand.local()?.index()).copied().flatten()
    }

    /// The private slot that an operand points into.
    pub(super) fn private(&self, operand: Operand) -> Option<SlotId> {
        self.slot(operand)
            .filter(|s| self.slots.contains(s.index()))
    }

    /// And where, if that is known.
    pub(super) fn place(&self, operand: Operand) -> Option<(SlotId, u64)> {
        let slot = self.private(operand)?;
        match self.places[operand.local()?.index()]? {
            (Base::Slot(s), at) if s == slot => Some((slot, at)),
            _ => None,
        }
    }
}

/// What is given to a function, with how many bytes of an array it copies from there.
pub(super) fn given<'a>(
    program: &'a Program,
    func: FuncId,
    args: &'a [Operand],
) -> impl Iterator<Item = (Operand, Option<u64>)> + 'a {
    let callee = &program[func];
    let bytes = callee.args.iter().map(|arg| match arg {
        Arg::Slot(id) => Some(callee.slots[id.index()].layout.size),
        Arg::Local(_) => None,
    });
    args.iter().copied().zip(bytes)
}
