//! A graph as its kernels know it.

use super::spawning::spawns;
use crate::{cuda::plan::Plan, layout::stride};
use millstream_graph::{
    graph::{Graph, KernelKey, Predicate, WhenFull},
    ir::{ChannelId, FuncId, Function, StmtKind, TaskId},
    levelized::{Field, Levelized, StackRole},
};

/// Channels that a graph on a GPU may have: masks of them are words of 64 bits.
const MOST_CHANNELS: usize = 64;

/// Shared memory of a block in which it stages what its wavefront emits.
pub(super) const STAGE_BYTES: u64 = 36 << 10;

/// Why a graph cannot run on a GPU.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// It has too many channels.
    #[error("the graph has {0} channels; a GPU runs graphs of up to {MOST_CHANNELS}")]
    Channels(usize),
    /// A kernel emits elements that are too large.
    #[error(
        "what kernel `{kernel}` emits takes {bytes} bytes, an element of each of its channels; a block of a GPU stages {STAGE_BYTES}"
    )]
    Large {
        /// The kernel.
        kernel: String,
        /// Bytes.
        bytes: u64,
    },
}

/// When a channel's elements are worth a wavefront.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// When a block is full of them; fewer, if a block finds nothing else to do.
    Full,
    /// When there are so many, or nothing upstream can add.
    AtLeast(u32),
    /// At once.
    Any,
    /// When the program's helper says so.
    Own(FuncId),
}

/// What a graph says of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wire {
    /// The node's task that consumes it; none if that is the host, or a kernel that spawns.
    pub consumer: Option<TaskId>,
    /// When its elements are worth a wavefront.
    pub wanted: Wanted,
    /// Higher ones go first.
    pub priority: i32,
    /// Whether its oldest elements make room for new ones.
    pub drops: bool,
}

/// A channel.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// The fields of its elements.
    pub fields: Vec<Field>,
    /// What the graph says of it.
    pub wire: Wire,
    /// Its place among the channels, by priority and by how far downstream it is: higher ones go first.
    pub rank: u32,
    /// The lowest block that may run its consumer: those below are left to what makes room downstream.
    pub floor: u32,
    /// Number of its first field, counted over all channels.
    pub first_field: usize,
}

impl Channel {
    /// Bytes of an element.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.fields.iter().map(stride).sum()
    }

    /// Bytes that one takes in a block's stage, where each field's array begins at a multiple of 16.
    fn staged(&self) -> u64 {
        self.bytes() + 16 * self.fields.len() as u64
    }
}

/// A node: a task of the program that consumes a channel.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The task.
    pub task: TaskId,
    /// The channel that it consumes.
    pub consumes: usize,
    /// The channels that it emits into, and how many elements into each at most; none where that depends on data.
    pub ports: Vec<(usize, Option<u32>)>,
}

/// A graph as its kernels know it.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowPlan {
    /// The program, for the writer of bodies.
    pub plan: Plan,
    /// Its channels.
    pub channels: Vec<Channel>,
    /// Its nodes.
    pub nodes: Vec<Node>,
}

impl FlowPlan {
    /// Plans the program that was made of a graph by what the graph says of each of the program's channels. What spawns consumes none of them here.
    fn new(program: &Levelized, wires: &[Wire]) -> Result<Self, FlowError> {
        let defined = &program.program.channels;
        if defined.len() > MOST_CHANNELS {
            return Err(FlowError::Channels(defined.len()));
        }
        let mut first_field = 0;
        let mut channels: Vec<Channel> = Vec::new();
        for (def, wire) in defined.iter().zip(wires) {
            channels.push(Channel {
                name: def.name.clone(),
                fields: def.fields.clone(),
                wire: *wire,
                rank: 0,
                floor: 0,
                first_field,
            });
            first_field += def.fields.len();
        }
        let mut nodes = Vec::new();
        for (consumes, channel) in channels.iter().enumerate() {
            let Some(task) = channel.wire.consumer else {
                continue;
            };
            nodes.push(node(program, task, consumes, &channels)?);
        }
        let mut plan = Self {
            plan: Plan::bare(program),
            channels,
            nodes,
        };
        plan.order();
        Ok(plan)
    }

