//! Graphs of kernels and ring channels as CUDA C++: one translation unit a graph, as for programs of tasks.
//!
//! [`FlowPlan`] is what the text is made of: the program that `instantiate` makes of a graph, in which each node is a task of its
//! own that emits into the graph's channels, and for each channel who consumes it and when. The device's own part is `device/ring.cu` (the ring
//! channel), `device/flow.cu` (a wavefront: its elements run, what they emit is staged in shared memory and brought into the channels) and
//! `device/scheduler.cu` (what runs next, and how a graph ends); `README.md` here says how it works and why. Kernels that spawn are [`Spawning`].

mod emit;
mod node;
mod plan;
mod spawning;
mod unit;

pub use plan::{Channel, FlowError, FlowPlan, Node, Wanted, Wire};
pub use spawning::Spawning;
pub use unit::generate;

pub(in crate::cuda) use emit::Port;
