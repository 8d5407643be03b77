//! Where locals point: which place of a slot or of a table.

use super::edit;
use fixedbitset::FixedBitSet;
use millstream_graph::ir::{Arg, DataId, Function, LocalId, Operand, Rvalue, SlotId, StmtKind};

/// What an address lies in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Base {
    /// A slot.
    Slot(SlotId),
    /// A constant table.
    Table(DataId),
}

/// A byte of it.
pub(super) type Place = (Base, u64);

/// Where each local points, if it is set once and that is known.
pub(super) fn places(function: &Function) -> Vec<Option<Place>> {
    let times = edit::times_set(function);
    let mut of = vec![None; function.locals.len()];
    let mut again = true;
    while std::mem::take(&mut again) {
        for stmt in function.stmts() {
            if let StmtKind::Assign { dst, value } = &stmt.kind
                && times[dst.index()] == 1
                && of[dst.index()].is_none()
                && let Some(place) = place(value, |id| of[id.index()])
            {
                of[dst.index()] = Some(place);
                again = true;
            }
        }
    }
    of
}

/// Where a value points, by where locals do.
pub(super) fn place(value: &Rvalue, of: impl Fn(LocalId) -> Option<Place>) -> Option<Place> {
    match value {
        Rvalue::SlotAddr(slot) => Some((Base::Slot(*slot), 0)),
        Rvalue::DataAddr(data) => Some((Base::Table(*data), 0)),
        Rvalue::Use(base) => of(base.local()?),
        Rvalue::PtrAdd {
            base,
            index: Operand::Const(_, index),
            scale,
            offset,
        } => {
            let (base, begin) = of(base.local()?)?;
            let by = index.wrapping_mul(*scale).wrapping_add(*offset);
            Some((base, begin.wrapping_add(by)))
        }
        _ => None,
    }
}

/// The locals that may hold an address in what `is_first` gives the address of.
pub(super) fn within(function: &Function, is_first: impl Fn(&Rvalue) -> bool) -> FixedBitSet {
    let mut out = FixedBitSet::with_capacity(function.locals.len());
    loop {
        let before = out.count_ones(..);
        for stmt in function.stmts() {
            let inside = |o: &Operand| o.local().is_some_and(|l: LocalId| out.contains(l.index()));
            if let StmtKind::Assign { dst, value } = &stmt.kind
                && match value {
                    Rvalue::Use(base) | Rvalue::PtrAdd { base, .. } => inside(base),
                    Rvalue::Select(_, a, b) => inside(a) || inside(b),
                    first => is_first(first),
                }
            {
                out.insert(dst.index());
            }
        }
        if out.count_ones(..) == before {
            return out;
        }
    }
}

/// The locals that hold addresses in tables and nothing else, however often they are set.
pub(super) fn in_tables(function: &Function) -> FixedBitSet {
    let mut out = within(function, |value| matches!(value, Rvalue::DataAddr(_)));
    for arg in &function.args {
        if let Arg::Local(id) = arg {
            out.set(id.index(), false);
        }
    }
    loop {
        let before = out.count_ones(..);
        for stmt in function.stmts() {
            let Some(dst) = stmt.kind.def() else { continue };
            let inside = |o: &Operand| o.local().is_some_and(|l| out.contains(l.index()));
            let stays = match &stmt.kind {
                StmtKind::Assign { value, .. } => match value {
                    Rvalue::DataAddr(_) => true,
                    Rvalue::Use(base) | Rvalue::PtrAdd { base, .. } => inside(base),
                    Rvalue::Select(_, a, b) => inside(a) && inside(b),
                    _ => false,
                },
                _ => false,
            };
            if !stays {
                out.set(dst.index(), false);
            }
        }
        if out.count_ones(..) == before {
            return out;
        }
    }
}
