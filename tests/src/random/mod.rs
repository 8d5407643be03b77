//! Random programs of the task language, and what checks that every engine makes the same of them.
//!
//! [`generate`] makes a program and calls of it from a list of [`Choices`]. Programs are well typed, end, and are free of races by
//! construction: `scope` keeps account of what children hold and of what awaits a sync. [`check`] runs one on the interpreter, which is
//! the oracle, and on CPU devices. [`shrink`] makes the list of a program that fails smaller.

mod choices;
mod control;
mod emulated;
mod expr;
mod function;
mod graph;
mod kernel;
mod option;
mod parallel;
mod pattern;
mod pressure;
mod reduction;
mod run;
mod scope;
mod shape;
mod shrink;
mod spawn;
mod stmt;
mod types;

pub use choices::Choices;
pub use emulated::{Emulated, Team, emulate_sample};
pub use function::{Sample, generate, generate_alone};
pub use graph::{check_graph, emulate_graph, graph_elision};
pub use kernel::{GraphSample, NodeSample, generate_graph};
pub use pressure::{decide, pressure};
pub use run::{Devices, Verdict, check, elision, elision_head, elision_module};
pub use shrink::shrink;
pub use types::Mode;
