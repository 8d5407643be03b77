//! Which stacks a level and those below it may use: what its tasks spawn, and what comes of that.
//!
//! Every dispatch looks at its level's stacks, several times, and of a narrow one that is what it costs. A program has more stacks than a recursion uses: those
//! of the tasks that began it, and of other ways in which results are combined.

use crate::plan::{ContinuationPlan, TaskPlan};
use millstream_channels_kernel::layout::StackIndex;
use std::collections::BTreeSet;

/// Levels of a root that are told apart from those below; further ones are rare, and share what they reach.
const TOLD_APART: usize = 16;

/// What may be used at a level and below it: tasks in their order, and continuations in theirs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Reach {
    /// Tasks, and the stacks of their entries.
    pub(crate) entries: Vec<(usize, StackIndex)>,
    /// Continuations, and their stacks.
    pub(crate) waiting: Vec<(usize, StackIndex)>,
    /// Stacks of frames, and what a frame's task may hold at its level in all.
    pub(crate) frames: Vec<(StackIndex, u64)>,
    /// Frames and continuations, which are free with their level.
    pub(crate) levelled: Vec<StackIndex>,
    /// These, and where what is emitted lies: whatever holds no entries.
    pub(crate) inner: Vec<StackIndex>,
}

/// That of each level below each task.
#[derive(Debug)]
pub(crate) struct Reaches {
    all: Vec<Reach>,
    /// By task, level by level from where its elements are nobody's children; the last is that of all further ones too.
    below: Vec<Vec<usize>>,
}

impl Reaches {
    pub(crate) fn new(
        tasks: &[TaskPlan],
        continuations: &[ContinuationPlan],
        staging: &[StackIndex],
    ) -> Self {
        let mut reaches = Self {
            // A graph may have no tasks.
            all: vec![Reach::default()],
            below: Vec::new(),
        };
        for root in 0..tasks.len() {
            let levels = levels(root, tasks, continuations);
            let levels = levels
                .iter()
                .map(|of| reaches.number(Reach::of(of, tasks, continuations, staging)));
            let levels: Vec<usize> = levels.collect();
            reaches.below.push(levels);
        }
        reaches
    }

    fn number(&mut self, reach: Reach) -> usize {
        let known = self.all.iter().position(|r| *r == reach);
        known.unwrap_or_else(|| {
            self.all.push(reach);
            self.all.len() - 1
        })
    }

    /// That of the level so far below elements of a task.
    #[inline]
    pub(crate) fn of(&self, root: usize, depth: usize) -> &Reach {
        let levels = self.below.get(root);
        &self.all[levels.map_or(0, |of| of[depth.min(of.len() - 1)])]
    }
}

/// The tasks that may be at each level below a root's and further down.
fn levels(
    root: usize,
    tasks: &[TaskPlan],
    continuations: &[ContinuationPlan],
) -> Vec<BTreeSet<usize>> {
    let children = |of: &BTreeSet<usize>| -> BTreeSet<usize> {
        let segments = of.iter().flat_map(|&t| {
            let rest = continuations[tasks[t].continuations.clone()].iter();
            std::iter::once(&tasks[t].pushes).chain(rest.map(|c| &c.pushes))
        });
        segments.flat_map(|p| p.spawned.iter().copied()).collect()
    };
    // Those at the level, until it is one that there was, or the last one that is told apart.
    let mut at = vec![BTreeSet::from([root])];
    loop {
        let next = children(&at[at.len() - 1]);
        let again = at.iter().position(|level| *level == next);
        if again.is_none() && at.len() < TOLD_APART {
            at.push(next);
            continue;
        }
        // All that the last level may lead to.
        let mut down = next;
        loop {
            let more: BTreeSet<usize> = down.union(&children(&down)).copied().collect();
            if more == down {
                break;
            }
            down = more;
        }
        let mut out: Vec<BTreeSet<usize>> = Vec::new();
        for level in at.iter().rev() {
            down.extend(level);
            out.push(down.clone());
        }
        out.reverse();
        return out;
    }
}

impl Reach {
    fn of(
        of: &BTreeSet<usize>,
        tasks: &[TaskPlan],
        continuations: &[ContinuationPlan],
        staging: &[StackIndex],
    ) -> Self {
        let mut reach = Self::default();
        for &t in of {
            let task = &tasks[t];
            reach.entries.push((t, task.entry));
            if let Some(frame) = task.frame {
                reach.frames.push((frame, task.full));
                reach.levelled.push(frame);
            }
            for c in task.continuations.clone() {
                reach.waiting.push((c, continuations[c].stack));
                reach.levelled.push(continuations[c].stack);
            }
        }
        reach.inner = reach.levelled.clone();
        reach.inner.extend(staging);
        reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_without_tasks_reaches_nothing() {
        let none = Reaches::new(&[], &[], &[]);
        assert_eq!(*none.of(0, 0), Reach::default());
        assert_eq!(*none.of(0, TOLD_APART), Reach::default());
    }
}
