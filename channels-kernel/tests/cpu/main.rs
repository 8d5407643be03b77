//! Compiled code of the CPU device, run by a smallest worker.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod atomics;
mod control;
mod fib;
mod helpers;
mod kernels;
mod lowered;
mod memory;
mod ops;
mod spawns;
mod support;
mod vectors;
