//! The slots of a function whose address goes nowhere, so that each write and read is seen.

use super::places::{self, Base, Place};
use fixedbitset::FixedBitSet;
use millstream_graph::ir::{Arg, FuncId, Function, Operand, Program, Rvalue, SlotId, StmtKind};

/// The slots of a function of which each write and read is seen, and what points into them.
pub(super) struct Private {
    /// Which slot each local may point into.
    of: Vec<Option<SlotId>>,
    pub(super) slots: FixedBitSet,
    places: Vec<Option<Place>>,
    /// The locals that are addresses in tables.
    pub(super) in_table: FixedBitSet,
}

impl Private {
    pub(super) fn new(program: &Program, function: &Function) -> Self {
        let mut this = Self {
            of: vec![None; function.locals.len()],
            slots: FixedBitSet::with_capacity(function.slots.len()),
            places: places::places(function),
            in_table: places::in_tables(function),
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
            }
        }
        for arg in &function.args {
            if let Arg::Local(id) = arg {
                this.escapes(Operand::Local(*id));
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
                Rvalue::Load { .. } => self.escapes(Operand::Local(*dst)),
                Rvalue::Use(base) | Rvalue::PtrAdd { base, .. } => {
                    if self.slot(*base) != self.of[dst.index()] {
                        self.escapes(Operand::Local(*dst));
                    }
                }
                Rvalue::SlotAddr(_) | Rvalue::DataAddr(_) => {}
                other => {
                    other.each_operand(&mut |o| self.escapes(o));
                    self.escapes(Operand::Local(*dst));
                }
            },
            StmtKind::Store { value, .. } => self.escapes(*value),
            StmtKind::Copy { .. } | StmtKind::Zero { .. } => {}
            StmtKind::Call { func, args, .. } | StmtKind::Spawn { func, args, .. } => {
                let handed_on = given(program, *func, args).filter(|(_, bytes)| bytes.is_none());
                handed_on.for_each(|(value, _)| self.escapes(value));
                if let StmtKind::Spawn {
                    dest: Some(dest), ..
                } = kind
                {
                    self.escapes(dest.addr);
                }
                kind.def()
                    .into_iter()
                    .for_each(|d| self.escapes(Operand::Local(d)));
            }
            other => {
                other.each_operand(&mut |o| self.escapes(o));
                other
                    .def()
                    .into_iter()
                    .for_each(|d| self.escapes(Operand::Local(d)));
            }
        }
    }

    /// Gives up the slot that an operand points into.
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
