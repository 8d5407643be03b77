//! When the persistent kernel takes over from the host thread, where both decide: after some runs in succession that it would have done sooner, for as long as
//! these took, that takes too. It ends with the first run that is worth a launch (`persistent.cu`).

/// After so many narrow runs one block of it takes over.
const NARROW_RUNS: u32 = 4;
/// After so many that are not worth a launch all its blocks do.
const SHORT_RUNS: u32 = 8;

/// What the host has seen since.
#[derive(Debug)]
pub(super) struct Turns {
    narrow: Succession,
    short: Succession,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            narrow: Succession::of(NARROW_RUNS),
            short: Succession::of(SHORT_RUNS),
        }
    }
}

impl Turns {
    /// Takes in a run of the host's: whether one block would have done it, or all without a launch.
    pub(super) fn saw(&mut self, narrow: bool, short: bool) {
        self.narrow.saw(narrow);
        self.short.saw(short);
    }

    /// Whether it takes over, and then whether with all its blocks.
    pub(super) const fn due(&self) -> Option<bool> {
        match (self.narrow.is_due(), self.short.is_due()) {
            (true, _) => Some(false),
            (false, true) => Some(true),
            (false, false) => None,
        }
    }

    /// Takes in how many runs it did. If that was little, it takes over after twice as many the next time.
    pub(super) const fn did(&mut self, all: bool, runs: u64) {
        let whose = if all {
            &mut self.short
        } else {
            &mut self.narrow
        };
        whose.did(runs);
    }
}

/// Runs of a kind in succession.
#[derive(Debug)]
struct Succession {
    least: u32,
    enough: u32,
    seen: u32,
}

impl Succession {
    const fn of(least: u32) -> Self {
        Self {
            least,
            enough: least,
            seen: 0,
        }
    }

    const fn saw(&mut self, fits: bool) {
        self.seen = if fits { self.seen.saturating_add(1) } else { 0 };
    }

    const fn is_due(&self) -> bool {
        self.seen >= self.enough
    }

    const fn did(&mut self, runs: u64) {
        self.seen = 0;
        self.enough = if runs <= 2 * self.least as u64 {
            self.enough.saturating_mul(2)
        } else {
            self.least
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_handed_little_is_asked_less_often() {
        let mut turns = Turns::default();
        let mut after = |did| {
            let mut runs = 0;
            while turns.due().is_none() {
                turns.saw(true, false);
                runs += 1;
            }
            assert_eq!(turns.due(), Some(false), "one block is enough");
            turns.did(false, did);
            runs
        };
        let all = [after(3), after(8), after(9), after(100)];
        assert_eq!(all, [4, 8, 16, 4]);
    }

    #[test]
    fn all_blocks_take_over_what_is_more_than_one_does() {
        let mut turns = Turns::default();
        for run in 0..SHORT_RUNS {
            assert_eq!(turns.due(), None, "{run}");
            turns.saw(run % 3 == 0, true);
        }
        assert_eq!(turns.due(), Some(true));
        turns.saw(false, false);
        assert_eq!(turns.due(), None);
    }
}
