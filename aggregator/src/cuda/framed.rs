//! When workers run tasks with frames (`device/framed.cu`): where tasks spawn their own kind, wait and spawn again, so that levels multiply, and few
//! elements run at a time across the device.
//!
//! Each worker has levels of its own. So it is worth it where a dispatch across the device has few elements on an average for each root, and where what comes
//! of the roots is many dispatches. The first is asked beforehand, the second is seen.

use crate::gpus::Policy;

/// Before so many dispatches nothing is known of a run: then roots for one worker in so many are enough.
const PATIENCE: u64 = 32;
const ENOUGH: u32 = 4;
/// Dispatches across the device that have more elements than this on an average are worth more than workers.
const NARROW: u64 = 4096;
/// Roots are enough where there is one for so many elements of such a dispatch: a worker has some of them at a time.
const ELEMENTS: u64 = 32;
/// And where memory has room for a worker for each so many: in little memory each has few.
const CROWD: u64 = 2;
/// So many dispatches of each worker are worth a subtree dispatch: it takes as long as some dozen of the persistent kernel's.
const WORTH: u64 = 8;
/// So often the time until it is tried again is doubled at most, where it was not.
const MOST_TRIES: u32 = 6;
/// The fewest roots. Beside a single one nothing runs.
const LEAST_ROOTS: u32 = 2;

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub(super) struct SoFar {
    /// Workers that there would be.
    pub(super) workers: u32,
    /// Dispatches across the device, and the elements that they ran.
    pub(super) dispatches: u64,
    pub(super) ran: u64,
}

impl SoFar {
    fn mean(&self) -> u64 {
        self.ran / self.dispatches.max(1)
    }
}

/// What was seen of a run's subtree dispatches of tasks with frames. Dispatches are those across the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Framed {
    /// There is none before so many dispatches.
    not_before: u64,
    /// After so many was the last one.
    last: u64,
    /// How many in succession were not worth it.
    tries: u32,
    /// Until so many dispatches the next one is as good as sure: the host thread decides, which sees the roots first.
    until: u64,
}

impl Framed {
    /// How many roots are enough; none if no number is. Of `single` ones nothing runs side by side but the roots.
    pub(super) fn enough(&self, policy: Policy, single: bool, so_far: SoFar) -> Option<u32> {
        let begins = so_far.dispatches < PATIENCE;
        match policy {
            Policy::Device => None,
            Policy::Block if begins && !single => Some(so_far.workers.max(LEAST_ROOTS)),
            Policy::Block => Some(LEAST_ROOTS),
            Policy::Auto if so_far.dispatches < self.not_before => None,
            Policy::Auto if begins && single => Some(LEAST_ROOTS),
            Policy::Auto if begins => Some((so_far.workers / ENOUGH).max(LEAST_ROOTS)),
            Policy::Auto => match so_far.mean() {
                wide if wide > NARROW => None,
                _ if single => Some(LEAST_ROOTS),
                mean => {
                    let roots = (mean / ELEMENTS) as u32;
                    Some(roots.min(so_far.workers / ENOUGH).max(LEAST_ROOTS))
                }
            },
        }
    }

    /// How many workers there are to be room for.
    pub(super) fn least_workers(policy: Policy, so_far: SoFar) -> u32 {
        match policy {
            Policy::Auto if so_far.dispatches >= PATIENCE => {
                ((so_far.mean() / CROWD) as u32).clamp(1, so_far.workers)
            }
            Policy::Auto | Policy::Block | Policy::Device => 1,
        }
    }

    /// Takes in that there was one, whose workers had so many dispatches each, when there were so many across the device.
    pub(super) fn did(&mut self, each: u64, dispatches: u64) {
        self.last = dispatches;
        if each >= WORTH {
            self.tries = 0;
            self.not_before = dispatches;
            self.until = dispatches + PATIENCE;
        } else {
            self.tries = (self.tries + 1).min(MOST_TRIES);
            self.not_before = dispatches + (PATIENCE << self.tries);
            self.until = 0;
        }
    }

    /// Whether the next one is as good as sure.
    pub(super) const fn is_near(&self, dispatches: u64) -> bool {
        dispatches < self.until
    }

    /// After how many dispatches the persistent kernel asks whether there are roots by now: the longer there were none, the later, so that it costs nothing.
    pub(super) fn limit(&self, dispatches: u64) -> u64 {
        let waits = self.not_before.saturating_sub(dispatches);
        waits.max(2 * PATIENCE).max(dispatches - self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn so_far(dispatches: u64, ran: u64) -> SoFar {
        SoFar {
            workers: 500,
            dispatches,
            ran,
        }
    }

    #[test]
    fn roots_are_enough_where_dispatches_are_narrow() {
        use Policy::{Auto, Block, Device};
        let framed = Framed::default();
        let (begins, narrow, wide, one) = (
            so_far(3, 10),
            so_far(100, 40_000),
            so_far(100, 1 << 30),
            so_far(1000, 1100),
        );
        for (policy, single, expected) in [
            (Device, true, [None; 4]),
            (Auto, false, [Some(125), Some(12), None, Some(2)]),
            (Auto, true, [Some(2), Some(2), None, Some(2)]),
            (Block, false, [Some(500), Some(2), Some(2), Some(2)]),
            (Block, true, [Some(2); 4]),
        ] {
            let found = [begins, narrow, wide, one].map(|s| framed.enough(policy, single, s));
            assert_eq!(found, expected, "{policy:?} {single}");
        }
    }

    #[test]
    fn what_was_not_worth_it_is_tried_less_and_less_often() {
        let mut framed = Framed::default();
        let mut dispatches = PATIENCE;
        let mut waited = Vec::new();
        for _ in 0..8 {
            framed.did(3, dispatches);
            waited.push((framed.not_before - dispatches) / PATIENCE);
            assert!(!framed.is_near(dispatches));
            dispatches = framed.not_before;
        }
        assert_eq!(waited, [2, 4, 8, 16, 32, 64, 64, 64]);
        framed.did(WORTH, dispatches);
        assert!(
            framed.is_near(dispatches + PATIENCE - 1) && !framed.is_near(dispatches + PATIENCE)
        );
        let enough = framed.enough(Policy::Auto, false, so_far(dispatches, 0));
        assert_eq!(enough, Some(2));
        // The kernel asks soon when there were some, and else ever later.
        let limits = [0, 63, 200, 1000].map(|more| framed.limit(dispatches + more));
        assert_eq!(limits, [64, 64, 200, 1000]);
    }

    #[test]
    fn in_little_memory_there_are_too_few_workers() {
        let least = |policy, ran| Framed::least_workers(policy, so_far(100, ran));
        assert_eq!(least(Policy::Auto, 4_600), 23);
        assert_eq!(least(Policy::Auto, 1 << 30), 500);
        assert_eq!(least(Policy::Block, 1 << 30), 1);
    }
}
