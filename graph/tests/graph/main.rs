//! The graph model, the IR, its text, its interpreter and its verifier.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod drawing;
mod eval;
mod flow;
mod graph;
mod interp;
mod text;
mod ty;
mod verify;
