//! What happened when in a run on a GPU: a span for each dispatch that a record was kept of, those of the persistent kernel by the GPU's clock and
//! those of the host's thread by its own.

use super::decision::{Done, Run};
use crate::{
    report::{NodeReport, RunReport},
    timeline::{Host, Recorder, Span, Timeline, Track, What},
};
use millstream_channels_kernel::cuda::{
    abi::{Share, share},
    plan::{Plan, Source, StackKind},
};
use std::{collections::BTreeMap, time::Duration};

/// Whose a dispatch was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// A kernel of its own.
    Host,
    /// The persistent kernel's blocks.
    Kernel,
    /// One warp of it.
    Warp,
}

/// The spans of a run.
#[derive(Debug)]
pub(super) struct Spans {
    /// Of each source the number of its node.
    node_of: Vec<usize>,
    nodes: Vec<NodeReport>,
    /// Lanes of a warp.
    warp: u64,
    /// How long dispatches of the persistent kernel took, and narrow ones of them.
    decided: Duration,
    narrow: Duration,
    /// Subtree dispatches: how long all workers together were there, and how many there were at most.
    inside: Duration,
    workers: u32,
    host: Recorder,
    /// These two by the GPU's clock.
    kernel: Recorder,
    /// Whether there are more of the persistent kernel's than there was room for.
    lost: bool,
    /// Of each block that there is something of.
    blocks: BTreeMap<u32, Vec<Span>>,
    lost_shares: u64,
    ahead: Ahead,
}

/// What drawings call a segment.
pub(super) fn node_name<'p>(plan: &'p Plan, source: &Source) -> &'p str {
    let segment = plan.program.segment(source.task, source.segment);
    &segment.kernel.name
}

/// The nodes of a program: tasks that begin, then frames that go on. Two sources of one segment are the same node.
pub(super) fn nodes(plan: &Plan) -> (Vec<NodeReport>, Vec<usize>) {
    let mut nodes: Vec<NodeReport> = Vec::new();
    for entry in [true, false] {
        for source in plan.sources.iter().filter(|s| s.is_entry() == entry) {
            if nodes.iter().all(|n| n.name != node_name(plan, source)) {
                nodes.push(NodeReport {
                    name: node_name(plan, source).into(),
                    entry,
                    ..NodeReport::default()
                });
            }
        }
    }
    let node_of = plan.sources.iter().map(|s| {
        let found = nodes.iter().position(|n| n.name == node_name(plan, s));
        found.expect("each source has a node")
    });
    let node_of = node_of.collect();
    (nodes, node_of)
}

/// A dispatch of so many elements of a node consumed so many of them, in warps of so many lanes, and took so long.
pub(super) fn count(
    node: &mut NodeReport,
    (count, elements): (u64, u64),
    warp: u64,
    time: Duration,
) {
    node.elements += elements;
    node.dispatches += 1;
    node.yields += u64::from(elements < count);
    node.lanes.add((count, elements), warp);
    let power = elements.max(1).ilog2() as usize;
    if node.widths.len() <= power {
        node.widths.resize(power + 1, 0);
    }
    node.widths[power] += 1;
    *node.time.get_or_insert_default() += time;
}

/// How many entry elements a dispatch pushed.
fn children(plan: &Plan, run: &Run, done: &Done) -> u64 {
    let source = &plan.sources[run.source];
    let pushes = source.pushes.iter();
    let pushes = pushes.filter(|p| plan.stacks[p.stack as usize].kind == StackKind::Entry);
    pushes
        .map(|push| u64::from(done.pushed(source, push)))
        .sum()
}

impl Spans {
    pub(super) fn new(plan: &Plan, most: u32, warp: u32) -> Self {
        let (nodes, node_of) = nodes(plan);
        Self {
            node_of,
            nodes,
            warp: warp.into(),
            decided: Duration::ZERO,
            narrow: Duration::ZERO,
            inside: Duration::ZERO,
            workers: 0,
            host: Recorder::new(most),
            kernel: Recorder::new(most),
            lost: false,
            blocks: BTreeMap::new(),
            lost_shares: 0,
            ahead: Ahead::UNKNOWN,
        }
    }

    /// A kernel that was launched and had ended at these times began with its first dispatch and was done with the last, if that is known.
    pub(super) fn took(&mut self, kernel: (u64, u64), first: u64, last: Option<u64>) {
        self.ahead.inside(kernel, first, last);
    }

