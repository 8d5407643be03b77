//! How GPUs work: settings, and what is known of each. It is the same whether or not the CUDA device is built.

use crate::timeline::Observe;
use std::time::Duration;

/// The default of [`CudaOptions::min_blocks`].
pub(crate) const MIN_BLOCKS: u32 = 4;

/// Who decides which run of elements comes next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Aggregator {
    /// A warp of the one kernel that runs all of it, on all of the GPU.
    Persistent,
    /// The calling thread, with a kernel a dispatch.
    HostThread,
    /// Both, each where it is faster: one block of the persistent kernel for narrow levels, the calling thread for what is more than a block does.
    #[default]
    Auto,
}

/// Which tier a run's elements are run by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Policy {
    /// By the program, and by what the run is at: inside the blocks what has private stacks there, which spawns its own kind alone and gathers; else across the
    /// device while memory lets dispatches be wide, inside the blocks where it is little, or the tree deep and narrow.
    #[default]
    Auto,
    /// Across the device alone: every dispatch is a run of elements, for all blocks.
    Device,
    /// Inside the blocks wherever it can be: each runs whole subtrees on channel stacks of its own.
    Block,
}

/// How a CUDA device works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CudaOptions {
    /// Which GPU, as the driver counts.
    pub ordinal: u32,
    /// Bytes that a run's channels may take. If none is given: half of what is free, but no more than 16 GiB, and no more than 256 MiB where all that recurses runs
    /// inside the blocks on private stacks, if that is enough.
    pub memory: Option<u64>,
    /// Who decides.
    pub aggregator: Aggregator,
    /// On which tier. [`Aggregator::Persistent`] knows the first one only.
    pub policy: Policy,
    /// How long one dispatch may take before the run is ended.
    pub watchdog: Duration,
    /// Blocks that a multiprocessor should hold at once: bounds the registers of a thread.
    pub min_blocks: u32,
    /// Blocks that run at one time, at most; as many as the GPU has room for if it is not said. For measurements of how runs scale: it puts one on each
    /// multiprocessor before it puts a second one anywhere.
    pub blocks: Option<u32>,
    /// Whether runs may begin before the kernels are compiled that decide by themselves, by [`Aggregator::Auto`]: the calling thread decides everything
    /// until they are; and with code that was compiled quickly, where the full code takes long, until that is there. If not, loading a program waits for all
    /// of it. With a timeline code is always the full one.
    pub early: bool,
    /// What a run's report says beside what is counted anyway. For a timeline programs are compiled anew, so that others pay nothing; how long
    /// each node took is told with it only.
    pub observe: Observe,
    /// So many decisions are kept record of and compared with the policy's, one by one: for tests. 0, the default, keeps none, and costs nothing.
    pub records: u32,
}

impl Default for CudaOptions {
    fn default() -> Self {
        Self {
            ordinal: 0,
            memory: None,
            aggregator: Aggregator::default(),
            policy: Policy::default(),
            watchdog: Duration::from_secs(10),
            min_blocks: MIN_BLOCKS,
            blocks: None,
            early: true,
            observe: Observe::default(),
            records: 0,
        }
    }
}

/// A GPU.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Its number, as the driver counts.
    pub ordinal: u32,
    /// Its name.
    pub name: String,
    /// Its architecture: 90 is `sm_90`.
    pub arch: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Whether it can run the persistent aggregator.
    pub cooperative: bool,
}
