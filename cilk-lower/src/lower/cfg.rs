//! What every pass asks of a control-flow graph: operands, edges, orders, and taking out what nothing uses.

use fixedbitset::FixedBitSet;
use millstream_graph::ir::{
    Arg, Block, BlockId, Function, LocalId, Operand, Rvalue, SlotId, StmtKind, Terminator,
};

/// The operands that a value reads.
pub(crate) fn value_operands(value: &Rvalue, f: &mut impl FnMut(Operand)) {
    match value {
        Rvalue::Use(a)
        | Rvalue::Unary(_, a)
        | Rvalue::Cast(_, a)
        | Rvalue::Bitcast(_, a)
        | Rvalue::Load { addr: a, .. } => f(*a),
        Rvalue::Binary(_, a, b)
        | Rvalue::PtrAdd {
            base: a, index: b, ..
        } => {
            f(*a);
            f(*b);
        }
        Rvalue::MulAdd(a, b, c) | Rvalue::Select(a, b, c) => {
            f(*a);
            f(*b);
            f(*c);
        }
        Rvalue::SlotAddr(_) | Rvalue::DataAddr(_) | Rvalue::FrameLoad(_) | Rvalue::FrameAddr(_) => {
        }
    }
}

/// The operands that a statement reads.
pub(crate) fn operands(kind: &StmtKind, f: &mut impl FnMut(Operand)) {
    match kind {
        StmtKind::Assign { value, .. } => value_operands(value, f),
        StmtKind::Store { addr, value, .. } => {
            f(*addr);
            f(*value);
        }
        StmtKind::Copy { dst, src, .. } => {
            f(*dst);
            f(*src);
        }
        StmtKind::Zero { dst, .. } => f(*dst),
        StmtKind::Call { args, ret_addr, .. } => {
            args.iter().for_each(|a| f(*a));
            ret_addr.iter().for_each(|a| f(*a));
        }
        StmtKind::Spawn {
            args, dest, leaf, ..
        } => {
            args.iter().for_each(|a| f(*a));
            dest.iter().for_each(|d| f(d.addr));
            leaf.iter().for_each(|l| f(*l));
        }
        StmtKind::Check { cond, values, .. } => {
            f(*cond);
            values.iter().for_each(|a| f(*a));
        }
        StmtKind::Atomic { addr, args, .. } => {
            f(*addr);
            args.iter().for_each(|a| f(*a));
        }
        StmtKind::FrameStore { value, .. } => f(*value),
        StmtKind::FrameAlloc => {}
    }
}

/// The operands that a terminator reads.
pub(crate) fn term_operands(term: &Terminator, f: &mut impl FnMut(Operand)) {
    match term {
        Terminator::Branch { cond: value, .. } | Terminator::Switch { value, .. } => f(*value),
        Terminator::Return(values) => values.iter().for_each(|v| f(*v)),
        Terminator::Goto(_)
        | Terminator::Sync(_)
        | Terminator::Continue(_)
        | Terminator::Unreachable => {}
    }
}

/// The local that an operand reads.
pub(crate) const fn local_of(operand: Operand) -> Option<LocalId> {
    match operand {
        Operand::Local(id) => Some(id),
        Operand::Const(..) => None,
    }
}

/// Writes the local that a statement assigns.
pub(crate) fn def_mut(kind: &mut StmtKind) -> Option<&mut LocalId> {
    match kind {
        StmtKind::Assign { dst, .. } => Some(dst),
        StmtKind::Call { dst, .. } | StmtKind::Atomic { dst, .. } => dst.as_mut(),
        _ => None,
    }
}

/// The blocks that the entry reaches, each before its successors but for back edges.
pub(crate) fn reverse_postorder(blocks: &[Block]) -> Vec<BlockId> {
    let mut seen = FixedBitSet::with_capacity(blocks.len());
    let mut order = Vec::with_capacity(blocks.len());
    let mut stack = vec![(BlockId(0), blocks[0].term.targets())];
    seen.insert(0);
    while let Some((block, rest)) = stack.last_mut() {
        if let Some(next) = rest.pop() {
            if !seen.put(next.index()) {
                stack.push((next, blocks[next.index()].term.targets()));
            }
        } else {
            order.push(*block);
            stack.pop();
        }
    }
    order.reverse();
    order
}

