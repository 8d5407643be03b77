//! Graphs of kernels and channels, built in Rust: what is connected wrongly does not compile.

mod channel;
mod host;
mod node;
mod run;
#[cfg(test)]
mod tests;

pub use channel::ChannelRef;
pub use host::{Emit, HostNode, HostPorts, HostSource, Outcome, WithPort};
pub use millstream_graph::graph::{GraphError, Predicate, Problem, Protocol, Scope, WhenFull};
pub use node::{Node, Unfed};
pub use run::Run;
pub(crate) use run::feed;

use crate::{Kernel, Program, TaskValue};
use channel::Shared;
use millstream_aggregator::{ErasedArg, GraphProgram, HostFn};
use millstream_graph::{
    graph::{self as model, ChannelKey, KernelKey},
    ir,
};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// A graph of kernels and channels.
pub struct Graph<'a> {
    shared: Shared,
    /// The program whose kernels it runs; none if it has host nodes alone.
    program: Option<&'static Program>,
    /// What does not go into the graph: channels of other graphs, kernels of other programs.
    problems: Vec<String>,
    /// The pieces of the arguments of each kernel.
    args: BTreeMap<KernelKey, Vec<ErasedArg<'a>>>,
    hosts: BTreeMap<KernelKey, HostFn<'a>>,
    /// Bytes that an element of each channel takes in Rust.
    sizes: BTreeMap<ChannelKey, usize>,
    /// Elements that are there at first: their memory, one behind another.
    sent: BTreeMap<ChannelKey, Vec<u8>>,
    /// What came into its outputs in the last run.
    received: BTreeMap<ChannelKey, Vec<u8>>,
    /// The graph as devices compile it.
    compiled: Option<Arc<GraphProgram>>,
}

impl<'a> Graph<'a> {
    /// A graph without nodes.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            shared: Shared::new(model::Graph::new(name)),
            program: None,
            problems: Vec::new(),
            args: BTreeMap::new(),
            hosts: BTreeMap::new(),
            sizes: BTreeMap::new(),
            sent: BTreeMap::new(),
            received: BTreeMap::new(),
            compiled: None,
        }
    }

    /// Adds a channel of elements of this type: a ring with room for [`WIDTH`](model::WIDTH) of them. What it gives says more about the
    /// channel, and connects it.
    pub fn channel<T: TaskValue>(&mut self, name: impl Into<String>) -> ChannelRef<T> {
        let channel = model::Channel::new(name, channel::element_name::<T>());
        let key = self.shared.lock().add_channel(channel);
        self.sizes.insert(key, T::SIZE);
        ChannelRef::new(self.shared.clone(), key)
    }

    /// Adds a node that runs a kernel, to be connected: first to the channel that it [`consumes`](Unfed::consumes), then to one for each
    /// port ([`produces`](Node::produces)); then its arguments ([`arg`](Node::arg)).
    pub fn kernel<E, Ports, Params>(
        &mut self,
        kernel: Kernel<E, Ports, Params>,
    ) -> Unfed<'_, 'a, E, Ports, Params> {
        let program = kernel.program();
        let first = *self.program.get_or_insert(program);
        if !std::ptr::eq(first, program) {
            self.problems.push(format!(
                "kernel `{}` is of the program `{}`, and the others of `{}`: a graph runs one program",
                kernel.name(),
                program.ir().name,
                first.ir().name
            ));
        }
        let key = self
            .shared
            .lock()
            .add_kernel(model::Kernel::device(kernel.name()));
        Unfed::new(self, key)
    }

    /// Adds a node that runs a closure on the host.
    pub fn host(&mut self, name: impl Into<String>) -> HostSource<'_, 'a> {
        let key = self.shared.lock().add_kernel(model::Kernel::host(name));
        HostSource::new(self, key)
    }

    /// Puts elements into a channel, which are there when a run begins; after those that were put there before.
    pub fn send<T: TaskValue>(
        &mut self,
        channel: &ChannelRef<T>,
        elements: impl IntoIterator<Item = T>,
    ) {
        let Some(key) = self.own(channel, "what elements are sent to") else {
            return;
        };
        channel.change(|c| c.input = true);
        self.sent
            .entry(key)
            .or_default()
            .extend(run::memory(elements));
    }

    /// All that is wrong with the graph; what its user should know if nothing is.
    ///
    /// # Errors
    /// If something is wrong. A run would say the same.
    pub fn check(&self) -> Result<Vec<Problem>, GraphError> {
        let graph = self.shared.lock();
        let mut all: Vec<Problem> = self.problems.iter().map(Problem::of_graph).collect();
        let program = self.ir();
        all.extend(graph.validate(&program));
        for (key, channel) in graph.channels() {
            let (Some(ty), Some(&here)) = (graph.element(key, &program), self.sizes.get(&key))
            else {
                continue;
            };
            let there = ty.layout(&program.structs).size;
            if there != here as u64 {
                all.push(Problem::of_graph(format!(
                    "channel `{}`: a `{}` of the program `{}` has {there} bytes, and here it has {here}: it is another struct of that name",
                    channel.name, channel.element, program.name
                )));
            }
        }
        model::split(&graph.name, all)
    }

    /// The graph itself: what is drawn, written to a file, and run.
    #[must_use]
    pub fn model(&self) -> model::Graph {
        self.shared.lock().clone()
    }

    /// The program of its kernels.
    fn ir(&self) -> Arc<ir::Program> {
        self.program.map_or_else(Arc::default, |p| p.ir().clone())
    }

    /// A channel's key, if it is of this graph; else that is a problem.
    fn own<T>(&mut self, channel: &ChannelRef<T>, what: &str) -> Option<ChannelKey> {
        if self.shared.is(channel.shared()) {
            return Some(channel.key());
        }
        let problem = format!("channel `{}`, {what}, is of another graph", channel.name());
        self.problems.push(problem);
        None
    }
}

impl fmt::Debug for Graph<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("model", &*self.shared.lock())
            .finish_non_exhaustive()
    }
}
