//! A graph as tables: who consumes and produces what, in which order workers look at it, and what could still add to a channel.

use super::{GraphProgram, image::Image};
use crate::{error::RunError, plan::Plan};
use millstream_channels_kernel::layout::StackIndex;
use millstream_graph::{
    graph::{Body, ChannelKey, KernelKey, Node, Predicate, WhenFull, element_fields},
    ir::ChannelId,
    levelized::Field,
};
use petgraph::{Direction, algo::tarjan_scc, graph::NodeIndex, visit::EdgeRef};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

/// A graph, ready for workers. Channels and kernels are numbered as the graph lists them.
#[derive(Debug)]
pub(crate) struct Wiring {
    pub(crate) name: String,
    pub(crate) channels: Vec<ChannelPlan>,
    /// All nodes: kernels of the device and of the host.
    pub(crate) nodes: Vec<NodePlan>,
    /// Those of the device in the order in which workers look at them: by priority, and of one priority the one nearest to the end first.
    pub(crate) order: Vec<usize>,
    /// Those of the host.
    pub(crate) hosts: Vec<usize>,
}

/// A channel.
#[derive(Debug)]
pub(crate) struct ChannelPlan {
    pub(crate) key: ChannelKey,
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
    /// An element as the host has it.
    pub(crate) image: Image,
    pub(crate) width: u32,
    pub(crate) group: u32,
    pub(crate) predicate: Predicate,
    pub(crate) full: WhenFull,
    pub(crate) consumer: Consumer,
    /// Whether the caller sends to it.
    pub(crate) input: bool,
    /// Where workers lay what they emit into it; none if no kernel does.
    pub(crate) staging: Option<StackIndex>,
    /// For each node, whether it can add to the channel, by way of others too.
    pub(crate) fed_by: Vec<bool>,
    /// The channels whose elements can come to add to this one, but for those of a cycle that it lies on.
    pub(crate) before: Vec<usize>,
    /// Whether what the caller sends can come to add to it.
    pub(crate) fed_from_outside: bool,
}

/// Who takes a channel's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Consumer {
    /// A kernel of the device.
    Kernel,
    /// A host node.
    Host,
    /// The caller.
    Outside,
}

/// A node.
#[derive(Debug)]
pub(crate) struct NodePlan {
    pub(crate) key: KernelKey,
    pub(crate) name: String,
    /// The task that it runs; none if it is a host node.
    pub(crate) task: Option<usize>,
    pub(crate) consumes: Option<usize>,
    /// Of the channel that it consumes.
    pub(crate) priority: i32,
    /// By port.
    pub(crate) ports: Vec<usize>,
    /// Each of them once.
    pub(crate) produces: Vec<usize>,
    /// Whether a host node or the caller is at the other end of one of its channels.
    pub(crate) meets_host: bool,
}

impl Wiring {
    /// Makes the tables of a graph that is right, of which the program was made.
    pub(crate) fn new(program: &GraphProgram, plan: &Plan) -> Result<Self, RunError> {
        let GraphProgram {
            graph,
            levelized,
            kernels: tasks,
            ..
        } = program;
        let program = &levelized.program;
        let drawn = graph.drawn();
        // Channels come first, then nodes, each in order.
        let (first, kernels) = (graph.channels().len(), graph.kernels().len());
        let (channel_at, node_at) = (NodeIndex::new, |n| NodeIndex::new(first + n));
        let numbers: BTreeMap<ChannelKey, usize> = graph.channels().map(|c| c.0).zip(0..).collect();
        let mut rank = BTreeMap::new();
        for (cycle, members) in tarjan_scc(&drawn).into_iter().enumerate() {
            rank.extend(members.into_iter().map(|m| (m, cycle)));
        }
        let nodes = graph.kernels().map(|(key, kernel)| {
            let ports: Vec<usize> = kernel.produces.iter().map(|c| numbers[c]).collect();
            let produces: BTreeSet<usize> = ports.iter().copied().collect();
            NodePlan {
                key,
                name: kernel.name.clone(),
                task: tasks.iter().find(|t| t.0 == key).map(|t| t.1.index()),
                consumes: kernel.consumes.map(|c| numbers[&c]),
                priority: kernel
                    .consumes
                    .and_then(|c| graph.channel(c))
                    .map_or(i32::MIN, |c| c.priority),
                produces: produces.into_iter().collect(),
                ports,
                meets_host: false,
            }
        });
        let mut nodes: Vec<NodePlan> = nodes.collect();
        let upstream = |of: NodeIndex| {
            let mut seen = BTreeSet::new();
            let mut next = vec![of];
            while let Some(node) = next.pop() {
                let before = drawn.edges_directed(node, Direction::Incoming);
                next.extend(before.map(|e| e.source()).filter(|n| seen.insert(*n)));
            }
            seen
        };
        let channels = graph.channels().map(|(key, channel)| {
            let ty = graph.element(key, program).ok_or_else(|| {
                let (name, element) = (&channel.name, &channel.element);
                RunError::Graph(format!(
                    "the program has no type `{element}` for the channel `{name}`"
                ))
            })?;
            let structs = &program.structs;
            let here = channel_at(numbers[&key]);
            let seen = upstream(here);
            let before = seen.iter().filter(|n| rank[*n] != rank[&here]);
            let before = before.map(|n| n.index()).filter(|&n| n < first);
            let id = program.channels.iter().position(|c| c.name == channel.name);
            let consumer = match graph.consumers(key).next().and_then(|k| graph.kernel(k)) {
                None => Consumer::Outside,
                Some(kernel) if kernel.body == Body::Host => Consumer::Host,
                Some(_) => Consumer::Kernel,
            };
            let is_input = |c: ChannelKey| graph.channel(c).is_some_and(|c| c.input);
            let sent = seen
                .iter()
                .any(|&n| matches!(drawn[n], Node::Channel(c) if is_input(c)));
            Ok(ChannelPlan {
                key,
                name: channel.name.clone(),
                fields: element_fields(&ty, structs),
                image: Image::new(&ty, structs),
                width: channel.width,
                group: channel.group.min(channel.width),
                predicate: channel.predicate.clone(),
                full: channel.full,
                consumer,
                input: channel.input,
                staging: id.map(|i| plan.layouts.channel(ChannelId::new(i))),
                fed_by: (0..kernels).map(|n| seen.contains(&node_at(n))).collect(),
                before: before.collect(),
                fed_from_outside: sent || channel.input,
            })
        });
        let channels: Vec<ChannelPlan> = channels.collect::<Result<_, RunError>>()?;
        for node in &mut nodes {
            let met = |c: &usize| channels[*c].consumer != Consumer::Kernel;
            node.meets_host = node.produces.iter().any(met);
        }
        let fed: BTreeSet<usize> = nodes
            .iter()
            .filter(|n| n.task.is_none())
            .flat_map(|n| n.produces.clone())
            .collect();
        for node in &mut nodes {
            node.meets_host |= node
                .consumes
                .is_some_and(|c| channels[c].input || fed.contains(&c));
        }
        let (mut order, hosts): (Vec<usize>, Vec<usize>) =
            (0..nodes.len()).partition(|&n| nodes[n].task.is_some());
        order.sort_by_key(|&n| (Reverse(nodes[n].priority), rank[&node_at(n)]));
        Ok(Self {
            name: graph.name.clone(),
            channels,
            nodes,
            order,
            hosts,
        })
    }
}
