//! The graph of kernels and channels that a levelized program is, for people and tools to look at.
//!
//! Nodes are of two sorts, as in the paper: kernel nodes (the host, which makes the first elements, and the segments) and channel
//! nodes (entry and continuation stacks). A kernel spawns to entry stacks, continues to continuation stacks, consumes one stack, and
//! returns into the frame of whoever spawned it; a task's frame is named on its continuation stacks, whose elements refer to it.
//! Versions of a task that differ only in how their result is combined (`fib`, `fib+add`) are drawn as one.

mod layers;
mod render;
mod variants;

use crate::{
    ir::{Function, LocalId, Operand, Rvalue, SegmentId, StmtKind, TaskId, Terminator},
    levelized::{self, Levelized, LoweredTask, StackRef},
    ty::PieceKind,
};
use petgraph::{
    algo::condensation,
    graph::{DiGraph, NodeIndex},
    visit::EdgeRef,
};
use serde::{Deserialize, Serialize};
use slotmap::SlotMap;
use std::collections::{BTreeMap, BTreeSet};

slotmap::new_key_type! {
    /// A kernel of a graph.
    pub struct KernelKey;
    /// A channel of a graph.
    pub struct ChannelKey;
}

/// A graph of kernels and channels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChannelGraph {
    name: String,
    kernels: SlotMap<KernelKey, Kernel>,
    channels: SlotMap<ChannelKey, Channel>,
    graph: DiGraph<Node, Edge>,
}

/// A node: a kernel or a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Node {
    /// Runs code on elements.
    Kernel(KernelKey),
    /// Holds elements.
    Channel(ChannelKey),
}

/// A kernel node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// `fib`, `fib.1`; `init` is the host's.
    pub name: String,
    /// What it runs.
    pub role: Role,
}

/// What a kernel runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Role {
    /// The host makes the elements of root calls.
    Host,
    /// A segment of a task.
    Segment(TaskId, SegmentId),
}

/// A channel node: a channel stack.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Channel {
    /// `fib`, `fib.1`: that of the kernel that consumes it.
    pub name: String,
    /// What its elements are.
    pub kind: ChannelKind,
    /// The fields of an element.
    pub fields: Vec<Field>,
    /// Bytes an element takes.
    pub bytes: u64,
    /// The frame of the task that the elements belong to, where they refer to it.
    pub frame: Option<Frame>,
}

/// What the elements of a channel are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ChannelKind {
    /// Calls of a task.
    Entry(TaskId),
    /// Frames that wait for a segment.
    Continuation(TaskId, SegmentId),
}

/// A frame: what a task keeps across its syncs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Frame {
    /// Its fields.
    pub fields: Vec<Field>,
    /// Bytes it takes.
    pub bytes: u64,
}

/// A field of an element or frame.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Field {
    /// The variable's name.
    pub name: String,
    /// Its type; of an array its size.
    pub ty: String,
}

/// What goes along an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Edge {
    /// From the host to an entry stack: a root call.
    Call,
    /// From a kernel to an entry stack, one level deeper: at most so many elements for each one consumed; none where data decides.
    Spawn(Option<u32>),
    /// From a kernel to a continuation stack of the same task and level.
    Continue,
    /// From a stack to the kernel that runs its elements.
    Consume,
    /// From a kernel to the stack that names the frame which its result goes to.
    Return,
}

