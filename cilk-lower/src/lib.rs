//! From Rust tasks that spawn and sync to levelized channel graphs.
//!
//! [`front`] reads a program module, checks it and builds its IR; [`lower`] splits the tasks at their syncs and makes the
//! levelized program that devices run. The attribute macro, the command and RON files all come through here.

mod beside;
mod build;
mod check;
mod consts;
mod declare;
mod diag;
mod enums;
mod expanded;
pub mod front;
mod generics;
mod hir;
mod impls;
pub mod instantiate;
mod items;
mod kernels;
mod library;
pub mod lower;
mod names;
pub mod nesting;
mod orders;
mod outline;
mod pending;
mod placed;
mod pointers;
mod resolve;
mod rows;
mod rules;
pub mod rust;
mod spelled;
mod traits;
mod ty;
mod wides;

pub use diag::{Diagnostic, Diagnostics};
pub use expanded::expand;
pub use front::{
    Parsed, SourceError, is_program_attribute, parse_file, parse_module, program_options, read_file,
};
pub use items::{ident, is_task_attribute};
pub use kernels::{is_kernel_attribute, is_role_attribute};
pub use rust::ParallelLoop;