    /// Plans a graph whose kernels became these tasks of a program.
    ///
    /// # Errors
    /// If a GPU cannot run it.
    pub fn of(
        graph: &Graph,
        program: &Levelized,
        kernels: &[(KernelKey, TaskId)],
    ) -> Result<Self, FlowError> {
        let wires = graph.channels().map(|(key, channel)| {
            let mut consumers = graph.consumers(key);
            let consumer = consumers.find_map(|c| kernels.iter().find(|k| k.0 == c));
            // What spawns takes its elements from where the host does.
            let consumer = consumer.filter(|k| !spawns(program, k.1));
            let wanted = match &channel.predicate {
                Predicate::Full => Wanted::Full,
                Predicate::AtLeast(n) => Wanted::AtLeast(*n),
                Predicate::Any => Wanted::Any,
                Predicate::Own(name) => program.program.find(name).map_or(Wanted::Any, Wanted::Own),
            };
            Wire {
                consumer: consumer.map(|k| k.1),
                wanted,
                priority: channel.priority,
                drops: channel.full == WhenFull::DropOldest,
            }
        });
        Self::new(program, &wires.collect::<Vec<_>>())
    }

    /// Whether a node emits into a channel of the graph.
    #[must_use]
    pub fn is_produced(&self, channel: usize) -> bool {
        let mut ports = self.nodes.iter().flat_map(|n| &n.ports);
        ports.any(|p| p.0 == channel)
    }

    /// The least stage of a block: an element for each channel that a node emits into.
    #[must_use]
    pub fn least_stage(&self) -> u64 {
        let of = |n: &Node| n.ports.iter().map(|p| self.channels[p.0].staged()).sum();
        self.nodes.iter().map(of).max().unwrap_or(0)
    }

    /// How many elements of a channel a block has to be able to keep where there is no room: what any node stages of it.
    #[must_use]
    pub fn least_kept(&self, channel: usize) -> u64 {
        match self.is_produced(channel) {
            true => STAGE_BYTES / self.channels[channel].bytes().max(1),
            false => 0,
        }
    }

    /// Whether some node emits a number of elements into a channel that depends on data.
    #[must_use]
    pub fn is_loose(&self, channel: usize) -> bool {
        let mut ports = self.nodes.iter().flat_map(|n| &n.ports);
        ports.any(|p| *p == (channel, None))
    }

    /// Uniforms of the program.
    #[must_use]
    pub fn uniforms(&self) -> usize {
        self.plan.program.program.uniforms.len()
    }

    /// Words of 64 bits of the module's global.
    pub(super) fn words(&self) -> usize {
        let ring = size_of::<crate::cuda::abi::flow::Ring>() / 8;
        let channels = self.channels.len().max(1);
        2 + ring * channels + 2 * self.fields() + self.uniforms().max(1)
    }

    /// Field arrays of all channels.
    #[must_use]
    pub fn fields(&self) -> usize {
        self.channels.iter().map(|c| c.fields.len()).sum()
    }

    /// The node that consumes a channel.
    #[must_use]
    pub fn consumer(&self, channel: usize) -> Option<usize> {
        self.nodes.iter().position(|n| n.consumes == channel)
    }

    /// The node in whose body, or in whose helper, a function of that name runs: none if that may be several.
    #[must_use]
    pub fn node_of(&self, function: &str) -> Option<String> {
        let program = &self.plan.program;
        let runs = |node: &&Node| {
            let task = &program[node.task];
            let body = program.entry(node.task).body;
            let mut seen = Vec::new();
            let mut next: Vec<FuncId> = calls(body).collect();
            while let Some(func) = next.pop() {
                if !seen.contains(&func) {
                    seen.push(func);
                    next.extend(calls(&program.program[func]));
                }
            }
            let mut names = seen.iter().map(|f| program.program[*f].name.as_str());
            task.source_name() == function || names.any(|name| name == function)
        };
        let mut nodes = self.nodes.iter().filter(runs);
        let node = nodes.next().filter(|_| nodes.next().is_none())?;
        Some(program[node.task].source_name().to_owned())
    }

