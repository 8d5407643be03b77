//! Work and span of what the interpreter runs, measured as Cilkscale does, but counted: a *step* is a statement or terminator of the program as it
//! was written, so that a run always measures the same.
//!
//! - The *work* is all that was done. The *span* is what the longest chain of it took in which each part had to wait for the one before: a
//!   child runs beside what follows its spawn, and a sync waits for all children since the last one, as the end of a task does. A helper is a part of who calls it.
//! - The step of a sync, or of a return that waits, comes after what it waits for. So a chain of tasks of which each only waits for the next has a
//!   parallelism of 1.
//! - The *burdened* span takes [`BURDEN`] steps more for each spawn on the way and for each sync that had children to wait for.
//! - Each of the three spans is the longest chain by its own measure; the *critical path* is that of steps.
//!
//! A frame is kept for each task that has not ended, and of a path how much of it each task was: no more than the interpreter keeps itself.

use super::Stats;
use crate::ir::{BlockId, FuncId, Program};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Steps that it costs to begin a child, and to go on when the last has ended: a dispatch each. The narrowest dispatch of a GPU takes 193
/// instructions (`docs/measurements.md`), and what a step takes is about an instruction.
pub const BURDEN: u64 = 200;

/// Blocks between two looks at how far a run is.
const PUBLISHED: u64 = 1 << 16;

/// How far a run is, for who watches it from another thread.
#[derive(Debug, Default)]
pub struct Progress {
    steps: AtomicU64,
    tasks: AtomicU64,
}

impl Progress {
    /// What had been run a short time ago.
    #[must_use]
    pub fn so_far(&self) -> Amount {
        // Relaxed: the numbers are shown, and nothing else is read because of them.
        Amount {
            steps: self.steps.load(Ordering::Relaxed),
            tasks: self.tasks.load(Ordering::Relaxed),
        }
    }

    fn publish(&self, stats: Stats) {
        self.steps.store(stats.steps, Ordering::Relaxed);
        self.tasks.store(stats.tasks, Ordering::Relaxed);
    }
}

/// So much of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Amount {
    /// Statements and terminators.
    pub steps: u64,
    /// Tasks.
    pub tasks: u64,
}

/// What one task had of the critical path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OnPath {
    /// Its name.
    pub task: String,
    /// How often it is there, and for how many steps.
    pub amount: Amount,
}

/// What was done on one line of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineWork {
    /// The line, from 1; 0 for what stands on none.
    pub line: u32,
    /// The steps.
    pub steps: u64,
}

/// What a profiled run did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// All of it.
    pub work: Amount,
    /// The longest chain by steps, and the longest by tasks.
    pub span: Amount,
    /// The longest chain by steps and burdens.
    pub burdened_span: u64,
    /// The tasks of the critical path, most steps first. All together they are the span.
    pub path: Vec<OnPath>,
    /// The lines, most steps first. All together they are the work.
    pub lines: Vec<LineWork>,
}

impl Profile {
    /// How many could have worked all the time.
    #[must_use]
    pub fn parallelism(&self) -> f64 {
        ratio(self.work.steps, self.span.steps)
    }

    /// The same if each task took the same time.
    #[must_use]
    pub fn parallelism_of_tasks(&self) -> f64 {
        ratio(self.work.tasks, self.span.tasks)
    }

    /// The same if spawns and syncs took their time.
    #[must_use]
    pub fn burdened_parallelism(&self) -> f64 {
        ratio(self.work.steps, self.burdened_span)
    }
}

fn ratio(work: u64, span: u64) -> f64 {
    work as f64 / span.max(1) as f64
}

/// The longest chain so far, by each measure.
#[derive(Clone, Debug, Default)]
struct Chain {
    steps: u64,
    tasks: u64,
    burdened: u64,
    /// Of the steps, those of the task itself.
    own: u64,
    /// The others: of descendants that had to be waited for.
    others: Vec<(FuncId, Amount)>,
}

impl Chain {
    /// A task that has begun, spawned or called by the host.
    fn begun(spawned: bool) -> Self {
        Self {
            tasks: 1,
            burdened: if spawned { BURDEN } else { 0 },
            ..Self::default()
        }
    }

    fn advance(&mut self, steps: u64) {
        self.steps += steps;
        self.burdened += steps;
        self.own += steps;
    }

    /// This or the other, whichever is longer.
    fn longest(&mut self, other: Self) {
        self.tasks = self.tasks.max(other.tasks);
        self.burdened = self.burdened.max(other.burdened);
        if other.steps > self.steps {
            self.steps = other.steps;
            self.own = other.own;
            self.others = other.others;
        }
    }

    /// This, and then that of a task: spawned at the end of this.
    fn then(&self, func: FuncId, child: &Self) -> Self {
        let mut others = self.others.clone();
        let own = Amount {
            steps: child.own,
            tasks: 1,
        };
        for (func, amount) in child.others.iter().chain(&[(func, own)]) {
            match others.iter_mut().find(|(f, _)| f == func) {
                Some((_, sum)) => {
                    sum.steps += amount.steps;
                    sum.tasks += amount.tasks;
                }
                None => others.push((*func, *amount)),
            }
        }
        Self {
            steps: self.steps + child.steps,
            tasks: self.tasks + child.tasks,
            burdened: self.burdened + child.burdened,
            own: self.own,
            others,
        }
    }
}

