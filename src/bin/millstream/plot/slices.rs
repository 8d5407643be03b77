//! The numbers of a plot: what a timeline says of each slice of time.

use crate::report::grouped;
use millstream_aggregator::{
    RunReport,
    timeline::{Span, Timeline, Track, What},
};
use std::collections::BTreeMap;

/// Slices that the time is cut into.
pub(super) const SLICES: usize = 240;
/// Rows of the heat map, if there are so many levels.
const ROWS: u64 = 48;

/// The time that is drawn, in nanoseconds as spans count them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Time {
    begin: u64,
    pub(super) whole: u64,
}

impl Time {
    /// The run, or as much of it as is known of all.
    fn of(timeline: &Timeline) -> Option<Self> {
        let runs = timeline.tracks.iter().flat_map(|t| &t.spans);
        let mut runs = runs.filter(|s| s.what == What::Run);
        let run = runs.next_back()?;
        let known = timeline.tracks.iter().filter(|t| t.missing > 0);
        let known = known.map(|t| t.spans.last().map_or(run.begin, |s| s.end));
        let end = known.fold(run.end, u64::min).max(run.begin + 1);
        Some(Self {
            begin: run.begin,
            whole: end - run.begin,
        })
    }

    /// A time in slices: the third begins at 2.0.
    fn place(self, at: u64) -> f64 {
        let since = at.saturating_sub(self.begin).min(self.whole);
        since as f64 * SLICES as f64 / self.whole as f64
    }

    /// The slices that this time has a part of, and which part of each it takes.
    fn parts(self, begin: u64, end: u64) -> impl Iterator<Item = (usize, f64)> {
        let (from, to) = (self.place(begin), self.place(end));
        let slices = from as usize..(to.ceil() as usize).min(SLICES);
        slices.map(move |s| {
            let (begin, end) = (s as f64, (s + 1) as f64);
            (s, (to.min(end) - from.max(begin)).max(0.0))
        })
    }
}

/// A row of the heat map.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: String,
    /// What an axis calls it: its first level, or the node.
    pub(super) label: String,
    /// How many levels it has together; 1 of a node.
    pub(super) levels: u64,
    /// How many elements were consumed in all.
    pub(super) elements: u64,
    /// Of each slice: how many elements of the levels were there, pushed and not yet consumed, as a mean; or how many of a node were consumed.
    pub(super) cells: Vec<f64>,
}

/// Dispatches of one slice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Widths {
    pub(super) least: u64,
    pub(super) most: u64,
    elements: f64,
    time: f64,
}

impl Widths {
    /// Mean over the time that dispatches took; none if there was none.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.time > 0.0).then(|| self.elements / self.time)
    }

    fn add(&mut self, elements: u64, part: f64) {
        self.least = match self.time > 0.0 {
            true => self.least.min(elements),
            false => elements,
        };
        self.most = self.most.max(elements);
        self.elements += elements as f64 * part;
        self.time += part;
    }
}

/// What a worker did.
#[derive(Clone, Debug)]
pub(super) struct Worker {
    pub(super) name: String,
    pub(super) dispatches: u64,
    /// Nanoseconds in dispatches, and without anything to do.
    pub(super) running: u64,
    pub(super) waiting: u64,
    /// Shares of each slice, from 0 to 1: in dispatches; without anything to do, or before its first dispatch or behind its last.
    pub(super) ran: Vec<f64>,
    pub(super) idle: Vec<f64>,
}

/// All that is drawn.
#[derive(Clone, Debug)]
pub(super) struct Slices {
    pub(super) time: Time,
    pub(super) rows: Vec<Row>,
    /// Whether rows are levels; else nodes, where elements lie in channels.
    pub(super) levels: bool,
    pub(super) widths: Vec<Widths>,
    pub(super) dispatches: u64,
    pub(super) widest: u64,
    pub(super) workers: Vec<Worker>,
}

impl Slices {
    /// None if the run kept no timeline.
    pub(super) fn of(report: &RunReport) -> Option<Self> {
        let timeline = &report.timeline;
        let spans = || timeline.tracks.iter().flat_map(|t| &t.spans);
        let dispatches = || spans().filter(|s| matches!(s.what, What::Node(_)));
        dispatches().next()?;
        let time = Time::of(timeline)?;
        let levels = report.channels.is_empty();
        let mut widths = vec![Widths::default(); SLICES];
        for span in dispatches() {
            for (slice, part) in time.parts(span.begin, span.end) {
                widths[slice].add(span.elements, part);
            }
        }
        let working = timeline.tracks.iter().skip(1);
        let each = |t: &Track| worker(&t.name, &t.spans, time);
        let workers = match (report.workers.is_empty(), levels) {
            // A GPU: who dispatches there takes turns.
            (true, true) => {
                let spans: Vec<Span> = working.flat_map(|t| &t.spans).copied().collect();
                vec![worker("gpu", &spans, time)]
            }
            // Blocks take wavefronts by themselves; the host's thread before them takes none.
            (true, false) => working.skip(1).map(each).collect(),
            (false, _) => working.map(each).collect(),
        };
        Some(Self {
            time,
            rows: match levels {
                true => alive(timeline, time),
                false => consumed(timeline, time),
            },
            levels,
            widths,
            dispatches: dispatches().count() as u64,
            widest: dispatches().map(|s| s.elements).max().unwrap_or(0),
            workers,
        })
    }
}

