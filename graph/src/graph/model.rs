//! What a graph is made of.

use crate::{
    ir::{Combine, LocalId, TaskId},
    text::piece_text,
    ty::Field,
};
use petgraph::graph::DiGraph;
use serde::{Deserialize, Serialize};
use slotmap::SlotMap;
use std::{collections::BTreeMap, fmt};

slotmap::new_key_type! {
    /// A channel of a graph.
    pub struct ChannelKey;
    /// A kernel of a graph.
    pub struct KernelKey;
}

/// Elements that a channel has room for, if nobody says.
pub const WIDTH: u32 = 32_768;
/// Neighbouring elements of a ring that share a done count, if nobody says.
pub const GROUP: u32 = 64;

/// A graph of kernels and channels.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Its name, for people.
    pub name: String,
    channels: SlotMap<ChannelKey, Channel>,
    kernels: SlotMap<KernelKey, Kernel>,
    tasks: Vec<Task>,
}

/// A channel: where elements wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Channel {
    /// Its one name in drawings, messages, statistics and generated texts.
    pub name: String,
    /// What its elements are.
    pub element: Element,
    /// The fields that whoever made the graph takes the elements' type to have, if that is to be checked.
    pub layout: Option<Vec<Field>>,
    /// How elements get in and out.
    pub protocol: Protocol,
    /// Who shares it.
    pub scope: Scope,
    /// How many elements it has room for. A stack has as much as the run's memory gives it.
    pub width: u32,
    /// How many neighbouring elements of a ring share a done count.
    pub group: u32,
    /// When its elements are worth a dispatch.
    pub predicate: Predicate,
    /// Of the channels that are ready, those of the highest priority go first.
    pub priority: i32,
    /// What a producer does where there is no room.
    pub full: WhenFull,
    /// Whether elements are sent to it from outside: before the run or while it goes on.
    pub input: bool,
    /// Whether its elements are received outside: no kernel consumes it.
    pub output: bool,
}

/// What the elements of a channel are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Element {
    /// Values of a type, as the source writes it: `FibObj`, `u32`, `(u32, f32)`.
    Type(String),
    /// Of a task's stacks: its fields themselves, addresses among them.
    Fields(Vec<Field>),
}

/// How elements get into a channel and out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Protocol {
    /// In order, many producers and many consumers at the same time.
    #[default]
    Ring,
    /// On top; producers and consumers take turns, as levels do.
    Stack,
}

/// Who shares a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Scope {
    /// One worker alone: a thread of the CPU, a block of a GPU.
    Worker,
    /// All workers of the device.
    #[default]
    Device,
    /// The device and the host: it can be fed and drained while the graph runs.
    Host,
}

/// When a channel's elements are worth a dispatch.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Predicate {
    /// A wavefront is full, or nothing upstream can add to what waits.
    #[default]
    Full,
    /// So many wait, or nothing upstream can add to what waits.
    AtLeast(u32),
    /// Anything waits.
    Any,
    /// The program's helper of that name says so: `fn(waiting: u32, width: u32, more: bool) -> bool`, where `more` is whether anything
    /// upstream can still add. Nobody else is asked: a run in which it says no when nothing else is left to do ends with an error.
    Own(String),
}

/// What a producer does where a channel has no room. Nothing is ever lost without being counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum WhenFull {
    /// It yields until there is room, and so do its producers in turn.
    #[default]
    Wait,
    /// The channel becomes wider.
    Grow,
    /// The oldest elements make room, and are counted.
    DropOldest,
}

/// A kernel: a node that runs code on elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name: that of its function, or what the user calls the node.
    pub name: String,
    /// What it runs.
    pub body: Body,
    /// The channel that it takes elements from; none if it is a source, which only host nodes can be.
    pub consumes: Option<ChannelKey>,
    /// The channels that it emits into, a port each.
    pub produces: Vec<ChannelKey>,
    /// What its bound parameters get, in order, as the source writes it: `&edges`, `4 * n`. Values are bound when the graph runs.
    pub args: Vec<String>,
}

/// What a kernel runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Body {
    /// The program's kernel of that name, on the device.
    Device(String),
    /// A closure of the caller's, on the host, a batch at a time.
    Host,
    /// A segment of a task, on the device.
    Segment(Code),
}

/// The code of a segment.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Code {
    /// The program's function of that name, of kind [`Segment`](crate::ir::FunctionKind::Segment).
    pub function: String,
    /// The local that holds the return address where the function returns; none if the task returns nothing.
    /// An entry has it as last argument; a continuation loads it from its frame, and has none if it never returns.
    pub ret: Option<LocalId>,
    /// How many elements at most it pushes to each channel that it produces into, for each that it consumes; none where data decides.
    pub most: Vec<Option<u32>>,
}

/// A task: what ties stacks and segments together ([`crate::levelized`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// Its name, which is that of its function in the program: `fib`, `fib+add`.
    pub name: String,
    /// How its result is combined with what its destination holds.
    pub combine: Combine,
    /// The stack of its entry elements.
    pub calls: ChannelKey,
    /// The stack of its frames, if it ever needs one.
    pub frames: Option<ChannelKey>,
    /// Its segments: the one that consumes its entry elements, then those that consume its continuations.
    pub segments: Vec<KernelKey>,
}

/// A node of the drawn graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// Runs code on elements.
    Kernel(KernelKey),
    /// Holds elements.
    Channel(ChannelKey),
}

