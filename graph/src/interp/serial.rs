//! A graph of kernels, one element after another: the oracle of every run of a graph.

use super::{ArgValue, Interp, InterpError};
use crate::{
    graph::{ChannelKey, Graph, KernelKey},
    ir::Program,
};
use std::collections::{BTreeMap, VecDeque};

/// A graph that is run serially: kernels take turns in their order, each until its channel is empty, and channels are first in, first out
/// and of any width. Host nodes do not run: what comes to them is what the caller takes.
#[derive(Debug)]
pub struct SerialGraph<'a> {
    /// Runs the kernels, and has the memory that is lent to them.
    pub interp: Interp<'a>,
    program: &'a Program,
    graph: &'a Graph,
    /// The pieces of each kernel's arguments.
    args: BTreeMap<KernelKey, Vec<ArgValue>>,
    /// The pieces of the elements that wait.
    waiting: BTreeMap<ChannelKey, VecDeque<Vec<ArgValue>>>,
}

impl<'a> SerialGraph<'a> {
    /// Of a graph that is right for this program.
    #[must_use]
    pub fn new(program: &'a Program, graph: &'a Graph) -> Self {
        Self {
            interp: Interp::new(program),
            program,
            graph,
            args: BTreeMap::new(),
            waiting: BTreeMap::new(),
        }
    }

    /// Gives a kernel the pieces of its arguments.
    pub fn bind(&mut self, kernel: KernelKey, args: Vec<ArgValue>) {
        self.args.insert(kernel, args);
    }

    /// Puts an element into a channel, by its pieces.
    pub fn send(&mut self, channel: ChannelKey, element: Vec<ArgValue>) {
        self.waiting.entry(channel).or_default().push_back(element);
    }

    /// Takes the elements that wait in a channel: after a run, of one that no kernel consumes.
    pub fn take(&mut self, channel: ChannelKey) -> Vec<Vec<ArgValue>> {
        self.waiting.remove(&channel).unwrap_or_default().into()
    }

    /// Runs until no kernel has an element. Gives how many elements were consumed.
    ///
    /// # Errors
    /// Why a kernel did not return.
    pub fn run(&mut self) -> Result<u64, InterpError> {
        let mut consumed = 0;
        loop {
            let before = consumed;
            for (key, _) in self.graph.kernels() {
                consumed += self.turn(key)?;
            }
            if consumed == before {
                return Ok(consumed);
            }
        }
    }

    /// Runs one kernel until its channel is empty.
    fn turn(&mut self, key: KernelKey) -> Result<u64, InterpError> {
        let kernel = self.graph.kernel(key);
        let func = kernel.and_then(|k| self.program.find(k.function()?));
        let (Some(kernel), Some(func)) = (kernel, func) else {
            return Ok(0);
        };
        let Some(channel) = kernel.consumes else {
            return Ok(0);
        };
        let bound = self.args.get(&key).cloned().unwrap_or_default();
        let mut consumed = 0;
        while let Some(mut args) = self.waiting.get_mut(&channel).and_then(VecDeque::pop_front) {
            args.extend(bound.iter().cloned());
            self.interp.call(func, &args)?;
            consumed += 1;
            for emitted in self.interp.take_emitted() {
                self.send(kernel.produces[emitted.channel.index()], emitted.element);
            }
        }
        Ok(consumed)
    }
}
