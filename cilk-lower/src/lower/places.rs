//! Where locals point: which place of a slot or of a table.

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
    let mut sets = vec![0u32; function.locals.len()];
    let args = function.args.iter().filter_map(|a| match a {
        Arg::Local(id) => Some(*id),
        Arg::Slot(_) => None,
    });
    args.chain(function.stmts().filter_map(|s| s.kind.def()))
        .for_each(|id| sets[id.index()] += 1);
    let mut of = vec![None; function.locals.len()];
    let mut again = true;
    while std::mem::take(&mut again) {
        for stmt in function.stmts() {
            if let StmtKind::Assign { dst, value } = &stmt.kind
                && sets[dst.index()] == 1
                && of[dst.index()].is_none()
                && let Some(place) = place(value, &of)
            {
                of[dst.index()] = Some(place);
                again = true;
            }
        }
    }
    of
}

fn place(value: &Rvalue, of: &[Option<Place>]) -> Option<Place> {
    let at = |base: &Operand| of[base.local()?.index()];
    match value {
        Rvalue::SlotAddr(slot) => Some((Base::Slot(*slot), 0)),
        Rvalue::DataAddr(data) => Some((Base::Table(*data), 0)),
        Rvalue::Use(base) => at(base),
        Rvalue::PtrAdd {
            base,
            index: Operand::Const(_, index),
            scale,
            offset,
        } => {
            let (base, begin) = at(base)?;
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
