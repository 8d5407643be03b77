//! Millstream's graph model and kernel IR.
//!
//! [`ty`] has the types and layouts that every engine shares, [`ir`] the typed control-flow graphs that the front end writes, [`text`]
//! their text form, [`flow`] where control may go in them, [`verify`] what must hold of them, [`eval`] what their operations do and [`interp`] what they mean as a whole;
//! [`graph`] is the executable graph of kernels and channels, [`levelized`] is the form that devices run, [`fault`] what a running program can die of.

pub mod eval;
pub mod fault;
pub mod flow;
pub mod graph;
pub mod interp;
pub mod ir;
pub mod levelized;
pub mod text;
pub mod ty;
pub mod verify;
