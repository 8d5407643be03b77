//! Nodes of the device, connected step by step: the types say what is left to connect.

use super::{ChannelRef, Graph};
use crate::kernel::{NextParam, NextPort};
use millstream_aggregator::ErasedArg;
use millstream_graph::{
    graph::{ChannelKey, Kernel, KernelKey},
    ty::Type,
};
use std::{fmt, marker::PhantomData};

/// A node whose channel is not said yet.
#[must_use = "a node without a channel never runs: say what it consumes"]
pub struct Unfed<'g, 'a, E, Ports, Params> {
    graph: &'g mut Graph<'a>,
    key: KernelKey,
    types: PhantomData<fn(E, Ports, Params)>,
}

/// A node whose channel is said; ports and parameters that are left.
pub struct Node<'g, 'a, Ports, Params> {
    graph: &'g mut Graph<'a>,
    key: KernelKey,
    types: PhantomData<fn(Ports, Params)>,
}

impl<'g, 'a, E, Ports, Params> Unfed<'g, 'a, E, Ports, Params> {
    pub(super) const fn new(graph: &'g mut Graph<'a>, key: KernelKey) -> Self {
        Self {
            graph,
            key,
            types: PhantomData,
        }
    }

    /// Calls the node by another name than its kernel's, which several nodes may run.
    pub fn named(self, name: impl Into<String>) -> Self {
        self.graph.change(self.key, |k| k.name = name.into());
        self
    }

    /// Runs the kernel on the elements of this channel.
    pub fn consumes(self, channel: &ChannelRef<E>) -> Node<'g, 'a, Ports, Params> {
        let channel = self.graph.connect(channel);
        self.graph.change(self.key, |k| k.consumes = Some(channel));
        Node {
            graph: self.graph,
            key: self.key,
            types: PhantomData,
        }
    }
}

impl<'g, 'a, Ports, Params> Node<'g, 'a, Ports, Params> {
    /// Connects the kernel's next `Channel` parameter.
    pub fn produces<T>(self, channel: &ChannelRef<T>) -> Node<'g, 'a, Ports::Rest, Params>
    where
        Ports: NextPort<T>,
    {
        let channel = self.graph.connect(channel);
        self.graph.change(self.key, |k| k.produces.push(channel));
        Node {
            graph: self.graph,
            key: self.key,
            types: PhantomData,
        }
    }

    /// Gives the kernel's next parameter that is neither its element nor a channel.
    pub fn arg<V>(self, value: V) -> Node<'g, 'a, Ports, Params::Rest>
    where
        Params: NextParam<'a, V>,
    {
        let pieces: &mut Vec<ErasedArg<'a>> = self.graph.args.entry(self.key).or_default();
        Params::push(value, pieces);
        let name = self.graph.next_param(self.key);
        self.graph.change(self.key, |k| k.args.push(name));
        Node {
            graph: self.graph,
            key: self.key,
            types: PhantomData,
        }
    }
}

impl<'a> Graph<'a> {
    pub(super) fn change(&mut self, key: KernelKey, change: impl FnOnce(&mut Kernel)) {
        if let Some(kernel) = self.shared.lock().kernel_mut(key) {
            change(kernel);
        }
    }

    /// The key of a channel that a node is connected to; one that no channel has if it is of another graph.
    pub(super) fn connect<T>(&mut self, channel: &ChannelRef<T>) -> ChannelKey {
        self.own(channel, "which a node is connected to")
            .unwrap_or_default()
    }

    /// The name of the parameter of a node that an argument is given to next.
    fn next_param(&self, key: KernelKey) -> String {
        let model = self.shared.lock();
        let name = model.kernel(key).and_then(|k| {
            let (program, function) = (self.ir(), k.function()?);
            let params = &program[program.find(function)?].params;
            let bound = params
                .iter()
                .skip(1)
                .filter(|p| !matches!(p.ty, Type::Channel(_)));
            bound.skip(k.args.len()).map(|p| p.name.clone()).next()
        });
        name.unwrap_or_default()
    }
}

impl<E, Ports, Params> fmt::Debug for Unfed<'_, '_, E, Ports, Params> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Unfed").field(&self.key).finish()
    }
}

impl<Ports, Params> fmt::Debug for Node<'_, '_, Ports, Params> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&self.key).finish()
    }
}
