//! What a worker does in a graph: takes a wavefront, runs it with all that comes of it, and puts what it emitted where it belongs.

use super::{
    Flow,
    bell::{Found, Slept},
    ready::Ready,
    sight::Hands,
};
use crate::{
    dump::{Doing, Held},
    error::RunError,
    report::ChannelTally,
    worker::{Stop, Worker},
};
use millstream_channels_kernel::{layout::StackIndex, ring::Dequeued};
use std::{hint, sync::atomic::Ordering, time::Instant};

/// How often a worker that finds nothing looks again before it sleeps.
const SPINS: u32 = 200;
/// A wavefront that is not full has no fewer elements than one of so many parts of a full one, if there are so many: others have the rest.
const LEAST_PART: u64 = 8;

/// A worker inside a graph.
#[derive(Debug)]
pub(super) struct FlowWorker<'w, 'r> {
    flow: &'r Flow,
    worker: &'w mut Worker<'r>,
    seat: usize,
    /// Of each node, a wavefront of which only the first elements have run.
    hands: Vec<Option<Hand<'r>>>,
    /// Of each channel, whether elements for it found no room.
    blocked: Vec<bool>,
    tally: Vec<ChannelTally>,
}

/// Elements that were taken, of which so many have run.
#[derive(Debug)]
struct Hand<'r> {
    taken: Dequeued<'r>,
    done: u64,
}

impl<'w, 'r> FlowWorker<'w, 'r> {
    pub(super) fn new(flow: &'r Flow, worker: &'w mut Worker<'r>) -> Self {
        worker.context.uniforms = flow.uniforms.as_ptr();
        worker.alone = false;
        worker.bell = Some(&flow.bell);
        Self {
            flow,
            seat: worker.id.0 as usize,
            worker,
            hands: flow.wiring.nodes.iter().map(|_| None).collect(),
            blocked: vec![false; flow.channels.len()],
            tally: vec![ChannelTally::default(); flow.channels.len()],
        }
    }

    /// What it has in hand, and what found no room.
    pub(super) fn hands(&self) -> Hands {
        let (wiring, plan) = (&self.flow.wiring, self.worker.plan);
        let name = |channel: usize| wiring.channels[channel].name.clone();
        let in_hand = self.hands.iter().zip(&wiring.nodes);
        let in_hand = in_hand.filter_map(|(hand, node)| {
            let Hand { taken, done } = hand.as_ref()?;
            Some(Held {
                channel: name(node.consumes?),
                elements: u64::from(taken.count()) - done,
            })
        });
        let no_room = plan.staging.iter().filter_map(|&stack| {
            let elements = self.worker.stacks.top(stack);
            let channel = (0..self.blocked.len()).find(|&c| self.staging(c) == Some(stack))?;
            (elements > 0).then(|| Held {
                channel: name(channel),
                elements,
            })
        });
        Hands {
            worker: self.seat,
            in_hand: in_hand.collect(),
            no_room: no_room.collect(),
        }
    }

    pub(super) fn finish(self) -> Vec<ChannelTally> {
        self.tally
    }

    /// Works until the graph is over.
    pub(super) fn serve(&mut self) -> Result<(), Stop> {
        let mut alone = false;
        loop {
            if self.flow.bell.over() || self.flow.run.stopped() {
                return Ok(());
            }
            self.flush_blocked(false);
            if let Some((node, most)) = self.pick(alone) {
                alone = false;
                self.run(node, most)?;
            } else if let Some(loan) = self.flow.run.shared.acquire() {
                // Tasks that another's kernel spawned.
                let helped = self.worker.help(loan);
                helped.map_err(|stop| self.blame(stop))?;
            } else if alone && self.flush_blocked(true) {
                // What waited was dropped for it: nobody would have taken it.
                alone = false;
            } else if !self.spin() {
                alone = self.sleep()?;
            }
        }
    }

    /// Looks for work a little longer.
    fn spin(&self) -> bool {
        (0..SPINS).any(|_| {
            hint::spin_loop();
            self.can_go_on(false)
        })
    }

    fn can_go_on(&self, alone: bool) -> bool {
        let unblocked = |c: usize| self.blocked[c] && self.flow.channels[c].has_room(alone);
        (0..self.blocked.len()).any(unblocked) || self.pick(alone).is_some()
    }

    /// Sleeps until there may be something to do; true if everybody else sleeps then.
    fn sleep(&mut self) -> Result<bool, Stop> {
        self.worker.give_all_back();
        let shared = &self.flow.run.shared;
        shared.rest(true);
        let begin = Instant::now();
        match self.blocked.iter().position(|&blocked| blocked) {
            Some(channel) => {
                let staged = self.staging(channel);
                let staged = staged.map_or(0, |s| self.worker.stacks.top(s));
                (self.worker).step(Doing::WaitsForRoom, channel, staged, Some(begin));
            }
            None => self.worker.step(Doing::WaitsForWork, 0, 0, Some(begin)),
        }
        let slept = self.flow.bell.sleep(self.seat, |alone| {
            if self.can_go_on(alone) || shared.has_work() {
                Found::Work
            } else if alone && self.flow.hosts_can_go_on() {
                Found::ForHosts
            } else {
                Found::Nothing
            }
        });
        shared.rest(false);
        self.worker.waited(begin);
        match slept {
            Slept::Stuck => Err(self.flow.stalled().into()),
            slept => Ok(slept == Slept::Alone),
        }
    }

