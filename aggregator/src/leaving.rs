//! What a worker leaves of its state when its run is stopped, and what a run looks like then: a [`Dump`].

use crate::{
    dump::{ChannelState, Doing, Dump, Held, Sight, WorkerState},
    live::Step,
    run::Run,
    worker::Worker,
};
use std::time::Instant;

/// What lay on a stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lay {
    pub(crate) elements: u64,
    /// The shallowest and the deepest level with some.
    pub(crate) between: Option<(u64, u64)>,
}

impl Lay {
    pub(crate) fn add(&mut self, level: u64, elements: u64) {
        if elements > 0 {
            self.elements += elements;
            self.join(Some((level, level)));
        }
    }

    fn join(&mut self, other: Option<(u64, u64)>) {
        self.between = match (self.between, other) {
            (Some((low, high)), Some((l, h))) => Some((low.min(l), high.max(h))),
            (mine, other) => mine.or(other),
        };
    }
}

/// What a worker was at when it left.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    pub(crate) worker: usize,
    pub(crate) state: WorkerState,
    /// By stack.
    pub(crate) lay: Vec<Lay>,
}

impl Worker<'_> {
    /// It does that from now on, at a node or a channel, with so many elements of the current level.
    #[inline]
    pub(crate) fn step(&mut self, doing: Doing, at: usize, elements: u64, begun: Option<Instant>) {
        self.steps = self.steps.wrapping_add(1);
        self.begun = begun;
        let step = Step {
            doing,
            at,
            level: self.current_depth(),
            elements,
            number: self.steps,
        };
        self.run.board().step(self.id.0 as usize, step);
    }

    /// What it is at, before it gives its stacks back.
    pub(crate) fn leave(&self) -> Left {
        let lay = self.lay();
        let worker = self.id.0 as usize;
        let own = self.plan.channels.iter().zip(&lay);
        let own = own.filter(|(_, lay)| lay.elements > 0);
        let last = self.run.board().last_step(worker);
        let ago = self.begun.map(|b| b.elapsed());
        let ago = ago.or_else(|| self.run.board().since(worker));
        Left {
            worker,
            state: WorkerState {
                name: format!("worker {worker}"),
                last: last.event(&self.plan.nodes, ago),
                done: self.tally.done,
                dispatches: Some(self.tally.dispatches()),
                bytes: self.live + self.lent,
                stacks: own
                    .map(|(name, lay)| Held {
                        channel: name.clone(),
                        elements: lay.elements,
                    })
                    .collect(),
                lent: (0..self.open)
                    .map(|l| u64::from(self.stacks.levels.lent(l)))
                    .sum(),
                ..WorkerState::default()
            },
            lay,
        }
    }

    /// What lies on each stack: entries that were not consumed, frames, and continuations that wait.
    fn lay(&self) -> Vec<Lay> {
        let mut lay = vec![Lay::default(); self.stacks.states.len()];
        let levels = &self.stacks.levels;
        for level in 0..self.open {
            let (depth, reach) = (self.depth(level), self.reach(level));
            for &(t, entry) in &reach.entries {
                // Those of a graph's channel lie there.
                if !self.plan.tasks[t].in_channel {
                    let waiting = levels.end(level, t) - levels.base(level, entry);
                    lay[entry.index()].add(depth, waiting);
                }
            }
            for &s in &reach.inner {
                // Where those that are no entries end: a level that cannot use the stack says nothing of it.
                let next = (level + 1..self.open).find(|l| self.reach(*l).inner.contains(&s));
                let end = next.map_or_else(|| self.stacks.top(s), |l| levels.base(l, s));
                lay[s.index()].add(depth, end.saturating_sub(levels.base(level, s)));
            }
        }
        // The children of the level that runs are not at a level yet.
        if let Some(current) = self.open.checked_sub(1) {
            for &(t, entry) in &self.here.entries {
                let above = self.stacks.top(entry);
                let above = above.saturating_sub(levels.end(current, t));
                if !self.plan.tasks[t].in_channel {
                    lay[entry.index()].add(self.depth(current) + 1, above);
                }
            }
        }
        lay
    }
}

impl Sight for Run {
    fn sight(&self) -> Dump {
        let left = self.left.lock();
        let workers: Vec<WorkerState> = (0..self.workers as usize)
            .map(|w| {
                let there = left.iter().find(|l| l.worker == w);
                there.map_or_else(|| self.seen_from_outside(w), |l| l.state.clone())
            })
            .collect();
        let inside = |w: &&WorkerState| w.last.doing != Doing::Nothing;
        let unknown = workers.iter().filter(inside).count() > left.len();
        let plan = &self.loaded.plan;
        let channels = (plan.channels.iter().zip(&plan.bytes)).enumerate();
        let channels = channels.map(|(s, (name, &element_bytes))| {
            let mut all = Lay::default();
            for one in left.iter() {
                all.elements += one.lay[s].elements;
                all.join(one.lay[s].between);
            }
            ChannelState {
                name: name.clone(),
                waiting: (!unknown).then_some(all.elements),
                element_bytes,
                between: all.between,
                ..ChannelState::default()
            }
        });
        let missing = "a worker is still at work: what its stacks hold is not known";
        Dump {
            running_ns: self.begun.elapsed().as_nanos() as u64,
            done: workers.iter().map(|w| w.done).sum(),
            levels: (0..workers.len())
                .map(|w| self.board().so_far_of(w).levels)
                .max()
                .unwrap_or(0),
            dispatches: workers.iter().map(|w| w.dispatches).sum(),
            bytes: workers.iter().map(|w| w.bytes).sum(),
            budget: self.pool.budget(),
            channels: channels.collect(),
            missing: unknown.then(|| missing.to_owned()).into_iter().collect(),
            workers,
            ..Dump::default()
        }
    }
}

impl Run {
    /// A worker as it can be seen while it works.
    fn seen_from_outside(&self, worker: usize) -> WorkerState {
        let last = self.board().last_step(worker);
        let so_far = self.board().so_far_of(worker);
        WorkerState {
            name: format!("worker {worker}"),
            last: last.event(&self.loaded.plan.nodes, self.board().since(worker)),
            done: so_far.tasks,
            dispatches: (last.doing == Doing::Nothing).then_some(0),
            bytes: so_far.bytes,
            ..WorkerState::default()
        }
    }
}
