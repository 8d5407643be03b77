//! When workers run tasks with frames (`device/framed.cu`): where tasks spawn their own kind, wait and spawn again, so that levels multiply, and few
//! elements run at a time across the device.
//!
//! Each worker has levels of its own. So it is worth it where there are about as many roots as a dispatch across the device has elements on an average, and
//! where what comes of them is many dispatches. The first is asked beforehand, the second is seen.

use crate::gpus::Policy;

/// Before so many dispatches nothing is known of a run: then roots for one worker in so many are enough.
const PATIENCE: u64 = 32;
const ENOUGH: u32 = 4;
/// Dispatches across the device that have more elements than this on an average are worth more than workers.
const NARROW: u64 = 1024;
/// So many dispatches of all workers are worth a subtree dispatch: it takes as long as some dozen of the persistent kernel's.
const WORTH: u64 = 256;
/// So often the time until it is tried again is doubled at most, where it was not.
const MOST_TRIES: u32 = 6;
/// The fewest roots. Below one there is nothing to do side by side.
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

/// What was seen of a run's subtree dispatches of tasks with frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Framed {
    /// There is none before so many dispatches.
    not_before: u64,
    /// How many in succession were not worth it.
    tries: u32,
    /// Until so many dispatches the next one is as good as sure: the host thread decides, which sees the roots first.
    until: u64,
}

impl Framed {
    /// How many roots are enough; none if no number is. Of `single` ones nothing runs side by side but the roots.
    pub(super) fn enough(&self, policy: Policy, single: bool, so_far: SoFar) -> Option<u32> {
        let mean = so_far.ran / so_far.dispatches.max(1);
        let begins = so_far.dispatches < PATIENCE;
        match policy {
            Policy::Device => None,
            Policy::Block if begins && !single => Some(so_far.workers.max(LEAST_ROOTS)),
            Policy::Block => Some(LEAST_ROOTS),
            Policy::Auto if so_far.dispatches < self.not_before => None,
            Policy::Auto if single => Some(LEAST_ROOTS),
            Policy::Auto if begins => Some((so_far.workers / ENOUGH).max(LEAST_ROOTS)),
            Policy::Auto if mean > NARROW => None,
            Policy::Auto => Some((mean as u32 / 2).min(so_far.workers).max(LEAST_ROOTS)),
        }
    }

    /// Takes in that there was one, whose workers had so many dispatches, when there were so many across the device.
    pub(super) fn did(&mut self, inside: u64, dispatches: u64) {
        if inside >= WORTH {
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

    /// After how many dispatches the persistent kernel asks whether there are roots by now: seldom enough that it costs little.
    pub(super) fn limit(&self, dispatches: u64) -> u64 {
        let waits = self.not_before.saturating_sub(dispatches);
        waits.max(2 * PATIENCE).max(dispatches.min(8 * PATIENCE))
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
            so_far(100, 1 << 20),
            so_far(1000, 1100),
        );
        for (policy, single, expected) in [
            (Device, true, [None; 4]),
            (Auto, false, [Some(125), Some(200), None, Some(2)]),
            (Auto, true, [Some(2); 4]),
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
    }
}
