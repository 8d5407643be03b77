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
use std::time::Instant;

/// A batch takes no more, if it has several elements: so much stays in the caches of both workers. Ten million elements at once are
/// written to memory that nobody has touched before, and read from there, which takes longer than to run them.
const BATCH_BYTES: u64 = 1 << 20;

/// Batches of others that a waiting worker takes on, one on top of the other, at most.
const NESTED: usize = 32;

impl Worker<'_> {
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

    pub(crate) fn help(&mut self, loan: Loan<Batch>) -> Result<(), Stop> {
        self.tally.acquired += 1;
        let begin = self.stamp();
        self.run_batch(&loan.batch)?;
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
            (self.shallow..=current).find_map(|l| Some((l, self.most_entries_of(l, false)?)))
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
