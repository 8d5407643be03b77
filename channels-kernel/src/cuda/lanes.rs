//! Answers [`Rvalue::Lanes`] in one text of a function, and leaves out what that text never comes to: arrays for many lanes are large.

use millstream_graph::{
    eval::{eval_binary, eval_cast, eval_unary},
    flow::Flow,
    ir::{Arg, BinOp, Function, LocalId, Operand, Rvalue, SlotId, StmtKind, Terminator},
    ty::Scalar,
};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

/// The function where so many lanes run what it comes to. Its blocks, locals and slots keep their numbers.
pub(super) fn answered(function: &Function, lanes: u64) -> Cow<'_, Function> {
    let asks = |s: &StmtKind| {
        matches!(
            s,
            StmtKind::Assign {
                value: Rvalue::Lanes,
                ..
            }
        )
    };
    if !function.stmts().any(|s| asks(&s.kind)) {
        return Cow::Borrowed(function);
    }
    let mut out = function.clone();
    let known = known(function, lanes);
    let value = |o: Operand| match o {
        Operand::Local(l) => known.get(&l).copied(),
        Operand::Const(_, bits) => Some(bits),
    };
    for block in &mut out.blocks {
        for stmt in &mut block.stmts {
            if let StmtKind::Assign { value, .. } = &mut stmt.kind
                && matches!(value, Rvalue::Lanes)
            {
                *value = Rvalue::Use(Operand::Const(Scalar::Usize, lanes));
            }
            if let StmtKind::Assign { value: to, .. } = &mut stmt.kind
                && let Rvalue::Select(cond, a, b) = *to
                && let Some(way) = value(cond)
            {
                *to = Rvalue::Use(if way != 0 { a } else { b });
            }
        }
        if let Terminator::Branch { cond, then, other } = block.term
            && let Some(way) = value(cond)
        {
            block.term = Terminator::Goto(if way != 0 { then } else { other });
        }
    }
    let flow = Flow::new(&out);
    let reached: BTreeSet<_> = flow.order().iter().copied().collect();
    for (i, block) in out.blocks.iter_mut().enumerate() {
        if !reached.iter().any(|b| b.index() == i) {
            block.stmts.clear();
            block.term = Terminator::Unreachable;
        }
    }
    leave_out_addresses(&mut out);
    for i in 0..out.slots.len() {
        let slot = SlotId::new(i);
        let is_used = out.args.contains(&Arg::Slot(slot))
            || out.stmts().any(|s| {
                matches!(s.kind, StmtKind::Assign { value: Rvalue::SlotAddr(of), .. } if of == slot)
            });
        if !is_used {
            out.slots[i].layout.size = 0;
        }
    }
    Cow::Owned(out)
}

/// Addresses of local memory that nobody uses.
fn leave_out_addresses(function: &mut Function) {
    loop {
        let mut read = BTreeSet::new();
        for block in &function.blocks {
            let mut reads = |o: Operand| read.extend(o.local());
            block
                .stmts
                .iter()
                .for_each(|s| s.kind.each_operand(&mut reads));
            block.term.each_operand(&mut reads);
        }
        let unread = |s: &StmtKind| matches!(s, StmtKind::Assign { dst, value: Rvalue::SlotAddr(_) | Rvalue::Use(_) } if !read.contains(dst));
        let before: usize = function.blocks.iter().map(|b| b.stmts.len()).sum();
        for block in &mut function.blocks {
            block.stmts.retain(|s| !unread(&s.kind));
        }
        if before == function.blocks.iter().map(|b| b.stmts.len()).sum() {
            return;
        }
    }
}

/// What locals hold that are set once, from the number of lanes and constants.
fn known(function: &Function, lanes: u64) -> BTreeMap<LocalId, u64> {
    let mut sets = BTreeMap::<LocalId, usize>::new();
    for dst in function.stmts().filter_map(|s| s.kind.def()) {
        *sets.entry(dst).or_default() += 1;
    }
    for arg in &function.args {
        if let Arg::Local(l) = arg {
            *sets.entry(*l).or_default() += 1;
        }
    }
    let mut known = BTreeMap::new();
    loop {
        let before = known.len();
        for stmt in function.stmts() {
            let StmtKind::Assign { dst, value } = &stmt.kind else {
                continue;
            };
            let get = |o: &Operand| match o {
                Operand::Local(l) => known.get(l).copied(),
                Operand::Const(_, bits) => Some(*bits),
            };
            let ty = |o: &Operand| function.type_of(*o);
            let found = match value {
                Rvalue::Lanes => Some(lanes),
                Rvalue::Use(a) => get(a),
                Rvalue::Unary(op, a) => get(a).map(|x| eval_unary(*op, ty(a), x)),
                Rvalue::Cast(to, a) => get(a).map(|x| eval_cast(ty(a), *to, x)),
                Rvalue::Binary(BinOp::And, a, b) if [get(a), get(b)].contains(&Some(0)) => Some(0),
                Rvalue::Binary(BinOp::Or, a, b)
                    if ty(a) == Scalar::Bool && [get(a), get(b)].contains(&Some(1)) =>
                {
                    Some(1)
                }
                Rvalue::Binary(op, a, b) => get(a)
                    .zip(get(b))
                    .and_then(|(x, y)| eval_binary(*op, ty(a), x, y)),
                _ => None,
            };
            if let Some(bits) = found
                && sets[dst] == 1
            {
                known.insert(*dst, bits);
            }
        }
        if known.len() == before {
            return known;
        }
    }
}
