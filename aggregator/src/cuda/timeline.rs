//! What happened when in a run on a GPU: a span for each dispatch that a record was kept of, those of the persistent kernel by the GPU's clock and
//! those of the host's thread by its own.

use super::policy::{Done, Run};
use crate::{
    report::{NodeReport, RunReport},
    timeline::{Host, Recorder, Span, Timeline, What},
};
use millstream_channels_kernel::cuda::plan::{Plan, Source, StackKind};
use std::time::Duration;

/// The spans of a run.
#[derive(Debug)]
pub(super) struct Spans {
    /// Of each source the number of its node.
    node_of: Vec<usize>,
    nodes: Vec<NodeReport>,
    host: Recorder,
    kernel: Recorder,
}

/// What drawings call a segment.
pub(super) fn node_name<'p>(plan: &'p Plan, source: &Source) -> &'p str {
    &plan.program[source.task].segments[source.segment.index()]
        .body
        .name
}

/// The nodes of a program: tasks that begin, then frames that go on. Two sources of one segment are the same node.
pub(super) fn nodes(plan: &Plan) -> (Vec<NodeReport>, Vec<usize>) {
    let mut nodes: Vec<NodeReport> = Vec::new();
    for entry in [true, false] {
        for source in plan.sources.iter().filter(|s| s.is_entry() == entry) {
            if nodes.iter().all(|n| n.name != node_name(plan, source)) {
                nodes.push(NodeReport::new(node_name(plan, source).into(), entry));
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
    pub(super) fn new(plan: &Plan, most: u32) -> Self {
        let (nodes, node_of) = nodes(plan);
        Self {
            node_of,
            nodes,
            host: Recorder::new(most),
            kernel: Recorder::new(most),
        }
    }

    /// A dispatch, of a kernel of its own or of the persistent one.
    pub(super) fn push(
        &mut self,
        plan: &Plan,
        (run, done): (&Run, &Done),
        (begin, end): (u64, u64),
        persistent: bool,
    ) {
        let elements = u64::from(run.count - done.left);
        let node = self.node_of[run.source];
        let time = Duration::from_nanos(end - begin);
        self.nodes[node].add(elements, done.left > 0, time);
        let track = if persistent {
            &mut self.kernel
        } else {
            &mut self.host
        };
        track.push(Span {
            begin,
            end,
            what: What::Node(node as u32),
            level: run.level.into(),
            elements,
            children: children(plan, run, done),
        });
    }

    /// The persistent kernel had no room for records of so many dispatches.
    pub(super) fn lost(&mut self, dispatches: u64) {
        self.kernel.lose(dispatches);
    }

    /// Puts all of it into a report.
    pub(super) fn tell(self, report: &mut RunReport, roots: u64, host: Host) {
        let names = self.nodes.iter().map(|n| n.name.clone());
        report.timeline = Timeline {
            nodes: names.collect(),
            entries: self.nodes.iter().filter(|n| n.entry).count(),
            roots,
            tracks: Vec::new(),
        };
        // Counts of some dispatches would be taken for those of all.
        if !self.kernel.lost() {
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
    }
}

/// The times of a kernel's dispatches by this computer's clock: they lie in the middle of the time that the kernel took, which begins before and
/// ends after them. If it is not known when the last one ended, they lie where the kernel begins.
pub(super) fn by_our_clock(times: &mut [(u64, u64)], (launched, ended): (u64, u64), is_cut: bool) {
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return;
    };
    let (first, took) = (first.0, last.1.saturating_sub(first.0));
    let spare = (ended - launched).saturating_sub(took);
    let begin = launched + if is_cut { 0 } else { spare / 2 };
    for (from, to) in times {
        let ours = |theirs: u64| (begin + theirs.saturating_sub(first)).min(ended);
        (*from, *to) = (ours(*from), ours(*to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpus_times_lie_inside_of_the_time_that_its_kernel_took() {
        let device = [(1_000_000, 1_000_010), (1_000_010, 1_000_050)];
        let mut times = device;
        by_our_clock(&mut times, (100, 170), false);
        assert_eq!(times, [(110, 120), (120, 160)]);
        let mut times = device;
        by_our_clock(&mut times, (100, 170), true);
        assert_eq!(times, [(100, 110), (110, 150)]);
        // Clocks that do not go alike.
        let mut times = device;
        by_our_clock(&mut times, (100, 130), false);
        assert_eq!(times, [(100, 110), (110, 130)]);
        by_our_clock(&mut [], (100, 130), false);
    }
}
