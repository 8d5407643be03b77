//! Fine-grain, irregular, recursive work on GPUs and CPUs, from Rust tasks that spawn and sync.
//!
//! A *program* is a module of ordinary Rust under [`macro@program`]. Its tasks spawn children with [`spawn!`] and wait for them with
//! [`sync!`]; it is lowered to a levelized channel graph, which a [`Device`] runs in full wavefronts. Without the device it is still
//! Rust: [`spawn!`] is the call and [`sync!`] is nothing, so the same functions are the program's *serial elision*.
//!
//! ```
//! #[millstream::program]
//! mod tree {
//!     /// How many numbers from `lo` to `hi` the predicate takes, by halves.
//!     #[task]
//!     pub fn count(data: &[u32], limit: u32) -> u64 {
//!         if data.len() < 4 {
//!             let mut found = 0;
//!             for &x in data {
//!                 found += (x < limit) as u64;
//!             }
//!             return found;
//!         }
//!         let (left, right) = data.split_at(data.len() / 2);
//!         let a = spawn!(count(left, limit));
//!         let b = spawn!(count(right, limit));
//!         sync!();
//!         a + b
//!     }
//! }
//!
//! # fn main() -> Result<(), millstream::Error> {
//! let device = millstream::Device::cpu()?;
//! let data: Vec<u32> = (0..1000).collect();
//! let found = device.run(tree::call::count(&data, 10))?;
//! assert_eq!(found, 10);
//! assert_eq!(found, tree::count(&data, 10));
//! # Ok(())
//! # }
//! ```
//!
//! Slices that are passed to a call are host memory: `&mut` slices have what the tasks wrote to them when the run is over. A
//! [`Buffer`] stays on the device from run to run:
//!
//! ```
//! # #[millstream::program]
//! # mod double {
//! #     #[task]
//! #     pub fn double(data: &mut [f32]) {
//! #         for x in data.iter_mut() { *x *= 2.0; }
//! #     }
//! # }
//! # fn main() -> Result<(), millstream::Error> {
//! # let device = millstream::Device::cpu()?;
//! let mut data = device.buffer(&[1.0f32, 2.0, 3.0])?;
//! device.run(double::call::double(&mut data))?;
//! device.run(double::call::double(&mut data))?;
//! assert_eq!(data.read(), [4.0, 8.0, 12.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Many independent calls are one run:
//!
//! ```
//! # #[millstream::program]
//! # mod square {
//! #     #[task]
//! #     pub fn square(n: u32) -> u32 { n * n }
//! # }
//! # fn main() -> Result<(), millstream::Error> {
//! # let device = millstream::Device::cpu()?;
//! let squares = device.run_all((0..100).map(square::call::square))?;
//! assert_eq!(squares[99], 9801);
//! # Ok(())
//! # }
//! ```
//!
//! # Data races do not compile
//!
//! What a child was lent is borrowed until the next [`sync!`], by rustc's own borrow checker:
//!
//! ```compile_fail,E0499
//! #[millstream::program]
//! mod race {
//!     #[task]
//!     pub fn twice(data: &mut [u32]) {
//!         spawn!(add(data));
//!         spawn!(add(data)); // the first may still run
//!         sync!();
//!     }
//!
//!     #[task]
//!     pub fn add(data: &mut [u32]) {
//!         data[0] += 1;
//!     }
//! }
//! ```

extern crate self as millstream;

#[allow(unsafe_code, reason = "views of the caller's memory become arguments")]
mod args;
mod channel;
pub mod csr;
pub mod dump;
pub mod graph;
pub mod image;
pub mod job;
mod kernel;
#[allow(unsafe_code, reason = "views of a matrix that do not overlap")]
mod mat;
mod program;
mod race;
mod rounds;
pub mod trace;

pub use args::{MatArg, MatMutArg};
pub use channel::{Channel, Element};
pub use graph::{ChannelRef, Graph};
pub use kernel::Kernel;
pub use mat::{Mat, MatMut, Rows, RowsMut};
pub use millstream_aggregator::{
    Aggregator, Arg, Buffer, Bytes, Call, Cancel, ChannelReport, CpuOptions, CudaOptions, Device,
    Dump, KernelReport, Lendable, Live, NodeReport, Observe, Pod, Policy, RunError,
    RunError as Error, RunReport, SliceArg, SliceMutArg, SoFar, StackReport, SubtreesReport,
    TaskValue, Timeline, WorkerReport, default_memory, parse_bytes, timeline,
};
pub use millstream_macros::{kernel, program, task};
pub use program::Program;

/// Makes a child of a task: `spawn!(fib(n - 1))`. The child may run at any time up to the next [`sync!`].
///
/// Its result comes with the sync. It is taken by `let x = spawn!(..)`, `x = spawn!(..)` or `a[i] = spawn!(..)`, or gathered by
/// `sum += spawn!(..)`, `|=`, `&=`, `^=` and `best = best.max(spawn!(..))`. In the serial elision it is the call itself.
#[macro_export]
macro_rules! spawn {
    ($call:expr $(,)?) => {
        $call
    };
}

/// Waits for all children that this task has spawned. A task ends with a sync that need not be written.
///
/// In the serial elision it is nothing.
#[macro_export]
macro_rules! sync {
    () => {
        ()
    };
}

/// Whether the task that asks is a lane of a GPU: for how finely work is divided, so that each device has tasks that suit it. What comes out
/// should not depend on it.
///
/// A task that is called rather than spawned, as anything outside programs, is told that it is not.
#[must_use]
pub const fn on_gpu() -> bool {
    false
}

/// What a program's module has in scope: [`spawn!`], [`sync!`], [`Mat`], [`MatMut`], [`Channel`] and [`Element`].
pub mod prelude {
    pub use crate::{Channel, Element, Mat, MatMut, kernel, spawn, sync, task};
}

/// What the attribute macro's code is made of.
#[doc(hidden)]
pub mod __private {
    pub use crate::{
        args::LaidOut,
        kernel::{ByMat, ByRef, BySlice, ByValue},
        race::{Children, Tried},
        rounds::{Gather, Gathered, beside, rounds},
    };
    pub use millstream_aggregator::{ErasedArg, Record, push_slice, zeroed};
}

/// The programs of the pages, as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../docs/graph.md")]
    struct Graph;
    #[doc = include_str!("../docs/language.md")]
    struct Language;
    #[doc = include_str!("../README.md")]
    struct Readme;
}
