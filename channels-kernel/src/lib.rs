//! Channel layouts, and the code generators that make wavefronts of segments.
//!
//! [`layout`] is the one source of how channel stacks lie in memory; [`cpu`] compiles segments to machine code with Cranelift.

pub mod cpu;
pub mod cuda;
pub mod layout;
pub mod ring;
pub mod status;
