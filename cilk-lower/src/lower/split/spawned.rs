//! Tells the paths on which children may exist from those on which none does.
//!
//! Each block is doubled: one copy is reached only where no spawn happened since the task's start or its last sync, the other only
//! after one. A sync in the first kind waits for nothing and becomes a goto; so the base case of a recursion ends without a
//! continuation even where it shares its sync with the other paths. A block grows to two at most, and copies that nothing reaches go.

use crate::lower::{edit, restart};
use millstream_graph::{
    flow::Flow,
    ir::{BlockId, Combine, Function, Operand, StmtKind, Terminator},
};
use std::collections::BTreeSet;

/// Doubles the blocks of a task and takes out the syncs that wait for nothing. A sync's target has no children from then on, but for that of a
/// restart point, behind which nothing else comes before it has some.
pub(super) fn separate(function: &mut Function) {
    let spawning = spawning_loops(function);
    let old = std::mem::take(&mut function.blocks);
    let copy =
        |block: BlockId, spawned: bool| BlockId::new(block.index() * 2 + usize::from(spawned));
    for block in &old {
        for spawned in [false, true] {
            let mut new = block.clone();
            let after = spawned
                || block
                    .stmts
                    .iter()
                    .any(|s| matches!(s.kind, StmtKind::Spawn { .. }));
            new.term = match new.term {
                // At a restart point it goes on to spawn.
                Terminator::Sync(target) if after => {
                    let spawns = restart::is_restart(&old, target);
                    Terminator::Sync(copy(target, spawns))
                }
                Terminator::Sync(target) => Terminator::Goto(copy(target, false)),
                // Others may have taken the room: it waits for theirs then, if it has no children.
                Terminator::Room {
                    children,
                    then,
                    other,
                } => Terminator::Room {
                    children,
                    then: copy(then, after),
                    other: copy(other, true),
                },
                mut term => {
                    term.targets_mut(|t| *t = copy(*t, after || spawning.contains(t)));
                    term
                }
            };
            function.blocks.push(new);
        }
    }
    edit::drop_unreachable(function);
}

/// The first blocks of loops that spawn, of a parallel loop's task. Who comes there is taken to have children, so that the first turn, which makes it
/// sure, does not become a copy apart from the others: those are divided among lanes.
fn spawning_loops(function: &Function) -> BTreeSet<BlockId> {
    if !function.rounds {
        return BTreeSet::new();
    }
    let flow = Flow::new(function);
    let spawns = |b: BlockId| {
        let mut stmts = function.blocks[b.index()].stmts.iter();
        stmts.any(|s| matches!(s.kind, StmtKind::Spawn { .. }))
    };
    let closing = flow.back_edges().iter();
    let spawning = closing.filter(|(from, to)| flow.natural_loop(*to, [*from]).iter().any(spawns));
    spawning.map(|(_, to)| *to).collect()
}

/// Puts a return in the place of each sync that nothing follows, or only the return of a value that changes nothing when combined.
pub(super) fn drop_tail_syncs(function: &mut Function, combine: Combine) {
    for i in 0..function.blocks.len() {
        if let Terminator::Sync(target) = function.blocks[i].term
            && let Some(values) = returns_nothing(function, target, combine)
        {
            function.blocks[i].term = Terminator::Return(values);
        }
    }
    edit::drop_unreachable(function);
}

/// What a block returns that does nothing else, if that is nothing, or nothing to its destination.
fn returns_nothing(
    function: &Function,
    mut block: BlockId,
    combine: Combine,
) -> Option<Vec<Operand>> {
    let is_neutral = |(i, o): (usize, &Operand)| {
        let way = combine.of_piece(i);
        matches!(o, Operand::Const(ty, bits) if way.neutral(*ty) == Some(*bits))
    };
    for _ in 0..function.blocks.len() {
        let b = &function.blocks[block.index()];
        match &b.term {
            _ if !b.stmts.is_empty() => return None,
            Terminator::Return(values) => {
                return values
                    .iter()
                    .enumerate()
                    .all(is_neutral)
                    .then(|| values.clone());
            }
            Terminator::Goto(next) => block = *next,
            _ => return None,
        }
    }
    None
}
