//! What a run on a GPU is at, for who watches it and for a dump: what the thread that drives it knows, and while a kernel decides by itself what a
//! second stream can read of its memory.

use super::{
    decision::Run as Chosen,
    launcher::Launcher,
    policy::Policy,
    run::{Counts, Run},
    timeline::node_name,
};
use crate::{
    dump::{ChannelState, Doing, Dump, Held, Sight, WorkerState},
    gpus::Aggregator,
    live::{Live, SoFar, Step},
};
use millstream_channels_kernel::cuda::{
    abi::{Control, Dispatch},
    plan::Plan,
};
use std::{
    cell::{Cell, RefCell},
    sync::Arc,
    time::{Duration, Instant},
};

/// Who is watched on a GPU: the thread of the host, and the kernel that decides by itself.
pub const WATCHED: u32 = 2;
/// Their numbers.
pub(super) const HOST: usize = 0;
pub(super) const KERNEL: usize = 1;
/// No node: it is not known which.
pub(super) const NOWHERE: usize = usize::MAX;
/// How often the memory of a kernel that runs is looked at.
const GLANCE: Duration = Duration::from_millis(250);

/// A run, as it can be seen from any thread.
#[derive(Debug)]
pub(super) struct GpuSight {
    pub(super) live: Live,
    begun: Instant,
    graph: Option<String>,
    pub(super) kernel: &'static str,
    nodes: Vec<String>,
    channels: Vec<ChannelState>,
    budget: u64,
}

impl GpuSight {
    /// Of a graph of kernels, if it is named, whose channels are these.
    pub(super) fn new(
        live: &Live,
        (graph, kernel): (Option<String>, &'static str),
        (nodes, channels): (Vec<String>, Vec<ChannelState>),
        budget: u64,
    ) -> Arc<Self> {
        let this = Arc::new(Self {
            live: live.clone(),
            begun: Instant::now(),
            graph,
            kernel,
            nodes,
            channels,
            budget,
        });
        let weak = Arc::downgrade(&this);
        live.0.begins(weak);
        this
    }

    /// Somebody does that from now on.
    pub(super) fn step(&self, who: usize, doing: Doing, (at, level): (usize, u32), elements: u32) {
        let number = self.live.0.last_step(who).number.wrapping_add(1);
        let step = Step {
            doing,
            at,
            level: level.into(),
            elements: elements.into(),
            number,
        };
        self.live.0.step(who, step);
    }
}

impl Sight for GpuSight {
    fn sight(&self) -> Dump {
        let board = &self.live.0;
        let names = [(HOST, "host thread"), (KERNEL, self.kernel)];
        let there = |who: usize| board.last_step(who).doing != Doing::Nothing;
        let workers = names.into_iter().filter(|(who, _)| there(*who));
        let so_far = self.live.so_far();
        Dump {
            graph: self.graph.clone(),
            running_ns: self.begun.elapsed().as_nanos() as u64,
            done: so_far.tasks,
            levels: so_far.levels,
            dispatches: so_far.dispatches,
            bytes: so_far.bytes,
            budget: self.budget,
            channels: self.channels.clone(),
            workers: workers
                .map(|(who, name)| WorkerState {
                    name: name.to_owned(),
                    last: (board.last_step(who)).event(&self.nodes, board.since(who)),
                    dispatches: board.so_far_of(who).dispatches,
                    ..WorkerState::default()
                })
                .collect(),
            missing: vec![
                "what the channels hold lies on the GPU, and the run is not over".to_owned(),
            ],
            ..Dump::default()
        }
    }
}

/// What a run of tasks keeps for its sight.
#[derive(Debug)]
pub(super) struct Watched {
    sight: Arc<GpuSight>,
    /// Bytes of an element of each stack.
    bytes: Vec<u64>,
    /// The stack whose elements were dispatched last, and how many.
    hand: Cell<Option<(u32, u32)>>,
    /// When the kernel's memory was looked at.
    looked: Cell<Option<Instant>>,
    /// Why something is not known.
    missing: RefCell<Vec<String>>,
    /// What a run that failed was at.
    left: RefCell<Option<Dump>>,
}

impl Watched {
    /// `capacities`, what is kept `once`, and the `budget` are the arena's.
    pub(super) fn new(
        plan: &Plan,
        live: &Live,
        (capacities, once, budget): (&[u64], &[bool], u64),
    ) -> Self {
        let bytes: Vec<u64> = plan.stacks.iter().map(|s| s.bytes(once)).collect();
        let sizes = bytes.iter().zip(capacities).zip(0..);
        let channels = sizes.map(|((&element_bytes, &capacity), s)| ChannelState {
            name: plan.stack_name(s),
            capacity: Some(capacity),
            element_bytes,
            ..ChannelState::default()
        });
        let nodes = plan.sources.iter().map(|s| node_name(plan, s).to_owned());
        let about = (nodes.collect(), channels.collect());
        Self {
            sight: GpuSight::new(live, (None, "persistent kernel"), about, budget),
            bytes,
            hand: Cell::default(),
            looked: Cell::default(),
            missing: RefCell::default(),
            left: RefCell::default(),
        }
    }

