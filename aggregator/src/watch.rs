//! What a worker tells of each dispatch beside what it counts: how long it took and when it ran, for users, and why, for tests. All of it
//! goes through one hook; a run that asks for nothing pays a branch that is always the same.

use crate::{
    decisions::{Decision, Reason},
    levels::Level,
    plan::{Plan, SHORT_WIDTH},
    report::WorkerReport,
    timeline::{Observe, Recorder, Span, What, since_epoch},
    worker::Worker,
};
use std::time::{Duration, Instant};

/// What the workers of a run tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Watched {
    /// What they decided.
    pub(crate) decisions: bool,
    /// How long it took, and when.
    pub(crate) observe: Observe,
}

/// What one worker keeps.
#[derive(Debug)]
pub(crate) struct Watch {
    decisions: Option<Vec<Decision>>,
    recorder: Option<Recorder>,
    /// Of each node.
    times: Vec<Duration>,
    /// The begin and the end of the last dispatch.
    last: (u64, u64),
}

impl Watch {
    /// None if there is nothing to tell.
    pub(crate) fn new(watched: Watched, plan: &Plan) -> Option<Box<Self>> {
        let recorder = watched.observe.spans().map(Recorder::new);
        (watched.decisions || recorder.is_some()).then(|| {
            Box::new(Self {
                decisions: watched.decisions.then(Vec::new),
                recorder,
                times: vec![Duration::ZERO; plan.nodes.len()],
                last: (0, 0),
            })
        })
    }

    /// A dispatch of a node began then and took so long.
    pub(crate) fn took(&mut self, node: usize, begin: Instant, took: Duration) {
        self.times[node] += took;
        let begin = since_epoch(begin);
        self.last = (begin, begin + took.as_nanos() as u64);
    }

    fn span(&mut self, span: Span) {
        if let Some(recorder) = &mut self.recorder {
            recorder.push(span);
        }
    }

    /// Puts what was kept into the worker's report.
    pub(crate) fn tell(self, report: &mut WorkerReport) {
        report.decisions = self.decisions.unwrap_or_default();
        if let Some(recorder) = self.recorder {
            report.times = self.times;
            report.track = Some(recorder.track(format!("worker {}", report.worker)));
        }
    }
}

impl Worker<'_> {
    /// Whether dispatches are told of.
    #[inline]
    pub(crate) const fn watched(&self) -> bool {
        self.watch.is_some()
    }

    /// When a dispatch of so many elements of a segment begins, if somebody wants to know it: several workers keep a pace. Looks at the clock are a good part
    /// of what a small dispatch takes.
    #[inline]
    pub(crate) fn clock(&mut self, segment: usize, count: u64) -> Option<Instant> {
        if self.watched() {
            return Some(Instant::now());
        }
        if self.run.workers == 1 {
            return None;
        }
        if self.plan.first[segment] == SHORT_WIDTH {
            self.unseen += count;
            if self.unseen < SHORT_WIDTH {
                return None;
            }
        } else if self.unseen > 0 {
            self.look_at_the_clock();
        }
        self.unseen = 0;
        // Where the last one ended: little happened since.
        Some(self.now)
    }

    /// Leaves what was done up to now out of the next dispatch's time.
    pub(crate) fn look_at_the_clock(&mut self) {
        self.unseen = 0;
        if self.run.workers > 1 {
            self.now = Instant::now();
        }
    }

    /// The time, if spans are kept.
    pub(crate) fn stamp(&self) -> Option<Instant> {
        self.watched().then(Instant::now)
    }

    /// What the current level holds, if decisions are kept.
    #[inline]
    pub(crate) fn held_if_told(&self) -> u64 {
        match &self.watch {
            Some(watch) if watch.decisions.is_some() => self.held(),
            _ => 0,
        }
    }

    /// Tells of a dispatch: why it was, of which node at which level, the first element and how many, what the level held before, and how many
    /// children it has now.
    pub(crate) fn observe(
        &mut self,
        reason: Reason,
        (level, node): (Level, usize),
        (first, count): (u64, u64),
        (held, children): (u64, u64),
    ) {
        let Some(mut watch) = self.watch.take() else {
            return;
        };
        if let Some(decisions) = &mut watch.decisions {
            let (allowed, used) = (self.allowance(), self.live + self.lent);
            let before = self.stacks.before.iter();
            let pushed = before.filter(|_| reason != Reason::Batch);
            let pushed =
                pushed.map(|&(s, before)| (s.index(), before, self.stacks.top(s) - before));
            let pushed = pushed.filter(|p| p.2 > 0).collect();
            decisions.push(Decision {
                reason,
                level,
                segment: node,
                first,
                count,
                pushed,
                held,
                allowed,
                used,
            });
        }
        // A batch's elements are put on a level; nothing is dispatched yet.
        if reason != Reason::Batch {
            let (begin, end) = watch.last;
            watch.span(Span {
                begin,
                end,
                what: What::Node(node as u32),
                level: self.depth(level),
                elements: count,
                children,
            });
        }
        self.watch = Some(watch);
    }

    /// Time was spent from then on with something that is no dispatch, with so many elements of a level.
    pub(crate) fn spent(
        &mut self,
        what: What,
        begin: Option<Instant>,
        (level, elements): (u64, u64),
    ) {
        if let (Some(watch), Some(begin)) = (&mut self.watch, begin) {
            watch.span(Span {
                begin: since_epoch(begin),
                end: since_epoch(Instant::now()),
                what,
                level,
                elements,
                children: 0,
            });
        }
    }

    /// Nothing was to do from then on.
    pub(crate) fn waited(&mut self, begin: Instant) {
        self.parked += begin.elapsed();
        self.look_at_the_clock();
        self.spent(What::Wait, Some(begin), (0, 0));
    }
}
