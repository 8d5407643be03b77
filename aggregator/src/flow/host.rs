//! Host nodes: closures of the caller's that get a channel's elements in batches, or are a source of elements. Each has a thread of its own.

use super::{
    Flow, Line,
    bell::{Found, Slept},
    ready::Ready,
    wiring::NodePlan,
};
use crate::{error::RunError, run::message};
use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::Ordering,
};

/// Elements that a host node gets at once, at most.
const BATCH: u32 = 4096;

/// What a node of the host does: it is given the elements of its channel as they lie in memory, one behind another, and a place for the memory of
/// what it emits, one for each port. It says whether it is to be called again, which only sources are asked, who consume nothing.
pub type HostFn<'a> = Box<dyn FnMut(&[u8], &mut [Vec<u8>]) -> Result<bool, String> + Send + 'a>;

const fn found(something: bool) -> Found {
    if something {
        Found::Work
    } else {
        Found::Nothing
    }
}

impl Flow {
    /// Whether a host node that sleeps could go on, everybody else sleeping.
    pub(super) fn hosts_can_go_on(&self) -> bool {
        let hosts = self.run.workers as usize..self.caller();
        // Relaxed: stored before its owner went to sleep, under the mutex of the bell.
        let wants = |w: &Line| w.0.load(Ordering::Relaxed).checked_sub(1);
        let mut wanted = self.wants[hosts].iter().filter_map(wants);
        wanted.any(|c| self.channels[c as usize].has_room(true))
            || (self.wiring.hosts.iter()).any(|&n| self.host_can_go_on(n, true))
    }

    fn host_can_go_on(&self, n: usize, alone: bool) -> bool {
        let channel = self.wiring.nodes[n].consumes;
        // Full batches are not worth waiting for: `full` is one element.
        channel.is_some_and(|c| self.ready(c, 1, alone) != Ready::No)
    }

    /// Runs a host node to the graph's end.
    pub(super) fn serve_host(&self, n: usize, seat: usize, mut code: HostFn<'_>) {
        let done = catch_unwind(AssertUnwindSafe(|| self.host_loop(n, seat, &mut code)));
        let failed = match done {
            Ok(Ok(())) => None,
            Ok(Err(message)) => Some(message),
            Err(panic) => Some(format!("it panicked: {}", message(&*panic))),
        };
        // A node that an ending graph told so is not why it ends.
        if let Some(message) = failed.filter(|_| !self.bell.over()) {
            let node = self.wiring.nodes[n].name.clone();
            self.fail(RunError::HostNode { node, message });
        }
        self.set_doing(seat, None);
        self.bell.leave();
    }

    fn host_loop(&self, n: usize, seat: usize, code: &mut HostFn<'_>) -> Result<(), String> {
        let node = &self.wiring.nodes[n];
        let (mut elements, mut fields) = (Vec::new(), Vec::new());
        let mut emitted = vec![Vec::new(); node.ports.len()];
        let mut alone = false;
        while !self.bell.over() {
            if node.consumes.is_some() && !self.host_can_go_on(n, alone) {
                let look = |alone| found(self.host_can_go_on(n, alone));
                alone = self.is_alone(self.bell.sleep(seat, look)) == Some(true);
                continue;
            }
            alone = false;
            self.set_doing(seat, Some(n));
            let count = node.consumes.map_or(0, |channel| {
                self.take_all(channel, BATCH, &mut fields, &mut elements)
            });
            if node.consumes.is_none() || count > 0 {
                let more = code(&elements, &mut emitted)?;
                self.emit(node, seat, &mut emitted)?;
                self.bell.settle(0, count);
                if node.consumes.is_none() && !more {
                    // Relaxed: who sleeps is called by `leave`.
                    self.ended[n].store(true, Ordering::Relaxed);
                    self.bell.fed_up();
                    return Ok(());
                }
            }
            self.set_doing(seat, None);
        }
        Ok(())
    }