/// How many statements a function has, terminators counted.
pub(crate) fn size(function: &Function) -> usize {
    function.blocks.iter().map(|b| b.stmts.len() + 1).sum()
}

/// A new local of the type of another.
pub(crate) fn add_local(
    function: &mut Function,
    name: Option<String>,
    ty: millstream_graph::ty::Scalar,
) -> LocalId {
    function
        .locals
        .push(millstream_graph::ir::Local { name, ty });
    LocalId::new(function.locals.len() - 1)
}

/// Takes out blocks that nothing reaches and numbers the rest in reverse postorder.
pub(crate) fn drop_unreachable(function: &mut Function) {
    let order = reverse_postorder(&function.blocks);
    let mut number = vec![None; function.blocks.len()];
    for (new, old) in order.iter().enumerate() {
        number[old.index()] = Some(BlockId::new(new));
    }
    let mut old: Vec<Option<Block>> = std::mem::take(&mut function.blocks)
        .into_iter()
        .map(Some)
        .collect();
    for id in order {
        if let Some(mut block) = old[id.index()].take() {
            block
                .term
                .targets_mut(|t| *t = number[t.index()].unwrap_or(*t));
            function.blocks.push(block);
        }
    }
}

/// Takes out locals and slots that nothing mentions, and renumbers the rest. Gives the new number of each old local.
pub(crate) fn drop_unused(function: &mut Function, keep: Option<LocalId>) -> Vec<Option<LocalId>> {
    let mut locals = FixedBitSet::with_capacity(function.locals.len());
    let mut slots = FixedBitSet::with_capacity(function.slots.len());
    locals.extend(keep.map(LocalId::index));
    for arg in &function.args {
        match arg {
            Arg::Local(id) => locals.insert(id.index()),
            Arg::Slot(id) => slots.insert(id.index()),
        }
    }
    for block in &function.blocks {
        let mut mark = |o| locals.extend(local_of(o).map(LocalId::index));
        for stmt in &block.stmts {
            operands(&stmt.kind, &mut mark);
            if let StmtKind::Assign {
                value: Rvalue::SlotAddr(slot),
                ..
            } = stmt.kind
            {
                slots.insert(slot.index());
            }
        }
        term_operands(&block.term, &mut mark);
        locals.extend(
            block
                .stmts
                .iter()
                .filter_map(|s| s.kind.def())
                .map(LocalId::index),
        );
    }
    let local = renumber(&mut function.locals, &locals, LocalId::new);
    let slot = renumber(&mut function.slots, &slots, SlotId::new);
    for arg in &mut function.args {
        match arg {
            Arg::Local(id) => *id = local[id.index()].unwrap_or(*id),
            Arg::Slot(id) => *id = slot[id.index()].unwrap_or(*id),
        }
    }
    for block in &mut function.blocks {
        for stmt in &mut block.stmts {
            rename(&mut stmt.kind, |id| local[id.index()].unwrap_or(id));
            if let StmtKind::Assign {
                value: Rvalue::SlotAddr(id),
                ..
            } = &mut stmt.kind
            {
                *id = slot[id.index()].unwrap_or(*id);
            }
        }
        block
            .term
            .operands_mut(|o| rename_operand(o, |id| local[id.index()].unwrap_or(id)));
    }
    local
}

/// Puts other locals in the place of those that a statement mentions.
pub(crate) fn rename(kind: &mut StmtKind, to: impl Fn(LocalId) -> LocalId) {
    kind.operands_mut(|o| rename_operand(o, &to));
    if let Some(dst) = def_mut(kind) {
        *dst = to(*dst);
    }
}

/// Puts another local in the place of the one that an operand mentions.
pub(crate) fn rename_operand(operand: &mut Operand, to: impl Fn(LocalId) -> LocalId) {
    if let Operand::Local(id) = operand {
        *id = to(*id);
    }
}

fn renumber<T, I: Copy>(
    table: &mut Vec<T>,
    keep: &FixedBitSet,
    id: impl Fn(usize) -> I,
) -> Vec<Option<I>> {
    let mut next = 0;
    let numbers: Vec<Option<I>> = (0..table.len())
        .map(|i| {
            keep.contains(i).then(|| {
                next += 1;
                id(next - 1)
            })
        })
        .collect();
    let mut i = 0;
    table.retain(|_| {
        i += 1;
        keep.contains(i - 1)
    });
    numbers
}
