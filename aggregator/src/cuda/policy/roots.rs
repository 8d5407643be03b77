//! What workers take of a level, and what comes back.

use super::{Done, Policy, Run};
use crate::cuda::decision::Worked;

impl Policy<'_> {
    /// All that the level has of an entry channel, if these are enough and workers run such with what comes of them (`inside`, by source), and what `divide` says of where stacks end and of how many there are: the
    /// roots of a subtree dispatch. They run from now on. `short`: only if not all of them find room at once.
    pub(in crate::cuda) fn roots<T>(
        &mut self,
        enough: u32,
        short: bool,
        inside: &[bool],
        divide: impl FnOnce(&[u32], u32) -> Option<T>,
    ) -> Option<(Run, T)> {
        if self.join().is_some() || !self.rests() || !self.climb() {
            return None;
        }
        // What a run has one element of at most is not worth it, and has no room but for that.
        let several = |s: &usize| {
            let source = &self.plan.sources[*s];
            let stack = source.stack as usize;
            inside[*s] && self.capacities[stack] != self.plan.stacks[stack].few()
        };
        let entries = (0..self.plan.sources.len()).filter(several);
        let source = entries.max_by_key(|s| (self.have(*s), std::cmp::Reverse(*s)))?;
        let count = self.have(source);
        if count < enough.max(1) || (short && self.run_of(source, self.share()).0 == count) {
            return None;
        }
        let divided = divide(&self.levels.top, count)?;
        Some((self.start(source, count), divided))
    }

    /// An entry run that was chosen last is not to be run: its elements wait again.
    pub(in crate::cuda) fn undo(&mut self, run: &Run) {
        let stack = self.plan.sources[run.source].stack as usize;
        let now = &mut self.levels;
        // One element that was the first.
        match now.lo[stack] > run.first {
            true => now.lo[stack] = run.first,
            false => now.hi[stack] = run.first + run.count,
        }
        self.alive += u64::from(run.count);
    }

    /// Takes in that a subtree dispatch is over: so many of its roots have run, and all below them but what is left, which waits on the roots' level
    /// from now on.
    pub(in crate::cuda) fn took(&mut self, roots: &Run, worked: &Worked) {
        for (all, ran) in self.consumed.iter_mut().zip(&worked.ran) {
            *all += ran;
        }
        self.consumed[roots.source] -= u64::from(worked.roots);
        let rest = Done {
            counters: vec![0; self.plan.groups()],
            limit: u32::MAX,
            bottom: roots.first + worked.roots,
            left: roots.count - worked.roots,
            ..Done::default()
        };
        // Of roots that nobody took none was tried.
        let most = self.most;
        self.take(roots, &rest, 0);
        self.most = most;
        self.full = None;
        for &(left, first, count) in &worked.left {
            self.alive += u64::from(count);
            // Above what waits at this level: roots that nobody took, elements of other channels.
            if self.levels.have(left) == 0 {
                self.levels.lo[left] = first;
            }
            self.levels.hi[left] = first + count;
            self.levels.top[left] = first + count;
            self.peak[left] = self.peak[left].max(first + count);
        }
    }
}