impl ChannelGraph {
    /// The graph of a program.
    #[must_use]
    pub fn from_levelized(program: &Levelized) -> Self {
        let program = &variants::merge(program);
        let mut this = Self {
            name: program.program.name.clone(),
            kernels: SlotMap::with_key(),
            channels: SlotMap::with_key(),
            graph: DiGraph::new(),
        };
        let host = this.add_kernel("init".into(), Role::Host);
        let mut stacks = BTreeMap::new();
        let mut segments = BTreeMap::new();
        for (t, task) in program.tasks.iter().enumerate() {
            let t = TaskId::new(t);
            for (s, segment) in task.segments.iter().enumerate() {
                let s = SegmentId::new(s);
                let kind = if s.index() == 0 {
                    ChannelKind::Entry(t)
                } else {
                    ChannelKind::Continuation(t, s)
                };
                let stack = this.add_channel(program, task, kind);
                let kernel = this.add_kernel(segment.body.name.clone(), Role::Segment(t, s));
                this.graph.add_edge(stack, kernel, Edge::Consume);
                stacks.insert(kind.stack(), stack);
                segments.insert((t, s), kernel);
            }
        }
        for (&(t, s), &kernel) in &segments {
            for push in &program[t][s].pushes {
                let edge = match push.stack {
                    StackRef::Entry(_) => Edge::Spawn(push.max),
                    StackRef::Continuation(..) => Edge::Continue,
                    // Frames are drawn with their stacks, the channels of a graph with the graph.
                    StackRef::Frame(_) | StackRef::Channel(_) => continue,
                };
                if let Some(stack) = stacks.get(&push.stack) {
                    this.graph.add_edge(kernel, *stack, edge);
                }
            }
        }
        for root in roots(program) {
            this.graph
                .add_edge(host, stacks[&StackRef::Entry(root)], Edge::Call);
        }
        this.add_returns(program, &stacks, &segments);
        this
    }

    /// The program's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Nodes and edges; the nodes' data is asked of [`kernel`](Self::kernel) and [`channel`](Self::channel).
    #[must_use]
    pub const fn graph(&self) -> &DiGraph<Node, Edge> {
        &self.graph
    }

    /// A kernel of this graph.
    #[must_use]
    pub fn kernel(&self, key: KernelKey) -> Option<&Kernel> {
        self.kernels.get(key)
    }

    /// A channel of this graph.
    #[must_use]
    pub fn channel(&self, key: ChannelKey) -> Option<&Channel> {
        self.channels.get(key)
    }

    /// The kernels, in the order of tasks and segments; the host first.
    pub fn kernels(&self) -> impl Iterator<Item = (KernelKey, &Kernel)> {
        self.kernels.iter()
    }

    /// The channels, in the order of tasks and segments.
    pub fn channels(&self) -> impl Iterator<Item = (ChannelKey, &Channel)> {
        self.channels.iter()
    }

    /// All edges with the nodes they join.
    pub fn edges(&self) -> impl Iterator<Item = (Node, Node, Edge)> + '_ {
        self.graph
            .edge_references()
            .map(|e| (self.graph[e.source()], self.graph[e.target()], *e.weight()))
    }

    /// As RON.
    ///
    /// # Errors
    /// If it cannot be written as RON; no graph is known that cannot.
    pub fn to_ron(&self) -> Result<String, ron::Error> {
        ron::ser::to_string_pretty(self, ron::ser::PrettyConfig::default().depth_limit(4))
    }

    /// From what [`to_ron`](Self::to_ron) wrote.
    ///
    /// # Errors
    /// If the text is no graph; says where.
    pub fn from_ron(text: &str) -> Result<Self, ron::error::SpannedError> {
        ron::from_str(text)
    }

    fn add_kernel(&mut self, name: String, role: Role) -> NodeIndex {
        let key = self.kernels.insert(Kernel { name, role });
        self.graph.add_node(Node::Kernel(key))
    }

    fn add_channel(
        &mut self,
        program: &Levelized,
        task: &LoweredTask,
        kind: ChannelKind,
    ) -> NodeIndex {
        let own = program.fields(kind.stack());
        // A task without continuations may still have a frame that its children write to.
        let names_frame = matches!(kind, ChannelKind::Continuation(..))
            || (task.segments.len() == 1 && !task.frame.is_empty());
        let key = self.channels.insert(Channel {
            name: kind.stack().named(&task.name),
            kind,
            bytes: bytes(&own),
            fields: fields(&own),
            frame: names_frame.then(|| Frame {
                fields: fields(&task.frame),
                bytes: bytes(&task.frame),
            }),
        });
        self.graph.add_node(Node::Channel(key))
    }

    /// An edge from each kernel that returns to the stacks that name the frames of those who may have spawned it.
    fn add_returns(
        &mut self,
        program: &Levelized,
        stacks: &BTreeMap<StackRef, NodeIndex>,
        segments: &BTreeMap<(TaskId, SegmentId), NodeIndex>,
    ) {
        let mut parents: BTreeSet<(TaskId, TaskId)> = BTreeSet::new();
        for (t, task) in program.tasks.iter().enumerate() {
            for segment in &task.segments {
                let into_frame = frame_pointers(&segment.body);
                for (func, addr) in results(&segment.body) {
                    let in_frame = matches!(addr, Operand::Local(l) if into_frame.contains(&l));
                    parents.extend(
                        program
                            .task_of(func)
                            .filter(|_| in_frame)
                            .map(|child| (child, TaskId::new(t))),
                    );
                }
            }
        }
        for (&(t, s), &kernel) in segments {
            let body = &program[t][s].body;
            if !body
                .blocks
                .iter()
                .any(|b| matches!(b.term, Terminator::Return(_)))
            {
                continue;
            }
            for &(_, parent) in parents.iter().filter(|(child, _)| *child == t) {
                let count = program[parent].segments.len();
                let named = (1..count).map(|s| StackRef::Continuation(parent, SegmentId::new(s)));
                for stack in named.chain((count == 1).then_some(StackRef::Entry(parent))) {
                    self.graph.add_edge(kernel, stacks[&stack], Edge::Return);
                }
            }
        }
    }
}

