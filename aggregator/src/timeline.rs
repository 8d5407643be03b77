//! What happened when in a run: spans of time, a track for each who worked.
//!
//! A run keeps one if its device was asked to ([`Observe`]). Each worker writes to a buffer of its own, once a dispatch, and counts what it has no
//! room for: memory is bounded, and who works waits for nobody.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

/// What a run's report says beside what is counted anyway.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Observe {
    /// Nothing: what is counted costs less than can be measured.
    #[default]
    Counts,
    /// How long each node took: two looks at the clock a dispatch.
    Times,
    /// The same, and when each dispatch ran: so many spans of each worker at most.
    Timeline(u32),
}

impl Observe {
    /// A timeline with room for runs of some seconds: a quarter of a million spans of each worker.
    pub const TIMELINE: Self = Self::Timeline(1 << 18);

    /// How many spans each worker keeps, if it looks at the clock.
    pub(crate) const fn spans(self) -> Option<u32> {
        match self {
            Self::Counts => None,
            Self::Times => Some(0),
            Self::Timeline(spans) => Some(spans),
        }
    }
}

/// What a span of time was spent with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A dispatch of a node, by its number in [`Timeline::nodes`].
    Node(u32),
    /// Elements were made a batch for others.
    Donate,
    /// Another's batch was run, with all that came of it: other spans lie inside.
    Batch,
    /// Nothing was to do.
    Wait,
    /// The program was compiled for the device.
    Compile,
    /// Arguments or results were copied.
    Copy,
    /// The tasks ran.
    Run,
    /// A graph's kernel ran on a GPU, as its host sees it.
    Kernel,
    /// Elements were copied into a graph's channels on a GPU.
    Feed,
    /// Elements were copied out of them.
    Drain,
}

/// A span of time. Those of one track lie one behind another or one inside another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// When it began, in nanoseconds as [`now`] counts them.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// What it was spent with.
    pub what: What,
    /// The level of the elements, in the tree of tasks.
    pub level: u64,
    /// How many elements were consumed; of a batch, how many it has.
    pub elements: u64,
    /// How many elements they pushed to the level below: their children, but those that ended where they were spawned.
    pub children: u64,
}

/// What one worker did when.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Track {
    /// Who it is: `worker 0`, `host`.
    pub name: String,
    /// In the order in which they ended.
    pub spans: Vec<Span>,
    /// How many more there were, for which there was no room. They are later than the others.
    pub missing: u64,
}

/// What happened when in a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Timeline {
    /// The nodes that spans name, as drawings of the graph call them.
    pub nodes: Vec<String>,
    /// The first so many of them consume tasks that begin, or what channels of a graph hold; the others frames of tasks that go on.
    pub entries: usize,
    /// How many elements the run began with, at level 0; those of a graph's channels are not counted.
    pub roots: u64,
    /// The host's first, which has what is done once a run; then those who worked. None if the run kept no timeline.
    pub tracks: Vec<Track>,
    /// What each block of a GPU did, in dispatches of `tracks`, but of a graph's kernel, whose blocks take wavefronts by themselves and are in `tracks`: dispatches of nodes, of which it is not known which elements the block had. Narrow
    /// dispatches of the persistent kernel are its first warp's alone, and not here. Of a subtree dispatch each block is a worker: the batches that it ran with all
    /// that came of them, at the level of the roots, and what it made a batch for others.
    pub blocks: Vec<Track>,
}

impl Timeline {
    /// How many spans found no room, of all tracks.
    #[must_use]
    pub fn missing(&self) -> u64 {
        let tracks = self.tracks.iter().chain(&self.blocks);
        tracks.map(|t| t.missing).sum()
    }
}

/// Where time begins: when the process first asked.
fn epoch() -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(Instant::now)
}

/// Time begins now, if it has not yet.
pub(crate) fn start() {
    epoch();
}

/// Nanoseconds since this process first asked: what spans count by.
#[must_use]
pub fn now() -> u64 {
    since_epoch(Instant::now())
}

/// The same for a time that was taken; 0 for one before the first.
pub(crate) fn since_epoch(time: Instant) -> u64 {
    time.saturating_duration_since(epoch()).as_nanos() as u64
}

/// What the host did once a run.
#[derive(Debug, Default)]
pub(crate) struct Host(pub(crate) Vec<Span>);

impl Host {
    /// It did that from then on.
    pub(crate) fn spent(&mut self, what: What, begin: Instant) {
        self.add(what, begin, begin.elapsed());
    }

    /// The same, if the time was taken.
    pub(crate) fn spent_since(&mut self, what: What, begin: Option<Instant>) {
        if let Some(begin) = begin {
            self.spent(what, begin);
        }
    }

    /// It did that, for so long.
    pub(crate) fn add(&mut self, what: What, begin: Instant, took: Duration) {
        let begin = since_epoch(begin);
        self.0.push(Span {
            begin,
            end: begin + took.as_nanos() as u64,
            what,
            level: 0,
            elements: 0,
            children: 0,
        });
    }

    /// How long it did that.
    pub(crate) fn took(&self, what: What) -> Duration {
        let spans = self.0.iter().filter(|s| s.what == what);
        Duration::from_nanos(spans.map(|s| s.end - s.begin).sum())
    }

    pub(crate) fn track(mut self) -> Track {
        self.0.sort_by_key(|s| s.end);
        Track {
            name: "host".into(),
            spans: self.0,
            missing: 0,
        }
    }
}

/// Where one worker writes.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) spans: Vec<Span>,
    pub(crate) most: usize,
    pub(crate) missing: u64,
}

impl Recorder {
    pub(crate) fn new(most: u32) -> Self {
        // What spans count by begins before the first of them.
        epoch();
        Self {
            spans: Vec::new(),
            most: most as usize,
            missing: 0,
        }
    }

    pub(crate) fn push(&mut self, span: Span) {
        if self.spans.len() < self.most {
            self.spans.push(span);
        } else {
            self.missing += 1;
        }
    }

    pub(crate) fn track(self, name: String) -> Track {
        Track {
            name,
            spans: self.spans,
            missing: self.missing,
        }
    }
}
