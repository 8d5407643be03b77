//! What a run did, counted once a dispatch.

mod shown;

use crate::{
    decisions::Decision,
    plan::Plan,
    timeline::{Timeline, Track},
};
use millstream_channels_kernel::layout::StackIndex;
use serde::{Serialize, Serializer};
use std::time::Duration;

/// Levels that are counted one by one; deeper ones only add to the totals.
const COUNTED_LEVELS: usize = 1024;
/// Numbers of elements are told apart by their power of two, up to this one.
const WIDTHS: usize = 40;

/// What one worker counts while it runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) tasks: Vec<u64>,
    pub(crate) levels: Vec<u64>,
    pub(crate) deepest: u64,
    /// Of all tasks.
    pub(crate) done: u64,
    /// Tasks that ended where they were spawned.
    pub(crate) leaves: u64,
    /// Of each node.
    nodes: Vec<NodeTally>,
    /// Of each stack the most elements that lay on it.
    tops: Vec<u64>,
    /// Elements that ran alone, for want of memory.
    pub(crate) alone: u64,
    pub(crate) donated: u64,
    pub(crate) acquired: u64,
    pub(crate) peak: u64,
    /// The same without what was taken from the memory that all workers share.
    pub(crate) own_peak: u64,
}

/// What one worker counts of a node.
#[derive(Clone, PartialEq, Debug)]
struct NodeTally {
    elements: u64,
    full: u64,
    /// Elements of wavefronts that were full.
    in_full: u64,
    yields: u64,
    /// By the power of two of their elements.
    dispatches: [u64; WIDTHS],
}

impl NodeTally {
    const NONE: Self = Self {
        elements: 0,
        full: 0,
        in_full: 0,
        yields: 0,
        dispatches: [0; WIDTHS],
    };
}

impl Tally {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            tasks: vec![0; plan.tasks.len()],
            nodes: vec![NodeTally::NONE; plan.nodes.len()],
            tops: vec![0; plan.bytes.len()],
            ..Self::default()
        }
    }

    /// The same again, for another run.
    pub(crate) fn cleared(self) -> Self {
        let Self {
            mut tasks,
            mut levels,
            mut nodes,
            mut tops,
            ..
        } = self;
        levels.clear();
        tasks.fill(0);
        nodes.fill(NodeTally::NONE);
        tops.fill(0);
        Self {
            tasks,
            levels,
            nodes,
            tops,
            ..Self::default()
        }
    }

    /// So many elements of a node were dispatched and so many consumed, where a full wavefront has that many.
    #[inline]
    pub(crate) fn dispatched(&mut self, node: usize, (count, consumed): (u64, u64), width: u64) {
        let node = &mut self.nodes[node];
        node.elements += consumed;
        let full = consumed >= width;
        node.full += u64::from(full);
        node.in_full += if full { consumed } else { 0 };
        node.yields += u64::from(consumed < count);
        let power = consumed.max(1).ilog2() as usize;
        node.dispatches[power.min(WIDTHS - 1)] += 1;
    }

    /// Wavefronts so far.
    pub(crate) fn dispatches(&self) -> u64 {
        self.nodes.iter().flat_map(|n| n.dispatches).sum()
    }

    /// A stack has so many elements.
    #[inline]
    pub(crate) fn saw(&mut self, stack: StackIndex, top: u64) {
        let most = &mut self.tops[stack.index()];
        *most = top.max(*most);
    }

    /// Elements of a task were consumed at a depth.
    #[inline]
    pub(crate) fn count(&mut self, task: usize, depth: u64, elements: u64) {
        self.tasks[task] += elements;
        self.done += elements;
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

/// What a node of the graph did: a segment of a task, or a kernel.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct NodeReport {
    /// Its name, as in drawings of the graph.
    pub name: String,
    /// Whether its elements are tasks that begin, or what a channel holds; else they are frames of tasks that go on.
    pub entry: bool,
    /// How many elements a full wavefront has; 0 where that is not known.
    pub width: u64,
    /// How many elements it consumed.
    pub elements: u64,
    /// Its wavefronts. A GPU counts them by node only with a timeline; else this is 0, and so are the next three.
    pub dispatches: u64,
    /// Those that were as wide as they should be; 0 where `width` is.
    pub full: u64,
    /// Those of which elements were given back, as they found no room for what they push.
    pub yields: u64,
    /// How many wavefronts had 1 element, 2 or 3, 4 to 7, and so on.
    pub widths: Vec<u64>,
    /// How long they took, all workers' added up, if the run looked at the clock.
    #[serde(rename = "time_ns", serialize_with = "nanoseconds_if_any")]
    pub time: Option<Duration>,
    /// Elements over the places that its wavefronts have, from 0 to 1, where that is known: of a CPU `width` places each, or as many as there were
    /// elements if these are more; of a GPU the lanes of the warps that they filled.
    pub lanes_active: Option<f64>,
    /// The same of wavefronts that were not full, if there were some: of a GPU, of the last warp of each.
    pub partial_lanes_active: Option<f64>,
    #[serde(skip)]
    pub(crate) lanes: Lanes,
}

