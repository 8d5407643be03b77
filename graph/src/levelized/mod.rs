//! Levelized programs: what the lowering makes of tasks that spawn and sync, and what every device loads: a graph of stacks, with the program
//! that its kernels' code stands in.
//!
//! Each task becomes segments, which are kernels of the graph. The entry segment consumes the elements of the task's *entry channel stack*,
//! whose fields are the pieces of the parameters and, if the task returns something, the return address as last field. A task that syncs has
//! a *frame*: one element of the task's *frame stack*, reserved once ([`StmtKind::FrameAlloc`]), at a fixed address
//! until the task ends; it holds what lives across a sync, the slots that children write to, and the return address. A continuation
//! segment consumes frame references from its *continuation channel stack*.
//!
//! A child that ends where it is spawned, being a leaf, is no element: its parent has done what it would have done.
//!
//! A program that was made of a graph emits into channels: what an element emits lies on a stack of the channel ([`StackRole::Channel`]) until
//! whoever runs it brings it there.
//!
//! Levels: a child's entry element lies one level deeper than its parent; a frame and its continuation elements lie at the task's own
//! level. A continuation at level L may run when nothing is left at any deeper level; so no join counter exists. When a level is
//! drained, all its frames and elements are free. (Orr et al., sections 5.2 and 5.3.)
//!
//! [`Tasks`] is one way to build such a program: tasks with their segments in them. A file or a caller who adds channels, kernels and tasks to a
//! [`Graph`] is another ([`Levelized::new`]).

mod joining;
mod tasks;

use crate::{
    flow::BlockSet,
    graph::{ChannelKey, Element, Graph, Kernel, Problem, Task},
    ir::{
        BlockId, ChannelId, FuncId, Function, LocalId, Program, SegmentId, StmtKind, TaskId,
        Terminator,
    },
    verify::verify_levelized,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

pub use crate::ty::Field;
pub use tasks::{LoweredSegment, LoweredTask, Tasks};

/// A whole levelized program.
#[derive(Clone, Debug)]
pub struct Levelized {
    /// Structs, constants, helpers; its tasks as they were before the split (one function for each way their result is combined); the code
    /// of their segments. Functions keep their places and names: the graph names them.
    pub program: Program,
    /// The same program for devices on which [`Rvalue::Wide`](crate::ir::Rvalue::Wide) holds, where it says anything else or has fewer restart
    /// points there. What the host may call has the same numbers.
    pub wide: Option<Arc<Levelized>>,
    graph: Graph,
    /// Of each task its function and those of its segments.
    functions: Vec<(FuncId, Vec<FuncId>)>,
    stacks: Vec<ChannelKey>,
    roles: BTreeMap<ChannelKey, StackRole>,
}

/// What a stack holds: what ties it to a task.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum StackRole {
    /// The entry elements of a task.
    Entry(TaskId),
    /// The frames of a task.
    Frame(TaskId),
    /// The frame references that wait for a continuation segment.
    Continuation(TaskId, SegmentId),
    /// What was emitted into a channel of the program and not brought there yet.
    Channel(ChannelId),
}

/// How many elements a segment pushes to a stack for each element that it consumes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Push<S = ChannelKey> {
    /// The stack.
    pub stack: S,
    /// At most so many; none where a loop makes it depend on data, or, on a wide device, where a loop does it at all. Then a segment with restart points asks for room before it pushes
    /// ([`Function::restarts`]).
    pub max: Option<u32>,
}

/// The code of a task between two syncs: a kernel of the graph, with what it runs.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The function that it runs.
    pub func: FuncId,
    /// The code: a function of kind [`Segment`](crate::ir::FunctionKind::Segment). The arguments of an entry are the fields of
    /// the element in order; a continuation has none.
    pub body: &'a Function,
    /// [`Code::ret`](crate::graph::Code::ret)
    pub ret: Option<LocalId>,
}

impl StackRole {
    /// The stack that a segment consumes.
    #[must_use]
    pub const fn consumed(task: TaskId, segment: SegmentId) -> Self {
        match segment.0 {
            0 => Self::Entry(task),
            _ => Self::Continuation(task, segment),
        }
    }