/// A task that has not ended.
#[derive(Debug)]
struct Frame {
    func: FuncId,
    /// To where it stands.
    here: Chain,
    /// To the end of a child that the next sync waits for.
    children: Option<Chain>,
}

impl Frame {
    /// Waits for the children.
    fn join(&mut self) {
        if let Some(children) = self.children.take() {
            self.here.longest(children);
            self.here.burdened += BURDEN;
        }
    }
}

/// Measures while the interpreter runs.
#[derive(Debug)]
pub(super) struct Recorder {
    progress: Arc<Progress>,
    /// How often each block of each function was entered.
    entered: Vec<Vec<u64>>,
    entries: u64,
    tasks: u64,
    /// Steps that are a part of some chain already.
    counted: u64,
    frames: Vec<Frame>,
    /// What the host has called so far, one after another.
    calls: Chain,
}

impl Recorder {
    pub(super) fn new(program: &Program, progress: Arc<Progress>) -> Self {
        let blocks = program.functions.iter().map(|f| vec![0; f.blocks.len()]);
        Self {
            progress,
            entered: blocks.collect(),
            entries: 0,
            tasks: 0,
            counted: 0,
            frames: Vec::new(),
            calls: Chain::default(),
        }
    }

    /// A block begins.
    pub(super) fn block(&mut self, func: FuncId, block: BlockId, stats: Stats) {
        self.entered[func.index()][block.index()] += 1;
        self.entries += 1;
        if self.entries.is_multiple_of(PUBLISHED) {
            self.progress.publish(stats);
        }
    }

    /// All steps up to this one are a part of the innermost task.
    fn count(&mut self, steps: u64) {
        let new = steps - self.counted;
        self.counted = steps;
        match self.frames.last_mut() {
            Some(frame) => frame.here.advance(new),
            // A helper that the host calls.
            None => self.calls.advance(new),
        }
    }

    /// A task begins.
    pub(super) fn task(&mut self, func: FuncId, steps: u64) {
        self.count(steps);
        self.tasks += 1;
        self.frames.push(Frame {
            func,
            here: Chain::begun(!self.frames.is_empty()),
            children: None,
        });
    }

    /// The innermost task waits for its children; the step that was made last is that of the sync.
    pub(super) fn sync(&mut self, steps: u64) {
        self.count(steps - 1);
        if let Some(frame) = self.frames.last_mut() {
            frame.join();
        }
    }

    /// The innermost task ends; the step that was made last is that of the return.
    pub(super) fn end(&mut self, steps: u64) {
        self.sync(steps);
        self.count(steps);
        let Some(ended) = self.frames.pop() else {
            return;
        };
        match self.frames.last_mut() {
            Some(parent) => {
                // Most children are not the longest: of those no path is made.
                let longest = parent.children.get_or_insert_with(Chain::default);
                let (here, child) = (&parent.here, &ended.here);
                longest.tasks = longest.tasks.max(here.tasks + child.tasks);
                longest.burdened = longest.burdened.max(here.burdened + child.burdened);
                if here.steps + child.steps > longest.steps {
                    longest.longest(here.then(ended.func, child));
                }
            }
            None => self.calls = self.calls.then(ended.func, &ended.here),
        }
    }

    /// What was measured.
    pub(super) fn profile(&self, program: &Program) -> Profile {
        let mut path: Vec<OnPath> = self
            .calls
            .others
            .iter()
            .map(|(func, amount)| OnPath {
                task: program[*func].name.clone(),
                amount: *amount,
            })
            .collect();
        path.sort_by(|a, b| (b.amount.steps, &a.task).cmp(&(a.amount.steps, &b.task)));
        let lines = self.lines(program);
        Profile {
            work: Amount {
                steps: lines.iter().map(|l| l.steps).sum(),
                tasks: self.tasks,
            },
            span: Amount {
                steps: self.calls.steps,
                tasks: self.calls.tasks,
            },
            burdened_span: self.calls.burdened,
            path,
            lines,
        }
    }

    /// Whoever entered a block has left it by its end.
    fn lines(&self, program: &Program) -> Vec<LineWork> {
        let mut of_line = BTreeMap::<u32, u64>::new();
        for (function, entered) in program.functions.iter().zip(&self.entered) {
            for (block, times) in function.blocks.iter().zip(entered) {
                let spans = block.stmts.iter().map(|s| s.span).chain([block.span]);
                for span in spans.filter(|_| *times > 0) {
                    *of_line.entry(span.line).or_default() += times;
                }
            }
        }
        let mut lines: Vec<LineWork> = of_line
            .into_iter()
            .map(|(line, steps)| LineWork { line, steps })
            .collect();
        lines.sort_by_key(|l| (std::cmp::Reverse(l.steps), l.line));
        lines
    }
}
