//! Segments as machine code of this computer: a levelized program goes in, function pointers come out.
//!
//! - `program`: the compiled program that the worker holds, and the sites that its errors name
//! - `unit`: the module that is being compiled: host flags, symbols, constants
//! - `body`: a function of the IR inside a function of Cranelift: registers, slots, blocks, inlining
//! - `segment`: the element loop around a segment's body; `channel`: talloc and enq on private stacks; `room`: how much they
//!   may hold; `frame`: the frames of tasks that sync
//! - `lanes`, `vector`: loops over neighbouring elements, several turns at once
//! - `stmt`, `rvalue`, `arith`, `bits`, `float`, `cast`, `atomic`: the constructs, one file each
//! - `selects`: branches that become selections, before anything is compiled
//! - `helper`: what is known of helpers before they are compiled; `libcalls`: what machine code calls back for
//!
//! `README.md` beside this file says who owns which memory when.

pub mod abi;

mod arith;
mod atomic;
mod bits;
mod body;
mod cast;
mod channel;
mod float;
mod frame;
mod helper;
mod lanes;
mod libcalls;
mod program;
mod room;
mod rvalue;
mod segment;
mod selects;
mod stmt;
mod unit;
mod vector;

pub use program::{CheckSite, CompileError, CompiledProgram};
pub use unit::host;