/// Elements, and the places that their wavefronts have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lanes {
    elements: u64,
    places: u64,
    /// Of wavefronts that were not full.
    partial: (u64, u64),
}

impl Lanes {
    /// A wavefront of a GPU had so many elements, of which so many were consumed, in warps of so many lanes.
    #[cfg(feature = "cuda")]
    pub(crate) fn add(&mut self, (count, consumed): (u64, u64), warp: u64) {
        self.elements += consumed;
        self.places += count.next_multiple_of(warp);
        if !count.is_multiple_of(warp) {
            self.partial.0 += count % warp;
            self.partial.1 += warp;
        }
    }

    /// Wavefronts of a CPU's node of that width.
    fn of(tally: &NodeTally, width: u64) -> Self {
        let dispatches: u64 = tally.dispatches.iter().sum();
        let partial = (
            tally.elements - tally.in_full,
            (dispatches - tally.full) * width,
        );
        Self {
            elements: tally.elements,
            places: tally.in_full + partial.1,
            partial,
        }
    }

    pub(crate) const fn join(&mut self, other: Self) {
        self.elements += other.elements;
        self.places += other.places;
        self.partial.0 += other.partial.0;
        self.partial.1 += other.partial.1;
    }

    fn share((elements, places): (u64, u64)) -> Option<f64> {
        (places > 0).then(|| elements as f64 / places as f64)
    }

    fn active(self) -> Option<f64> {
        Self::share((self.elements, self.places))
    }

    fn partial(self) -> Option<f64> {
        Self::share(self.partial)
    }
}

/// What a channel stack held.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct StackReport {
    /// Its name, as in drawings of the graph.
    pub name: String,
    /// Bytes of an element.
    pub element_bytes: u64,
    /// The most elements that lay on it at one time; with several workers each one's most, added up.
    pub peak: u64,
}

/// What a kernel of a program takes of a GPU, as the driver says.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct KernelReport {
    /// The node whose wavefronts it runs; else `persistent`, or `move`, which moves together what was given back.
    pub name: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// Bytes of a thread's stack, and of what found no register.
    pub local_bytes: u32,
    /// Blocks that run at one time.
    pub blocks: u32,
}

/// What went through a channel of a graph.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
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

/// What a GPU did inside its blocks: each is a worker that runs whole subtrees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct SubtreesReport {
    /// Subtree dispatches: elements of a level that workers ran with all that came of them. 0 if all of the run was across the device.
    pub count: u64,
    /// Workers of the one that had most.
    pub workers: u32,
    /// Whether they had private stacks for tasks of the program, which spawn their own kind alone and gather.
    pub private: bool,
    /// Whether they ran tasks with frames, level by level.
    pub framed: bool,
    /// Wavefronts of the workers'.
    pub dispatches: u64,
    /// Elements that workers offered to others.
    pub donated: u64,
    /// Those of them that others took.
    pub acquired: u64,
    /// Those in which a worker found no room: what was left went on across the device, until it was time to try again.
    pub recalls: u64,
}

/// What one worker did.
#[derive(Clone, PartialEq, Debug, Serialize)]
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
    /// How long of the run it was in no wavefront, if the run looked at the clock: it slept, looked for work or decided.
    #[serde(rename = "blocked_ns", serialize_with = "nanoseconds_if_any")]
    pub blocked: Option<Duration>,
    /// How long it slept inside the run, as there was nothing to do.
    #[serde(rename = "idle_ns", serialize_with = "nanoseconds")]
    pub idle: Duration,
    #[serde(skip)]
    pub(crate) inside: Duration,
    #[serde(skip)]
    tally: Tally,
    /// Of each node, if the run looked at the clock.
    #[serde(skip)]
    pub(crate) times: Vec<Duration>,
    /// What it did when, if that was asked for.
    #[serde(skip)]
    pub(crate) track: Option<Track>,
    /// What it decided, if that was asked for.
    #[doc(hidden)]
    #[serde(skip)]
    pub decisions: Vec<Decision>,
}

