//! Restart points: a task that spawns in a loop, where nobody knows how often, may come to the end of the room in the middle of what it does.
//!
//! Before each such spawn stands a [`Terminator::Room`]. If there is no room, the task waits there for its children, as at a sync: to wait
//! earlier than the source says changes nothing, for what awaits is ready the sooner. So the split makes a continuation of it that goes on at
//! the same place, with all that lives there in the frame, and what was done is not done again. Who finds room takes no frame for it.
//!
//! Loops of which it is known how often they spawn at most, and that this is little, have none: all of it is counted before the task begins.
//!
//! On a wide device, a GPU, what only spawns and gives results has none: it is tried or counted beforehand, and given back whole. There a
//! restart point would cost more than it is worth, for it adds a frame and a continuation to what is counted.

use super::turns;
use millstream_graph::{
    flow::Flow,
    ir::{Block, BlockId, FuncId, Function, Program, StmtKind, Terminator},
    levelized::{Field, LoweredSegment},
    ty::PieceKind,
};
use std::collections::BTreeSet;

/// Bytes of children that are counted for each element, however few of them it spawns: more are asked for one by one.
const COUNTED: u64 = 1024;

/// Whether a segment pushes what cannot be counted, and on a wide device, does what cannot be forgotten before or after that.
pub(super) fn is_wanted(program: &Program, segment: &LoweredSegment, wide: bool) -> bool {
    let body = &segment.body;
    let has = |b: &BlockId, what: &dyn Fn(&StmtKind) -> bool| {
        let stmts = &body.blocks[b.index()].stmts;
        stmts.iter().any(|s| what(&s.kind))
    };
    let flow = Flow::new(body);
    let cyclic = flow.cyclic();
    let spawning = cyclic.iter().filter(|b| has(b, &|k| spawned(k).is_some()));
    let spawning: Vec<BlockId> = spawning.collect();
    if !wide {
        return !spawning.is_empty() && !is_little(program, body, &flow);
    }
    let before = flow.reaching(spawning.iter().copied());
    let after = flow.reach(spawning, |_| true);
    before.iter().chain(after).any(|b| has(&b, &is_effect))
}

/// Whether it is known how many bytes of children there are at most, and that they are few.
fn is_little(program: &Program, body: &Function, flow: &Flow) -> bool {
    let times = turns::each_block(body, flow);
    let bytes = body.blocks.iter().zip(times).map(|(block, times)| {
        let spawned = block.stmts.iter().filter_map(|s| spawned(&s.kind));
        let bytes = spawned.map(|func| {
            let params = program[func].params.iter();
            let pieces = params.flat_map(|p| Field::pieces(&p.name, &p.ty, &program.structs));
            let sizes = pieces.map(|f| match f.kind {
                PieceKind::Scalar(ty) => ty.size(),
                PieceKind::Blob(layout) => layout.size,
            });
            // With the return address.
            sizes.sum::<u64>() + 8
        });
        match bytes.sum::<u64>() {
            0 => Some(0),
            bytes => Some(bytes * u64::from(times?)),
        }
    });
    bytes
        .sum::<Option<u64>>()
        .is_some_and(|bytes| bytes <= COUNTED)
}

const fn is_effect(kind: &StmtKind) -> bool {
    matches!(
        kind,
        StmtKind::Store { .. }
            | StmtKind::Copy { .. }
            | StmtKind::Zero { .. }
            | StmtKind::Call { .. }
            | StmtKind::Atomic { .. }
    )
}

/// Puts a restart point in front of each block that spawns what a loop of the task spawns. What emits has none: a graph takes from it what it
/// has emitted when it ends.
pub(super) fn insert(function: &mut Function) -> bool {
    let looped = looped(function);
    let emits = |kind: &StmtKind| matches!(kind, StmtKind::Emit { .. });
    if looped.is_empty() || function.stmts().any(|s| emits(&s.kind)) {
        return false;
    }
    for i in 0..function.blocks.len() {
        let stmts = function.blocks[i].stmts.iter();
        let spawned = stmts.filter_map(|s| spawned(&s.kind));
        let children = spawned.filter(|func| looped.contains(func)).count();
        if children > 0 {
            ask(function, i, children as u32);
        }
    }
    true
}

/// Whether what waits to go on at a block waits for room.
pub(super) fn is_restart(blocks: &[Block], start: BlockId) -> bool {
    matches!(blocks[start.index()].term, Terminator::Room { .. })
}

/// Takes the restart points out of a segment that has no loop which spawns: its pushes are counted.
pub(super) fn settle(body: &mut Function) {
    if spawns_in_a_loop(body) {
        return;
    }
    for block in &mut body.blocks {
        if let Terminator::Room { then, .. } = block.term {
            block.term = Terminator::Goto(then);
        }
    }
}

/// Whether it is for the turns of a loop to say how much is spawned.
pub(super) fn spawns_in_a_loop(body: &Function) -> bool {
    !looped(body).is_empty()
}

/// The tasks that are spawned in a loop.
fn looped(function: &Function) -> BTreeSet<FuncId> {
    let cyclic = Flow::new(function).cyclic();
    let stmts = cyclic
        .iter()
        .flat_map(|b| &function.blocks[b.index()].stmts);
    stmts.filter_map(|s| spawned(&s.kind)).collect()
}

const fn spawned(kind: &StmtKind) -> Option<FuncId> {
    match kind {
        StmtKind::Spawn { func, .. } => Some(*func),
        _ => None,
    }
}

/// Puts a restart point in front of a block.
fn ask(function: &mut Function, block: usize, children: u32) {
    let [then, other, asking] = [0, 1, 2].map(|i| BlockId::new(function.blocks.len() + i));
    let span = function.blocks[block].span;
    let empty = |term| Block {
        stmts: Vec::new(),
        term,
        span,
    };
    // Not in its place, which may be the entry's, where nothing goes back to.
    let to_it = empty(Terminator::Goto(asking));
    let body = std::mem::replace(&mut function.blocks[block], to_it);
    let wait = empty(Terminator::Sync(asking));
    let ask = empty(Terminator::Room {
        children,
        then,
        other,
    });
    function.blocks.extend([body, wait, ask]);
}
