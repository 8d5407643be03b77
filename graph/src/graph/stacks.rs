//! Graphs of stacks: what ties the channels of tasks to them, and how their graph is drawn together with one of kernels.

use super::{Body, Channel, ChannelKey, Code, Graph, Kernel, KernelKey, Task};
use crate::{
    ir::{SegmentId, TaskId},
    levelized::{Levelized, Segment, StackRole},
};
use std::collections::BTreeMap;

impl Graph {
    /// The stacks of a task, with what they hold: its entries, its frames if it has any, its continuations.
    pub(crate) fn stacks_of(&self, t: TaskId) -> Vec<(ChannelKey, StackRole)> {
        let task = &self.tasks()[t.index()];
        let mut out = vec![(task.calls, StackRole::Entry(t))];
        out.extend(task.frames.map(|key| (key, StackRole::Frame(t))));
        for (s, key) in task.segments.iter().enumerate().skip(1) {
            let channel = self.kernel(*key).and_then(|k| k.consumes);
            let role = StackRole::consumed(t, SegmentId::new(s));
            out.extend(channel.map(|c| (c, role)));
        }
        out
    }

    /// What each stack of the graph's tasks holds.
    pub(crate) fn stack_roles(&self) -> BTreeMap<ChannelKey, StackRole> {
        let tasks = (0..self.tasks().len()).map(TaskId::new);
        tasks.flat_map(|t| self.stacks_of(t)).collect()
    }

    /// A graph of kernels together with the stacks of the tasks that they spawn and of their own continuations, where `made` is what
    /// was made of it: the whole of what runs, to be drawn.
    #[must_use]
    pub fn with_tasks(&self, made: &Levelized, nodes: &[(KernelKey, TaskId)]) -> Self {
        let mut graph = self.clone();
        let own: Vec<ChannelKey> = self.channels().map(|(key, _)| key).collect();
        let node = |t: TaskId| nodes.iter().find(|n| n.1 == t).map(|n| n.0);
        let reached = made.reached(nodes.iter().map(|n| n.1));
        let mut stacks = BTreeMap::new();
        for stack in made.stacks() {
            let key = match made.role(*stack) {
                StackRole::Entry(t) | StackRole::Frame(t) | StackRole::Continuation(t, _)
                    if !reached.contains(&t) =>
                {
                    None
                }
                StackRole::Channel(c) => own.get(c.index()).copied(),
                StackRole::Entry(t) if node(t).is_some() => {
                    node(t).and_then(|k| self.kernel(k)?.consumes)
                }
                // A drawing shows no frames.
                StackRole::Frame(t) if node(t).is_some() => None,
                _ => made.graph().channel(*stack).map(|channel| {
                    // What is called from outside is what consumes rings.
                    let input = false;
                    let channel = channel.clone();
                    graph.add_channel(Channel { input, ..channel })
                }),
            };
            stacks.extend(key.map(|key| (*stack, key)));
        }
        for t in reached {
            let Some(kernel) = node(t) else {
                graph.add_task_of(made, t, &stacks);
                continue;
            };
            for (s, segment) in made.segments(t).enumerate() {
                if s > 0 {
                    graph.add_segment(segment, &stacks);
                } else if let Some(kernel) = graph.kernel_mut(kernel) {
                    let pushed = segment.pushes().filter_map(|p| stacks.get(&p.stack));
                    let more: Vec<_> = pushed.filter(|c| !kernel.produces.contains(c)).collect();
                    kernel.produces.extend(more);
                }
            }
        }
        graph
    }

    /// Adds a task of another graph with its segments, where `stacks` says which of this graph's channels each of its stacks became.
    ///
    /// # Panics
    /// If it does not say that of the task's entries.
    pub fn add_task_of(
        &mut self,
        made: &Levelized,
        t: TaskId,
        stacks: &BTreeMap<ChannelKey, ChannelKey>,
    ) -> TaskId {
        let task = &made[t];
        let segments = made.segments(t);
        let segments = segments.map(|segment| self.add_segment(segment, stacks));
        let task = Task {
            calls: stacks[&task.calls],
            frames: task.frames.and_then(|key| stacks.get(&key)).copied(),
            segments: segments.collect(),
            ..task.clone()
        };
        self.add_task(task)
    }

    fn add_segment(
        &mut self,
        segment: Segment<'_>,
        stacks: &BTreeMap<ChannelKey, ChannelKey>,
    ) -> KernelKey {
        let pushes = segment.pushes();
        let pushes = pushes.filter_map(|p| Some((*stacks.get(&p.stack)?, p.max)));
        let (produces, most) = pushes.unzip();
        let kernel = segment.kernel.clone();
        let consumes = kernel.consumes.and_then(|c| stacks.get(&c)).copied();
        let body = match kernel.body {
            Body::Segment(code) => Body::Segment(Code { most, ..code }),
            body => body,
        };
        self.add_kernel(Kernel {
            body,
            consumes,
            produces,
            ..kernel
        })
    }
}
