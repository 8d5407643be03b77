//! The lock-free protocols of this crate under loom: rings and the tier inside the blocks, in scenes that are small enough for every interleaving, or for those
//! of a few preemptions.
//!
//! Scenes take seconds on one core each; in one binary those of different protocols run beside each other.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod ring;
mod stacks;
mod sums;
mod workers;
