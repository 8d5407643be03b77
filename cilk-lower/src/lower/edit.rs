//! What several passes do to a function: new locals, and taking out what nothing uses.

use fixedbitset::FixedBitSet;
use millstream_graph::{
    flow::Flow,
    ir::{Arg, Block, BlockId, Function, LocalId, Operand, Rvalue, SlotId, StmtKind},
};

/// How many statements a function has, terminators counted.
pub(crate) fn size(function: &Function) -> usize {
    function.blocks.iter().map(|b| b.stmts.len() + 1).sum()
}

/// How often each local is set: by how many statements, and as an argument.
pub(crate) fn times_set(function: &Function) -> Vec<u32> {
    let mut times = vec![0; function.locals.len()];
    let args = function.args.iter().filter_map(|a| match a {
        Arg::Local(id) => Some(*id),
        Arg::Slot(_) => None,
    });
    let stmts = function.stmts().filter_map(|s| s.kind.def());
    args.chain(stmts).for_each(|id| times[id.index()] += 1);
    times
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
    let flow = Flow::new(function);
    let order = flow.order();
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
        let mut mark = |o: Operand| locals.extend(o.local().map(LocalId::index));
        for stmt in &block.stmts {
            stmt.kind.each_operand(&mut mark);
            if let StmtKind::Assign {
                value: Rvalue::SlotAddr(slot),
                ..
            } = stmt.kind
            {
                slots.insert(slot.index());
            }
        }
        block.term.each_operand(&mut mark);
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
            stmt.kind.rename(|id| local[id.index()].unwrap_or(id));
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
            .operands_mut(|o| o.rename(|id| local[id.index()].unwrap_or(id)));
    }
    local
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
