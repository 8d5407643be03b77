//! What a graph's run asks of the machine that its kernels run on, beside what [`Machine`] says.

use crate::{
    cuda::{
        batch::{Batch, Ran},
        launcher::Machine,
        run::Settings,
    },
    error::RunError,
};
use millstream_channels_kernel::cuda::{
    Site,
    flow::{FlowPlan, Spawning},
};
use millstream_graph::ir::TaskId;
use std::time::{Duration, Instant};

/// A graph as its kernels were made: what a run has to know of it.
#[derive(Debug)]
pub struct FlowKernels {
    /// Its channels and nodes.
    pub plan: FlowPlan,
    /// Its kernels that spawn, if there are any.
    pub spawning: Option<Spawning>,
    /// The checks of its kernels, by number.
    pub sites: Vec<Site>,
    /// How deep helpers may call themselves.
    pub max_depth: u32,
    /// Blocks: all find room on the machine at once.
    pub blocks: u32,
    /// Wavefronts that a run writes down, if the kernel was made to.
    pub waves: u32,
    /// When they began to be made,
    pub compiled: Instant,
    /// and how long that took.
    pub compiling: Duration,
}

/// A machine that a graph's kernels were made for.
pub trait FlowLauncher: Machine {
    /// The graph.
    fn flow(&self) -> &FlowKernels;

    /// Fills the graph's global [`GRAPH`](millstream_channels_kernel::cuda::abi::kernel::GRAPH).
    ///
    /// # Errors
    /// As the machine does, or if it is not as large.
    fn set_graph(&self, bytes: &[u8]) -> Result<(), RunError>;

    /// Starts the graph's kernel, to go on in one of the ways of [`how`](millstream_channels_kernel::cuda::abi::flow::how).
    ///
    /// # Errors
    /// As the machine does.
    ///
    /// # Safety
    /// The device's memory is laid out as the kernel expects.
    unsafe fn start(&self, how: u32) -> Result<(), RunError>;

    /// How many elements a run of that task of the graph's [`Spawning`] kernels finds room for in so many bytes, of `most`; 0 if not for one.
    fn most_roots(&self, memory: u64, task: TaskId, most: u32) -> u32;

    /// Runs elements of a kernel that spawns, and waits for it.
    ///
    /// # Errors
    /// As the run ends.
    fn run_batch(&mut self, settings: Settings, batch: Batch<'_>) -> Result<Ran, RunError>;
}
