//! Which wavefront is worth running: predicates, and what could still add to a channel.

use super::{Flow, wiring::Consumer};
use crate::error::RunError;
use millstream_graph::{
    graph::Predicate,
    interp::{ArgValue, Interp, Limits},
};
use std::sync::atomic::Ordering;

/// A predicate of the program's that takes more steps is taken for one that never ends.
const MOST_STEPS: u64 = 1_000_000;

/// What a channel is good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ready {
    No,
    /// A wavefront that is not full.
    Partial,
    Full,
}

impl Flow {
    /// Whether a channel's elements are worth a wavefront, of which `full` are a full one. `alone` is whether everybody else sleeps.
    pub(super) fn ready(&self, channel: usize, full: u64, alone: bool) -> Ready {
        if !self.channels[channel].has_some() {
            return Ready::No;
        }
        let waiting = self.channels[channel].waiting();
        let size = if waiting >= full {
            Ready::Full
        } else {
            Ready::Partial
        };
        let plan = &self.wiring.channels[channel];
        let yes = match &plan.predicate {
            Predicate::Any => true,
            Predicate::Full => size == Ready::Full || alone || !self.is_fed(channel),
            Predicate::AtLeast(least) => {
                waiting >= u64::from(*least).min(u64::from(plan.width))
                    || !self.can_come(channel, alone)
            }
            Predicate::Own(helper) => {
                let more = self.can_come(channel, alone);
                self.asked(helper, (channel, waiting), more)
            }
        };
        if yes { size } else { Ready::No }
    }

    /// Whether kernels may be about to add to a channel.
    fn is_fed(&self, channel: usize) -> bool {
        let plan = &self.wiring.channels[channel];
        let workers = &self.doing[..self.run.workers as usize];
        // Relaxed: hints; where they deceive, somebody stays awake or looks again.
        let mut doing = workers.iter().map(|d| d.0.load(Ordering::Relaxed));
        doing.any(|node| node > 0 && plan.fed_by[node as usize - 1])
            || plan.before.iter().any(|&c| {
                let channel = &self.channels[c];
                channel.waiting() > 0 || channel.blocked.load(Ordering::Relaxed) > 0
            })
    }

    /// Whether anything can still add to a channel: kernels, host nodes, or the caller. Where nobody else can go on, nobody makes room that there is not.
    fn can_come(&self, channel: usize, alone: bool) -> bool {
        if alone && !self.channels[channel].has_room(false) {
            return false;
        }
        let plan = &self.wiring.channels[channel];
        // Relaxed: who sets these rings the bell.
        let caller = plan.fed_from_outside && !self.closed.load(Ordering::Relaxed);
        let source = |&n: &usize| {
            plan.fed_by[n]
                && self.wiring.nodes[n].consumes.is_none()
                && !self.ended[n].load(Ordering::Relaxed)
        };
        caller
            || self.wiring.hosts.iter().any(source)
            || (!alone && (self.is_fed(channel) || self.hosts_feed(channel)))
    }

    /// Whether a host node has elements in hand of which some may come to a channel.
    fn hosts_feed(&self, channel: usize) -> bool {
        let hosts = &self.doing[self.run.workers as usize..];
        // Relaxed: as in `is_fed`.
        let mut doing = hosts.iter().map(|d| d.0.load(Ordering::Relaxed));
        doing.any(|node| node > 0 && self.wiring.channels[channel].fed_by[node as usize - 1])
    }

    /// What the program's own predicate says of a channel. One that fails ends the graph.
    fn asked(&self, helper: &str, (channel, waiting): (usize, u64), more: bool) -> bool {
        let program = &self.program.program;
        let Some(function) = program.find(helper) else {
            return false;
        };
        let width = self.wiring.channels[channel].width;
        let args = [waiting, u64::from(width), u64::from(more)].map(ArgValue::Scalar);
        let limits = Limits {
            steps: MOST_STEPS,
            ..Limits::default()
        };
        match Interp::new(program)
            .with_limits(limits)
            .call(function, &args)
        {
            Ok(bytes) => bytes.first() == Some(&1),
            Err(error) => {
                let name = &self.wiring.channels[channel].name;
                let message = format!("the predicate `{helper}` of channel `{name}`: {error}");
                self.fail(RunError::Graph(message));
                false
            }
        }
    }

    /// Whether the caller or a host node takes the elements of a channel.
    pub(super) fn leaves_device(&self, channel: usize) -> bool {
        self.wiring.channels[channel].consumer != Consumer::Kernel
    }
}