    /// The task whose entry elements it holds.
    #[must_use]
    pub const fn child(self) -> Option<TaskId> {
        match self {
            Self::Entry(child) => Some(child),
            Self::Frame(_) | Self::Continuation(..) | Self::Channel(_) => None,
        }
    }

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

impl Levelized {
    /// The program that a graph of stacks is, where `program` has what its segments name: their code, structs, constants, helpers, and a
    /// function for each task, whose parameters and result are the task's.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn new(program: Program, graph: Graph) -> Result<Self, Vec<Problem>> {
        let levelized = Self::unverified(program, graph)?;
        match verify_levelized(&levelized) {
            Ok(()) => Ok(levelized),
            Err(errors) => Err(errors
                .iter()
                .map(|e| Problem::of_graph(e.to_string()))
                .collect()),
        }
    }

    /// The same, whatever the code does: of who made both.
    ///
    /// # Errors
    /// What the graph names and nobody has.
    pub fn unverified(program: Program, graph: Graph) -> Result<Self, Vec<Problem>> {
        let joined = joining::join(&program, &graph)?;
        Ok(Self {
            functions: joined.functions,
            stacks: joined.stacks,
            roles: joined.roles,
            wide: None,
            program,
            graph,
        })
    }

    /// The graph: what every device runs, and what is drawn and written.
    #[must_use]
    pub const fn graph(&self) -> &Graph {
        &self.graph
    }

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

    /// How many tasks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The tasks, in order.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = (TaskId, &Task)> + Clone {
        let tasks = self.graph.tasks().iter().enumerate();
        tasks.map(|(t, task)| (TaskId::new(t), task))
    }

    /// The task of that number.
    #[must_use]
    pub fn get(&self, task: TaskId) -> Option<&Task> {
        self.graph.tasks().get(task.index())
    }

    /// The task as it was before the split. Spawns name this function.
    #[must_use]
    pub fn func(&self, task: TaskId) -> FuncId {
        self.functions[task.index()].0
    }

    /// The task that a spawn of this function makes.
    #[must_use]
    pub fn task_of(&self, func: FuncId) -> Option<TaskId> {
        self.functions
            .iter()
            .position(|t| t.0 == func)
            .map(TaskId::new)
    }

    /// The entry task of that name: the one that stores its result.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<TaskId> {
        self.tasks().find(|(_, t)| t.name == name).map(|(t, _)| t)
    }

    /// The segments of a task: the entry, then the continuations.
    pub fn segments(
        &self,
        task: TaskId,
    ) -> impl DoubleEndedIterator<Item = Segment<'_>> + ExactSizeIterator + Clone {
        (0..self[task].segments.len()).map(move |s| self.segment(task, SegmentId::new(s)))
    }

    /// The segments of all tasks, with those that they are of.
    pub fn all_segments(&self) -> impl Iterator<Item = (TaskId, Segment<'_>)> + Clone {
        let tasks = (0..self.len()).map(TaskId::new);
        tasks.flat_map(|t| self.segments(t).map(move |s| (t, s)))
    }

    /// A segment of a task.
    ///
    /// # Panics
    /// If it is none of this program.
    #[must_use]
    pub fn segment(&self, task: TaskId, segment: SegmentId) -> Segment<'_> {
        let key = self[task].segments[segment.index()];
        let kernel = self.graph.kernel(key).expect("looked at in the beginning");
        let func = self.functions[task.index()].1[segment.index()];
        Segment {
            kernel,
            func,
            body: &self.program[func],
            ret: kernel.code().and_then(|code| code.ret),
        }
    }

    /// The segment that consumes a task's entry elements.
    #[must_use]
    pub fn entry(&self, task: TaskId) -> Segment<'_> {
        self.segment(task, SegmentId(0))
    }

    /// The fields of a task's entry elements; the return address, if the task returns something, is the last.
    #[must_use]
    pub fn element(&self, task: TaskId) -> &[Field] {
        self.fields(self[task].calls)
    }

    /// The fields of a task's frames; none if it never needs one.
    #[must_use]
    pub fn frame(&self, task: TaskId) -> &[Field] {
        self[task].frames.map_or(&[], |frames| self.fields(frames))
    }

    /// All channel stacks, in a fixed order: for each task its entries, its frames if it has any, its continuations; then the
    /// channels of the program.
    #[must_use]
    pub fn stacks(&self) -> &[ChannelKey] {
        &self.stacks
    }

    /// What a stack of this program holds.
    ///
    /// # Panics
    /// If it is none.
    #[must_use]
    pub fn role(&self, stack: ChannelKey) -> StackRole {
        self.roles[&stack]
    }

    /// The stack that holds this, if there is one.
    #[must_use]
    pub fn stack(&self, role: StackRole) -> Option<ChannelKey> {
        match role {
            StackRole::Entry(t) => self.get(t).map(|t| t.calls),
            StackRole::Frame(t) => self.get(t)?.frames,
            StackRole::Continuation(t, s) => {
                let kernel = self.get(t)?.segments.get(s.index())?;
                self.graph.kernel(*kernel)?.consumes
            }
            StackRole::Channel(_) => {
                let of = |key: &&ChannelKey| self.roles[*key] == role;
                self.stacks.iter().rev().find(of).copied()
            }
        }
    }

    /// The one name of a stack ([`StackRole::named`]).
    #[must_use]
    pub fn name(&self, stack: ChannelKey) -> &str {
        self.graph.channel(stack).map_or("?", |c| c.name.as_str())
    }

    /// The fields of an element of a stack. A continuation's is one frame reference, a `u32`.
    #[must_use]
    pub fn fields(&self, stack: ChannelKey) -> &[Field] {
        match self.graph.channel(stack).map(|c| &c.element) {
            Some(Element::Fields(fields)) => fields,
            Some(Element::Type(_)) | None => &[],
        }
    }

    /// These tasks and all that come of them.
    #[must_use]
    pub fn reached(&self, from: impl Iterator<Item = TaskId>) -> BTreeSet<TaskId> {
        let mut next: Vec<TaskId> = from.collect();
        let mut out = BTreeSet::new();
        while let Some(task) = next.pop() {
            if out.insert(task) {
                let pushes = self.segments(task).flat_map(Segment::pushes);
                next.extend(pushes.filter_map(|p| self.role(p.stack).child()));
            }
        }
        out
    }
}

