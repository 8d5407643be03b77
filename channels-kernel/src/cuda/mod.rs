//! Segments as CUDA C++: one text a program, without a header.
//!
//! [`generate`] writes it: the program's channels, helpers and segments, and around them the device's own code, which lies in
//! `device/*.cu` (prelude, channels, policy, aggregators). A segment's body is written once and does not know what feeds it: it
//! calls `talloc` for the number of an element, stores the element's fields, and `enq` and `tfree` cost nothing, because dispatches are
//! separated by barriers. [`nvrtc`] compiles the text to a cubin: all of it, or its
//! [`Part`]s by themselves, at the same time, which the driver links to an [`Image`].
//!
//! How an element is reserved depends on the worker that runs the body:
//! - *Scanned*: a tile of elements first runs the body with its effects taken out (`Counting`), which tells how much each element
//!   pushes; a scan over the block and one atomic a group of channels reserve it all; then the body runs (`Reserved`). Channels that
//!   grow in a fixed ratio share a group. Children whose number depends on data are staged in shared memory and written in whole lines.
//! - *Direct*: for heavy bodies, and where what is pushed depends on the body's own effects: lanes that spawn together reserve together.
//!   Slices that such a body walks through and no child can keep are brought into shared memory by the warp.
//!
//! Lanes that run a loop go on together when they have left it (`loops`).

pub mod abi;
mod analysis;
mod atomic;
mod body;
mod counting;
pub mod division;
mod effort;
pub mod flow;
mod framed;
mod helper;
mod inherit;
mod lanes;
mod long;
mod loops;
mod names;
pub mod nvrtc;
mod origin;
mod parts;
pub mod plan;
mod regions;
pub mod ring;
mod rounds;
pub mod rules;
mod rvalue;
mod segment;
mod shared;
mod source;
mod spawn;
mod stack;
mod stmt;
mod tables;
mod team;
#[cfg(test)]
mod tests;
mod types;
mod unit;
mod walk;
mod writer;

pub use effort::Written;
pub use helper::Recursion;
pub use parts::{Image, Part};
pub use plan::Plan;
pub use unit::{Generated, Options, generate};
pub use writer::Site;