    /// What blocks did, and of how much more that is not known.
    pub(super) fn take_shares(&mut self, plan: &Plan, words: &[u32], lost: u32) {
        let at = Share::new(plan);
        for one in words.chunks_exact(at.words()) {
            let what = match at.what.get(one) {
                share::BATCH => What::Batch,
                share::GIFT => What::Donate,
                _ => What::Node(self.node_of[at.source.get(one) as usize] as u32),
            };
            let track = self.blocks.entry(at.block.get(one)).or_default();
            track.push(Span {
                begin: at.begin.get(one),
                end: at.end.get(one),
                what,
                level: at.level.get(one).into(),
                elements: at.elements.get(one).into(),
                children: 0,
            });
        }
        self.lost_shares = lost.into();
    }

    /// A subtree dispatch took so long, of so many workers.
    pub(super) fn had_workers(&mut self, (begin, end): (u64, u64), workers: u32) {
        self.inside += Duration::from_nanos(end.saturating_sub(begin)) * workers;
        self.workers = self.workers.max(workers);
    }

    /// A dispatch, of a kernel of its own or of the persistent one.
    pub(super) fn push(
        &mut self,
        plan: &Plan,
        (run, done): (&Run, &Done),
        (begin, end): (u64, u64),
        by: By,
    ) {
        let elements = u64::from(run.count - done.left);
        let node = self.node_of[run.source];
        let time = Duration::from_nanos(end.saturating_sub(begin));
        count(
            &mut self.nodes[node],
            (run.count.into(), elements),
            self.warp,
            time,
        );
        let track = match by {
            By::Host => &mut self.host,
            By::Kernel | By::Warp => &mut self.kernel,
        };
        if by != By::Host {
            self.decided += time;
        }
        if by == By::Warp {
            self.narrow += time;
        }
        track.push(Span {
            begin,
            end,
            what: What::Node(node as u32),
            level: run.level.into(),
            elements,
            children: children(plan, run, done),
        });
    }

    /// How long a block had nothing to do that somebody else than the host decides on, on an average, if all is known: one of the persistent kernel no part of
    /// a dispatch, of those that ever had one, where a narrow dispatch is one block's; and a worker no batch.
    pub(super) fn blocked(&self) -> Option<Duration> {
        let of = |is_it: fn(What) -> bool| {
            let tracks = self.blocks.iter();
            let spans = tracks.flat_map(|(block, spans)| spans.iter().map(move |s| (*block, s)));
            let spans = spans.filter(move |(_, s)| is_it(s.what));
            spans.map(|(block, s)| (block, Duration::from_nanos(s.end.saturating_sub(s.begin))))
        };
        let shares = || of(|what| matches!(what, What::Node(_)));
        let blocks = shares().map(|s| s.0).max().map_or(1, |last| last + 1);
        let worked = shares().map(|s| s.1).sum::<Duration>() + self.narrow;
        let idle = (self.decided * blocks).saturating_sub(worked) / blocks;
        let batches = of(|what| what == What::Batch).map(|s| s.1).sum();
        let hungry = self.inside.saturating_sub(batches) / self.workers.max(1);
        let whole = !self.lost && self.lost_shares == 0;
        whole.then(|| idle + hungry)
    }

    /// The persistent kernel had no room for records of so many dispatches.
    pub(super) fn lost(&mut self, dispatches: u64) {
        if dispatches > 0 {
            self.kernel.missing += dispatches;
            // What comes after has no place behind them.
            self.kernel.most = self.kernel.spans.len();
            self.lost = true;
        }
    }