impl WorkerReport {
    pub(crate) fn new(worker: u32, inside: Duration, idle: Duration, tally: Tally) -> Self {
        Self {
            worker,
            busy: 0.0,
            dispatches: tally.dispatches(),
            tasks: tally.done,
            donated: tally.donated,
            acquired: tally.acquired,
            peak: tally.peak,
            blocked: None,
            idle,
            inside,
            times: Vec::new(),
            track: None,
            decisions: Vec::new(),
            tally,
        }
    }
}

/// What a run did.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct RunReport {
    /// How many tasks ran, for each task of the program that did: also those that ended where they were spawned, as leaves do.
    pub tasks: Vec<(String, u64)>,
    /// How many tasks ran in all.
    pub total: u64,
    /// Those of them that ended where they were spawned, and so were in no wavefront.
    pub leaves: u64,
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
    /// Whether kernels of a GPU ran that were compiled quickly and are slower, as those which are compiled in full were not there when the run began.
    pub quick: bool,
    /// Whether nobody said how much memory the channels of a GPU may take, and less is enough inside the blocks than there is.
    pub modest: bool,
    /// What ran inside the blocks of a GPU. Of these tasks nobody knows the levels.
    pub subtrees: SubtreesReport,
    /// Decisions that were compared with the policy's, where the run kept record of them.
    pub compared: u64,
    /// Elements that ran alone with all that came of them, as memory was short.
    pub alone: u64,
    /// What each node did that ran.
    pub nodes: Vec<NodeReport>,
    /// What each channel stack held that was used.
    pub stacks: Vec<StackReport>,
    /// The kernels of a GPU that ran it, or could have.
    pub kernels: Vec<KernelReport>,
    /// Most bytes that channels held at one time: elements, frames, level records, donated batches. With several workers each one's peak
    /// of what is its own, and the most that all had of what they share, which together are no less.
    pub peak: u64,
    /// The budget in bytes.
    pub budget: u64,
    /// How many threads the budget was too small for, beside those that could take part: each needs 2 MiB.
    pub left_out: u32,
    /// How long compiling took when the program was loaded.
    #[serde(rename = "compiling_ns", serialize_with = "nanoseconds")]
    pub compiling: Duration,
    /// How long arguments and results were copied.
    #[serde(rename = "copying_ns", serialize_with = "nanoseconds")]
    pub copying: Duration,
    /// How long the tasks ran.
    #[serde(rename = "running_ns", serialize_with = "nanoseconds")]
    pub running: Duration,
    /// Time blocked on the aggregator: how long of `running` one who could have worked was in no wavefront, on an average, where that is known. Of
    /// threads of the CPU, if the run looked at the clock; of a GPU that the host thread decides for, from a kernel's end to the next one's launch; of
    /// blocks of the persistent kernel with a timeline only.
    #[serde(rename = "blocked_ns", serialize_with = "nanoseconds_if_any")]
    pub blocked: Option<Duration>,
    /// As [`NodeReport::lanes_active`], of all nodes, if it is known of each.
    pub lanes_active: Option<f64>,
    /// As [`NodeReport::partial_lanes_active`].
    pub partial_lanes_active: Option<f64>,
    /// What each worker did that took part.
    pub workers: Vec<WorkerReport>,
    /// What went through each channel, if a graph ran.
    pub channels: Vec<ChannelReport>,
    /// What happened when, if the device was asked to keep that.
    #[serde(skip)]
    pub timeline: Timeline,
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
    /// Sums up what the workers of a program say; `shared` is the most memory that they had in common.
    pub(crate) fn sum(
        plan: &Plan,
        mut workers: Vec<WorkerReport>,
        shared: u64,
        running: Duration,
    ) -> Self {
        workers.sort_by_key(|w| w.worker);
        for worker in &mut workers {
            let awake = worker.inside.saturating_sub(worker.idle);
            worker.busy = (awake.as_secs_f64() / running.as_secs_f64().max(1e-9)).min(1.0);
            let looked = !worker.times.is_empty();
            let worked: Duration = worker.times.iter().sum();
            worker.blocked = looked.then(|| running.saturating_sub(worked));
        }
        let blocked: Option<Duration> = workers.iter().map(|w| w.blocked).sum();
        let sum = |of: &dyn Fn(&WorkerReport) -> u64| workers.iter().map(of).sum();
        let tasks = plan.tasks.iter().enumerate();
        let tasks = tasks.map(|(t, task)| (task.name.clone(), sum(&|w| w.tally.tasks[t])));
        let depth = workers.iter().map(|w| w.tally.levels.len()).max();
        let at = |l: usize| workers.iter().filter_map(|w| w.tally.levels.get(l)).sum();
        let nodes = (0..plan.nodes.len()).map(|n| NodeReport::sum(plan, n, &workers));
        let stacks = plan
            .bytes
            .iter()
            .zip(0..)
            .map(|(&element_bytes, s)| StackReport {
                name: plan.channels[s as usize].clone(),
                element_bytes,
                peak: sum(&|w| w.tally.tops[s as usize]),
            });
        let mut report = Self {
            tasks: by_name(tasks),
            total: sum(&|w| w.tasks),
            leaves: sum(&|w| w.tally.leaves),
            levels: workers.iter().map(|w| w.tally.deepest).max().unwrap_or(0),
            elements: (0..depth.unwrap_or(0)).map(at).collect(),
            dispatches: sum(&|w| w.dispatches),
            alone: sum(&|w| w.tally.alone),
            nodes: nodes.filter(|n| n.dispatches > 0).collect(),
            stacks: stacks.filter(|s| s.peak > 0).collect(),
            peak: sum(&|w| w.tally.own_peak) + shared,
            running,
            blocked: blocked.and_then(|b| b.checked_div(workers.len() as u32)),
            workers,
            ..Self::default()
        };
        report.sum_lanes();
        report
    }

    /// Says how full wavefronts were, of each node and of all. Nodes of which nothing was counted leave it open.
    pub(crate) fn sum_lanes(&mut self) {
        let mut all = Lanes::default();
        for node in &mut self.nodes {
            (node.lanes_active, node.partial_lanes_active) =
                (node.lanes.active(), node.lanes.partial());
            all.join(node.lanes);
        }
        if self.nodes.iter().all(|n| n.lanes_active.is_some()) {
            (self.lanes_active, self.partial_lanes_active) = (all.active(), all.partial());
        }
    }

    /// Puts the workers' tracks behind the host's.
    pub(crate) fn keep_timeline(&mut self, plan: &Plan, roots: u64, host: Track) {
        let tracks = self.workers.iter_mut().filter_map(|w| w.track.take());
        self.timeline.tracks = std::iter::once(host).chain(tracks).collect();
        self.timeline.nodes.clone_from(&plan.nodes);
        self.timeline.entries = plan.tasks.len();
        self.timeline.roots = roots;
    }
}

