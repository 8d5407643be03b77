//! Host nodes: closures of the caller's that get a channel's elements in batches, or are a source of elements. Each has a thread of its own.

use super::{Flow, bell::{Found, Slept}, ready::Ready};
use crate::{error::RunError, run::message};
use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::Ordering,
};

/// Elements that a host node gets at once, at most.
const BATCH: u32 = 4096;

/// What a node of the host does.
pub struct HostNode<'a> {
    /// The node's name in the graph.
    pub name: String,
    code: Code<'a>,
}

enum Code<'a> {
    Batches(Box<BatchFn<'a>>),
    Source(Box<SourceFn<'a>>),
}

type BatchFn<'a> = dyn FnMut(&[u8], &Outlets<'_>) -> Result<(), String> + Send + 'a;
type SourceFn<'a> = dyn FnMut(&Outlets<'_>) -> Result<bool, String> + Send + 'a;

impl<'a> HostNode<'a> {
    /// A node that consumes: it is given the elements of its channel as they lie in memory, one behind another, and may emit.
    pub fn new(
        name: impl Into<String>,
        code: impl FnMut(&[u8], &Outlets<'_>) -> Result<(), String> + Send + 'a,
    ) -> Self {
        Self {
            name: name.into(),
            code: Code::Batches(Box::new(code)),
        }
    }

    /// A node that consumes nothing: it is asked again as long as it says that there is more.
    pub fn source(
        name: impl Into<String>,
        code: impl FnMut(&Outlets<'_>) -> Result<bool, String> + Send + 'a,
    ) -> Self {
        Self {
            name: name.into(),
            code: Code::Source(Box::new(code)),
        }
    }

    /// Whether it consumes nothing.
    pub(super) const fn is_source(&self) -> bool {
        matches!(self.code, Code::Source(_))
    }
}

impl fmt::Debug for HostNode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostNode").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Where a host node emits.
#[derive(Debug)]
pub struct Outlets<'f> {
    flow: &'f Flow,
    node: usize,
    seat: usize,
}

impl Outlets<'_> {
    /// Emits elements by a port, waiting until there is room for all of them.
    ///
    /// # Errors
    /// If the graph ends before that, or there is no such port. A host node that gets one returns.
    pub fn emit(&self, port: usize, elements: &[u8]) -> Result<(), String> {
        let flow = self.flow;
        let Some(&channel) = flow.wiring.nodes[self.node].ports.get(port) else {
            return Err(format!("there is no port {port}"));
        };
        flow.put_all(channel, elements, || {
            let room = |_| match flow.channels[channel].has_room() {
                true => Found::Work,
                false => Found::Nothing,
            };
            flow.bell.sleep(self.seat, room) != Slept::Over
        })
        .map_err(|error| error.to_string())
    }
}

impl Flow {
    /// Whether a host node that sleeps could go on, everybody else sleeping.
    pub(super) fn hosts_can_go_on(&self) -> bool {
        self.wiring.hosts.iter().any(|&n| self.host_can_go_on(n, true))
    }

    fn host_can_go_on(&self, n: usize, alone: bool) -> bool {
        let channel = self.wiring.nodes[n].consumes;
        // Full batches are not worth waiting for: `full` is one element.
        channel.is_some_and(|c| self.ready(c, 1, alone) != Ready::No)
    }

    /// Runs a host node to the graph's end.
    pub(super) fn serve_host(&self, n: usize, seat: usize, host: &mut HostNode<'_>) {
        let done = catch_unwind(AssertUnwindSafe(|| self.host_loop(n, seat, host)));
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

    fn host_loop(&self, n: usize, seat: usize, host: &mut HostNode<'_>) -> Result<(), String> {
        let outlets = Outlets { flow: self, node: n, seat };
        let (mut elements, mut fields) = (Vec::new(), Vec::new());
        let mut alone = false;
        while !self.bell.over() {
            match (&mut host.code, self.wiring.nodes[n].consumes) {
                (Code::Source(code), _) => {
                    self.set_doing(seat, Some(n));
                    if !code(&outlets)? {
                        // Relaxed: who sleeps is called by `leave`.
                        self.ended[n].store(true, Ordering::Relaxed);
                        self.bell.fed_up();
                        return Ok(());
                    }
                }
                (Code::Batches(code), Some(channel)) if self.host_can_go_on(n, alone) => {
                    alone = false;
                    self.set_doing(seat, Some(n));
                    let count = self.take_all(channel, BATCH, &mut fields, &mut elements);
                    if count > 0 {
                        code(&elements, &outlets)?;
                        self.bell.settle(0, count);
                    }
                    self.set_doing(seat, None);
                }
                (Code::Batches(_), _) => {
                    let look = |alone| match self.host_can_go_on(n, alone) {
                        true => Found::Work,
                        false => Found::Nothing,
                    };
                    alone = match self.bell.sleep(seat, look) {
                        Slept::Alone => true,
                        // Called because nobody else can go on, perhaps.
                        Slept::Again => self.bell.all_workers_sleep(),
                        Slept::Stuck | Slept::Over => false,
                    };
                }
            }
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
        let Some(taken) = from.take(most.into(), &self.run.pool) else {
            return 0;
        };
        let count = taken.count();
        fields.resize_with(from.ring.layout().strides.len(), Vec::new);
        for ((f, field), stride) in fields.iter_mut().enumerate().zip(&from.ring.layout().strides) {
            field.resize(count as usize * *stride as usize, 0);
            taken.read(f, field);
        }
        taken.tfree();
        self.freed(channel);
        let image = &self.wiring.channels[channel].image;
        image.gather(fields, count as usize, elements);
        count.into()
    }

    /// Puts all of these elements into a channel, waiting for room.
    pub(super) fn put_all(
        &self,
        channel: usize,
        elements: &[u8],
        mut wait: impl FnMut() -> bool,
    ) -> Result<(), RunError> {
        let image = &self.wiring.channels[channel].image;
        let (all, fields) = (image.count(elements) as u64, image.scatter(elements));
        let into = &self.channels[channel];
        let (mut at, mut blocked) = (0, false);
        let done = loop {
            at += self.put(channel, &fields, at, all);
            if at == all {
                break Ok(());
            }
            if !blocked {
                blocked = true;
                // Relaxed: ordered by the bell.
                into.blocked.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            if self.bell.over() || !wait() {
                break Err(self.over_error());
            }
        };
        if blocked {
            // Relaxed: as above.
            into.blocked.fetch_sub(1, Ordering::Relaxed);
        }
        done
    }

    /// Puts elements `from..all` into a channel, as far as there is room; says how many. Whoever calls is alive or may feed the graph.
    pub(super) fn put(&self, channel: usize, fields: &[Vec<u8>], from: u64, all: u64) -> u64 {
        let into = &self.channels[channel];
        let count = all - from;
        self.bell.born(count);
        let strides = &into.ring.layout().strides;
        let field = |f: usize| &fields[f][from as usize * strides[f] as usize..];
        let offered = into.offer(count, field, &self.run.pool);
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
