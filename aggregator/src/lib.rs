//! Devices: memory, dispatch and policies; what decides which wavefront runs next.
//!
//! - [`Device`] loads and launches programs; [`Buffer`] is memory that stays on it, [`RunReport`] what a run did, [`RunError`] why it ended
//! - [`cuda`]: the device that is a GPU; `cpu`: the one that is this computer, and of it are
//! - `run` and `crew`: how a run begins and ends, and the threads it calls
//! - `worker`: the levelized aggregator of one worker; `dispatch`: room for a wavefront and the call of its code
//! - `stacks`, `levels`, `memory`: a worker's channel stacks, level records, and the memory under both
//! - `budget`: who may use how much memory; `ledger`: what a worker's levels hold and may hold; `policy`: how wide a wavefront is
//! - `flow`: graphs of ring channels
//! - `share`, `batch`, `donate`: donation between workers; `README.md` has the protocol
//! - `watch`: what a worker tells of each dispatch; `timeline`: what happened when, `live`: how far a run is, `dump` and `leaving`: what one was at that did not end well, for users; `decisions`: what was decided, for tests
//! - `gpus`: settings of GPUs and what is known of each; `no_cuda`, `no_native`: what a build has that leaves a device out
//! - `plan`: a program as tables; `native`: its segments as machine code of this computer

#![deny(unsafe_code)]

#[cfg(not(any(feature = "cpu", feature = "cuda")))]
compile_error!("Millstream needs a device: the feature `cpu`, the feature `cuda`, or both");

#[allow(unsafe_code, reason = "a caller may pass memory by its address")]
mod args;
#[allow(unsafe_code, reason = "elements are copied from stack to stack")]
mod batch;
mod budget;
#[allow(unsafe_code, reason = "a buffer is seen as bytes and as values")]
mod buffer;
#[allow(unsafe_code, reason = "it says what is the same as its bytes")]
mod call;
mod cpu;
mod crew;
#[cfg(feature = "cuda")]
#[allow(unsafe_code, reason = "the driver is a C library")]
pub mod cuda;
#[cfg(not(feature = "cuda"))]
#[allow(unsafe_code, reason = "what it stands for has unsafe methods")]
#[path = "no_cuda.rs"]
mod cuda;
mod decisions;
mod device;
#[allow(unsafe_code, reason = "compiled code is called")]
mod dispatch;
mod donate;
pub mod dump;
mod error;
mod flow;
mod gpus;
mod leaving;
mod ledger;
mod levels;
mod library;
mod live;
#[allow(unsafe_code, reason = "memory is got, moved and given back")]
mod memory;
#[cfg(feature = "cpu")]
mod native;
#[cfg(not(feature = "cpu"))]
#[path = "no_native.rs"]
mod native;
mod plan;
mod policy;
mod reach;
mod report;
mod run;
mod share;
mod stacks;
mod sync;
#[cfg(test)]
#[allow(unsafe_code, reason = "hand-written code of tasks")]
mod testing;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends there")]
mod tests;
#[allow(unsafe_code, reason = "it asks the system")]
mod thread_stack;
pub mod timeline;
mod watch;
mod wide;
mod worker;

pub use args::{ErasedArg, ErasedCall, MemoryArg};
pub use buffer::{Buffer, Pod};
pub use call::{Arg, Call, Lendable, Record, SliceArg, SliceMutArg, TaskValue, push_slice, zeroed};
pub use cpu::CpuOptions;
#[doc(hidden)]
pub use decisions::{Decision, Reason};
pub use device::{Cancel, Device, Loaded, LoadedGraph};
pub use dump::Dump;
pub use error::RunError;
pub use flow::{GraphCall, GraphProgram, HostFn, Running};
pub use gpus::{Aggregator, CudaOptions, Policy};
pub use live::{Live, SoFar};
pub use policy::{Bytes, default_memory, parse_bytes};
pub use report::{
    ChannelReport, KernelReport, NodeReport, RunReport, StackReport, SubtreesReport, WorkerReport,
};
pub use timeline::{Observe, Timeline};