    /// Whether nobody else can go on now that a host node does not sleep any more; none if the graph is over.
    fn is_alone(&self, slept: Slept) -> Option<bool> {
        match slept {
            Slept::Alone => Some(true),
            // Called because nobody else can go on, perhaps.
            Slept::Again => Some(self.bell.all_workers_sleep()),
            Slept::Stuck | Slept::Over => None,
        }
    }

    /// Puts what a host node emitted where it belongs.
    fn emit(&self, node: &NodePlan, seat: usize, emitted: &mut [Vec<u8>]) -> Result<(), String> {
        for (&channel, elements) in node.ports.iter().zip(emitted) {
            let room = |alone| found(self.channels[channel].has_room(alone));
            let wait = || {
                self.set_wants(seat, Some(channel));
                self.is_alone(self.bell.sleep(seat, room))
            };
            self.put_all(channel, elements, wait)
                .map_err(|error| error.to_string())?;
            self.set_wants(seat, None);
            elements.clear();
        }
        Ok(())
    }

    /// Takes a batch out of a channel, as the host has elements; says how many.
    pub(super) fn take_all(
        &self,
        channel: usize,
        most: u32,
        fields: &mut Vec<Vec<u8>>,
        elements: &mut Vec<u8>,
    ) -> u64 {
        elements.clear();
        let from = &self.channels[channel];
        let Some(taken) = from.take(most.into()) else {
            return 0;
        };
        let count = taken.count();
        fields.resize_with(from.ring.layout().strides.len(), Vec::new);
        for ((f, field), stride) in fields
            .iter_mut()
            .enumerate()
            .zip(&from.ring.layout().strides)
        {
            field.resize(count as usize * *stride as usize, 0);
            taken.read(f, field);
        }
        taken.tfree();
        self.freed(channel);
        let image = &self.wiring.channels[channel].image;
        image.gather(fields, count as usize, elements);
        count.into()
    }

    /// Puts all of these elements into a channel, waiting for room. `wait` says whether nobody else can go on behind it, and none if the graph is over.
    pub(super) fn put_all(
        &self,
        channel: usize,
        elements: &[u8],
        mut wait: impl FnMut() -> Option<bool>,
    ) -> Result<(), RunError> {
        let image = &self.wiring.channels[channel].image;
        let (all, fields) = (image.count(elements) as u64, image.scatter(elements));
        let into = &self.channels[channel];
        let (mut at, mut blocked, mut alone) = (0, false, false);
        let done = loop {
            at += self.put(channel, &fields, at..all, alone);
            if at == all {
                break Ok(());
            }
            if !blocked {
                blocked = true;
                // Relaxed: ordered by the bell.
                into.blocked.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            match wait().filter(|_| !self.bell.over()) {
                Some(is_alone) => alone = is_alone,
                None => break Err(self.over_error()),
            }
        };
        if blocked {
            // Relaxed: as above.
            into.blocked.fetch_sub(1, Ordering::Relaxed);
        }
        done
    }

    /// Puts some of these elements into a channel, as far as there is room; says how many. Whoever calls is alive or may feed the graph. `alone`: nobody else
    /// can go on.
    pub(super) fn put(
        &self,
        channel: usize,
        fields: &[Vec<u8>],
        which: Range<u64>,
        alone: bool,
    ) -> u64 {
        let into = &self.channels[channel];
        let (from, count) = (which.start, which.end - which.start);
        self.bell.born(count);
        let strides = &into.ring.layout().strides;
        let field = |f: usize| &fields[f][from as usize * strides[f] as usize..];
        let offered = into.offer(count, field, alone);
        if offered.starved {
            self.fail(self.starved(channel));
        }
        self.delivered(channel, offered.taken, offered.dropped);
        self.bell.settle(0, count - offered.taken);
        let mut tally = self.outer.lock();
        let tally = &mut tally[channel];
        tally.elements += offered.taken;
        tally.dropped += offered.dropped;
        tally.peak = tally.peak.max(u64::from(into.ring.held()));
        if offered.taken > 0 {
            self.fed();
        }
        offered.taken
    }

    /// Why the graph is over, for one who wanted to go on.
    pub(super) fn over_error(&self) -> RunError {
        self.run.why().unwrap_or(RunError::Over)
    }
}