    /// Puts all of it into a report.
    pub(super) fn tell(mut self, report: &mut RunReport, roots: u64, host: Host) {
        let within = running(&host);
        let shares = || self.blocks.values().flatten();
        let (first, last) = (
            shares().map(|s| s.begin).min(),
            shares().map(|s| s.end).max(),
        );
        if let Some(first) = first {
            self.ahead.inside(within, first, last);
        }
        let kernel = self.kernel.spans.iter_mut();
        let shares = self.blocks.values_mut().flatten();
        by_our_clock(kernel.chain(shares), self.ahead, within);
        let names = self.nodes.iter().map(|n| n.name.clone());
        report.timeline = Timeline {
            nodes: names.collect(),
            entries: self.nodes.iter().filter(|n| n.entry).count(),
            roots,
            ..Timeline::default()
        };
        // Counts of some dispatches would be taken for those of all.
        if !self.lost {
            for told in &mut report.nodes {
                if let Some(node) = self.nodes.iter().find(|n| n.name == told.name) {
                    let elements = told.elements;
                    *told = NodeReport {
                        elements,
                        ..node.clone()
                    };
                }
            }
        }
        report.timeline.tracks = vec![
            host.track(),
            self.host.track("host thread".into()),
            self.kernel.track("persistent kernel".into()),
        ];
        let blocks = self.blocks.into_iter();
        let blocks = blocks.map(|(block, spans)| Track {
            name: format!("block {block}"),
            spans,
            missing: 0,
        });
        report.timeline.blocks = blocks.collect();
        if let Some(first) = report.timeline.blocks.first_mut() {
            first.missing = self.lost_shares;
        }
    }
}

/// How far this computer's clock is ahead of the GPU's: what is known of it. What a kernel did lies inside of the time from its launch to
/// when the host saw that it had ended, whose clock goes as fast but for some thousandths of a percent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ahead {
    least: i128,
    most: i128,
}

impl Ahead {
    pub(super) const UNKNOWN: Self = Self {
        least: i128::MIN,
        most: i128::MAX,
    };

    /// Something began at `first` and ended at `last`, by the GPU's clock, if that is known; and both lie in that time by ours.
    pub(super) fn inside(&mut self, (from, to): (u64, u64), first: u64, last: Option<u64>) {
        self.least = self.least.max(i128::from(from) - i128::from(first));
        if let Some(last) = last {
            self.most = self.most.min(i128::from(to) - i128::from(last));
        }
    }

    fn between(self) -> i128 {
        match self {
            Self { least, most } if most == i128::MAX => least,
            Self { least, most } => i128::midpoint(least, most),
        }
    }
}

/// From when to when the host had the run go on.
pub(super) fn running(host: &Host) -> (u64, u64) {
    let span = host.0.iter().find(|s| s.what == What::Run);
    span.map_or((0, 0), |s| (s.begin, s.end))
}

/// Puts times of the GPU's clock where they lie by ours, which is in that time.
pub(super) fn by_our_clock<'s>(
    spans: impl Iterator<Item = &'s mut Span>,
    ahead: Ahead,
    within: (u64, u64),
) {
    let ours = |theirs: u64| {
        let time = i128::from(theirs).saturating_add(ahead.between());
        u64::try_from(time).unwrap_or(0).clamp(within.0, within.1)
    };
    for span in spans {
        (span.begin, span.end) = (ours(span.begin), ours(span.end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(times: &[(u64, u64)], ahead: Ahead, within: (u64, u64)) -> Vec<(u64, u64)> {
        let mut spans: Vec<Span> = times.iter().map(|t| span(*t)).collect();
        by_our_clock(spans.iter_mut(), ahead, within);
        spans.iter().map(|s| (s.begin, s.end)).collect()
    }

    fn span((begin, end): (u64, u64)) -> Span {
        Span {
            begin,
            end,
            what: What::Node(0),
            level: 0,
            elements: 0,
            children: 0,
        }
    }

    #[test]
    fn a_gpus_times_lie_inside_of_the_times_that_its_kernels_took() {
        let device = [(1_000_000, 1_000_010), (1_000_010, 1_000_050)];
        let mut ahead = Ahead::UNKNOWN;
        ahead.inside((100, 170), 1_000_000, Some(1_000_050));
        assert_eq!(ours(&device, ahead, (0, 500)), [(110, 120), (120, 160)]);
        // Another kernel says it better.
        ahead.inside((200, 252), 1_000_098, Some(1_000_150));
        assert_eq!(ours(&device, ahead, (0, 500)), [(102, 112), (112, 152)]);
        // One of which the end was not kept.
        let mut ahead = Ahead::UNKNOWN;
        ahead.inside((100, 170), 1_000_000, None);
        assert_eq!(ours(&device, ahead, (0, 500)), [(100, 110), (110, 150)]);
        // Clocks that do not go alike.
        assert_eq!(ours(&device, ahead, (0, 130)), [(100, 110), (110, 130)]);
    }
}
