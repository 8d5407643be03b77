//! The CUDA device: the same programs on an NVIDIA GPU, with their channels in its memory.
//!
//! A driver and NVRTC are enough; no toolkit is needed, and on a machine without them every call here is an error that says what is
//! missing. [`CudaDevice::load`] compiles a program's text (see `millstream_channels_kernel::cuda`) for the GPU's architecture;
//! [`CudaDevice::launch`] runs it by one of two aggregators:
//! - *persistent*: one cooperative kernel, whose first warp decides;
//! - *host thread*: a kernel a dispatch, and this thread decides, from counters in mapped memory.
//!
//! Slices of the host are copied to the device and, where tasks write to them, back. Every wait is bounded: the kernels end themselves
//! when a dispatch takes longer than the watchdog allows, when a check fails, or when the run is cancelled.

mod again;
mod arena;
mod batch;
mod compile;
mod copies;
mod decision;
mod device;
mod driver;
pub mod flow;
mod forms;
mod framed;
mod gpu;
mod inside;
mod launcher;
mod levels;
mod loaded;
mod memory;
mod outcome;
mod policy;
mod ranges;
mod records;
mod run;
mod sight;
mod staging;
mod subtrees;
mod tier;
mod timeline;
mod turns;
mod waits;
mod workspace;

pub use crate::gpus::{Aggregator, CudaOptions, DeviceInfo};
pub use again::is_worth_another;
pub use batch::{Batch, Fields, Ran, most_roots, run_batch};
pub(crate) use device::CudaBuffer;
pub use device::{CudaCancel, CudaDevice};
pub use driver::{devices, driver_version};
pub use forms::{Form, Forms};
pub use launcher::{Kernels, Kind, Launcher, Machine, Rows, SHARED_WORDS, Turn};
pub use loaded::CudaLoaded;
pub use millstream_channels_kernel::cuda::plan::Shape;
pub use run::{Settings, run};
pub use sight::WATCHED;