impl<'a> Segment<'a> {
    /// What one element may push, at most.
    pub fn pushes(self) -> impl ExactSizeIterator<Item = Push> + Clone + 'a {
        let most = self.kernel.code().map_or(&[][..], |code| &code.most);
        let ports = self.kernel.produces.iter().enumerate();
        ports.map(move |(port, stack)| Push {
            stack: *stack,
            max: most.get(port).copied().flatten(),
        })
    }

    /// Whether it pushes to a stack only where an element is given up at a restart point.
    #[must_use]
    pub fn is_rare(self, stack: StackRole) -> bool {
        if self.body.restarts().is_none() {
            return false;
        }
        let often = self.body.often();
        let blocks = self.body.blocks.iter().enumerate();
        let mut often = blocks.filter(|(i, _)| often.contains(BlockId::new(*i)));
        match stack {
            StackRole::Frame(_) => {
                !often.any(|(_, b)| b.stmts.iter().any(|s| s.kind == StmtKind::FrameAlloc))
            }
            StackRole::Continuation(_, segment) => {
                !often.any(|(_, b)| b.term == Terminator::Continue(segment))
            }
            StackRole::Entry(_) | StackRole::Channel(_) => false,
        }
    }
}

impl Function {
    /// Of a segment with restart points: so many children find room at least, or it gives the element up before it spawns them.
    #[must_use]
    pub fn restarts(&self) -> Option<u32> {
        let rooms = self.blocks.iter().filter_map(|b| match b.term {
            Terminator::Room { children, .. } => Some(children),
            _ => None,
        });
        rooms.max()
    }

    /// The blocks of a segment that are reached where there is room at each restart point.
    #[must_use]
    pub fn often(&self) -> BlockSet {
        let mut out = BlockSet::new(self.blocks.len());
        let mut todo = vec![BlockId(0)];
        while let Some(block) = todo.pop() {
            if out.insert(block) {
                match &self.blocks[block.index()].term {
                    Terminator::Room { then, .. } => todo.push(*then),
                    term => todo.extend(term.targets()),
                }
            }
        }
        out
    }
}

/// The rest is read off these.
impl PartialEq for Levelized {
    fn eq(&self, other: &Self) -> bool {
        self.program == other.program && self.graph == other.graph && self.wide == other.wide
    }
}

impl std::ops::Index<TaskId> for Levelized {
    type Output = Task;
    fn index(&self, id: TaskId) -> &Task {
        &self.graph.tasks()[id.index()]
    }
}