impl NodeReport {
    /// Sums up what the workers say of a node.
    fn sum(plan: &Plan, node: usize, workers: &[WorkerReport]) -> Self {
        let rest = node.checked_sub(plan.tasks.len());
        let mut out = Self {
            name: plan.nodes[node].clone(),
            entry: rest.is_none(),
            width: match rest {
                None => plan.tasks[node].width,
                Some(continuation) => plan.continuations[continuation].width,
            },
            widths: vec![0; WIDTHS],
            ..Self::default()
        };
        for worker in workers {
            let tally = &worker.tally.nodes[node];
            out.elements += tally.elements;
            out.full += tally.full;
            out.yields += tally.yields;
            out.lanes.join(Lanes::of(tally, out.width));
            for (sum, &dispatches) in out.widths.iter_mut().zip(&tally.dispatches) {
                *sum += dispatches;
            }
            if let Some(&time) = worker.times.get(node) {
                *out.time.get_or_insert_default() += time;
            }
        }
        out.dispatches = out.widths.iter().sum();
        let last = out.widths.iter().rposition(|&n| n > 0);
        out.widths.truncate(last.map_or(0, |last| last + 1));
        out
    }
}

fn nanoseconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(time.as_nanos() as u64)
}

fn nanoseconds_if_any<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    time.map(|t| t.as_nanos() as u64).serialize(to)
}
