//! Graphs of kernels and ring channels on a GPU: where they lie, how they are fed and drained, and one run of them.
//!
//! - `README.md` beside this file: who does what when, and why it ends
//! - [`launcher`]: what a graph's run asks of the machine, beside what every run does
//! - [`bind`]: the arguments of kernels; [`arena`]: the memory; [`rings`]: what the host does to a ring while no kernel runs
//! - [`super::batch`]: kernels that spawn, whose elements are roots of runs of tasks
//! - [`run`]: the run, kernel after kernel; [`hub`]: what is between it and the host; [`serve`]: all who take part; [`sight`]: what it is at; [`timeline`]: what happened when

mod arena;
mod bind;
mod hub;
mod launcher;
mod load;
mod rings;
mod run;
mod serve;
mod sight;
mod timeline;

pub use bind::GraphArgs;
pub use launcher::{FlowKernels, FlowLauncher};
pub(crate) use load::CudaGraph;
pub use run::{Ended, FlowRun, FlowSettings};
pub use serve::run_graph;
