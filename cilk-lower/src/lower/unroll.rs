//! Loops with few turns, known before they run, are written out where that lets a small array live in registers.
//!
//! ```text
//! let mut sum = [0.0; 2];                            let (mut a, mut b) = (0.0, 0.0);
//! for k in 0..2 { sum[k] += x[k] * y; }      =>      a += x[0] * y; b += x[1] * y;
//! ```
//!
//! Turns are taken off the front of a loop, which is right however many there are; of a loop with as many turns nothing is left then. An
//! array whose loops cannot all be written out stays as it is, and so do they.

use super::{edit, loops, scalars, simplify, turns};
use millstream_graph::{
    flow::{self, BlockSet, Flow},
    ir::{BlockId, Function, LocalId, Operand, Rvalue, SlotId, StmtKind},
};

/// A loop of more turns stays.
const MOST_TURNS: u32 = 16;
/// As do those that would take more statements.
const MOST_STATEMENTS: usize = 1536;
/// As does each loop that would make the function larger than this: a loop within one that was written out stands there as often.
const MOST_IN_ALL: usize = 4096;

/// Puts small arrays of a helper or a segment into locals. `ret`, if there is one, is a local that each return reads. Gives its new number.
pub(crate) fn unroll(function: &mut Function, ret: Option<LocalId>) -> Option<LocalId> {
    let mut changed = scalars::replace(function);
    if changed {
        simplify::settle(function, ret);
    }
    for slot in inner_first(function) {
        let mut trial = function.clone();
        if written_out(&mut trial, ret, slot) && scalars::replace(&mut trial) {
            simplify::settle(&mut trial, ret);
            *function = trial;
            changed = true;
        }
    }
    if changed {
        simplify::simplify(function, ret)
    } else {
        ret
    }
}

/// The slots, those of small loops first: a loop within another is written out before that one has made copies of it, each of which would be looked at
/// by itself.
fn inner_first(function: &Function) -> Vec<SlotId> {
    let mut slots: Vec<SlotId> = (0..function.slots.len()).map(SlotId::new).collect();
    slots.sort_by_cached_key(|slot| {
        let loops = scalars::may_fit(function, *slot).then(|| loops_that_index(function, *slot));
        loops.into_iter().flatten().map(|l| l.size).min()
    });
    slots
}

/// Writes out all loops that index a slot. Says whether there were any, and none is left.
fn written_out(function: &mut Function, ret: Option<LocalId>, slot: SlotId) -> bool {
    let mut any = false;
    while scalars::may_fit(function, slot) {
        let loops = loops_that_index(function, slot);
        if loops.is_empty() {
            return any;
        }
        // Those with none within are apart from each other: what the function comes to is looked at once for all of them.
        let mut in_all = edit::size(function);
        let mut more = false;
        for of in innermost(&loops) {
            let Some(turns) = of.turns.filter(|t| {
                let more = of.size * *t as usize;
                (1..=MOST_TURNS).contains(t)
                    && more <= MOST_STATEMENTS
                    && in_all + more <= MOST_IN_ALL
            }) else {
                break;
            };
            loops::take_off(function, ret, (of.header, &of.blocks), turns);
            in_all += of.size * turns as usize;
            more = true;
        }
        if !more {
            return false;
        }
        simplify::settle(function, ret);
        any = true;
    }
    false
}

/// The loops with no other of them within, the smallest first.
fn innermost(loops: &[Loop]) -> Vec<&Loop> {
    let within = |a: &Loop, b: &Loop| a.header != b.header && b.blocks.contains(a.header);
    let mut inner: Vec<&Loop> = loops
        .iter()
        .filter(|b| !loops.iter().any(|a| within(a, b)))
        .collect();
    inner.sort_by_key(|l| l.size);
    inner
}

/// A loop.
struct Loop {
    header: BlockId,
    blocks: BlockSet,
    size: usize,
    /// How many there are, if that is known.
    turns: Option<u32>,
}

/// The loops in which an element of the slot is named by a number that is not known.
fn loops_that_index(function: &Function, slot: SlotId) -> Vec<Loop> {
    let within = scalars::addresses_in(function, slot);
    let indexes = |id: BlockId| {
        let mut stmts = function.blocks[id.index()].stmts.iter();
        stmts.any(|s| {
            matches!(&s.kind, StmtKind::Assign {
                value: Rvalue::PtrAdd { base: Operand::Local(base), index: Operand::Local(_), .. },
                ..
            } if within.contains(base.index()))
        })
    };
    let flow = Flow::new(function);
    let indexing = |l: &flow::Loop| l.blocks.iter().any(indexes);
    let of = flow.loops().into_iter().filter(indexing).map(|l| Loop {
        size: loops::size(function, &l.blocks),
        turns: loops::may_be_copied(function, &l.blocks)
            .then(|| turns::exactly(function, &flow, &l))
            .flatten()
            .map(|(turns, _)| turns),
        header: l.header,
        blocks: l.blocks,
    });
    of.collect()
}
