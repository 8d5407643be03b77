//! What a run did, counted once a dispatch.

use crate::{budget::LEAST_PER_WORKER, decisions::Decision, policy::Bytes};
use std::{fmt, time::Duration};

/// Levels that are counted one by one; deeper ones only add to the totals.
const COUNTED_LEVELS: usize = 1024;

/// What one worker counts while it runs.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) tasks: Vec<u64>,
    pub(crate) levels: Vec<u64>,
    pub(crate) deepest: u64,
    pub(crate) dispatches: u64,
    pub(crate) donated: u64,
    pub(crate) acquired: u64,
    pub(crate) peak: u64,
    /// The same without what was taken from the memory that all workers share.
    pub(crate) own_peak: u64,
}

impl Tally {
    pub(crate) fn new(tasks: usize) -> Self {
        Self {
            tasks: vec![0; tasks],
            ..Self::default()
        }
    }

    /// Elements of a task were consumed at a depth.
    pub(crate) fn count(&mut self, task: usize, depth: u64, elements: u64) {
        self.tasks[task] += elements;
        self.deepest = self.deepest.max(depth + 1);
        let depth = depth as usize;
        if depth < COUNTED_LEVELS {
            if self.levels.len() <= depth {
                self.levels.resize(depth + 1, 0);
            }
            self.levels[depth] += elements;
        }
    }
}

/// What one worker counts of a channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChannelTally {
    pub(crate) elements: u64,
    pub(crate) full: u64,
    pub(crate) partial: u64,
    pub(crate) yields: u64,
    pub(crate) dropped: u64,
    pub(crate) peak: u64,
}

/// What went through a channel of a graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ChannelReport {
    /// Its name.
    pub name: String,
    /// How many elements it has room for.
    pub width: u32,
    /// How many came into it.
    pub elements: u64,
    /// How many of them were dropped, as its policy wants where it is full.
    pub dropped: u64,
    /// Wavefronts of its elements that were as wide as they should be.
    pub full: u64,
    /// Those that were not.
    pub partial: u64,
    /// How often a producer found no room.
    pub yields: u64,
    /// The most elements that were seen in it.
    pub peak: u64,
}

impl ChannelReport {
    /// Sums up what workers say.
    pub(crate) fn sum<'a>(
        name: String,
        width: u32,
        tallies: impl Iterator<Item = &'a ChannelTally>,
    ) -> Self {
        let mut out = Self {
            name,
            width,
            ..Self::default()
        };
        for tally in tallies {
            out.elements += tally.elements;
            out.dropped += tally.dropped;
            out.full += tally.full;
            out.partial += tally.partial;
            out.yields += tally.yields;
            out.peak = out.peak.max(tally.peak);
        }
        out
    }
}

/// What one worker did.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct WorkerReport {
    /// Its number; 0 is the thread that called.
    pub worker: u32,
    /// Share of the run that it was not asleep, from 0 to 1.
    pub busy: f64,
    /// Wavefronts it ran.
    pub dispatches: u64,
    /// Tasks it ran.
    pub tasks: u64,
    /// Batches it gave away.
    pub donated: u64,
    /// Batches it took.
    pub acquired: u64,
    /// Most bytes its channels held at one time.
    pub peak: u64,
    pub(crate) awake: Duration,
    pub(crate) by_task: Vec<u64>,
    pub(crate) by_level: Vec<u64>,
    pub(crate) deepest: u64,
    pub(crate) own_peak: u64,
    /// What it decided, if that was asked for.
    #[doc(hidden)]
    pub decisions: Vec<Decision>,
}

impl WorkerReport {
    pub(crate) fn new(worker: u32, inside: Duration, parked: Duration, tally: Tally) -> Self {
        Self {
            worker,
            busy: 0.0,
            dispatches: tally.dispatches,
            tasks: tally.tasks.iter().sum(),
            donated: tally.donated,
            acquired: tally.acquired,
            peak: tally.peak,
            awake: inside.saturating_sub(parked),
            by_task: tally.tasks,
            by_level: tally.levels,
            deepest: tally.deepest,
            own_peak: tally.own_peak,
            decisions: Vec::new(),
        }
    }
}

