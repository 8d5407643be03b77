//! Tasks with their segments in them, as the lowering takes them apart and whoever writes one by hand puts them together; and the graph that is
//! built of them.

use super::{Field, Levelized, Push, StackRole};
use crate::{
    graph::{Body, Channel, ChannelKey, Code, Element, Graph, Kernel, Protocol, Scope, Task},
    ir::{ChannelId, Combine, FieldId, FuncId, Function, LocalId, Program, SegmentId, TaskId},
    ty::{PieceKind, Scalar},
};
use petgraph::{Direction, algo::condensation, graph::DiGraph};
use std::collections::BTreeMap;

/// Tasks after the split, with the program that they are of.
#[derive(Clone, PartialEq, Debug)]
pub struct Tasks {
    /// Structs, constants, helpers; the tasks as they were before the split.
    pub program: Program,
    /// The tasks; [`TaskId`] is the index.
    pub tasks: Vec<LoweredTask>,
}

/// A task after the split.
#[derive(Clone, PartialEq, Debug)]
pub struct LoweredTask {
    /// The task as it was before the split, in [`Tasks::program`]. Spawns name this function.
    pub func: FuncId,
    /// The task's name, with the way of combining if that is not a store: `fib`, `count+add`.
    pub name: String,
    /// How its result is combined with what its destination holds.
    pub combine: Combine,
    /// Fields of an entry element; the return address, if the task returns something, is the last.
    pub element: Vec<Field>,
    /// Fields of a frame; empty if the task never needs one.
    pub frame: Vec<Field>,
    /// The segments; the first is the entry.
    pub segments: Vec<LoweredSegment>,
}

/// The code of a task between two syncs.
#[derive(Clone, PartialEq, Debug)]
pub struct LoweredSegment {
    /// The code: a function of kind [`Segment`](crate::ir::FunctionKind::Segment).
    pub body: Function,
    /// [`Code::ret`]
    pub ret: Option<LocalId>,
    /// What one element of this segment may push, at most.
    pub pushes: Vec<Push<StackRole>>,
}

impl Tasks {
    /// The task that a spawn of this function makes.
    #[must_use]
    pub fn task_of(&self, func: FuncId) -> Option<TaskId> {
        self.tasks
            .iter()
            .position(|t| t.func == func)
            .map(TaskId::new)
    }

    /// The graph of the tasks: a channel for each stack, a kernel for each segment, and what ties them together; with the program, which has the code of
    /// the segments behind all else. What the host may call is an input: of each group of tasks that no others spawn, the first that stores its result.
    ///
    /// # Panics
    /// If they push to what they do not have.
    #[must_use]
    pub fn levelized(mut self) -> Levelized {
        let mut graph = Graph::new(&self.program.name);
        let roots = self.roots();
        let mut stacks = BTreeMap::new();
        for role in self.stacks() {
            let key = graph.add_channel(Channel {
                element: Element::Fields(self.fields(role)),
                protocol: Protocol::Stack,
                scope: Scope::Worker,
                input: matches!(role, StackRole::Entry(t) if roots.contains(&t)),
                ..Channel::new(self.name(role), "")
            });
            stacks.insert(role, key);
        }
        for (t, task) in std::mem::take(&mut self.tasks).into_iter().enumerate() {
            self.add_task(&mut graph, TaskId::new(t), task, &stacks);
        }
        Levelized::unverified(self.program, graph).expect("its own names")
    }

    fn add_task(
        &mut self,
        graph: &mut Graph,
        t: TaskId,
        task: LoweredTask,
        stacks: &BTreeMap<StackRole, ChannelKey>,
    ) {
        let mut segments = Vec::new();
        for (s, mut segment) in task.segments.into_iter().enumerate() {
            let consumed = StackRole::consumed(t, SegmentId::new(s));
            segment.body.name = self.program.free_name(format!("{}/{s}", task.name), "'");
            let pushes = segment.pushes.iter().map(|p| (stacks[&p.stack], p.max));
            let (produces, most) = pushes.unzip();
            segments.push(graph.add_kernel(Kernel {
                name: consumed.named(&task.name),
                body: Body::Segment(Code {
                    function: segment.body.name.clone(),
                    ret: segment.ret,
                    most,
                }),
                consumes: Some(stacks[&consumed]),
                produces,
                args: Vec::new(),
            }));
            self.program.functions.push(segment.body);
        }
        graph.add_task(Task {
            name: task.name,
            combine: task.combine,
            calls: stacks[&StackRole::Entry(t)],
            frames: stacks.get(&StackRole::Frame(t)).copied(),
            segments,
        });
    }

    /// As [`Levelized::stacks`] has them.
    fn stacks(&self) -> Vec<StackRole> {
        let mut out = Vec::new();
        for (i, task) in self.tasks.iter().enumerate() {
            let id = TaskId::new(i);
            out.push(StackRole::Entry(id));
            if task.segments.len() > 1 || !task.frame.is_empty() {
                out.push(StackRole::Frame(id));
            }
            let behind = 1..task.segments.len();
            out.extend(behind.map(|s| StackRole::Continuation(id, SegmentId::new(s))));
        }
        let channels = 0..self.program.channels.len();
        out.extend(channels.map(|c| StackRole::Channel(ChannelId::new(c))));
        out
    }

    fn name(&self, stack: StackRole) -> String {
        stack.named(match stack {
            StackRole::Channel(c) => &self.program.channels[c.index()].name,
            StackRole::Entry(t) | StackRole::Frame(t) | StackRole::Continuation(t, _) => {
                &self[t].name
            }
        })
    }

    fn fields(&self, stack: StackRole) -> Vec<Field> {
        match stack {
            StackRole::Entry(t) => self[t].element.clone(),
            StackRole::Frame(t) => self[t].frame.clone(),
            StackRole::Channel(c) => self.program.channels[c.index()].fields.clone(),
            StackRole::Continuation(..) => vec![Field {
                name: "frame".into(),
                kind: PieceKind::Scalar(Scalar::U32),
            }],
        }
    }

    /// The tasks that the host calls: of each group of tasks that no other spawns, the first that stores its result.
    fn roots(&self) -> Vec<TaskId> {
        let mut spawns = DiGraph::<TaskId, ()>::new();
        let nodes: Vec<_> = (0..self.tasks.len())
            .map(|t| spawns.add_node(TaskId::new(t)))
            .collect();
        for (t, task) in self.tasks.iter().enumerate() {
            let pushes = task.segments.iter().flat_map(|s| &s.pushes);
            for child in pushes.filter_map(|p| p.stack.child()) {
                spawns.update_edge(nodes[t], nodes[child.index()], ());
            }
        }
        let groups = condensation(spawns, true);
        let sources = groups.node_indices().filter(|g| {
            groups
                .neighbors_directed(*g, Direction::Incoming)
                .next()
                .is_none()
        });
        let stores = |t: &TaskId| self[*t].combine == Combine::Store;
        let roots = sources.filter_map(|g| groups[g].iter().copied().filter(stores).min());
        roots.collect()
    }
}

impl std::ops::Index<TaskId> for Tasks {
    type Output = LoweredTask;
    fn index(&self, id: TaskId) -> &LoweredTask {
        &self.tasks[id.index()]
    }
}

impl std::ops::Index<SegmentId> for LoweredTask {
    type Output = LoweredSegment;
    fn index(&self, id: SegmentId) -> &LoweredSegment {
        &self.segments[id.index()]
    }
}

impl std::ops::Index<FieldId> for LoweredTask {
    type Output = Field;
    fn index(&self, id: FieldId) -> &Field {
        &self.frame[id.index()]
    }
}