    /// The node to run and how many elements of its channel at most.
    fn pick(&self, alone: bool) -> Option<(usize, u64)> {
        let wiring = &self.flow.wiring;
        let mut partial: Option<(usize, u64)> = None;
        for &n in &wiring.order {
            let node = &wiring.nodes[n];
            // A full wavefront goes before a smaller one of the same priority, and of no other.
            if partial.is_some_and(|p| wiring.nodes[p.0].priority > node.priority) {
                break;
            }
            let (Some(channel), Some(task)) = (node.consumes, node.task) else {
                continue;
            };
            if node.produces.iter().any(|&c| self.blocked[c])
                && !(alone && self.makes_room(n, channel))
            {
                continue;
            }
            let full = self.full(task, channel);
            if self.hands[n].is_some() {
                return Some((n, full));
            }
            match self.flow.ready(channel, full, alone) {
                Ready::Full => return Some((n, full)),
                Ready::Partial => partial = partial.or(Some((n, self.part(channel, full)))),
                Ready::No => {}
            }
        }
        partial
    }

    /// Whether a node of a circle may take from its channel though what was emitted into its own found no room, as nobody else can go on. Slots are free again in the order in which
    /// they were allocated, and an element that was published late has an old one: a ring may be full of slots that are done, but for those of elements that
    /// wait. Who takes these makes room. Beside a channel no more than it has slots waits here, so that a circle whose elements become more comes to an end.
    fn makes_room(&self, n: usize, channel: usize) -> bool {
        let wiring = &self.flow.wiring;
        let mut blocked = (wiring.nodes[n].produces.iter()).filter(|&&c| self.blocked[c]);
        let is_few = |c: usize| {
            let staged = self.staging(c).map_or(0, |s| self.worker.stacks.top(s));
            staged < u64::from(wiring.channels[c].width)
        };
        let fed_by = &wiring.channels[channel].fed_by;
        let comes_round = |c: usize| {
            let mut consumers = wiring.nodes.iter().zip(fed_by);
            consumers.any(|(node, feeds)| *feeds && node.consumes == Some(c))
        };
        // Of what it has in hand the rest found no room here.
        self.hands[n].is_none() && blocked.all(|&c| is_few(c) && comes_round(c))
    }

    /// How many elements a full wavefront has.
    fn full(&self, task: usize, channel: usize) -> u64 {
        let width = self.worker.plan.tasks[task].width;
        let width = width.min(u64::from(self.flow.wiring.channels[channel].width));
        self.worker.paced(task, width)
    }

    /// How many elements to take of those that are no full wavefront: not all if others may take some too.
    fn part(&self, channel: usize, full: u64) -> u64 {
        let share = self.flow.channels[channel]
            .waiting()
            .div_ceil(u64::from(self.flow.run.workers));
        share.max(full / LEAST_PART).max(1)
    }

    /// Runs a wavefront of a node.
    fn run(&mut self, n: usize, most: u64) -> Result<(), Stop> {
        let flow = self.flow;
        let node = &flow.wiring.nodes[n];
        let (Some(channel), Some(task)) = (node.consumes, node.task) else {
            return Ok(());
        };
        let hand = self.hands[n].take();
        let hand = hand.or_else(|| self.take(channel, task, most));
        let Some(Hand { taken, mut done }) = hand else {
            return Ok(());
        };
        flow.set_doing(self.seat, Some(n));
        self.share_rest();
        let count = u64::from(taken.count());
        while done < count {
            let (ran, rest) = self.run_on(n, task, channel, &taken, done)?;
            done += ran;
            // What is left found no room beside what was emitted.
            if rest && !self.flush(&node.produces) {
                break;
            }
        }
        if done < count {
            self.hands[n] = Some(Hand { taken, done });
        } else {
            taken.tfree();
            self.flush(&node.produces);
        }
        flow.set_doing(self.seat, None);
        self.tell(channel, node.meets_host);
        Ok(())
    }

