//! A run's timeline as a file for Perfetto and `chrome://tracing`: the trace event format, as JSON.
//!
//! Each worker has a track, on which its dispatches are spans named by their nodes; the host has tracks of its own. Beside them there is a
//! counter for each level: how many of its elements wait to be run. [`write()`] makes the file of a report that has a timeline.

use crate::RunReport;
use millstream_aggregator::timeline::{Span, Timeline, Track, What};
use serde::Serialize;
use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, Write},
};

/// Levels that have counters; deeper ones have one in common.
const LEVELS: usize = 64;
/// A level's counter is told so often at most.
const STEPS: u64 = 1000;

/// A span of the program around a run: what it did, on which of its threads, when by [`now`](millstream_aggregator::timeline::now).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostSpan {
    /// What was done.
    pub name: String,
    /// Who did it; spans of one thread lie one behind another or one inside another.
    pub thread: String,
    /// When it began.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
}

/// An event of the format. Times are in microseconds.
#[derive(Debug, Serialize)]
struct Event<'a, A> {
    ph: &'static str,
    pid: u32,
    tid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    args: A,
}

#[derive(Debug, Serialize)]
struct Named<'a> {
    name: &'a str,
}

#[derive(Debug, Serialize)]
struct Order {
    sort_index: usize,
}

#[derive(Debug, Serialize)]
struct Dispatched {
    level: u64,
    elements: u64,
    children: u64,
}

#[derive(Debug, Serialize)]
struct Handed {
    level: u64,
    elements: u64,
}

#[derive(Debug, Serialize)]
struct At {
    level: u64,
}

#[derive(Debug, Serialize)]
struct Nothing {}

#[derive(Debug, Serialize)]
struct Elements {
    elements: u64,
}

/// What is said of the whole.
#[derive(Debug, Serialize)]
struct Other<'a> {
    call: &'a str,
    device: &'a str,
    missing_spans: u64,
}

/// The process that all tracks belong to.
const PROCESS: u32 = 1;

/// Events, one behind another.
struct Events<W> {
    out: W,
    first: bool,
}

impl<W: Write> Events<W> {
    fn event(&mut self, event: &Event<'_, impl Serialize>) -> io::Result<()> {
        self.out
            .write_all(if self.first { b"\n" } else { b",\n" })?;
        self.first = false;
        serde_json::to_writer(&mut self.out, event)?;
        Ok(())
    }

    /// Something about a track.
    fn about(&mut self, tid: usize, what: &'static str, args: impl Serialize) -> io::Result<()> {
        self.event(&Event {
            ph: "M",
            pid: PROCESS,
            tid,
            ts: None,
            dur: None,
            name: what.into(),
            cat: None,
            args,
        })
    }

    fn track(&mut self, tid: usize, name: &str) -> io::Result<()> {
        self.about(tid, "thread_name", Named { name })?;
        self.about(tid, "thread_sort_index", Order { sort_index: tid })
    }

