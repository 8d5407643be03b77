//! The graph model, the IR, its text, its interpreter and its verifier.

mod drawing;
mod eval;
mod flow;
mod interp;
mod model;
mod text;
mod ty;
mod verify;