    fn take(&mut self, channel: usize, task: usize, most: u64) -> Option<Hand<'r>> {
        let taken = self.flow.channels[channel].take(most)?;
        let full = u64::from(taken.count()) >= self.full(task, channel);
        let tally = &mut self.tally[channel];
        if full {
            tally.full += 1;
        } else {
            tally.partial += 1;
        }
        Some(Hand { taken, done: 0 })
    }

    /// Wakes somebody if there is more to do than this worker has in hand.
    fn share_rest(&self) {
        // No fence: a worker that goes to sleep looks for itself, and this one is awake.
        if self.flow.bell.sleepers().idle && self.pick(false).is_some() {
            self.flow.bell.call_one();
        }
    }

    /// Runs elements of a wavefront from number `skip` on that lie side by side; says how many, and whether others of them are left.
    fn run_on(
        &mut self,
        n: usize,
        task: usize,
        channel: usize,
        taken: &Dequeued<'_>,
        skip: u64,
    ) -> Result<(u64, bool), Stop> {
        let mut skip = skip;
        for run in taken.runs() {
            let (first, count) = (u64::from(run.slot), u64::from(run.count));
            if skip >= count {
                skip -= count;
                continue;
            }
            for &into in &self.flow.wiring.nodes[n].produces {
                if let Some(stack) = self.staging(into) {
                    self.worker.regain_room(stack);
                }
            }
            let before = self.staged(n);
            let ring = &self.flow.channels[channel].ring;
            let ran = self
                .worker
                .run_in_place(task, ring, first + skip, count - skip)
                .map_err(|stop| self.blame(stop))?;
            self.flow.bell.settle(self.staged(n) - before, ran);
            return Ok((ran, ran < count - skip));
        }
        Ok((0, false))
    }

    /// How many elements a node has emitted that are here yet.
    fn staged(&self, n: usize) -> u64 {
        let node = &self.flow.wiring.nodes[n];
        let stacks = node.produces.iter().filter_map(|&c| self.staging(c));
        stacks.map(|s| self.worker.stacks.top(s)).sum()
    }

    fn staging(&self, channel: usize) -> Option<StackIndex> {
        self.flow.wiring.channels[channel].staging
    }

    /// Puts what was emitted into these channels there. False if some of it found no room.
    fn flush(&mut self, channels: &[usize]) -> bool {
        let mut all = true;
        for &channel in channels {
            all &= self.flush_one(channel, false);
        }
        all
    }

    fn flush_one(&mut self, channel: usize, alone: bool) -> bool {
        let flow = self.flow;
        let Some(stack) = self.staging(channel) else {
            return true;
        };
        let count = self.worker.stacks.top(stack);
        if count == 0 {
            return true;
        }
        let into = &flow.channels[channel];
        let offered = self.worker.flush_staged(stack, into, alone);
        if offered.starved {
            flow.fail(flow.starved(channel));
        }
        let tally = &mut self.tally[channel];
        tally.elements += offered.taken;
        tally.dropped += offered.dropped;
        tally.peak = tally.peak.max(u64::from(into.ring.held()));
        flow.delivered(channel, offered.taken, offered.dropped);
        let all = offered.taken == count;
        if all == self.blocked[channel] {
            self.blocked[channel] = !all;
            // Relaxed: ordered by the fences of the bell.
            if all {
                into.blocked.fetch_sub(1, Ordering::Relaxed);
            } else {
                tally.yields += 1;
                into.blocked.fetch_add(1, Ordering::Relaxed);
            }
        }
        all
    }

    /// Tries again what found no room; whether there was something to try. `alone`: nobody else can go on.
    fn flush_blocked(&mut self, alone: bool) -> bool {
        let mut any = false;
        for channel in 0..self.blocked.len() {
            if self.blocked[channel] && self.flow.channels[channel].has_room(alone) {
                any = true;
                self.flush_one(channel, alone);
                if self.flow.leaves_device(channel) {
                    self.tell(channel, true);
                }
            }
        }
        any
    }

    /// After a wavefront: wakes who waits for room in the channel that it came from, and host nodes.
    fn tell(&self, channel: usize, meets_host: bool) {
        let sleepers = self.flow.bell.changed();
        // Relaxed: as in `Flow::freed`.
        let blocked = || self.flow.channels[channel].blocked.load(Ordering::Relaxed) > 0;
        if sleepers.idle && blocked() {
            self.flow.bell.call_workers();
        }
        if sleepers.guests && meets_host {
            self.flow.bell.call_guests();
        }
    }

    /// An error with its node and the element, if it is known. A worker that waits for its own tasks may run those of another node: what runs says
    /// whose it is. Of which element the tasks came that a kernel spawned is not known here.
    fn blame(&self, stop: Stop) -> Stop {
        let wiring = &self.flow.wiring;
        let root = self.worker.origins.last().map(|o| o.root);
        let node = wiring
            .nodes
            .iter()
            .find(|n| n.task.is_some() && n.task == root);
        let (error, node) = match (stop, node) {
            (Stop::Failed(error), Some(node)) => (error, node),
            (stop, _) => return stop,
        };
        let at = self.worker.stopped_at.filter(|at| Some(at.0) == node.task);
        let element = at.zip(node.consumes).map(|(at, channel)| {
            let plan = &wiring.channels[channel];
            let ring = &self.flow.channels[channel].ring;
            self.worker.element(ring, &plan.fields, at.1)
        });
        RunError::Node {
            node: node.name.clone(),
            element,
            error,
        }
        .into()
    }
}