    /// What a run that failed was at.
    pub(super) fn left(&self) -> Dump {
        let left = self.left.borrow_mut().take();
        left.unwrap_or_else(|| self.sight.sight())
    }

    /// The host has taken in what came of a dispatch.
    pub(super) fn publish(&self, policy: &Policy<'_>, dispatches: u64) {
        let so_far = SoFar {
            dispatches: Some(dispatches),
            ..policy.so_far(&self.bytes)
        };
        self.sight.live.0.publish(HOST, so_far);
    }

    /// The host launches a kernel for a dispatch.
    pub(super) fn dispatch(&self, run: &Chosen, plan: &Plan) {
        self.hand
            .set(Some((plan.sources[run.source].stack, run.count)));
        let at = (run.source, run.level);
        self.sight.step(HOST, Doing::Runs, at, run.count);
    }

    /// The persistent kernel decides, from the host's next sight on.
    pub(super) fn kernel_begins(&self) {
        self.hand.set(None);
        self.looked.set(Some(Instant::now()));
        self.sight.step(KERNEL, Doing::Runs, (NOWHERE, 0), 0);
        self.sight.step(HOST, Doing::WaitsForWork, (NOWHERE, 0), 0);
    }

    /// It has ended, and the host decides again.
    pub(super) fn kernel_ended(&self) {
        let board = &self.sight.live.0;
        board.publish(
            KERNEL,
            SoFar {
                dispatches: Some(0),
                ..SoFar::default()
            },
        );
        self.sight
            .step(KERNEL, Doing::WaitsForWork, (NOWHERE, 0), 0);
    }

    /// What the run is at, by the policy: where it failed.
    pub(super) fn leave(&self, policy: &Policy<'_>, counts: &Counts) {
        self.publish(policy, counts.dispatches);
        let mut dump = self.sight.sight();
        for (channel, lay) in dump.channels.iter_mut().zip(policy.waiting()) {
            (channel.waiting, channel.between) = (Some(lay.elements), lay.between);
        }
        dump.missing = self.missing.borrow().clone();
        if let (Some((stack, elements)), Some(host)) = (self.hand.get(), dump.workers.first_mut()) {
            host.in_hand = vec![Held {
                channel: dump.channels[stack as usize].name.clone(),
                elements: elements.into(),
            }];
        }
        *self.left.borrow_mut() = Some(dump);
    }
}

impl<L: Launcher> Run<'_, L> {
    /// Looks now and then at how far the kernel is that decides by itself: at the number of its last dispatch, and at what it published for other blocks.
    pub(super) fn glance(&self) {
        let looked = self.watched.looked.get();
        if looked.is_some_and(|l| l.elapsed() >= GLANCE) {
            self.look();
            self.watched.looked.set(Some(Instant::now()));
        }
    }

    /// What the kernel's memory says; false if it cannot be read.
    fn look(&self) -> bool {
        let (control, sight) = (self.arena.tables.control, &self.watched.sight);
        // What cannot be read now may be later, and nobody depends on it.
        let peek = |at: u64| self.peek(at).ok().flatten();
        let Some(beat) = peek(control + std::mem::offset_of!(Control, beat) as u64) else {
            return false;
        };
        let so_far = SoFar {
            dispatches: Some(beat.into()),
            ..SoFar::default()
        };
        sight.live.0.publish(KERNEL, so_far);
        // One block publishes nothing of what it does.
        let dispatch = Dispatch::new(self.plan());
        let word = |word: usize| match self.settings.aggregator {
            Aggregator::Persistent => peek(self.arena.tables.dispatch + 4 * word as u64),
            Aggregator::HostThread | Aggregator::Auto => None,
        };
        let (source, level) = (word(dispatch.source.at()), word(dispatch.level.at()));
        if let (Some(source), Some(level)) = (source, level)
            && let Some(count) = word(dispatch.count.at())
            && (source as usize) < self.plan().sources.len()
            && count > 0
        {
            sight.step(KERNEL, Doing::Runs, (source as usize, level), count);
        }
        true
    }

    /// A kernel does not end: notes what can be read of it before it is given up.
    pub(super) fn look_at_hung(&self, kernel: bool) {
        let readable = match kernel {
            true => self.look(),
            false => matches!(self.peek(self.arena.tables.control), Ok(Some(_))),
        };
        let mut missing = self.watched.missing.borrow_mut();
        if !readable {
            missing.push("the GPU's memory can not be read any more: what stands here is what the host knew last".into());
        } else if kernel {
            missing.push("what the persistent kernel decided since it was launched lies in the GPU's shared memory: the channels are as they were then".into());
        }
    }
}
