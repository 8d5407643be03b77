//! How the caller feeds a running graph and drains it.

use super::{
    Flow,
    wiring::{ChannelPlan, Consumer},
};
use crate::error::RunError;
use millstream_graph::graph::ChannelKey;
use std::{
    sync::atomic::{Ordering, fence},
    time::{Duration, Instant},
};

/// How long one who waits for a graph waits before looking whether the run was cancelled: a signal handler may set no more than a word.
const GLANCE: Duration = Duration::from_millis(20);

/// A graph that runs. It may be shared among threads.
#[derive(Debug)]
pub struct Running<'f>(&'f dyn Feed);

/// How a device's running graph is fed and drained: as [`Running`] says.
pub(crate) trait Feed: std::fmt::Debug + Sync {
    fn send(&self, channel: ChannelKey, elements: &[u8]) -> Result<(), RunError>;
    fn try_send(&self, channel: ChannelKey, elements: &[u8]) -> Result<usize, RunError>;
    fn receive(&self, channel: ChannelKey, most: u32) -> Result<Option<Vec<u8>>, RunError>;
    fn try_receive(&self, channel: ChannelKey, most: u32) -> Result<Option<Vec<u8>>, RunError>;
    fn close(&self);
    fn wait_for_done(&self) -> Result<(), RunError>;
    fn cancel(&self);
}

impl<'f> Running<'f> {
    pub(crate) const fn of(feed: &'f dyn Feed) -> Self {
        Self(feed)
    }

    /// Sends elements to an input, waiting until there is room for all of them. They lie one behind another, as in a slice of their type.
    ///
    /// # Errors
    /// If the channel is no input, or the graph ends or can never go on.
    pub fn send(&self, channel: ChannelKey, elements: &[u8]) -> Result<(), RunError> {
        self.0.send(channel, elements)
    }

    /// Sends as many of these elements, from the first one on, as there is room for now; says how many.
    ///
    /// # Errors
    /// If the channel is no input, or the graph has ended.
    pub fn try_send(&self, channel: ChannelKey, elements: &[u8]) -> Result<usize, RunError> {
        self.0.try_send(channel, elements)
    }

    /// Receives elements of an output, `most` at most: what is there, and waits until something is. None when the graph is done and everything was
    /// received.
    ///
    /// # Errors
    /// If the channel is no output, or the graph ended with an error or can never go on.
    pub fn receive(&self, channel: ChannelKey, most: u32) -> Result<Option<Vec<u8>>, RunError> {
        self.0.receive(channel, most)
    }

    /// Receives what is there, `most` elements at most.
    ///
    /// # Errors
    /// If the channel is no output.
    pub fn try_receive(&self, channel: ChannelKey, most: u32) -> Result<Option<Vec<u8>>, RunError> {
        self.0.try_receive(channel, most)
    }

    /// Nothing more will be sent. Does nothing if that was said.
    pub fn close(&self) {
        self.0.close();
    }

    /// Closes the graph and waits until everything that was sent, and all that came of it, is consumed or lies in outputs.
    ///
    /// # Errors
    /// If the graph ends with an error or can never go on.
    pub fn wait_for_done(&self) -> Result<(), RunError> {
        self.0.wait_for_done()
    }

    /// Ends the graph: everybody gets [`RunError::Cancelled`].
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

/// A graph that runs on the CPU.
#[derive(Debug)]
pub(super) struct CpuRunning<'f> {
    flow: &'f Flow,
    patience: Duration,
}

impl<'f> CpuRunning<'f> {
    pub(super) const fn new(flow: &'f Flow, patience: Duration) -> Self {
        Self { flow, patience }
    }

    fn channel(&self, key: ChannelKey) -> Result<(usize, &ChannelPlan), RunError> {
        let channels = &self.flow.wiring.channels;
        let found = channels.iter().position(|c| c.key == key);
        let at = found.ok_or_else(|| RunError::Graph("a channel is not of this graph".into()))?;
        Ok((at, &channels[at]))
    }

    fn input(&self, key: ChannelKey, elements: &[u8]) -> Result<usize, RunError> {
        let (channel, plan) = self.channel(key)?;
        let name = &plan.name;
        let bad = |what: String| Err(RunError::Graph(what));
        if !plan.input {
            return bad(format!(
                "nothing can be sent to the channel `{name}`: it is no input"
            ));
        }
        if !elements.len().is_multiple_of(plan.image.size) {
            let (bytes, size) = (elements.len(), plan.image.size);
            return bad(format!(
                "{bytes} bytes are no elements of the channel `{name}`, which take {size} each"
            ));
        }
        // Relaxed: whoever closed the graph tells whoever sends.
        if self.flow.closed.load(Ordering::Relaxed) {
            return bad(format!(
                "nothing can be sent to the channel `{name}`: the graph was closed"
            ));
        }
        Ok(channel)
    }

    fn output(&self, key: ChannelKey) -> Result<usize, RunError> {
        let (channel, plan) = self.channel(key)?;
        if plan.consumer == Consumer::Outside {
            return Ok(channel);
        }
        let name = &plan.name;
        Err(RunError::Graph(format!(
            "nothing can be received from the channel `{name}`: a node consumes it"
        )))
    }

    fn take(&self, channel: usize, most: u32) -> Option<Vec<u8>> {
        let (mut fields, mut elements) = (Vec::new(), Vec::new());
        let flow = self.flow;
        // SeqCst, and Release behind it: pair with the fence and the load in `is_hopeless`.
        flow.taking.fetch_add(1, Ordering::SeqCst);
        let count = flow.take_all(channel, most, &mut fields, &mut elements);
        flow.taking.fetch_sub(1, Ordering::Release);
        (count > 0).then_some(elements)
    }

