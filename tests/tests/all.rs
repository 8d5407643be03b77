//! What spans crates, and the tests of two crates that lie beside those: one binary, so that a test that takes long runs beside those of other files, and all
//! of it is linked once.
//!
//! A file by itself: `cargo test --workspace --test all corpus::`. Names of tests begin with the file they are in.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod api;
mod budget;
mod corpus;
mod cubins;
mod deep;
mod docs;
mod emulate;
mod examples;
mod flow_examples;
mod flows;
mod graph_examples;
mod graphs;
mod nesting;
mod pressure;
mod race;
mod random;
mod random_graphs;
mod rings;
mod stress;
mod tiers;

#[path = "../../graph/tests/graph/mod.rs"]
mod graph;
#[path = "../../cilk-lower/tests/lower/mod.rs"]
mod lower;
