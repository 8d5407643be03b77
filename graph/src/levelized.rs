//! A levelized program: what the lowering makes of tasks that spawn and sync, and what every device runs.
//!
//! Each task becomes segments. The entry segment consumes the elements of the task's *entry channel stack*, whose fields are the
//! pieces of the parameters and, if the task returns something, the return address as last field. A task that syncs has a *frame*:
//! one element of the task's *frame stack*, reserved once ([`StmtKind::FrameAlloc`]), at a fixed address
//! until the task ends; it holds what lives across a sync, the slots that children write to, and the return address. A continuation
//! segment consumes frame references from its *continuation channel stack*.
//!
//! A child that ends where it is spawned, being a leaf, is no element: its parent has done what it would have done.
//!
//! A program that was made of a graph emits into channels: what an element emits lies on a stack of the channel ([`StackRef::Channel`]) until
//! whoever runs it brings it there.
//!
//! Levels: a child's entry element lies one level deeper than its parent; a frame and its continuation elements lie at the task's own
//! level. A continuation at level L may run when nothing is left at any deeper level; so no join counter exists. When a level is
//! drained, all its frames and elements are free. (Orr et al., sections 5.2 and 5.3.)

use crate::{
    flow::BlockSet,
    ir::{
        BlockId, ChannelId, Combine, FieldId, FuncId, Function, LocalId, Program, SegmentId,
        StmtKind, TaskId, Terminator,
    },
    ty::PieceKind,
};

pub use crate::ty::Field;

use petgraph::{Direction, algo::condensation, graph::DiGraph};
use std::{collections::BTreeSet, sync::Arc};

/// A whole levelized program.
#[derive(Clone, PartialEq, Debug)]
pub struct Levelized {
    /// Structs, constants, helpers; its tasks as they were before the split (one function for each way their result is combined).
    pub program: Program,
    /// The tasks; [`TaskId`] is the index.
    pub tasks: Vec<LoweredTask>,
    /// The same program for devices on which [`Rvalue::Wide`](crate::ir::Rvalue::Wide) holds, where it says anything else or has fewer restart
    /// points there. What the host may call has the same numbers.
    pub wide: Option<Arc<Levelized>>,
}

/// A task after the split.
#[derive(Clone, PartialEq, Debug)]
pub struct LoweredTask {
    /// The task as it was before the split, in [`Levelized::program`]. Spawns name this function.
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
    pub segments: Vec<Segment>,
}

/// The code of a task between two syncs.
#[derive(Clone, PartialEq, Debug)]
pub struct Segment {
    /// The code: a function of kind [`Segment`](crate::ir::FunctionKind::Segment). The arguments of an entry are the fields of
    /// the element in order; a continuation has none.
    pub body: Function,
    /// The local that holds the return address where the body returns; none if the task returns nothing.
    /// An entry has it as last argument; a continuation loads it from its frame, and has none if it never returns.
    pub ret: Option<LocalId>,
    /// What one element of this segment may push, at most.
    pub pushes: Vec<Push>,
}

/// A channel stack that a segment pushes to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum StackRef {
    /// The entry elements of a task.
    Entry(TaskId),
    /// The frames of a task.
    Frame(TaskId),
    /// The frame references that wait for a continuation segment.
    Continuation(TaskId, SegmentId),
    /// What was emitted into a channel of the graph and not brought there yet.
    Channel(ChannelId),
}

impl StackRef {
    /// The one name of the channel in drawings, messages, statistics and texts, by the name of its task or of the graph's channel: `fib`,
    /// `fib.frame`, `fib.1`.
    #[must_use]
    pub fn named(self, owner: &str) -> String {
        match self {
            Self::Entry(_) | Self::Channel(_) => owner.to_owned(),
            Self::Frame(_) => format!("{owner}.frame"),
            Self::Continuation(_, segment) => format!("{owner}.{}", segment.0),
        }
    }
}

/// How many elements a segment pushes to a stack for each element that it consumes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Push {
    /// The stack.
    pub stack: StackRef,
    /// At most so many; none where a loop makes it depend on data, or, on a wide device, where a loop does it at all. Then a segment with restart points asks for room before it pushes
    /// ([`Segment::restarts`]).
    pub max: Option<u32>,
}

impl Levelized {
    /// What a wide device, a GPU, runs.
    #[must_use]
    pub fn on_wide(&self) -> &Self {
        self.wide.as_deref().unwrap_or(self)
    }

    /// The form with restart points wherever nobody knows how much a task spawns in a loop, if a wide device runs another.
    #[must_use]
    pub fn restarting(&self) -> Option<Self> {
        self.wide.as_ref()?;
        Some(Self {
            wide: None,
            ..self.clone()
        })
    }

    /// The task that a spawn of this function makes.
    #[must_use]
    pub fn task_of(&self, func: FuncId) -> Option<TaskId> {
        self.tasks
            .iter()
            .position(|t| t.func == func)
            .map(TaskId::new)
    }

