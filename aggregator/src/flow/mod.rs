//! Graphs of ring channels on the CPU: who runs which wavefront when, and how a graph is fed, drained and ended.
//!
//! - `README.md` beside this file: the contract of a channel, and why it is kept
//! - [`wiring`]: a graph as tables; [`channel`]: a ring and what happens where it is full
//! - [`ready`]: which wavefront is worth running; [`work`]: what a worker does; [`wavefront`]: how its stacks run elements in place
//! - [`bell`]: how all sleep and wake, and how the end is found
//! - [`sight`]: what it is at when it is stopped or stuck
//! - [`running`]: how the caller feeds and drains a graph; [`host`]: nodes that are closures; [`image`]: elements as they have them

mod bell;
mod channel;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends there")]
mod circles;
mod host;
pub(crate) mod image;
mod load;
mod ready;
pub(crate) mod running;
mod sight;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends there")]
mod stress;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends there")]
mod testing;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends there")]
mod tests;
#[allow(unsafe_code, reason = "elements are seen where they lie")]
mod wavefront;
mod wiring;
mod work;

pub(crate) use bell::Bell;
pub use host::HostFn;
pub(crate) use load::{CpuGraph, Kept};
pub use load::{GraphCall, GraphProgram};
pub use running::Running;

use crate::{
    crew::Job, error::RunError, report::ChannelTally, run::Run, share::WorkerId, sync::Mutex,
};
use channel::FlowChannel;
use millstream_graph::levelized::Levelized;
use sight::Hands;
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering},
};
use wiring::{Consumer, Wiring};
use work::FlowWorker;

/// A graph that runs.
#[derive(Debug)]
pub(crate) struct Flow {
    run: Arc<Run>,
    program: Arc<Levelized>,
    wiring: Arc<Wiring>,
    channels: Arc<[FlowChannel]>,
    bell: Bell,
    /// What kernels find as their bound arguments.
    uniforms: Vec<u64>,
    /// Of each seat the node whose elements it has in hand, and one more; 0 if none. Written by who sits there.
    doing: Vec<Line>,
    /// Of each seat, and of the caller behind them, the channel in which it waits for room, and one more; 0 if it does not.
    wants: Vec<Line>,
    /// What workers had in hand when they left.
    hands: Mutex<Vec<Hands>>,
    /// Of each node whether it will never be asked again: a source that has no more.
    ended: Vec<AtomicBool>,
    /// The caller sends no more.
    closed: AtomicBool,
    /// Threads of the caller's that take something out of an output, and have not yet woken who waits for room there.
    taking: AtomicU32,
    /// What the caller and host nodes put into each channel.
    outer: Mutex<Vec<ChannelTally>>,
    tallies: Mutex<Vec<Vec<ChannelTally>>>,
}

/// A word in a line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line(AtomicU32);

impl Job for Flow {
    fn serve(&self, id: WorkerId) {
        // The caller is no worker here, and threads are numbered from 1.
        let worker = WorkerId(id.0 - 1);
        if worker.0 >= self.run.workers || !self.run.shared.enter() {
            return;
        }
        let mut part = false;
        self.run.work(worker, |stacks| {
            part = true;
            let mut worker = FlowWorker::new(self, stacks);
            let done = worker.serve();
            if done.is_err() || self.run.stopped() {
                self.hands.lock().push(worker.hands());
            }
            self.tallies.lock().push(worker.finish());
            done
        });
        if !part {
            // It counts as awake, so that the others would wait for it.
            let error = "no address space for the stacks of a graph's workers";
            self.run.fail(RunError::Device(error.into()));
        }
        if self.run.stopped() {
            self.bell.end();
        }
        self.run.shared.leave();
    }
}

impl Flow {
    /// Ends the graph with an error, unless it has one.
    fn fail(&self, error: RunError) {
        self.run.fail(error);
        self.bell.end();
    }

    /// What a seat has in hand.
    fn set_doing(&self, seat: usize, node: Option<usize>) {
        // Relaxed: a hint for predicates; who sleeps looks again when everybody does.
        let word = node.map_or(0, |n| n as u32 + 1);
        self.doing[seat].0.store(word, Ordering::Relaxed);
    }

    /// Who sits there, or the caller, waits for room in a channel, or no more.
    fn set_wants(&self, seat: usize, channel: Option<usize>) {
        // Relaxed: for who looks on.
        let word = channel.map_or(0, |c| c as u32 + 1);
        self.wants[seat].0.store(word, Ordering::Relaxed);
    }

    /// The caller's place among those who may want room.
    fn caller(&self) -> usize {
        self.doing.len()
    }

    /// After something was taken out of a channel: whoever has no room there may go on, and so may who waits for work.
    fn freed(&self, channel: usize) {
        let sleepers = self.bell.changed();
        // Relaxed: ordered by the fence in `changed`, as those who sleep are.
        if sleepers.idle && self.channels[channel].blocked.load(Ordering::Relaxed) > 0 {
            self.bell.call_workers();
        }
        if sleepers.guests {
            self.bell.call_guests();
        }
    }

    /// Elements were put into a channel by somebody who is no worker.
    fn fed(&self) {
        let sleepers = self.bell.changed();
        if sleepers.idle {
            self.bell.call_workers();
        }
        if sleepers.guests {
            self.bell.call_guests();
        }
    }

    /// Counts elements that went from a producer into a channel or were dropped: what is delivered or dropped is not alive.
    fn delivered(&self, channel: usize, taken: u64, dropped: u64) {
        let gone = match self.wiring.channels[channel].consumer {
            // Those dropped before may be others than those taken now, but as many were delivered before.
            Consumer::Outside => taken,
            Consumer::Kernel | Consumer::Host => dropped,
        };
        if gone > 0 {
            self.bell.settle(0, gone);
        }
    }

    /// Whether something lies in an output.
    fn has_undelivered(&self) -> bool {
        let outputs = self.wiring.channels.iter().zip(&*self.channels);
        let mut outputs = outputs.filter(|c| c.0.consumer == Consumer::Outside);
        outputs.any(|c| c.1.waiting() > 0)
    }

    /// The error of a channel that finds no memory to grow.
    fn starved(&self, channel: usize) -> RunError {
        RunError::NoGrowth {
            channel: self.wiring.channels[channel].name.clone(),
            count: self.channels[channel].waiting(),
            budget: self.run.granted,
        }
    }

    /// The error of a graph of which nobody can go on.
    fn stalled(&self) -> RunError {
        RunError::Stalled {
            graph: self.wiring.name.clone(),
            channels: self.counts(),
        }
    }

    /// Each channel with what waits in it and what it has room for, for messages.
    fn counts(&self) -> String {
        let channels = self.wiring.channels.iter().zip(&*self.channels);
        let counts = channels.map(|(plan, channel)| {
            let held = u64::from(channel.ring.held());
            let (waits, width) = (channel.waiting().max(held), plan.width);
            format!("`{}` {waits} of {width}", plan.name)
        });
        counts.collect::<Vec<_>>().join(", ")
    }
}
