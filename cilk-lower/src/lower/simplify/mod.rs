//! Makes a function smaller without changing what it does: constants and copies are passed on, constants folded, scalar slots kept
//! in locals, dead code and useless jumps taken out.

mod dead;
mod fold;
mod jumps;
mod promote;
mod propagate;

pub(in crate::lower) use fold::is_nan;

use super::edit;
use millstream_graph::ir::{Function, LocalId};

/// How often the passes are repeated at most: each makes work for the others, and hardly any function needs more than three rounds.
const ROUNDS: usize = 8;

/// Takes out dead code and useless jumps; the locals keep their numbers.
pub(crate) fn tidy(function: &mut Function, ret: Option<LocalId>) {
    jumps::straighten(function);
    while dead::eliminate(function, ret) {}
}

/// The same where little is dead: what only dead code of other blocks reads may be left.
pub(crate) fn sweep(function: &mut Function, ret: Option<LocalId>) {
    jumps::straighten(function);
    dead::eliminate(function, ret);
}

/// Simplifies a function; `ret`, if there is one, is a local that each return reads. Gives its new number.
pub(crate) fn simplify(function: &mut Function, ret: Option<LocalId>) -> Option<LocalId> {
    settle(function, ret);
    let numbers = edit::drop_unused(function, ret);
    ret.and_then(|r| numbers[r.index()])
}

/// The same, but that locals and slots keep their numbers.
pub(crate) fn settle(function: &mut Function, ret: Option<LocalId>) {
    for _ in 0..ROUNDS {
        let mut changed = jumps::straighten(function);
        changed |= promote::promote(function);
        changed |= propagate::propagate(function, ret);
        changed |= dead::eliminate(function, ret);
        if !changed {
            return;
        }
    }
    // Nothing leads any more to what the last round decided against.
    jumps::straighten(function);
}