/// Of one level: the elements consumed, and how the elements that are there change in each slice, in its mean and from the next on.
#[derive(Clone, Debug)]
struct Change {
    elements: u64,
    here: Vec<f64>,
    later: Vec<f64>,
}

impl Default for Change {
    fn default() -> Self {
        Self {
            elements: 0,
            here: vec![0.0; SLICES + 1],
            later: vec![0.0; SLICES + 1],
        }
    }
}

impl Change {
    /// So many come or go at that place.
    fn by(&mut self, elements: f64, at: f64) {
        let slice = at as usize;
        self.here[slice] += elements * ((slice + 1) as f64 - at);
        self.later[slice] += elements;
    }
}

/// The elements of each level, or of each few levels. What is there is known from what each dispatch consumed and pushed, when it ended.
fn alive(timeline: &Timeline, time: Time) -> Vec<Row> {
    let spans = timeline.tracks.iter().flat_map(|t| &t.spans);
    let spans = spans.filter_map(|span| match span.what {
        What::Node(node) => Some((span, (node as usize) < timeline.entries)),
        _ => None,
    });
    let deepest = |span: &Span, entry| match (span.children, entry) {
        (0, false) => 0,
        (0, true) => span.level,
        _ => span.level + 1,
    };
    let levels = 1 + spans.clone().map(|(s, e)| deepest(s, e)).max().unwrap_or(0);
    let each = levels.div_ceil(ROWS);
    let rows = levels.div_ceil(each) as usize;
    let mut changes: Vec<Change> = std::iter::repeat_with(Change::default).take(rows).collect();
    changes[0].by(timeline.roots as f64, 0.0);
    for (span, entry) in spans {
        let at = time.place(span.end);
        // Elements of other nodes are frames, which tasks that began there left.
        if entry {
            let own = &mut changes[(span.level / each) as usize];
            own.by(-(span.elements as f64), at);
            own.elements += span.elements;
        }
        if span.children > 0 {
            changes[((span.level + 1) / each) as usize].by(span.children as f64, at);
        }
    }
    let name = |first: u64| match (first, (first + each).min(levels) - 1) {
        (first, last) if first == last => grouped(first),
        (first, last) => format!("{} to {}", grouped(first), grouped(last)),
    };
    let rows = changes.into_iter().zip((0..).step_by(each as usize));
    rows.map(|(change, first)| {
        let mut before = 0.0;
        let cells = change.here.iter().zip(&change.later).take(SLICES);
        let cells = cells.map(|(here, later)| {
            let there = before + here;
            before += later;
            there
        });
        Row {
            name: name(first),
            label: grouped(first),
            levels: each,
            elements: change.elements,
            cells: cells.collect(),
        }
    })
    .collect()
}

/// What each node consumed, as evenly as its dispatches took.
fn consumed(timeline: &Timeline, time: Time) -> Vec<Row> {
    let mut rows = BTreeMap::<u32, Row>::new();
    for span in timeline.tracks.iter().flat_map(|t| &t.spans) {
        let What::Node(node) = span.what else {
            continue;
        };
        let row = rows.entry(node).or_insert_with(|| Row {
            name: timeline.nodes[node as usize].clone(),
            label: timeline.nodes[node as usize].clone(),
            levels: 1,
            elements: 0,
            cells: vec![0.0; SLICES],
        });
        row.elements += span.elements;
        let whole = time.place(span.end) - time.place(span.begin);
        for (slice, part) in time.parts(span.begin, span.end) {
            row.cells[slice] += span.elements as f64 * part / whole.max(f64::MIN_POSITIVE);
        }
    }
    rows.into_values().take(ROWS as usize).collect()
}

fn worker(name: &str, spans: &[Span], time: Time) -> Worker {
    let mut out = Worker {
        name: name.to_owned(),
        dispatches: 0,
        running: 0,
        waiting: 0,
        ran: vec![0.0; SLICES],
        idle: vec![0.0; SLICES],
    };
    // It is there from its first work to its last.
    let work = spans.iter().filter(|s| s.what != What::Wait);
    let begin = work.clone().map(|s| s.begin).min().unwrap_or(u64::MAX);
    let end = work.map(|s| s.end).max().unwrap_or(u64::MAX);
    let mut idle = vec![(0, begin), (end, u64::MAX)];
    for span in spans {
        match span.what {
            What::Node(_) => {
                out.dispatches += 1;
                out.running += span.end - span.begin;
                for (slice, part) in time.parts(span.begin, span.end) {
                    out.ran[slice] += part;
                }
            }
            What::Wait => {
                out.waiting += span.end - span.begin;
                idle.push((span.begin.max(begin), span.end.min(end)));
            }
            _ => {}
        }
    }
    for (begin, end) in idle.into_iter().filter(|(begin, end)| begin < end) {
        for (slice, part) in time.parts(begin, end) {
            out.idle[slice] += part;
        }
    }
    out
}
