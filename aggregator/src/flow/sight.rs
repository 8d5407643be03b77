//! What a graph is at when it is stopped or cannot go on: its channels, and everybody who takes part.

use super::{
    Flow,
    wiring::{ChannelPlan, Consumer},
};
use crate::dump::{
    CALLER, ChannelKind, ChannelState, Doing, Dump, Event, Held, Sight, WorkerState,
};
use millstream_graph::graph::{Predicate, WhenFull};
use std::sync::atomic::Ordering;

/// What a worker has that is neither in a channel nor done.
#[derive(Debug)]
pub(super) struct Hands {
    pub(super) worker: usize,
    pub(super) in_hand: Vec<Held>,
    pub(super) no_room: Vec<Held>,
}

impl Sight for Flow {
    fn sight(&self) -> Dump {
        let mut dump = self.run.sight();
        dump.graph = Some(self.wiring.name.clone());
        // What lies where workers leave it for a channel is said of them.
        let names: Vec<&str> = self.wiring.channels.iter().map(|c| &*c.name).collect();
        // What kernels consume lies in rings: their entry stacks are none.
        let kernels = self.run.loaded.plan.tasks.iter().filter(|t| t.in_channel);
        let kernels = kernels.map(|t| &*self.run.loaded.plan.channels[t.entry.index()]);
        let no_stacks: Vec<&str> = names.iter().copied().chain(kernels).collect();
        dump.channels.retain(|c| !no_stacks.contains(&&*c.name));
        let rings = (0..self.channels.len()).map(|c| self.channel_state(c));
        dump.channels.splice(0..0, rings);
        let hands = self.hands.lock();
        for (w, worker) in dump.workers.iter_mut().enumerate() {
            let step = self.run.board().last_step(w);
            if step.doing == Doing::WaitsForRoom {
                worker.last.at = names.get(step.at).map(|n| (*n).to_owned());
            }
            worker.stacks.retain(|s| !names.contains(&&*s.channel));
            if let Some(hands) = hands.iter().find(|h| h.worker == w) {
                worker.in_hand.clone_from(&hands.in_hand);
                worker.no_room.clone_from(&hands.no_room);
            }
        }
        drop(hands);
        dump.bytes += self
            .channels
            .iter()
            .map(|c| c.ring.layout().bytes)
            .sum::<u64>();
        let hosts = self.wiring.hosts.iter().enumerate();
        let workers = self.run.workers as usize;
        let hosts = hosts.map(|(i, &n)| self.guest(workers + i, &self.wiring.nodes[n].name));
        dump.workers.extend(hosts);
        dump.workers.push(self.guest(self.caller(), CALLER));
        dump
    }
}

impl Flow {
    fn channel_state(&self, c: usize) -> ChannelState {
        let (plan, channel): (&ChannelPlan, _) = (&self.wiring.channels[c], &self.channels[c]);
        let nodes = || self.wiring.nodes.iter();
        let mut from: Vec<String> = nodes()
            .filter(|n| n.produces.contains(&c))
            .map(|n| n.name.clone())
            .collect();
        if plan.input {
            from.push(CALLER.into());
        }
        let strides = &channel.ring.layout().strides;
        ChannelState {
            name: plan.name.clone(),
            kind: match plan.full {
                WhenFull::Wait => ChannelKind::Ring,
                WhenFull::Grow | WhenFull::DropOldest => ChannelKind::Elastic,
            },
            waiting: Some(channel.waiting()),
            held: Some(channel.ring.held().into()),
            capacity: Some(plan.width.into()),
            element_bytes: strides.iter().sum(),
            from,
            to: match plan.consumer {
                Consumer::Outside => Some(CALLER.into()),
                Consumer::Kernel | Consumer::Host => nodes()
                    .find(|n| n.consumes == Some(c))
                    .map(|n| n.name.clone()),
            },
            predicate: match &plan.predicate {
                Predicate::Own(helper) => Some(helper.clone()),
                Predicate::Any | Predicate::Full | Predicate::AtLeast(_) => None,
            },
            ..ChannelState::default()
        }
    }

    /// A host node or the caller, as far as it told.
    fn guest(&self, seat: usize, name: &str) -> WorkerState {
        // Relaxed: who wrote it stands still, or says something else in a moment.
        let word = |of: &[super::Line]| of.get(seat).map_or(0, |l| l.0.load(Ordering::Relaxed));
        let wants = word(&self.wants).checked_sub(1);
        let wants = wants.and_then(|c| self.wiring.channels.get(c as usize));
        let doing = match (wants, word(&self.doing)) {
            (Some(_), _) => Doing::WaitsForRoom,
            (None, 0) => Doing::WaitsForWork,
            (None, _) => Doing::Runs,
        };
        WorkerState {
            name: name.to_owned(),
            last: Event {
                doing,
                at: wants.map(|c| c.name.clone()),
                ..Event::default()
            },
            ..WorkerState::default()
        }
    }
}
