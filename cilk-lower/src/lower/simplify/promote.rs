//! Keeps scalar variables in locals where nothing needs their address.

use crate::lower::edit;
use fixedbitset::FixedBitSet;
use millstream_graph::flow::Liveness;
use millstream_graph::ir::{
    Arg, BlockId, Function, LocalId, Operand, Rvalue, SlotId, Span, Stmt, StmtKind,
};

/// Puts a local in the place of each scalar slot that only whole loads and stores touch. Says whether there was any.
pub(super) fn promote(function: &mut Function) -> bool {
    let owner = owners(function);
    let slots = promotable(function, &owner);
    let mut locals = vec![None; function.slots.len()];
    for i in slots.ones() {
        if let Some(ty) = function.slots[i].scalar {
            let name = function.slots[i].name.clone();
            locals[i] = Some(edit::add_local(function, name, ty));
        }
    }
    let local = |addr: Operand| locals[owner[addr.local()?.index()]?.index()];
    for stmt in function.blocks.iter_mut().flat_map(|b| &mut b.stmts) {
        match &mut stmt.kind {
            StmtKind::Assign { value, .. } => {
                if let Rvalue::Load { addr, .. } = value
                    && let Some(local) = local(*addr)
                {
                    *value = Rvalue::Use(Operand::Local(local));
                }
            }
            StmtKind::Store { addr, value, .. } => {
                if let Some(dst) = local(*addr) {
                    stmt.kind = StmtKind::Assign {
                        dst,
                        value: Rvalue::Use(*value),
                    };
                }
            }
            _ => {}
        }
    }
    initialize(function, locals.into_iter().flatten());
    slots.count_ones(..) > 0
}

/// Gives a value to those locals that a path may read without having set them: there the slot's bytes were undefined.
fn initialize(function: &mut Function, locals: impl Iterator<Item = LocalId>) {
    let mut locals = locals.peekable();
    if locals.peek().is_none() {
        return;
    }
    let live = Liveness::new(function, None);
    let unset = locals.filter(|l| live.live_in(BlockId(0)).contains(l.index()));
    let zeros = unset.map(|dst| {
        let value = Rvalue::Use(Operand::Const(function.locals[dst.index()].ty, 0));
        Stmt {
            kind: StmtKind::Assign { dst, value },
            span: Span::default(),
        }
    });
    let zeros: Vec<_> = zeros.collect();
    function.blocks[0].stmts.splice(0..0, zeros);
}

/// For each local that only ever holds the address of one slot, that slot.
fn owners(function: &Function) -> Vec<Option<SlotId>> {
    let mut owner: Vec<Option<SlotId>> = vec![None; function.locals.len()];
    let mut other = FixedBitSet::with_capacity(function.locals.len());
    for stmt in function.stmts() {
        match &stmt.kind {
            StmtKind::Assign {
                dst,
                value: Rvalue::SlotAddr(slot),
            } if owner[dst.index()].is_none_or(|s| s == *slot) => {
                owner[dst.index()] = Some(*slot);
            }
            kind => other.extend(kind.def().map(LocalId::index)),
        }
    }
    let arg = |i: usize| function.args.contains(&Arg::Local(LocalId::new(i)));
    owner
        .into_iter()
        .enumerate()
        .map(|(i, s)| s.filter(|_| !other.contains(i) && !arg(i)))
        .collect()
}

fn promotable(function: &Function, owner: &[Option<SlotId>]) -> FixedBitSet {
    let mut out = FixedBitSet::with_capacity(function.slots.len());
    out.extend((0..function.slots.len()).filter(|i| {
        function.slots[*i].scalar.is_some() && !function.args.contains(&Arg::Slot(SlotId::new(*i)))
    }));
    let slot = |o: Operand| owner[o.local()?.index()];
    for block in &function.blocks {
        let mut used = Vec::new();
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Assign {
                    value:
                        Rvalue::Load {
                            ty,
                            addr,
                            offset: 0,
                        },
                    ..
                } if slot(*addr).is_some_and(|s| function.slots[s.index()].scalar == Some(*ty)) => {
                }
                StmtKind::Store {
                    addr,
                    offset: 0,
                    value,
                } if slot(*addr).is_some_and(|s| {
                    function.slots[s.index()].scalar == Some(function.type_of(*value))
                }) =>
                {
                    used.push(*value);
                }
                StmtKind::Assign {
                    dst,
                    value: Rvalue::SlotAddr(s),
                } => {
                    if owner[dst.index()] != Some(*s) {
                        out.set(s.index(), false);
                    }
                }
                kind => kind.each_operand(&mut |o| used.push(o)),
            }
        }
        block.term.each_operand(&mut |o| used.push(o));
        used.into_iter()
            .filter_map(slot)
            .for_each(|s| out.set(s.index(), false));
    }
    out
}
