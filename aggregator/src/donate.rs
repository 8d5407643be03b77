//! How a worker gives others what it has, and gets what they have: donation, by the rules of `README.md`.

use crate::{
    batch::Batch,
    dump::Doing,
    error::RunError,
    levels::Level,
    share::{Loan, Next, Wants},
    timeline::What,
    worker::{Stop, Worker},
};
use std::time::{Duration, Instant};

/// A batch takes no more, if it has several elements: so much stays in the caches of both workers. Ten million elements at once are
/// written to memory that nobody has touched before, and read from there, which takes longer than to run them.
const BATCH_BYTES: u64 = 1 << 20;

/// Batches of others that a waiting worker takes on, one on top of the other, at most.
const NESTED: usize = 32;

/// A batch that takes less time than this was not worth what it costs both to pass it on.
const WORTH: Duration = Duration::from_micros(20);
/// The longest that a worker keeps what it has to itself though somebody asks.
const LONGEST: Duration = Duration::from_millis(1);

/// When a worker gives again. Where the batches that it gives come to nothing, as the crumbs of deep and narrow levels do, it asks itself less and less often
/// whether there is something; one that was worth it, and it gives at once again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pause: Duration,
    until: Instant,
}

impl Patience {
    pub(crate) const fn new(now: Instant) -> Self {
        Self {
            pause: Duration::ZERO,
            until: now,
        }
    }

    /// Whether it is time.
    #[inline]
    fn is_over(&self, now: Instant) -> bool {
        now >= self.until
    }

    fn gave(&mut self, now: Instant) {
        self.until = now + self.pause;
    }

    /// A batch is back, for which somebody took so long; no time at all if nobody acquired it.
    fn judge(&mut self, took: Duration) {
        self.pause = match took < WORTH {
            true => (2 * self.pause).clamp(WORTH, LONGEST),
            false => Duration::ZERO,
        };
    }
}

