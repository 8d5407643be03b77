//! Subtree dispatches: the tier inside the blocks. A dispatch across the device runs one segment over a run of elements; a subtree dispatch gives the
//! elements of an entry channel to *workers*, which run each with all that comes of it. A worker is a block with a range of each of the run's
//! stacks, above what lies there, and with the same policy for it (`device/workers.cu`).

use super::{
    launcher::Launcher,
    policy::{Policy, Run as Chosen},
    run::{Counts, Run, words},
};
use crate::{error::RunError, gpus, timeline::now};
use millstream_channels_kernel::cuda::{
    abi::{Crew, status},
    plan::{Mode, Plan},
};
use millstream_graph::ir::TaskId;

/// A worker's ranges begin at numbers that this divides, so that its warps read whole lines.
const ALIGNED: u32 = 32;
/// So many elements of each stack that a program needs one of a worker has at least, for each that one element pushes.
const LEAST_UNITS: u64 = 64;
/// So many batches of roots there are for each worker, so that they end at about the same time.
const BATCHES: u32 = 4;
/// Roots of a batch at most: a wavefront.
const MOST_ROOTS: u32 = 256;

/// After so many dispatches without enough roots, there will not be more.
const PATIENCE: u64 = 32;

/// Of an entry level: how many elements are worth a subtree dispatch, for so many workers and after so many dispatches.
const fn enough(policy: gpus::Policy, workers: u32, dispatches: u64) -> u32 {
    match policy {
        gpus::Policy::Device => u32::MAX,
        gpus::Policy::Auto => 16 * workers,
        gpus::Policy::Block if dispatches > PATIENCE => 1,
        gpus::Policy::Block => workers,
    }
}

/// Whether workers may run what a run of a task reaches: what cannot be counted before it has run needs all the room that there is.
pub(super) fn may(plan: &Plan, entry: TaskId) -> bool {
    let reached = plan.reached(entry);
    let of = plan.sources.iter().filter(|s| reached[s.task.index()]);
    of.filter(|s| matches!(s.mode, Mode::Direct { .. }))
        .all(|s| s.pushes.iter().all(|p| p.max.is_some()))
}

/// Where the workers' ranges lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ranges {
    pub(super) workers: u32,
    /// Of each stack.
    pub(super) base: Vec<u32>,
    pub(super) share: Vec<u32>,
}

impl Ranges {
    /// Divides what is above `top` in stacks of these capacities among so many workers at most; fewer, if there is little. None if there is
    /// not enough for one.
    pub(super) fn new(plan: &Plan, capacities: &[u64], top: &[u32], most: u32) -> Option<Self> {
        let unit = u64::from(ALIGNED);
        // Of what a run has one element at most nothing is pushed below the first level that has several.
        let is_few = |s: usize| capacities[s] == plan.stacks[s].few();
        let base: Vec<u64> = (0..top.len())
            .map(|s| match is_few(s) {
                true => 0,
                false => u64::from(top[s]).next_multiple_of(unit),
            })
            .collect();
        let left = |s: usize| capacities[s].saturating_sub(base[s]);
        let least = |s: usize| (LEAST_UNITS * plan.stacks[s].weight).next_multiple_of(unit);
        let large = (0..top.len()).filter(|s| !is_few(*s));
        let workers = large
            .map(|s| left(s) / least(s))
            .fold(most.into(), u64::min);
        if workers == 0 {
            return None;
        }
        let share = |s: usize| match is_few(s) {
            true => capacities[s],
            false => left(s) / workers / unit * unit,
        };
        Some(Self {
            workers: workers as u32,
            share: (0..top.len()).map(|s| share(s) as u32).collect(),
            base: base.into_iter().map(|at| at as u32).collect(),
        })
    }
}

/// What became of a subtree dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Subtrees {
    /// There was none.
    None,
    /// All that came of its roots is done.
    Done,
    /// The run has to end.
    Stopped,
}

/// What workers counted in a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Workers {
    /// Subtree dispatches.
    pub(super) dispatches: u64,
    /// Levels reached.
    pub(super) reached: u32,
    /// The most elements at once, of each stack; nothing if there was no such dispatch.
    pub(super) peak: Vec<u32>,
}