/// What a run did.
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct RunReport {
    /// How many tasks ran, for each task of the program that did: also those that ended where they were spawned, as leaves do.
    pub tasks: Vec<(String, u64)>,
    /// How many tasks ran in all.
    pub total: u64,
    /// How many levels the run was deep.
    pub levels: u64,
    /// How many tasks ran at each level; of the first thousand or so.
    pub elements: Vec<u64>,
    /// Wavefronts, of entries and of continuations.
    pub dispatches: u64,
    /// Those of them that a warp of a GPU did by itself, as they had few elements.
    pub narrow: u64,
    /// Whether the run began without the kernel for narrow levels of a GPU: it was still being compiled, or the program is too large for one. The
    /// calling thread decided everything until it was there.
    pub early: bool,
    /// Decisions that were compared with the policy's, where the run kept record of them.
    pub compared: u64,
    /// Most bytes that channels held at one time: elements, frames, level records, donated batches. With several workers each one's peak
    /// of what is its own, and the most that all had of what they share, which together are no less.
    pub peak: u64,
    /// The budget in bytes.
    pub budget: u64,
    /// How many threads the budget was too small for, beside those that could take part: each needs 2 MiB.
    pub left_out: u32,
    /// How long compiling took when the program was loaded.
    pub compiling: Duration,
    /// How long arguments and results were copied.
    pub copying: Duration,
    /// How long the tasks ran.
    pub running: Duration,
    /// What each worker did that took part.
    pub workers: Vec<WorkerReport>,
    /// What went through each channel, if a graph ran.
    pub channels: Vec<ChannelReport>,
}

/// The counts of tasks that ran, versions of one task added up.
pub(crate) fn by_name(counts: impl Iterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut out: Vec<(String, u64)> = Vec::new();
    for (name, count) in counts.filter(|(_, n)| *n > 0) {
        match out.iter_mut().find(|(n, _)| *n == name) {
            Some((_, sum)) => *sum += count,
            None => out.push((name, count)),
        }
    }
    out
}

impl RunReport {
    /// Sums up what workers say; `shared` is the most memory that they had in common.
    pub(crate) fn sum(
        names: impl Iterator<Item = String>,
        mut workers: Vec<WorkerReport>,
        shared: u64,
        running: Duration,
    ) -> Self {
        workers.sort_by_key(|w| w.worker);
        for worker in &mut workers {
            worker.busy = (worker.awake.as_secs_f64() / running.as_secs_f64().max(1e-9)).min(1.0);
        }
        let sum = |of: fn(&WorkerReport) -> u64| workers.iter().map(of).sum();
        let tasks = names
            .enumerate()
            .map(|(t, name)| (name, workers.iter().map(|w| w.by_task[t]).sum()));
        let depth = workers.iter().map(|w| w.by_level.len()).max().unwrap_or(0);
        let at = |l: usize| workers.iter().filter_map(|w| w.by_level.get(l)).sum();
        Self {
            tasks: by_name(tasks),
            total: sum(|w| w.tasks),
            levels: workers.iter().map(|w| w.deepest).max().unwrap_or(0),
            elements: (0..depth).map(at).collect(),
            dispatches: sum(|w| w.dispatches),
            peak: sum(|w| w.own_peak) + shared,
            running,
            workers,
            ..Self::default()
        }
    }
}

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |d: Duration| format!("{:.3} ms", d.as_secs_f64() * 1e3);
        let each = self.running.as_secs_f64() * 1e9 / self.total.max(1) as f64;
        writeln!(
            f,
            "{} tasks in {}, {each:.2} ns each",
            self.total,
            time(self.running)
        )?;
        if self.tasks.len() > 1 {
            let tasks: Vec<_> = self
                .tasks
                .iter()
                .map(|(name, n)| format!("{name} {n}"))
                .collect();
            writeln!(f, "  tasks      {}", tasks.join(", "))?;
        }
        let width = self.total as f64 / self.dispatches.max(1) as f64;
        writeln!(f, "  levels     {}", self.levels)?;
        write!(f, "  dispatches {}, {width:.1} tasks each", self.dispatches)?;
        if self.narrow > 0 {
            write!(f, "; {} by one warp", self.narrow)?;
        }
        if self.early {
            write!(f, "; the kernel for narrow ones was not there at first")?;
        }
        writeln!(f)?;
        writeln!(
            f,
            "  channels   {} at most, of {}",
            Bytes(self.peak),
            Bytes(self.budget)
        )?;
        if self.left_out > 0 {
            writeln!(
                f,
                "  threads    {} more than the budget is enough for, at {} each",
                self.left_out,
                Bytes(LEAST_PER_WORKER)
            )?;
        }
        write!(
            f,
            "  compiling  {}, copying {}",
            time(self.compiling),
            time(self.copying)
        )?;
        for c in &self.channels {
            let mean = c.elements as f64 / (c.full + c.partial).max(1) as f64;
            write!(
                f,
                "\n  `{}` {} elements in {} full and {} smaller wavefronts, {mean:.1} each; {} yields, {} of {} at most",
                c.name, c.elements, c.full, c.partial, c.yields, c.peak, c.width
            )?;
            if c.dropped > 0 {
                write!(f, ", {} dropped", c.dropped)?;
            }
        }
        if self.workers.len() > 1 {
            for w in &self.workers {
                let (n, busy) = (w.worker, w.busy * 100.0);
                write!(
                    f,
                    "\n  worker {n:<3} {busy:.0} % busy, {} tasks, {} batches donated, {} acquired",
                    w.tasks, w.donated, w.acquired
                )?;
            }
        }
        Ok(())
    }
}
