//! Which tasks are worth workers with levels of their own (`device/framed.cu`): those that make levels multiply.
//!
//! A level waits for all below it. A task that spawns its own kind at one place has a level of entries and one of continuations for each step of the
//! recursion. One that waits and then spawns its own kind again has all the levels of its children for each time that it does, and these have all those of
//! theirs: where few elements run at a time, the run takes as long as all of these levels, one after the other.

use super::plan::{Mode, Plan, Source, StackKind};
use millstream_graph::ir::{SegmentId, TaskId};

impl Plan {
    /// Of each source, whether workers may run its elements level by level with all that comes of them, and levels multiply there.
    pub(super) fn find_framed(&self) -> Vec<bool> {
        let tasks = (0..self.program.len()).map(TaskId::new);
        let multiplies: Vec<bool> = tasks.map(|task| self.multiplies(task)).collect();
        let may = |source: &Source| {
            let reached = self.reached(source.task);
            let of = || self.sources.iter().filter(|s| reached[s.task.index()]);
            let some = of().any(|s| multiplies[s.task.index()]);
            // A master's regions are run by all blocks.
            source.is_entry() && some && of().all(|s| s.mode != Mode::Master)
        };
        self.sources.iter().map(may).collect()
    }

    /// Whether there are any.
    #[must_use]
    pub fn has_framed(&self) -> bool {
        self.framed.contains(&true)
    }

    /// Whether a source's elements have others of their task below them. (A frame lies on a stack of the task itself, and is none.)
    #[must_use]
    pub fn recurses(&self, source: &Source) -> bool {
        let pushed = source.pushes.iter().map(|p| &self.stacks[p.stack as usize]);
        let mut children = pushed.filter(|stack| stack.kind == StackKind::Entry);
        children.any(|child| self.reached(child.task)[source.task.index()])
    }

    /// Whether a task spawns its own kind, or what does in the end, at more than one time.
    fn multiplies(&self, task: TaskId) -> bool {
        let own = self.sources.iter().filter(|s| s.task == task && !s.twin);
        let spawning = own.filter(|s| self.recurses(s)).map(|s| s.segment);
        let spawning: Vec<SegmentId> = spawning.collect();
        spawning.len() > 1 || spawning.iter().any(|s| self.comes_back(task, *s))
    }

    /// Whether a segment of a task may run again when it has run.
    fn comes_back(&self, task: TaskId, segment: SegmentId) -> bool {
        let (mut seen, mut work) = (Vec::new(), vec![segment]);
        while let Some(from) = work.pop() {
            let own = self.sources.iter();
            let own = own.filter(|s| s.task == task && s.segment == from);
            for push in own.flat_map(|s| &s.pushes) {
                let stack = &self.stacks[push.stack as usize];
                let StackKind::Continuation { segment: next, .. } = stack.kind else {
                    continue;
                };
                if next == segment {
                    return true;
                }
                if !seen.contains(&next) {
                    seen.push(next);
                    work.push(next);
                }
            }
        }
        false
    }
}