impl ChannelKind {
    /// The stack of the levelized program.
    #[must_use]
    pub const fn stack(self) -> StackRef {
        match self {
            Self::Entry(task) => StackRef::Entry(task),
            Self::Continuation(task, segment) => StackRef::Continuation(task, segment),
        }
    }
}

fn fields(fields: &[levelized::Field]) -> Vec<Field> {
    let ty = |kind: PieceKind| match kind {
        PieceKind::Scalar(ty) => ty.name().to_owned(),
        PieceKind::Blob(layout) => format!("{} bytes", layout.size),
    };
    fields
        .iter()
        .map(|f| Field {
            name: f.name.clone(),
            ty: ty(f.kind),
        })
        .collect()
}

fn bytes(fields: &[levelized::Field]) -> u64 {
    let stride =
        |f: &levelized::Field| f.kind.layout().size.next_multiple_of(f.kind.layout().align);
    fields.iter().map(stride).sum()
}

/// The tasks that the host is drawn to call: of each group of tasks that no other spawns, the first that stores its result.
fn roots(program: &Levelized) -> Vec<TaskId> {
    let mut spawns = DiGraph::<TaskId, ()>::new();
    let nodes: Vec<_> = (0..program.tasks.len())
        .map(|t| spawns.add_node(TaskId::new(t)))
        .collect();
    for (t, task) in program.tasks.iter().enumerate() {
        for push in task.segments.iter().flat_map(|s| &s.pushes) {
            if let StackRef::Entry(child) = push.stack {
                spawns.update_edge(nodes[t], nodes[child.index()], ());
            }
        }
    }
    let groups = condensation(spawns, true);
    let sources = groups.node_indices().filter(|g| {
        groups
            .neighbors_directed(*g, petgraph::Direction::Incoming)
            .next()
            .is_none()
    });
    let mut out: Vec<TaskId> = sources
        .filter_map(|g| {
            groups[g]
                .iter()
                .copied()
                .filter(|t| program[*t].combine == crate::ir::Combine::Store)
                .min()
        })
        .collect();
    out.sort();
    out
}

/// The children of a segment that have a result, and where it goes.
fn results(body: &Function) -> impl Iterator<Item = (crate::ir::FuncId, Operand)> + '_ {
    body.stmts().filter_map(|s| match &s.kind {
        StmtKind::Spawn {
            func,
            dest: Some(dest),
            ..
        } => Some((*func, dest.addr)),
        _ => None,
    })
}

/// The locals that may point into the task's own frame.
fn frame_pointers(body: &Function) -> BTreeSet<LocalId> {
    let mut out = BTreeSet::new();
    let mut before = usize::MAX;
    while out.len() != before {
        before = out.len();
        for stmt in body.stmts() {
            if let StmtKind::Assign { dst, value } = &stmt.kind {
                let mut from = matches!(value, Rvalue::FrameAddr(_));
                if let Rvalue::Use(base) | Rvalue::PtrAdd { base, .. } = value {
                    from |= matches!(base, Operand::Local(l) if out.contains(l));
                } else if let Rvalue::Select(_, a, b) = value {
                    from |= [a, b]
                        .into_iter()
                        .any(|o| matches!(o, Operand::Local(l) if out.contains(l)));
                }
                if from {
                    out.insert(*dst);
                }
            }
        }
    }
    out
}
