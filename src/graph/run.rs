//! A run of a graph: fed, drained and ended.

use super::{ChannelRef, Graph, channel::Shared, host::values};
use crate::{Device, RunError, RunReport, TaskValue};
use millstream_aggregator::{ErasedArg, GraphCall, GraphProgram, HostFn, Running};
use millstream_cilk_lower::instantiate::{InstantiateError, instantiate};
use millstream_graph::graph::ChannelKey;
use std::{fmt, sync::Arc, thread};

/// Elements that are received at once, at most.
const BATCH: u32 = 4096;

/// A graph that runs, for who feeds and drains it; [`Graph::start`] gives it. It may be shared among threads.
pub struct Run<'r> {
    running: &'r Running<'r>,
    shared: Shared,
}

impl<'a> Graph<'a> {
    /// Runs the graph until nothing is left to do. What came into its outputs is [taken](Self::take) afterwards. A graph can be run again:
    /// it is compiled once, and the elements that were sent to it are there again.
    ///
    /// # Errors
    /// If something is wrong with the graph, a node fails, or the graph cannot go on.
    pub fn run(&mut self, device: &Device) -> Result<RunReport, RunError> {
        let outputs: Vec<ChannelKey> = {
            let model = self.shared.lock();
            model
                .channels()
                .filter(|(_, c)| c.output)
                .map(|(key, _)| key)
                .collect()
        };
        let sent = std::mem::take(&mut self.sent);
        let parts: Vec<(ChannelKey, &[u8])> =
            sent.iter().map(|(k, m)| (*k, m.as_slice())).collect();
        let done = self.with(device, |running| feed(running, &parts, &outputs));
        self.sent = sent;
        let (received, report) = done?;
        self.received = outputs.into_iter().zip(received).collect();
        Ok(report)
    }

    /// Takes what came into an output in the last [`run`](Self::run). Its order is that of the graph's kernels, which is not always the same.
    pub fn take<T: TaskValue>(&mut self, channel: &ChannelRef<T>) -> Vec<T> {
        let own = self.shared.is(channel.shared());
        let memory = own.then(|| self.received.remove(&channel.key())).flatten();
        values(&memory.unwrap_or_default()).collect()
    }