    /// The entry task of that name: the one that stores its result.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<TaskId> {
        self.tasks
            .iter()
            .position(|t| t.name == name)
            .map(TaskId::new)
    }

    /// All channel stacks, in a fixed order: for each task its entries, its frames if it has any, its continuations; then the
    /// channels of the graph.
    #[must_use]
    pub fn stacks(&self) -> Vec<StackRef> {
        let mut out = Vec::new();
        for (i, task) in self.tasks.iter().enumerate() {
            let id = TaskId::new(i);
            out.push(StackRef::Entry(id));
            if task.segments.len() > 1 || !task.frame.is_empty() {
                out.push(StackRef::Frame(id));
            }
            out.extend(
                (1..task.segments.len()).map(|s| StackRef::Continuation(id, SegmentId::new(s))),
            );
        }
        let channels = self.program.channels.len();
        out.extend((0..channels).map(|c| StackRef::Channel(ChannelId::new(c))));
        out
    }

    /// The tasks that the host calls: of each group of tasks that no other spawns, the first that stores its result.
    #[must_use]
    pub fn roots(&self) -> Vec<TaskId> {
        let mut spawns = DiGraph::<TaskId, ()>::new();
        let nodes: Vec<_> = (0..self.tasks.len())
            .map(|t| spawns.add_node(TaskId::new(t)))
            .collect();
        for (t, task) in self.tasks.iter().enumerate() {
            for push in task.segments.iter().flat_map(|s| &s.pushes) {
                if let StackRef::Entry(child) = push.stack {
                    spawns.update_edge(nodes[t], nodes[child.index()], ());
                }
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
        let mut out: Vec<TaskId> = sources
            .filter_map(|g| groups[g].iter().copied().filter(stores).min())
            .collect();
        out.sort();
        out
    }

    /// These tasks and all that come of them.
    #[must_use]
    pub fn reached(&self, from: impl Iterator<Item = TaskId>) -> BTreeSet<TaskId> {
        let mut next: Vec<TaskId> = from.collect();
        let mut out = BTreeSet::new();
        while let Some(task) = next.pop() {
            if out.insert(task) {
                let pushes = self[task].segments.iter().flat_map(|s| &s.pushes);
                next.extend(pushes.filter_map(|p| match p.stack {
                    StackRef::Entry(child) => Some(child),
                    _ => None,
                }));
            }
        }
        out
    }

    /// The one name of a stack ([`StackRef::named`]).
    #[must_use]
    pub fn name(&self, stack: StackRef) -> String {
        match stack {
            StackRef::Channel(c) => stack.named(&self.program.channels[c.index()].name),
            StackRef::Entry(t) | StackRef::Frame(t) | StackRef::Continuation(t, _) => {
                stack.named(&self[t].name)
            }
        }
    }

    /// The fields of an element of a stack. A continuation's is one frame reference, a `u32`.
    #[must_use]
    pub fn fields(&self, stack: StackRef) -> Vec<Field> {
        match stack {
            StackRef::Entry(t) => self[t].element.clone(),
            StackRef::Frame(t) => self[t].frame.clone(),
            StackRef::Channel(c) => self.program.channels[c.index()].fields.clone(),
            StackRef::Continuation(..) => {
                vec![Field {
                    name: "frame".into(),
                    kind: PieceKind::Scalar(crate::ty::Scalar::U32),
                }]
            }
        }
    }
}

impl Segment {
    /// Of a segment with restart points: so many children find room at least, or it gives the element up before it spawns them.
    #[must_use]
    pub fn restarts(&self) -> Option<u32> {
        let rooms = self.body.blocks.iter().filter_map(|b| match b.term {
            Terminator::Room { children, .. } => Some(children),
            _ => None,
        });
        rooms.max()
    }
}

impl Segment {
    /// Whether it pushes to a stack only where an element is given up at a restart point.
    #[must_use]
    pub fn is_rare(&self, stack: StackRef) -> bool {
        if self.restarts().is_none() {
            return false;
        }
        let often = self.often();
        let blocks = self.body.blocks.iter().enumerate();
        let mut often = blocks.filter(|(i, _)| often.contains(BlockId::new(*i)));
        match stack {
            StackRef::Frame(_) => {
                !often.any(|(_, b)| b.stmts.iter().any(|s| s.kind == StmtKind::FrameAlloc))
            }
            StackRef::Continuation(_, segment) => {
                !often.any(|(_, b)| b.term == Terminator::Continue(segment))
            }
            StackRef::Entry(_) | StackRef::Channel(_) => false,
        }
    }

    /// The blocks that are reached where there is room at each restart point.
    #[must_use]
    pub fn often(&self) -> BlockSet {
        let mut out = BlockSet::new(self.body.blocks.len());
        let mut todo = vec![BlockId(0)];
        while let Some(block) = todo.pop() {
            if out.insert(block) {
                match &self.body.blocks[block.index()].term {
                    Terminator::Room { then, .. } => todo.push(*then),
                    term => todo.extend(term.targets()),
                }
            }
        }
        out
    }
}

impl LoweredTask {
    /// The task's name in the user's source: all ways of combining its result share it.
    #[must_use]
    pub fn source_name(&self) -> &str {
        self.name.split('+').next().unwrap_or(&self.name)
    }
}

impl std::ops::Index<TaskId> for Levelized {
    type Output = LoweredTask;
    fn index(&self, id: TaskId) -> &LoweredTask {
        &self.tasks[id.index()]
    }
}

impl std::ops::Index<SegmentId> for LoweredTask {
    type Output = Segment;
    fn index(&self, id: SegmentId) -> &Segment {
        &self.segments[id.index()]
    }
}

impl std::ops::Index<FieldId> for LoweredTask {
    type Output = Field;
    fn index(&self, id: FieldId) -> &Field {
        &self.frame[id.index()]
    }
}
