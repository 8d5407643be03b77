//! What happened when in a graph's run on a GPU: what the thread that drives it did, by its own clock, and the wavefronts that blocks wrote down, by
//! the GPU's.

use super::{launcher::FlowLauncher, run::FlowRun};
use crate::{
    cuda::timeline::{self, Ahead, by_our_clock},
    report::{NodeReport, RunReport},
    timeline::{Host, Recorder, Span, Timeline, Track, What, since_epoch},
};
use millstream_channels_kernel::cuda::abi::{flow::Wave, kernel};
use std::{
    cell::RefCell,
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// A kernel that wrote wavefronts down: when it was launched and had ended, and up to which one.
type Kernel = ((u64, u64), u32);

/// The spans of a run.
#[derive(Debug)]
pub(super) struct FlowSpans {
    host: RefCell<Recorder>,
    kernels: RefCell<Vec<Kernel>>,
}

impl FlowSpans {
    pub(super) fn new(most: u32) -> Self {
        Self {
            host: RefCell::new(Recorder::new(most)),
            kernels: RefCell::default(),
        }
    }

    fn push(&self, what: What, begin: Instant, took: Duration, elements: u64) -> (u64, u64) {
        let begin = since_epoch(begin);
        let end = begin + took.as_nanos() as u64;
        self.host.borrow_mut().push(Span {
            begin,
            end,
            what,
            level: 0,
            elements,
            children: 0,
        });
        (begin, end)
    }

    /// A kernel ran then, and so many wavefronts are written down since the first one began.
    pub(super) fn kernel(&self, begin: Instant, took: Duration, waves: u32) {
        let when = self.push(What::Kernel, begin, took, 0);
        let mut kernels = self.kernels.borrow_mut();
        if kernels.last().map_or(0, |k| k.1) < waves {
            kernels.push((when, waves));
        }
    }

    /// Puts all of it into a report, the host's first. If no wavefront is missing, says how long all of them took.
    pub(super) fn tell(
        self,
        report: &mut RunReport,
        names: Vec<String>,
        (waves, missing): (Vec<Wave>, u64),
        host: Host,
    ) -> Option<Duration> {
        let (mut ahead, mut from) = (Ahead::UNKNOWN, 0);
        for (when, to) in self.kernels.take() {
            let own = &waves[from..to as usize];
            let first = own.iter().map(|w| w.begin).min();
            let last = own.iter().map(|w| w.end).max();
            if let Some(first) = first {
                ahead.inside(when, first, last);
            }
            from = to as usize;
        }
        let mut blocks: BTreeMap<u32, Vec<Span>> = BTreeMap::new();
        for wave in &waves {
            blocks.entry(wave.block).or_default().push(Span {
                begin: wave.begin,
                end: wave.end,
                what: What::Node(wave.node),
                level: 0,
                elements: wave.count.into(),
                children: 0,
            });
        }
        let within = timeline::running(&host);
        by_our_clock(blocks.values_mut().flatten(), ahead, within);
        let took = |wave: &Wave| Duration::from_nanos(wave.end.saturating_sub(wave.begin));
        let whole = missing == 0 && !waves.is_empty();
        if whole {
            report.nodes = nodes(&names, &waves, took);
            report.sum_lanes();
        }
        report.timeline = Timeline {
            entries: names.len(),
            nodes: names,
            ..Timeline::default()
        };
        let mut tracks: Vec<Track> = blocks
            .into_iter()
            .map(|(block, spans)| Track {
                name: format!("block {block}"),
                spans,
                missing: 0,
            })
            .collect();
        if let Some(first) = tracks.first_mut() {
            first.missing = missing;
        }
        let thread = self.host.into_inner().track("host thread".into());
        report.timeline.tracks = vec![host.track(), thread];
        report.timeline.tracks.extend(tracks);
        whole.then(|| waves.iter().map(took).sum())
    }
}

/// What each node did, by its wavefronts.
fn nodes(names: &[String], waves: &[Wave], took: impl Fn(&Wave) -> Duration) -> Vec<NodeReport> {
    let new = |name: &String| NodeReport {
        name: name.clone(),
        entry: true,
        ..NodeReport::default()
    };
    let mut nodes: Vec<NodeReport> = names.iter().map(new).collect();
    for wave in waves {
        let count = u64::from(wave.count);
        if let Some(node) = nodes.get_mut(wave.node as usize) {
            timeline::count(node, (count, count), kernel::WARP.into(), took(wave));
        }
    }
    nodes.retain(|n| n.elements > 0);
    nodes
}

impl<L: FlowLauncher> FlowRun<'_, L> {
    /// The thread that drives the device did that from then on with so many elements, if there were some.
    pub(super) fn spent(&self, what: What, begin: Instant, elements: u64) {
        if let Some(spans) = &self.spans
            && elements > 0
        {
            spans.push(what, begin, begin.elapsed(), elements);
        }
    }

    /// The names of its nodes, when they began to be compiled, and how many blocks a kernel has.
    pub(super) fn about(&self) -> (Vec<String>, Instant, u32) {
        let kernels = self.flow();
        let program = &kernels.plan.plan.program;
        let nodes = kernels.plan.nodes.iter();
        let names = nodes.map(|n| program[n.task].source_name().to_owned());
        (names.collect(), kernels.compiled, kernels.blocks)
    }
}