    fn span(
        &mut self,
        tid: usize,
        (begin, end): (u64, u64),
        (name, cat): (&str, &'static str),
        args: impl Serialize,
    ) -> io::Result<()> {
        self.event(&Event {
            ph: "X",
            pid: PROCESS,
            tid,
            ts: Some(microseconds(begin)),
            dur: Some(microseconds(end - begin)),
            name: name.into(),
            cat: Some(cat),
            args,
        })
    }

    fn worker_span(&mut self, tid: usize, span: &Span, nodes: &[String]) -> io::Result<()> {
        let when = (span.begin, span.end);
        let Span {
            level,
            elements,
            children,
            ..
        } = *span;
        let handed = Handed { level, elements };
        match span.what {
            What::Node(node) => {
                let name = nodes.get(node as usize).map_or("?", String::as_str);
                let args = Dispatched {
                    level,
                    elements,
                    children,
                };
                self.span(tid, when, (name, "node"), args)
            }
            What::Donate => self.span(tid, when, ("donate", "worker"), handed),
            What::Batch => self.span(tid, when, ("batch", "worker"), handed),
            What::Wait => self.span(tid, when, ("wait", "worker"), Nothing {}),
            What::Compile => self.span(tid, when, ("compile", "host"), Nothing {}),
            What::Copy => self.span(tid, when, ("copy", "host"), Nothing {}),
            What::Run => self.span(tid, when, ("run", "host"), Nothing {}),
            What::Kernel => self.span(tid, when, ("kernel", "host"), Nothing {}),
            What::Feed => self.span(tid, when, ("feed", "host"), Elements { elements }),
            What::Drain => self.span(tid, when, ("drain", "host"), Elements { elements }),
        }
    }

    /// What a block did: of a dispatch, or of a worker's batch with all that came of it.
    fn share(&mut self, tid: usize, span: &Span, nodes: &[String]) -> io::Result<()> {
        let What::Node(node) = span.what else {
            return self.worker_span(tid, span, nodes);
        };
        let name = nodes.get(node as usize).map_or("?", String::as_str);
        let args = At { level: span.level };
        self.span(tid, (span.begin, span.end), (name, "block"), args)
    }

    fn counters(&mut self, timeline: &Timeline) -> io::Result<()> {
        let waiting = waiting(timeline);
        let deepest = waiting.iter().map(|(_, level, _)| *level).max();
        // Viewers sort by name.
        let digits = if deepest >= Some(10) { 2 } else { 1 };
        for (time, level, elements) in waiting {
            let name = match level {
                LEVELS => format!("levels from {LEVELS}"),
                level => format!("level {level:0digits$}"),
            };
            self.event(&Event {
                ph: "C",
                pid: PROCESS,
                tid: 0,
                ts: Some(microseconds(time)),
                dur: None,
                name: name.into(),
                cat: None,
                args: Elements { elements },
            })?;
        }
        Ok(())
    }
}

fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

/// How many elements wait at each level: when that changed, which level, how many there are since. No more often than a step of time, and for as long
/// as no span is missing.
fn waiting(timeline: &Timeline) -> Vec<(u64, usize, u64)> {
    let workers = timeline.tracks.get(1..).unwrap_or_default();
    let known = workers.iter().filter(|t| t.missing > 0);
    let known = known.map(|t| t.spans.last().map_or(0, |s| s.end)).min();
    let mut changes: Vec<(u64, usize, i64)> = Vec::new();
    for span in workers.iter().flat_map(|t| &t.spans) {
        let What::Node(node) = span.what else {
            continue;
        };
        let level = |l: u64| l.min(LEVELS as u64) as usize;
        // What a graph's channels hold is no level's.
        if (node as usize) < timeline.entries && (timeline.roots > 0 || span.level > 0) {
            changes.push((span.end, level(span.level), -(span.elements as i64)));
        }
        changes.push((span.end, level(span.level + 1), span.children as i64));
    }
    changes.retain(|c| c.2 != 0 && known.is_none_or(|known| c.0 <= known));
    changes.sort_unstable();
    let (Some(first), Some(last)) = (changes.first(), changes.last()) else {
        return Vec::new();
    };
    let begin = workers.iter().flat_map(|t| &t.spans).map(|s| s.begin).min();
    let begin = begin.unwrap_or(first.0);
    let step = ((last.0 - begin) / STEPS).max(1);
    let mut held = BTreeMap::from([(0, timeline.roots as i64)]);
    let mut out = Vec::new();
    if timeline.roots > 0 {
        out.push((begin, 0, timeline.roots));
    }
    for within in changes.chunk_by(|a, b| (a.0 - begin) / step == (b.0 - begin) / step) {
        let mut levels: Vec<usize> = within.iter().map(|c| c.1).collect();
        levels.sort_unstable();
        levels.dedup();
        for &(_, level, change) in within {
            *held.entry(level).or_default() += change;
        }
        let time = within.last().map_or(begin, |c| c.0);
        // A child may run before the span that pushed it has ended, on another worker's clock.
        out.extend(levels.iter().map(|l| (time, *l, held[l].max(0) as u64)));
    }
    out
}

/// Writes a report's timeline, with what the program did around it, under the name of the call and of the device.
///
/// # Errors
/// As the writer does.
pub fn write(
    report: &RunReport,
    (call, device): (&str, &str),
    around: &[HostSpan],
    out: impl Write,
) -> io::Result<()> {
    let timeline = &report.timeline;
    let mut events = Events { out, first: true };
    events
        .out
        .write_all(b"{\"displayTimeUnit\":\"ns\",\"otherData\":")?;
    let other = Other {
        call,
        device,
        missing_spans: timeline.missing(),
    };
    serde_json::to_writer(&mut events.out, &other)?;
    events.out.write_all(b",\"traceEvents\":[")?;
    let process = format!("millstream {call} on {device}");
    events.about(0, "process_name", Named { name: &process })?;
    let mut threads: Vec<&str> = around.iter().map(|s| s.thread.as_str()).collect();
    threads.sort_unstable();
    threads.dedup();
    for (tid, thread) in threads.iter().enumerate() {
        events.track(tid, thread)?;
        for span in around.iter().filter(|s| s.thread == *thread) {
            let when = (span.begin, span.end);
            events.span(tid, when, (&span.name, "host"), Nothing {})?;
        }
    }
    for (tid, Track { name, spans, .. }) in (threads.len()..).zip(&timeline.tracks) {
        events.track(tid, name)?;
        for span in spans {
            events.worker_span(tid, span, &timeline.nodes)?;
        }
    }
    let blocks = threads.len() + timeline.tracks.len();
    for (tid, Track { name, spans, .. }) in (blocks..).zip(&timeline.blocks) {
        events.track(tid, name)?;
        for span in spans {
            events.share(tid, span, &timeline.nodes)?;
        }
    }
    events.counters(timeline)?;
    events.out.write_all(b"\n]}\n")
}