    /// The channels that a channel's elements are turned into at once, as a mask.
    pub(super) fn outputs(&self, channel: usize) -> u64 {
        let node = self.consumer(channel).map(|n| &self.nodes[n]);
        node.map_or(0, |n| n.ports.iter().fold(0, |mask, p| mask | 1 << p.0))
    }

    /// For each channel, all those downstream.
    fn downstream(&self) -> Vec<u64> {
        let mut all: Vec<u64> = (0..self.channels.len()).map(|c| self.outputs(c)).collect();
        for via in 0..all.len() {
            for c in 0..all.len() {
                if all[c] >> via & 1 != 0 {
                    all[c] |= all[via];
                }
            }
        }
        all
    }

    /// The channels whose elements may become elements of this one, without those that its own may become again.
    pub(super) fn upstream(&self, channel: usize) -> u64 {
        let down = self.downstream();
        let is = |c: &usize| down[*c] >> channel & 1 != 0 && down[channel] >> *c & 1 == 0;
        (0..down.len()).filter(is).fold(0, |mask, c| mask | 1 << c)
    }

    /// Who goes first, and who is left to the first blocks. A block may wait for room in the middle of a body that emits more than its stage holds.
    /// So that there is always one that makes room, block `b` runs only what has no more than `b` such bodies downstream of it, outside of its own cycle.
    fn order(&mut self) {
        let down = self.downstream();
        let count = down.len();
        let waits = |c: usize| {
            let node = self.consumer(c).map(|n| &self.nodes[n]);
            node.is_some_and(|n| n.ports.iter().any(|p| p.1.is_none()))
        };
        // How many such bodies there may be in a row from a channel on.
        let mut row = vec![0u32; count];
        for _ in 0..count {
            for c in 0..count {
                let beyond = |d: &usize| {
                    down[c] >> *d & 1 != 0 && down[*d] >> c & 1 == 0 && self.consumer(*d).is_some()
                };
                let most = (0..count)
                    .filter(beyond)
                    .map(|d| row[d] + u32::from(waits(c)));
                row[c] = most.max().unwrap_or(0);
            }
        }
        let floor: Vec<u32> = (0..count)
            .map(|c| if waits(c) { row[c] } else { 0 })
            .collect();
        // Fewer channels downstream: nearer to the end.
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|c| {
            (
                self.channels[*c].wire.priority,
                std::cmp::Reverse(down[*c].count_ones()),
                *c,
            )
        });
        for (rank, c) in order.into_iter().enumerate() {
            self.channels[c].rank = rank as u32;
            self.channels[c].floor = floor[c];
        }
    }
}

fn calls(function: &Function) -> impl Iterator<Item = FuncId> {
    function.stmts().filter_map(|s| match s.kind {
        StmtKind::Call { func, .. } => Some(func),
        _ => None,
    })
}

fn node(
    program: &Levelized,
    task: TaskId,
    consumes: usize,
    channels: &[Channel],
) -> Result<Node, FlowError> {
    let lowered = &program[task];
    let name = || lowered.source_name().to_owned();
    let mut ports = Vec::new();
    for push in program.entry(task).pushes() {
        match program.role(push.stack) {
            StackRole::Channel(channel) => ports.push((ChannelId::index(channel), push.max)),
            _ => unreachable!("a kernel that spawns is no node"),
        }
    }
    let bytes: u64 = ports.iter().map(|p| channels[p.0].staged()).sum();
    if bytes > STAGE_BYTES {
        return Err(FlowError::Large {
            kernel: name(),
            bytes,
        });
    }
    Ok(Node {
        task,
        consumes,
        ports,
    })
}