/// What goes along an edge of the drawn graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wire {
    /// From a channel to the kernel that runs its elements.
    Consume,
    /// From a kernel to a channel, by the port of this number.
    Produce(usize),
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(ty) => f.write_str(ty),
            Self::Fields(fields) => {
                let shown = fields
                    .iter()
                    .map(|x| format!("{}: {}", x.name, piece_text(x.kind)));
                f.write_str(&shown.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Channel {
    /// A ring of elements of this type with everything else as it is if nobody says.
    #[must_use]
    pub fn new(name: impl Into<String>, element: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            element: Element::Type(element.into()),
            layout: None,
            protocol: Protocol::default(),
            scope: Scope::default(),
            width: WIDTH,
            group: GROUP,
            predicate: Predicate::default(),
            priority: 0,
            full: WhenFull::default(),
            input: false,
            output: false,
        }
    }
}

impl Kernel {
    /// A node that runs the program's kernel of that name, not yet connected.
    #[must_use]
    pub fn device(function: impl Into<String>) -> Self {
        let function = function.into();
        Self {
            name: function.clone(),
            body: Body::Device(function),
            consumes: None,
            produces: Vec::new(),
            args: Vec::new(),
        }
    }

    /// A host node of that name, not yet connected.
    #[must_use]
    pub fn host(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            body: Body::Host,
            consumes: None,
            produces: Vec::new(),
            args: Vec::new(),
        }
    }

    /// What a segment is, if it is one.
    #[must_use]
    pub const fn code(&self) -> Option<&Code> {
        match &self.body {
            Body::Segment(code) => Some(code),
            Body::Device(_) | Body::Host => None,
        }
    }

    /// The program's kernel that it runs, if it runs one.
    #[must_use]
    pub fn function(&self) -> Option<&str> {
        match &self.body {
            Body::Device(name) => Some(name),
            Body::Host | Body::Segment(_) => None,
        }
    }
}

impl Task {
    /// The task's name in the user's source: all ways of combining its result share it.
    #[must_use]
    pub fn source_name(&self) -> &str {
        self.name.split('+').next().unwrap_or(&self.name)
    }
}

impl Graph {
    /// A graph without nodes.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Adds a channel.
    pub fn add_channel(&mut self, channel: Channel) -> ChannelKey {
        self.channels.insert(channel)
    }

    /// Adds a kernel.
    pub fn add_kernel(&mut self, kernel: Kernel) -> KernelKey {
        self.kernels.insert(kernel)
    }

    /// Adds a task of segments and stacks that were added before.
    pub fn add_task(&mut self, task: Task) -> TaskId {
        self.tasks.push(task);
        TaskId::new(self.tasks.len() - 1)
    }

    /// The tasks, in the order in which they were added; [`TaskId`] is the index.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// A channel of this graph.
    #[must_use]
    pub fn channel(&self, key: ChannelKey) -> Option<&Channel> {
        self.channels.get(key)
    }

    /// A channel of this graph, to be changed.
    pub fn channel_mut(&mut self, key: ChannelKey) -> Option<&mut Channel> {
        self.channels.get_mut(key)
    }

    /// A kernel of this graph.
    #[must_use]
    pub fn kernel(&self, key: KernelKey) -> Option<&Kernel> {
        self.kernels.get(key)
    }

    /// A kernel of this graph, to be connected.
    pub fn kernel_mut(&mut self, key: KernelKey) -> Option<&mut Kernel> {
        self.kernels.get_mut(key)
    }

    /// The channels, in the order in which they were added.
    pub fn channels(&self) -> impl ExactSizeIterator<Item = (ChannelKey, &Channel)> + Clone {
        self.channels.iter()
    }

    /// The kernels, in the order in which they were added.
    pub fn kernels(&self) -> impl ExactSizeIterator<Item = (KernelKey, &Kernel)> + Clone {
        self.kernels.iter()
    }

    /// The channel of that name.
    #[must_use]
    pub fn find_channel(&self, name: &str) -> Option<ChannelKey> {
        self.channels()
            .find(|(_, c)| c.name == name)
            .map(|(k, _)| k)
    }

    /// The kernel of that name.
    #[must_use]
    pub fn find_kernel(&self, name: &str) -> Option<KernelKey> {
        self.kernels().find(|(_, k)| k.name == name).map(|(k, _)| k)
    }

    /// The kernels that take elements from a channel; a graph that is right has one at most.
    pub fn consumers(&self, channel: ChannelKey) -> impl Iterator<Item = KernelKey> + '_ {
        self.kernels()
            .filter(move |(_, k)| k.consumes == Some(channel))
            .map(|(key, _)| key)
    }

    /// The kernels that emit into a channel, with the port by which they do, in order.
    pub fn producers(&self, channel: ChannelKey) -> impl Iterator<Item = (KernelKey, usize)> + '_ {
        self.kernels().flat_map(move |(key, kernel)| {
            let ports = kernel
                .produces
                .iter()
                .enumerate()
                .filter(move |(_, c)| **c == channel);
            ports.map(move |(port, _)| (key, port))
        })
    }

    /// The graph as petgraph has it, for its algorithms: channels first, then kernels, each in order.
    #[must_use]
    pub fn drawn(&self) -> DiGraph<Node, Wire> {
        let mut out = DiGraph::new();
        let channels: BTreeMap<ChannelKey, _> = self
            .channels
            .keys()
            .map(|c| (c, out.add_node(Node::Channel(c))))
            .collect();
        for (key, kernel) in self.kernels() {
            let node = out.add_node(Node::Kernel(key));
            if let Some(channel) = kernel.consumes.and_then(|c| channels.get(&c)) {
                out.add_edge(*channel, node, Wire::Consume);
            }
            for (port, channel) in kernel.produces.iter().enumerate() {
                if let Some(channel) = channels.get(channel) {
                    out.add_edge(node, *channel, Wire::Produce(port));
                }
            }
        }
        out
    }
}
