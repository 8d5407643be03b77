//! What `millstream bench` measures: our programs beside what their users would otherwise write.
//!
//! - `program`: the programs, what they work on, and what tells that two contestants did the same
//! - `ours`: a device of this library, from the examples' source
//! - `gpu`: the table of a GPU; `held`: a program on any device, with what it works on
//! - `paper`: the papers' experiments, with figures
//! - `rayon_join`: the same algorithms with rayon's `join`, the same cut-offs and the same number of threads
//! - `rings`: elements through a ring channel, beside `crossbeam-channel`; `gpu_rings` and `rings.cu`: on a GPU, beside a broker queue
//! - `feed`: a graph that is fed and drained for a minute
//! - `elision`: the examples' modules as rustc compiles them, spawn and sync left out: no tasks, one thread
//! - `graphs`: graphs of kernels beside rayon; `graphs_gpu`: on a GPU; `nvidia`: CUDA C++ of rivals there
//! - `regions`: parallel loops beside rayon's parallel iterators, and on a GPU beside plain kernels of CUDA
//! - `measure`: all of them in turn, round by round, so that what else the machine does meets each of them alike
//! - `report`: the table and the records

pub(crate) mod elision;
pub(crate) mod feed;
pub(crate) mod gpu;
pub(crate) mod gpu_rings;
pub(crate) mod graphs;
pub(crate) mod graphs_gpu;
pub(crate) mod held;
pub(crate) mod measure;
#[allow(unsafe_code, reason = "a rival's kernels are launched by the driver")]
pub(crate) mod nvidia;
pub(crate) mod ours;
pub(crate) mod paper;
pub(crate) mod program;
pub(crate) mod rayon_join;
pub(crate) mod regions;
pub(crate) mod report;
pub(crate) mod rings;
