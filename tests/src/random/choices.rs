//! Where a program's randomness comes from: a list of choices, drawn from a seed or given.
//!
//! The generator makes a valid program of any list, and takes the simplest way where the list says 0 or has ended; so a program that fails is
//! made smaller by making its list smaller, and no smaller program is ever an invalid one.

/// Choices, and what was chosen so far.
#[derive(Clone, Debug)]
pub struct Choices {
    state: u64,
    given: Option<Vec<u32>>,
    made: Vec<u32>,
}

impl Choices {
    /// Choices drawn from a seed.
    #[must_use]
    pub const fn seeded(seed: u64) -> Self {
        Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            given: None,
            made: Vec::new(),
        }
    }

    /// These choices, then zeros.
    #[must_use]
    pub const fn given(list: Vec<u32>) -> Self {
        Self {
            state: 0,
            given: Some(list),
            made: Vec::new(),
        }
    }

    /// What was chosen.
    #[must_use]
    pub fn made(&self) -> &[u32] {
        &self.made
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        let n = n.max(1);
        let chosen = match &self.given {
            Some(list) => list.get(self.made.len()).copied().unwrap_or(0) % n,
            None => {
                // SplitMix64.
                self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = self.state;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                ((z ^ (z >> 31)) >> 32) as u32 % n
            }
        };
        self.made.push(chosen);
        chosen
    }

    /// True `percent` times of a hundred; false is the simpler way.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) >= 100 - percent
    }

    /// One of them; the first is the simplest.
    pub fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        let i = self.below(of.len() as u32) as usize;
        of[i].clone()
    }
}