impl<L: Launcher> Run<'_, L> {
    /// Has workers run what the policy has on an entry channel of its level, if that is worth it.
    pub(super) fn subtrees(
        &self,
        policy: &mut Policy<'_>,
        counts: &mut Counts,
    ) -> Result<Subtrees, RunError> {
        if self.settings.policy == gpus::Policy::Device || !self.countable {
            return Ok(Subtrees::None);
        }
        let most = self.launcher.workers()?;
        if most == 0 {
            return Ok(Subtrees::None);
        }
        let roots = enough(self.settings.policy, most, counts.dispatches);
        // Fewer workers have larger ranges.
        let divide = |top: &[u32], count: u32| {
            Ranges::new(self.plan(), &self.arena.capacities, top, most.min(count))
        };
        let Some((run, ranges)) = policy.roots(roots, divide) else {
            return Ok(Subtrees::None);
        };
        let begun = now();
        self.write(self.arena.crew, &self.crew(policy, &run, &ranges))?;
        self.watched.dispatch(&run, self.plan());
        // SAFETY: the run's memory is laid out as the kernel expects, and so is the record.
        unsafe {
            self.launcher
                .subtrees(self.base + self.arena.crew, ranges.workers)
        }?;
        self.await_kernel()?;
        let at = Crew::new(self.plan());
        let crew = words(&self.read(self.arena.crew, at.bytes())?);
        let ran = at.consumed.all(&crew);
        policy.took(&run, &ran);
        counts.dispatches += at.dispatches.get(&crew);
        counts.narrow += at.narrow.get(&crew);
        counts.unseen = true;
        let workers = &mut counts.workers;
        workers.dispatches += 1;
        workers.reached = workers.reached.max(at.reached.get(&crew));
        workers.peak.resize(ranges.base.len(), 0);
        let peaks = at.peak.all(&crew);
        for ((most, peak), base) in workers.peak.iter_mut().zip(peaks).zip(&ranges.base) {
            *most = (*most).max(if peak > 0 { base + peak } else { 0 });
        }
        if let Some(records) = &mut counts.records {
            records.push_subtrees(self.plan(), run, ran, (begun, now()));
        }
        self.watched.publish(policy, counts.dispatches);
        let status = self.read(self.arena.control, 4)?;
        Ok(match words(&status)[..] {
            [status::OK] => Subtrees::Done,
            _ => Subtrees::Stopped,
        })
    }

    /// The record that workers take.
    fn crew(&self, policy: &Policy<'_>, run: &Chosen, ranges: &Ranges) -> Vec<u8> {
        let (plan, at) = (self.plan(), Crew::new(self.plan()));
        let mut words = at.zeroed();
        at.stack.set(&mut words, plan.sources[run.source].stack);
        at.first.set(&mut words, run.first);
        at.count.set(&mut words, run.count);
        at.level.set(&mut words, run.level);
        let batch = run
            .count
            .div_ceil(BATCHES * ranges.workers)
            .clamp(1, MOST_ROOTS);
        at.batch.set(&mut words, batch);
        let below = policy.expected().saturating_sub(run.level);
        at.expected.set(&mut words, below);
        let marks = self.arena.room.marks.saturating_sub(policy.marks()) / ranges.workers;
        at.marks.set(&mut words, marks);
        at.base.fill(&mut words, &ranges.base);
        at.share.fill(&mut words, &ranges.share);
        at.average.fill(&mut words, policy.average());
        at.waiting
            .set(&mut words, self.base + self.mark(policy.marks()));
        at.elements
            .set(&mut words, self.base + self.arena.crew_elements);
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// Adds the elements that workers ran, by level.
    pub(super) fn workers_elements(&self, counts: &mut Counts) -> Result<(), RunError> {
        if counts.workers.dispatches == 0 {
            return Ok(());
        }
        let known = u64::from(self.arena.room.known);
        let bytes = self.read(self.arena.crew_elements, 8 * known)?;
        let ran: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|c| u64::from_le_bytes(c.try_into().unwrap_or_default()))
            .collect();
        let levels = ran.iter().rposition(|n| *n > 0).map_or(0, |last| last + 1);
        counts.elements.resize(counts.elements.len().max(levels), 0);
        for (all, ran) in counts.elements.iter_mut().zip(ran) {
            *all += ran;
        }
        Ok(())
    }
}
