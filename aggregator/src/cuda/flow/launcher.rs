//! What a graph's run asks of the machine that its kernels run on, beside what [`Machine`] says.

use crate::{cuda::launcher::Machine, error::RunError};
use millstream_channels_kernel::cuda::{Site, flow::FlowPlan};
use std::time::{Duration, Instant};

/// A graph as its kernels were made: what a run has to know of it.
#[derive(Debug)]
pub struct FlowKernels {
    /// Its channels and nodes.
    pub plan: FlowPlan,
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
}
