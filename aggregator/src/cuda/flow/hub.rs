//! Between the host and a graph on a GPU: what waits to go there and what came from there, and how all who take part find the end.
//!
//! Everything is under one mutex. The graph's kernel runs without it; the thread that drives the kernel comes by between two kernels, and is
//! asked to when somebody waits for it ([`Hub::asks`]).

use crate::{
    dump::{Dump, Held},
    error::RunError,
    flow::{HostFn, image::Image},
    run::message,
    sync::{Condvar, Guard, Mutex},
};
use millstream_graph::graph::ChannelKey;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::{Duration, Instant},
};

/// Elements that a host node gets at once, at most.
const BATCH: u32 = 4096;
/// How long one who waits does so before looking around: whether the run was cancelled, say.
const GLANCE: Duration = Duration::from_millis(20);

/// A channel as the host knows it.
#[derive(Debug)]
pub(super) struct Outer {
    pub(super) key: ChannelKey,
    pub(super) name: String,
    pub(super) image: Image,
    pub(super) width: u32,
    pub(super) input: bool,
    pub(super) consumer: Consumer,
}

/// Who takes a channel's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Consumer {
    /// A kernel.
    Kernel,
    /// A host node.
    Host,
    /// The caller.
    Outside,
}

/// Elements of a channel on the host.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    pub(super) bytes: Vec<u8>,
    /// Those of its bytes that were taken.
    gone: usize,
}

impl Queue {
    fn left(&self) -> usize {
        self.bytes.len() - self.gone
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.gone > self.bytes.len() / 2 {
            self.bytes.drain(..self.gone);
            self.gone = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    fn take(&mut self, most: usize) -> Vec<u8> {
        let end = self.gone + self.left().min(most);
        let out = self.bytes[self.gone..end].to_vec();
        self.gone = end;
        out
    }
}

#[derive(Debug)]
pub(super) struct State {
    /// What waits on the host: to go to the device, or for its consumer there.
    pub(super) queues: Vec<Queue>,
    /// The caller sends no more.
    closed: bool,
    /// Sources that have more, and host nodes that have a batch in hand.
    sources: usize,
    busy: usize,
    over: bool,
    error: Option<RunError>,
}

/// What is between the host and the device.
#[derive(Debug)]
pub(super) struct Hub {
    pub(super) name: String,
    pub(super) channels: Vec<Outer>,
    patience: Duration,
    state: Mutex<State>,
    news: Condvar,
    /// Something was sent that the device does not know of.
    sent: AtomicBool,
    /// How many wait for what the device has.
    hungry: AtomicU32,
    /// What the graph was at on the device, if it did not end well.
    left: Mutex<Option<Dump>>,
}

/// What the thread that drives the device is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// Run the kernel.
    Go,
    /// The graph is over.
    Over,
}

impl Hub {
    pub(super) fn new(
        name: String,
        channels: Vec<Outer>,
        sources: usize,
        patience: Duration,
    ) -> Self {
        let state = State {
            queues: vec![Queue::default(); channels.len()],
            closed: false,
            sources,
            busy: 0,
            over: false,
            error: None,
        };
        Self {
            name,
            channels,
            patience,
            state: Mutex::new(state),
            news: Condvar::new(),
            sent: AtomicBool::new(false),
            hungry: AtomicU32::new(0),
            left: Mutex::new(None),
        }
    }

