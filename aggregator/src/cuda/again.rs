//! A run that finds no room on a GPU is begun again: by the form of the program that has restart points wherever nobody knows how much a
//! task spawns in a loop; with larger stacks where helpers call themselves; or without workers that have levels of their own, where one of these found none
//! ([`run`](super::run)).
//!
//! The driver keeps a stack for each thread that a GPU can hold, a quarter of a million, whatever runs: 64 KiB each are 17 GiB of an H200. So they
//! are small at first, and a run whose helpers want more is begun again with four times as much, up to that or a quarter of the memory. The stacks
//! stay for all later runs.
//!
//! The form that GPUs run first has none where a task only spawns and gathers: such tiles are tried or counted, and given back whole, so that
//! one element's children need room at once. A restart point there would be paid for by every run, with two more stacks among which memory is
//! divided. So it is paid for by those that end without it.
//!
//! Nothing of a run is seen before it is over: results and what tasks write are copied to the host at its end, and only then. But for buffers of
//! the device, which tasks write where they lie: a run that was lent one to write to is not begun again.

use crate::{args::ErasedCall, error::RunError};

/// Whether a run ended for want of room that restart points may find. At the first level it is the budget that is too small for a call.
pub(super) const fn is_short(error: &RunError) -> bool {
    match error {
        RunError::ChannelFull { .. } => true,
        RunError::OutOfMemory { depth, .. } => *depth > 0,
        _ => false,
    }
}

/// Whether a worker with levels may have ended a run so, for want of room.
pub(super) const fn is_crowd(error: &RunError) -> bool {
    matches!(
        error,
        RunError::ChannelFull { .. }
            | RunError::OutOfMemory { .. }
            | RunError::TooManyLevels { .. }
    )
}

/// Whether a run that ended so may find room with restart points, and can be begun again.
#[must_use]
pub fn is_worth_another(error: &RunError, calls: &[ErasedCall<'_>]) -> bool {
    is_short(error) && leaves_nothing(calls)
}

/// Whether nothing is seen of a run of these calls that ends with an error.
pub(super) fn leaves_nothing(calls: &[ErasedCall<'_>]) -> bool {
    !calls.iter().any(ErasedCall::writes_where_it_lies)
}
