//! Who may use how much memory, so that what runs in a budget runs in every larger one. `README.md` has the proof.
//!
//! A part of the budget is for going wide: each level has an *allowance* of it, which depends on the budget and on the level's number only.
//! What fits its level's allowance runs many elements at a time. What does not runs one element at a time, in the *deep* part, which is for
//! nothing else. With several workers each has a wide part of its own and one for batches, and the deep part is common.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A budget smaller than this for each worker is not worth sharing: fewer workers run.
pub(crate) const LEAST_PER_WORKER: u64 = 2 << 20;
/// One of so many parts of the budget is for going wide.
const WIDE: u64 = 3;
/// With several workers one of so many parts is for batches.
const LENT: u64 = 8;
/// Workers take the common part in pieces of one of so many parts.
const PIECES: u64 = 256;
/// The first levels, of which each has the same allowance: 16. The next twice as many have less, and so on.
const FIRST_LEVELS: u32 = 4;
/// Each such group of levels has one of so many parts of what those before it left.
const GROUP_SHARE: u64 = 2;
const GROUPS: usize = 28;

/// The bytes that each level may hold to be run wide. All together they are no more than what they were made of.
#[derive(Debug)]
pub(crate) struct Allowances([u64; GROUPS]);

impl Allowances {
    fn new(wide: u64) -> Self {
        let mut rest = wide;
        Self(std::array::from_fn(|group| {
            let part = rest / GROUP_SHARE;
            rest -= part;
            part >> (group as u32 + FIRST_LEVELS)
        }))
    }

    /// That of the level with this number.
    #[inline]
    pub(crate) fn of(&self, level: usize) -> u64 {
        let group = ((level >> FIRST_LEVELS) + 1).ilog2() as usize;
        self.0.get(group).copied().unwrap_or(0)
    }
}

/// The memory of a run.
#[derive(Debug)]
pub(crate) struct Pool {
    budget: u64,
    workers: u32,
    /// Each worker's.
    pub(crate) allowances: Allowances,
    lent: u64,
    deep: u64,
    /// What nobody took of the deep part, and the least that it ever was.
    free: AtomicU64,
    least: AtomicU64,
    /// Workers that wait until others give memory back.
    waiting: AtomicU32,
}

impl Pool {
    pub(crate) fn new(budget: u64, workers: u32) -> Self {
        let workers = workers.max(1);
        let wide = budget / WIDE;
        let lent = if workers > 1 { budget / LENT } else { 0 };
        let deep = budget - wide - lent;
        Self {
            budget,
            workers,
            allowances: Allowances::new(wide / u64::from(workers)),
            lent: lent / u64::from(workers),
            deep,
            free: AtomicU64::new(deep),
            least: AtomicU64::new(deep),
            waiting: AtomicU32::new(0),
        }
    }

    /// How many workers of those asked for a budget is enough for.
    pub(crate) fn workers(budget: u64, asked: u32) -> u32 {
        u64::from(asked).min(budget / LEAST_PER_WORKER).max(1) as u32
    }

    pub(crate) const fn budget(&self) -> u64 {
        self.budget
    }

    /// What a worker may have in batches that are not back.
    pub(crate) const fn lent(&self) -> u64 {
        self.lent
    }

    /// The deep part that a worker has from the start: one that is alone has all of it.
    #[inline]
    pub(crate) const fn own(&self) -> u64 {
        if self.workers > 1 { 0 } else { self.deep }
    }

    /// A worker that uses no more than this of the deep part may take on what others donate.
    pub(crate) fn modest(&self) -> u64 {
        self.deep / u64::from(2 * self.workers)
    }

    /// What a worker should take at once, so that it seldom has to.
    #[inline]
    pub(crate) const fn piece(&self) -> u64 {
        self.deep / PIECES
    }

    /// Takes so many bytes of the deep part.
    pub(crate) fn take(&self, bytes: u64) -> bool {
        // Relaxed: the counter orders nothing; only its sum matters. Pairs with `give`.
        let (relaxed, less) = (Ordering::Relaxed, |free: u64| free.checked_sub(bytes));
        let taken = self.free.fetch_update(relaxed, relaxed, less);
        if let Ok(before) = taken {
            // Relaxed: read when the run is over, by `most_taken`.
            self.least.fetch_min(before - bytes, Ordering::Relaxed);
        }
        taken.is_ok()
    }

    /// Takes `missing` bytes, or a whole piece if there is one; says how many it took.
    pub(crate) fn take_piece(&self, missing: u64) -> Option<u64> {
        let sizes = [missing.max(self.piece()), missing];
        sizes.into_iter().find(|&bytes| self.take(bytes))
    }

    /// Gives bytes back.
    pub(crate) fn give(&self, bytes: u64) {
        // Relaxed: see `take`.
        self.free.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The most that was taken at one time.
    pub(crate) fn most_taken(&self) -> u64 {
        // Relaxed: every worker has left the run.
        self.deep - self.least.load(Ordering::Relaxed)
    }

    /// How many workers wait for memory, one more from now on, or one less.
    pub(crate) const fn waiting(&self) -> &AtomicU32 {
        &self.waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowances_never_sum_to_more_than_there_is_and_grow_with_it() {
        let mut last: Option<Allowances> = None;
        for wide in [0, 1, 100, 4097, 10_000, 1 << 20, (1 << 20) + 1, 3 << 33] {
            let allowances = Allowances::new(wide);
            let levels = (0..1 << 22).map(|l| allowances.of(l));
            assert!(levels.sum::<u64>() <= wide, "{wide}");
            if let Some(last) = last {
                let all = last.0.iter().zip(&allowances.0);
                assert!(all.into_iter().all(|(less, more)| less <= more), "{wide}");
            }
            last = Some(allowances);
        }
    }

    #[test]
    fn the_parts_of_a_pool_are_no_more_than_the_budget() {
        for (budget, workers) in [(1000, 1), (1001, 3), (64 << 20, 2), (7, 16)] {
            let pool = Pool::new(budget, workers);
            let each: u64 = (0..1 << 22).map(|l| pool.allowances.of(l)).sum();
            assert!(u64::from(workers) * (each + pool.lent()) + pool.deep <= budget);
            assert!(pool.take(pool.deep) && !pool.take(1));
            pool.give(pool.deep);
            assert!(pool.take(pool.deep / 2) && pool.take_piece(1).is_some());
            assert!(pool.most_taken() == pool.deep);
        }
        assert_eq!(Pool::workers(1 << 20, 16), 1);
        assert_eq!(Pool::workers(8 << 20, 16), 4);
    }
}