    fn wait<'s>(&self, state: Guard<'s, State>) -> Guard<'s, State> {
        self.news.wait_for(state, GLANCE)
    }

    /// Ends the graph with an error, unless it has one.
    pub(super) fn fail(&self, error: RunError) {
        let mut state = self.state.lock();
        if !state.over {
            state.over = true;
            state.error = Some(error);
        }
        self.news.notify_all();
    }

    /// The graph ends on the device without being done: what it was at there. What lies here goes with it.
    pub(super) fn leave(&self, mut dump: Dump) {
        let state = self.state.lock();
        let mut waits = Vec::new();
        for (outer, queue) in self.channels.iter().zip(&state.queues) {
            let elements = (queue.left() / outer.image.size) as u64;
            let there = dump.channels.iter_mut().find(|c| c.name == outer.name);
            match (outer.consumer, there) {
                (Consumer::Kernel, _) if elements > 0 => waits.push(Held {
                    channel: outer.name.clone(),
                    elements,
                }),
                (Consumer::Host | Consumer::Outside, Some(channel)) => {
                    channel.waiting = channel.waiting.map(|n| n + elements);
                }
                _ => {}
            }
        }
        if let Some(host) = dump.workers.first_mut() {
            host.no_room = waits;
        }
        *self.left.lock() = Some(dump);
    }

    /// See [`leave`](Self::leave).
    pub(super) fn left(&self) -> Option<Dump> {
        self.left.lock().take()
    }

    pub(super) fn is_over(&self) -> bool {
        self.state.lock().over
    }

    pub(super) fn error(&self) -> Option<RunError> {
        self.state.lock().error.clone()
    }

    /// Whether a kernel that has run for so long is to pause, since somebody on the host waits for it.
    pub(super) fn asks(&self, running: Duration) -> bool {
        const SOON: Duration = Duration::from_micros(200);
        const LATER: Duration = Duration::from_millis(2);
        // Relaxed: hints; what is asked for is under the mutex.
        (running > SOON && self.sent.load(Ordering::Relaxed))
            || (running > LATER && self.hungry.load(Ordering::Relaxed) > 0)
            || (running > LATER && self.is_over())
    }

    pub(super) fn number(&self, key: ChannelKey) -> Result<usize, RunError> {
        let found = self.channels.iter().position(|c| c.key == key);
        found.ok_or_else(|| RunError::Graph("a channel is not of this graph".into()))
    }

    fn room(&self, state: &State, channel: usize) -> usize {
        let outer = &self.channels[channel];
        outer.image.size * outer.width as usize - state.queues[channel].left()
    }

    /// Puts elements into a queue, as many as find room; says how many bytes.
    fn put(&self, state: &mut State, channel: usize, elements: &[u8]) -> usize {
        let size = self.channels[channel].image.size;
        let count = elements.len().min(self.room(state, channel)) / size * size;
        if count > 0 {
            state.queues[channel].push(&elements[..count]);
            if self.channels[channel].consumer == Consumer::Kernel {
                // Relaxed: a hint.
                self.sent.store(true, Ordering::Relaxed);
            }
            self.news.notify_all();
        }
        count
    }

    fn over_error(state: &State) -> RunError {
        state.error.clone().unwrap_or(RunError::Over)
    }

    /// Puts elements into a channel, waiting for room.
    pub(super) fn put_all(&self, channel: usize, mut elements: &[u8]) -> Result<(), RunError> {
        let mut state = self.state.lock();
        loop {
            if state.over {
                return Err(Self::over_error(&state));
            }
            let put = self.put(&mut state, channel, elements);
            elements = &elements[put..];
            if elements.is_empty() {
                return Ok(());
            }
            state = self.wait(state);
        }
    }

    /// Puts as many elements as there is room for; says how many.
    pub(super) fn put_some(&self, channel: usize, elements: &[u8]) -> Result<usize, RunError> {
        let mut state = self.state.lock();
        if state.over {
            return Err(Self::over_error(&state));
        }
        Ok(self.put(&mut state, channel, elements) / self.channels[channel].image.size)
    }

    /// Takes elements that came from the device, `most` at most; waits for some if asked to. None when the graph is done, or there are none.
    pub(super) fn take(
        &self,
        channel: usize,
        most: u32,
        wait: bool,
    ) -> Result<Option<Vec<u8>>, RunError> {
        let mut state = self.state.lock();
        let mut waits = None;
        loop {
            let bytes =
                state.queues[channel].take(self.channels[channel].image.size * most as usize);
            if !bytes.is_empty() {
                self.news.notify_all();
                return Ok(Some(bytes));
            }
            if state.over
                && let Some(error) = &state.error
            {
                return Err(error.clone());
            }
            if state.over || !wait {
                return Ok(None);
            }
            waits.get_or_insert_with(|| Hungry::new(&self.hungry));
            state = self.wait(state);
        }
    }

    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.news.notify_all();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    /// Waits until the graph is over.
    pub(super) fn wait_over(&self) -> Result<(), RunError> {
        let mut state = self.state.lock();
        while !state.over {
            state = self.wait(state);
        }
        state.error.clone().map_or(Ok(()), Err)
    }

    /// Runs a host node to the graph's end.
    pub(super) fn serve_host(
        &self,
        (node, consumes, ports): (&str, Option<usize>, &[usize]),
        mut code: HostFn<'_>,
    ) {
        let done = catch_unwind(AssertUnwindSafe(|| {
            self.host_loop(consumes, ports, &mut code)
        }));
        let failed = match done {
            Ok(Ok(())) => return,
            Ok(Err(message)) => message,
            Err(panic) => format!("it panicked: {}", message(&*panic)),
        };
        self.fail(RunError::HostNode {
            node: node.to_owned(),
            message: failed,
        });
    }

    fn host_loop(
        &self,
        consumes: Option<usize>,
        ports: &[usize],
        code: &mut HostFn<'_>,
    ) -> Result<(), String> {
        let mut emitted = vec![Vec::new(); ports.len()];
        loop {
            let mut batch = Vec::new();
            if let Some(channel) = consumes {
                let mut state = self.state.lock();
                let _waits = Hungry::new(&self.hungry);
                while state.queues[channel].left() == 0 && !state.over {
                    state = self.wait(state);
                }
                if state.over {
                    return Ok(());
                }
                batch =
                    state.queues[channel].take(self.channels[channel].image.size * BATCH as usize);
                state.busy += 1;
                self.news.notify_all();
            }
            let more = code(&batch, &mut emitted)?;
            for (&channel, elements) in ports.iter().zip(&mut emitted) {
                match self.put_all(channel, elements) {
                    Ok(()) => elements.clear(),
                    // Nobody is to hear of it from a node that was only in its way.
                    Err(_) => return Ok(()),
                }
            }
            let mut state = self.state.lock();
            match consumes {
                Some(_) => state.busy -= 1,
                None if !more => state.sources -= 1,
                None => {}
            }
            self.news.notify_all();
            if state.over || (consumes.is_none() && !more) {
                return Ok(());
            }
        }
    }

    /// Takes what waits to go to the device, of the channels that are `free`.
    pub(super) fn outgoing(&self, free: &[bool]) -> Vec<Vec<u8>> {
        let mut state = self.state.lock();
        // Relaxed: under the mutex what was sent is seen.
        self.sent.store(false, Ordering::Relaxed);
        let channels = self.channels.iter().enumerate();
        let taken = channels.map(|(c, outer)| match outer.consumer {
            Consumer::Kernel if free[c] => state.queues[c].take(usize::MAX),
            _ => Vec::new(),
        });
        let taken = taken.collect();
        self.news.notify_all();
        taken
    }

    /// Gives the host what came from the device.
    pub(super) fn incoming(&self, channel: usize, elements: &[u8]) {
        self.state.lock().queues[channel].push(elements);
        self.news.notify_all();
    }

    /// How many elements of a channel the host has room for.
    pub(super) fn wants(&self, channel: usize) -> u32 {
        let state = self.state.lock();
        (self.room(&state, channel) / self.channels[channel].image.size) as u32
    }

    /// What is next, after a kernel that ended with nothing left to do (`idle`), or moved something, or neither. Waits for those on the host where
    /// they are to do something first: `waiting` is what the device holds for them. `stalled` makes the error of a graph of which nobody can go on.
    pub(super) fn next(
        &self,
        (idle, moved): (bool, bool),
        waiting: &[u32],
        cancelled: impl Fn() -> bool,
        stalled: impl Fn() -> RunError,
    ) -> Next {
        let mut state = self.state.lock();
        let since = Instant::now();
        loop {
            if state.over {
                return Next::Over;
            }
            if cancelled() {
                drop(state);
                self.fail(RunError::Cancelled);
                return Next::Over;
            }
            let left = |kind: Consumer| {
                let channels = self.channels.iter().zip(&state.queues);
                let lefts = channels.filter(|(c, _)| c.consumer == kind);
                lefts.map(|(_, q)| q.left()).sum::<usize>()
            };
            let wanted = |(c, waits): (usize, &u32)| *waits > 0 && self.room(&state, c) > 0;
            // Relaxed: stored under the mutex.
            let sent = left(Consumer::Kernel) > 0 && (idle || self.sent.load(Ordering::Relaxed));
            if sent || (moved && !idle) || waiting.iter().enumerate().any(wanted) {
                return Next::Go;
            }
            let hosts = state.busy > 0 || state.sources > 0 || left(Consumer::Host) > 0;
            if idle && state.closed && !hosts {
                state.over = true;
                self.news.notify_all();
                return Next::Over;
            }
            let hope = idle || !state.closed || hosts || left(Consumer::Outside) > 0;
            if !hope || (!idle && since.elapsed() > self.patience) {
                drop(state);
                self.fail(stalled());
                return Next::Over;
            }
            state = self.wait(state);
        }
    }

    /// Nothing that was delivered is forgotten.
    pub(super) fn all_delivered(&self) -> Result<(), RunError> {
        let state = self.state.lock();
        let mut left = self.channels.iter().zip(&state.queues);
        let left = left.find(|(c, q)| c.consumer == Consumer::Outside && q.left() > 0);
        left.map_or(Ok(()), |(outer, queue)| {
            Err(RunError::Undelivered {
                channel: outer.name.clone(),
                count: (queue.left() / outer.image.size) as u64,
            })
        })
    }
}

/// One who waits for what the device has.
struct Hungry<'h>(&'h AtomicU32);

impl<'h> Hungry<'h> {
    fn new(hungry: &'h AtomicU32) -> Self {
        // Relaxed: a hint.
        hungry.fetch_add(1, Ordering::Relaxed);
        Self(hungry)
    }
}

impl Drop for Hungry<'_> {
    fn drop(&mut self) {
        // Relaxed: as above.
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