    /// An error if the graph ended with one.
    fn check_done(&self) -> Result<(), RunError> {
        self.flow.run.why().map_or(Ok(()), Err)
    }

    fn check(&self) -> Result<(), RunError> {
        self.check_done()?;
        if self.flow.bell.over() {
            return Err(RunError::Over);
        }
        Ok(())
    }

    /// Waits a little, for what `look` finds or the end. An error if the graph has one, or if nobody has been able to go on for long.
    fn glance(
        &self,
        look: Option<&dyn Fn() -> bool>,
        stalled: &mut Stalled,
    ) -> Result<(), RunError> {
        let flow = self.flow;
        let news = match look {
            Some(look) => flow.bell.wait_outside(GLANCE, look),
            None => flow.bell.wait_for_end(GLANCE, || false),
        };
        if flow.run.stopped() {
            flow.bell.end();
        }
        self.check_done()?;
        let patience = match self.is_hopeless(news) {
            true => Duration::ZERO,
            false => self.patience,
        };
        if stalled.longer_than(news, patience) {
            flow.fail(flow.stalled());
            return Err(flow.over_error());
        }
        Ok(())
    }

    /// Whether nobody outside can do anything about a graph that stands still since these news: it is closed, nothing lies in an output, and nobody has just
    /// taken something out of one and is about to wake who waits for room there.
    fn is_hopeless(&self, news: Option<u64>) -> bool {
        let flow = self.flow;
        // Relaxed: only this and other threads of the caller set it.
        if !flow.closed.load(Ordering::Relaxed) || flow.has_undelivered() {
            return false;
        }
        // Pairs with what `take` does before: who has emptied an output is seen here, or has woken those who wait, and then they are not where they were.
        fence(Ordering::SeqCst);
        flow.taking.load(Ordering::Acquire) == 0 && flow.bell.stalled() == news
    }

    /// Waits for the end, for which nobody outside does anything any more.
    pub(super) fn finish(&self) {
        self.close();
        self.flow.bell.close_outside();
        while !self.flow.bell.over() {
            self.flow.bell.wait_for_end(GLANCE, || false);
            if self.flow.run.stopped() {
                self.flow.bell.end();
            }
        }
    }
}

impl Feed for CpuRunning<'_> {
    fn send(&self, channel: ChannelKey, elements: &[u8]) -> Result<(), RunError> {
        let channel = self.input(channel, elements)?;
        let mut stalled = Stalled::default();
        let caller = self.flow.caller();
        let sent = self.flow.put_all(channel, elements, || {
            self.flow.set_wants(caller, Some(channel));
            let room = || self.flow.channels[channel].has_room(false);
            let glance = self.glance(Some(&room), &mut stalled);
            glance.is_ok().then_some(false)
        });
        if sent.is_ok() {
            self.flow.set_wants(caller, None);
        }
        sent
    }

    fn try_send(&self, channel: ChannelKey, elements: &[u8]) -> Result<usize, RunError> {
        let channel = self.input(channel, elements)?;
        self.check()?;
        let image = &self.flow.wiring.channels[channel].image;
        let count = image.count(elements) as u64;
        let sent = self
            .flow
            .put(channel, &image.scatter(elements), 0..count, false);
        Ok(sent as usize)
    }

    fn receive(&self, channel: ChannelKey, most: u32) -> Result<Option<Vec<u8>>, RunError> {
        let at = self.output(channel)?;
        let mut stalled = Stalled::default();
        loop {
            let over = self.flow.bell.over();
            if let Some(elements) = self.take(at, most) {
                return Ok(Some(elements));
            }
            if over {
                return self.check_done().map(|()| None);
            }
            let some = || self.flow.channels[at].waiting() > 0;
            self.glance(Some(&some), &mut stalled)?;
            // Relaxed: as in `input`. Another thread may send what is missing, whenever that is.
            if !self.flow.closed.load(Ordering::Relaxed) {
                stalled = Stalled::default();
            }
        }
    }

    fn try_receive(&self, channel: ChannelKey, most: u32) -> Result<Option<Vec<u8>>, RunError> {
        let channel = self.output(channel)?;
        Ok(self.take(channel, most))
    }

    fn close(&self) {
        // Relaxed: who sleeps is called below, and the count orders the rest.
        if !self.flow.closed.swap(true, Ordering::Relaxed) {
            self.flow.bell.fed_up();
            self.flow.fed();
        }
    }

    fn wait_for_done(&self) -> Result<(), RunError> {
        self.close();
        let mut stalled = Stalled::default();
        while !self.flow.bell.over() {
            self.glance(None, &mut stalled)?;
        }
        self.check_done()
    }

    fn cancel(&self) {
        self.flow.fail(RunError::Cancelled);
    }
}

/// Since when nobody could go on.
#[derive(Debug, Default)]
struct Stalled {
    since: Option<(u64, Instant)>,
}

impl Stalled {
    /// Whether nothing has happened for so long, where `news` counts what happens while nobody inside can go on.
    fn longer_than(&mut self, news: Option<u64>, patience: Duration) -> bool {
        self.since = match (news, self.since) {
            (None, _) => None,
            (Some(news), Some((before, since))) if news == before => Some((news, since)),
            (Some(news), _) => Some((news, Instant::now())),
        };
        self.since
            .is_some_and(|(_, since)| since.elapsed() >= patience)
    }
}
