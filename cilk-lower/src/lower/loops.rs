//! What several passes do with loops: whether one may stand in the program more than once, and copies of it.

use super::edit;
use millstream_graph::flow::Liveness;
use millstream_graph::{
    flow::BlockSet,
    ir::{Block, BlockId, Function, Local, LocalId, Rvalue, StmtKind, Terminator},
};
use std::collections::{BTreeMap, BTreeSet};

/// How many statements blocks have, terminators counted.
pub(super) fn size(function: &Function, blocks: &BlockSet) -> usize {
    let stmts = |b: BlockId| function.blocks[b.index()].stmts.len() + 1;
    blocks.iter().map(stmts).sum()
}

/// Whether nothing in there must stand in one place: what is pushed is counted, and the address of a scalar variable is set once.
pub(super) fn may_be_copied(function: &Function, blocks: &BlockSet) -> bool {
    let mut blocks = blocks.iter().map(|b| &function.blocks[b.index()]);
    blocks.all(|b| {
        let fixed = |kind: &StmtKind| match kind {
            StmtKind::Spawn { .. } | StmtKind::Emit { .. } | StmtKind::FrameAlloc => true,
            StmtKind::Assign {
                value: Rvalue::SlotAddr(slot),
                ..
            } => function.slots[slot.index()].scalar.is_some(),
            _ => false,
        };
        let goes_on = !matches!(b.term, Terminator::Sync(_) | Terminator::Room { .. });
        goes_on && !b.stmts.iter().any(|s| fixed(&s.kind))
    })
}

/// The locals that each turn of a loop sets for itself alone.
pub(super) fn of_one_turn(
    function: &Function,
    liveness: &Liveness,
    ret: Option<LocalId>,
    (header, inside): (BlockId, &BlockSet),
) -> Vec<LocalId> {
    let blocks = || inside.iter().map(|b| &function.blocks[b.index()]);
    let ends = blocks().flat_map(|b| b.term.targets());
    let kept: BTreeSet<_> = ends
        .filter(|t| *t == header || !inside.contains(*t))
        .collect();
    let set = blocks().flat_map(|b| b.stmts.iter().filter_map(|s| s.kind.def()));
    let is_kept = |l: &LocalId| {
        let live = |t: &BlockId| liveness.live_in(*t).contains(l.index());
        Some(*l) == ret || kept.iter().any(live)
    };
    let own: BTreeSet<LocalId> = set.filter(|l| !is_kept(l)).collect();
    own.into_iter().collect()
}

/// Copies blocks to the function's end, in order. The locals in `own` are others in the copy, so that what is set in one place still is; where its
/// jumps go, `target` says.
pub(super) fn copy(
    function: &mut Function,
    blocks: &[BlockId],
    own: &[LocalId],
    target: impl Fn(BlockId) -> BlockId,
) {
    let mut names = BTreeMap::new();
    for local in own {
        let Local { name, ty } = function.locals[local.index()].clone();
        names.insert(*local, edit::add_local(function, name, ty));
    }
    let name = |id: LocalId| names.get(&id).copied().unwrap_or(id);
    for block in blocks {
        let mut copy: Block = function.blocks[block.index()].clone();
        copy.stmts.iter_mut().for_each(|s| s.kind.rename(name));
        copy.term.operands_mut(|o| o.rename(name));
        copy.term.targets_mut(|t| *t = target(*t));
        function.blocks.push(copy);
    }
}

/// Puts so many turns of a loop in front of it. What is one turn's alone has locals of its own in each, so that they are set in one place. What was there
/// keeps its numbers; the caller drops what is not reachable any more.
pub(super) fn take_off(
    function: &mut Function,
    ret: Option<LocalId>,
    (header, blocks): (BlockId, &BlockSet),
    turns: u32,
) {
    let liveness = Liveness::new(function, ret);
    let own = of_one_turn(function, &liveness, ret, (header, blocks));
    let inside: Vec<BlockId> = blocks.iter().collect();
    let first = function.blocks.len();
    let copy_of = |turn: usize, block: BlockId| {
        let at = inside.iter().position(|b| *b == block);
        at.map(|at| BlockId::new(first + turn * inside.len() + at))
    };
    let begin = copy_of(0, header);
    for (i, block) in function.blocks.iter_mut().enumerate() {
        if !blocks.contains(BlockId::new(i)) {
            let enter = |t: &mut BlockId| {
                if *t == header {
                    *t = begin.unwrap_or(*t);
                }
            };
            block.term.targets_mut(enter);
        }
    }
    for turn in 0..turns as usize {
        copy(function, &inside, &own, |t| {
            if t != header {
                copy_of(turn, t).unwrap_or(t)
            } else if turn + 1 < turns as usize {
                copy_of(turn + 1, t).unwrap_or(t)
            } else {
                t
            }
        });
    }
}