impl Worker<'_> {
    /// Whether somebody wants work, and it is time to give some.
    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        self.run.shared.hungry() && self.patience.is_over(self.now)
    }

    /// Runs what others donate until the run is over.
    pub(crate) fn serve(&mut self) -> Result<(), Stop> {
        loop {
            match self.next(Wants {
                returned: false,
                work: true,
            })? {
                Next::Work(loan) => self.help(loan)?,
                _ => return Err(Stop::Over),
            }
        }
    }

    pub(crate) fn help(&mut self, mut loan: Loan<Batch>) -> Result<(), Stop> {
        self.tally.acquired += 1;
        let begin = self.stamp();
        self.look_at_the_clock();
        let began = self.now;
        self.run_batch(&loan.batch)?;
        self.look_at_the_clock();
        loan.batch.took = self.now - began;
        let (depth, count) = (loan.batch.depth, loan.batch.count);
        self.run.shared.finish(loan);
        self.spent(What::Batch, begin, (depth, count));
        Ok(())
    }

    /// Donates about half of the shallowest entries, the last of them: the largest subtrees. Of very many it is fewer, for who gets them asks again.
    pub(crate) fn offer(&mut self) {
        let current = self.current();
        // Elements of a channel are run by who took them: what they emit lies with it.
        let Some((level, task)) =
            (self.shallow..=current).find_map(|l| Some((l, self.most_to_give(l)?)))
        else {
            self.shallow = current;
            return;
        };
        self.shallow = level;
        let plan = &self.plan.tasks[task];
        let end = self.stacks.levels.end(level, task);
        let count = end - self.stacks.levels.base(level, plan.entry);
        let share = if level == current {
            count / 2
        } else {
            count.div_ceil(2)
        };
        let each = self.plan.batch_bytes(task);
        let most = (BATCH_BYTES / each).max(1);
        let count = share
            .min(most)
            .min((self.run.pool.lent() - self.lent) / each);
        if count == 0 {
            return;
        }
        let begin = self.stamp();
        let mut fields = vec![Vec::new(); self.plan.layouts[plan.entry].fields.len()];
        let rest = end - count;
        self.stacks.memory.copy_out(
            &self.plan.layouts,
            plan.entry.index(),
            rest,
            count,
            &mut fields,
        );
        let root = self.origin(level).map_or(task, |o| o.root);
        let descent = (self.depth(level), root);
        let batch = Batch::new(self.plan, task, count, fields, level, descent);
        self.lent += batch.bytes;
        self.use_bytes(0);
        let levels = &mut self.stacks.levels;
        levels.set_end(level, task, rest);
        levels.set_lent(level, levels.lent(level) + 1);
        if level == current {
            self.lower(plan.entry, rest);
            self.opened -= count * plan.bytes;
        }
        self.tally.donated += 1;
        self.run.shared.donate(self.id, batch);
        if let Some(bell) = self.bell {
            bell.call_one();
        }
        self.look_at_the_clock();
        self.patience.gave(self.now);
        self.spent(What::Donate, begin, (self.depth(level), count));
    }

    /// A level that is drained but for lent batches: takes them back, or helps others, or sleeps.
    pub(crate) fn wait(&mut self, level: Level) -> Result<(), Stop> {
        let help = self.origins.len() < NESTED && self.deep <= self.run.pool.modest();
        match self.next(Wants {
            returned: true,
            work: help,
        })? {
            Next::Returned(batch) => {
                batch.apply(self.plan);
                self.back(&batch);
            }
            Next::Reclaimed(mut batch) => {
                batch.restore();
                self.back(&batch);
                let plan = &self.plan.tasks[batch.task];
                let top = self.stacks.top(plan.entry);
                self.stacks.memory.copy_in(
                    &self.plan.layouts,
                    plan.entry.index(),
                    top,
                    &batch.fields,
                    0,
                    batch.count,
                );
                self.stacks.states[plan.entry.index()].top = top + batch.count;
                let levels = &mut self.stacks.levels;
                levels.set_base(level, plan.entry, top);
                levels.set_end(level, batch.task, top + batch.count);
                self.use_bytes(batch.count * plan.bytes);
                self.opened += batch.count * plan.bytes;
            }
            Next::Work(loan) => self.help(loan)?,
            Next::Over | Next::Stuck => return Err(Stop::Over),
        }
        Ok(())
    }

    /// A lent batch is no longer outstanding.
    fn back(&mut self, batch: &Batch) {
        self.patience.judge(batch.took);
        self.lent -= batch.bytes;
        let levels = &mut self.stacks.levels;
        levels.set_lent(batch.level, levels.lent(batch.level) - 1);
    }

    fn next(&mut self, wants: Wants) -> Result<Next<Batch>, Stop> {
        let level = self.open.wrapping_sub(1);
        let start = Instant::now();
        self.step(Doing::WaitsForWork, 0, 0, Some(start));
        let next = self
            .run
            .shared
            .next(self.id, wants, |batch| batch.level == level);
        self.waited(start);
        match next {
            Next::Over => Err(Stop::Over),
            Next::Stuck => Err(RunError::Stuck {
                state: self.describe(),
            }
            .into()),
            next => Ok(next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crumbs_are_given_ever_more_rarely_until_a_batch_is_worth_it() {
        let begin = Instant::now();
        let mut patience = Patience::new(begin);
        assert!(patience.is_over(begin));
        patience.gave(begin);
        assert!(patience.is_over(begin), "nothing is known of it yet");
        let mut last = Duration::ZERO;
        for _ in 0..10 {
            patience.judge(Duration::ZERO);
            patience.gave(begin);
            assert!(last == LONGEST || !patience.is_over(begin + last));
            last = patience.pause;
            assert!(patience.is_over(begin + last));
        }
        assert_eq!(last, LONGEST);
        patience.judge(WORTH);
        patience.gave(begin);
        assert!(patience.is_over(begin));
    }
}