    /// Runs the graph while `with` feeds and drains it, from as many threads as it likes. The elements that were sent to the graph before are there
    /// first. When `with` returns nothing more can be sent, and this waits until nothing is left to do.
    ///
    /// It takes a closure and gives no handle because the graph's kernels work on what was lent to it: whoever would forget a handle
    /// would leave them at work on memory that is gone.
    ///
    /// # Errors
    /// As [`run`](Self::run); if an output was not drained; and what `with` gave up for, which ends the run.
    pub fn start<R>(
        &mut self,
        device: &Device,
        with: impl FnOnce(&Run<'_>) -> Result<R, RunError>,
    ) -> Result<(R, RunReport), RunError> {
        let shared = self.shared.clone();
        let sent = std::mem::take(&mut self.sent);
        let done = self.with(device, |running| {
            thread::scope(|scope| {
                let first = scope.spawn(|| {
                    sent.iter()
                        .try_for_each(|(key, elements)| running.send(*key, elements))
                });
                let run = Run { running, shared };
                let result = with(&run);
                if result.is_err() {
                    running.cancel();
                }
                let first = joined(first.join());
                // What `with` gave up for comes before what that did to the sending.
                let result = result?;
                first.map(|()| result)
            })
        });
        self.sent = sent;
        done
    }

    /// Loads the graph, and runs it with its arguments and closures.
    fn with<R>(
        &mut self,
        device: &Device,
        with: impl FnOnce(&Running<'_>) -> Result<R, RunError>,
    ) -> Result<(R, RunReport), RunError> {
        for warning in self.check().map_err(RunError::InvalidGraph)? {
            tracing::warn!(graph = self.shared.lock().name, "{warning}");
        }
        let loaded = device.load_graph(&self.program()?)?;
        let hosts = self.hosts.iter_mut().map(|(key, closure)| {
            let call: HostFn<'_> = Box::new(|batch, out| closure(batch, out));
            (*key, call)
        });
        let args = self
            .args
            .iter_mut()
            .map(|(key, args)| (*key, args.iter_mut().map(ErasedArg::reborrow).collect()));
        let call = GraphCall {
            args: args.collect(),
            hosts: hosts.collect(),
            ..GraphCall::default()
        };
        loaded.run(call, with)
    }

    /// What devices compile: made anew only if the graph was changed.
    fn program(&mut self) -> Result<Arc<GraphProgram>, RunError> {
        let graph = self.shared.lock().clone();
        if let Some(program) = self.compiled.as_ref().filter(|p| p.graph == graph) {
            return Ok(program.clone());
        }
        let source = self.ir();
        let instance = instantiate(&source, &graph).map_err(|e| match e {
            InstantiateError::Graph(e) => RunError::InvalidGraph(e),
            InstantiateError::Lower(e) => RunError::Compile(e.to_string()),
        })?;
        let program = Arc::new(GraphProgram {
            graph,
            source,
            levelized: Arc::new(instance.program),
            kernels: instance.kernels,
        });
        Ok(self.compiled.insert(program).clone())
    }
}

impl Run<'_> {
    /// Sends elements to an input, waiting until there is room for all of them.
    ///
    /// # Errors
    /// If the channel is no input of this graph, or the graph ends or can never go on.
    pub fn send<T: TaskValue>(
        &self,
        channel: &ChannelRef<T>,
        elements: impl IntoIterator<Item = T>,
    ) -> Result<(), RunError> {
        let memory = memory(elements);
        self.running.send(self.key(channel)?, &memory)
    }

    /// Sends as many of these elements, from the first one on, as there is room for now, and gives the others back.
    ///
    /// # Errors
    /// If the channel is no input of this graph, or the graph has ended.
    pub fn try_send<T: TaskValue>(
        &self,
        channel: &ChannelRef<T>,
        mut elements: Vec<T>,
    ) -> Result<Vec<T>, RunError> {
        let memory = memory(elements.iter().copied());
        let sent = self.running.try_send(self.key(channel)?, &memory)?;
        Ok(elements.split_off(sent))
    }

    /// Receives elements of an output: what is there, and waits until something is. Empty when the graph is done and everything was received.
    ///
    /// # Errors
    /// If the channel is no output of this graph, or the graph ended with an error or can never go on.
    pub fn receive<T: TaskValue>(&self, channel: &ChannelRef<T>) -> Result<Vec<T>, RunError> {
        let memory = self.running.receive(self.key(channel)?, BATCH)?;
        Ok(values(&memory.unwrap_or_default()).collect())
    }

    /// Receives what is there, which may be nothing.
    ///
    /// # Errors
    /// If the channel is no output of this graph.
    pub fn try_receive<T: TaskValue>(&self, channel: &ChannelRef<T>) -> Result<Vec<T>, RunError> {
        let memory = self.running.try_receive(self.key(channel)?, BATCH)?;
        Ok(values(&memory.unwrap_or_default()).collect())
    }

    /// Says that nothing more will be sent.
    pub fn close(&self) {
        self.running.close();
    }

    /// [Closes](Self::close) the graph and waits until everything that was sent, and all that came of it, is consumed or lies in outputs.
    ///
    /// # Errors
    /// If the graph ends with an error or can never go on.
    pub fn wait_for_done(&self) -> Result<(), RunError> {
        self.running.wait_for_done()
    }

    /// Ends the run with [`RunError::Cancelled`].
    pub fn cancel(&self) {
        self.running.cancel();
    }

    fn key<T>(&self, channel: &ChannelRef<T>) -> Result<ChannelKey, RunError> {
        match self.shared.is(channel.shared()) {
            true => Ok(channel.key()),
            false => Err(RunError::BadArguments(format!(
                "channel `{}` is of another graph",
                channel.name()
            ))),
        }
    }
}

/// The elements as they lie in memory, one behind another.
pub(super) fn memory<T: TaskValue>(elements: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut memory = Vec::new();
    for element in elements {
        let at = memory.len();
        memory.resize(at + T::SIZE, 0);
        element.write(&mut memory[at..]);
    }
    memory
}

/// Sends elements and receives all that comes out of these channels, until the graph is done.
pub(crate) fn feed(
    running: &Running<'_>,
    sent: &[(ChannelKey, &[u8])],
    outputs: &[ChannelKey],
) -> Result<Vec<Vec<u8>>, RunError> {
    thread::scope(|scope| {
        let drain = |key: ChannelKey| {
            let mut out = Vec::new();
            while let Some(elements) = running.receive(key, BATCH)? {
                out.extend(elements);
            }
            Ok(out)
        };
        let drains: Vec<_> = outputs
            .iter()
            .map(|&key| scope.spawn(move || drain(key)))
            .collect();
        let fed = sent
            .iter()
            .try_for_each(|(key, elements)| running.send(*key, elements));
        if fed.is_err() {
            running.cancel();
        }
        running.close();
        let drained: Vec<Result<Vec<u8>, RunError>> =
            drains.into_iter().map(|d| joined(d.join())).collect();
        fed?;
        drained.into_iter().collect()
    })
}

/// What a thread gave; its panic goes on here.
fn joined<T>(result: thread::Result<T>) -> T {
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("graph", &self.shared.lock().name)
            .finish_non_exhaustive()
    }
}
