//! The `millstream` command as its users drive it: what it prints, what it writes, how it ends.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod bad_files;
mod bad_runs;
mod borrows;
mod devices;
mod dump;
mod flows;
mod graphs;
mod jobs;
mod numbers;
mod observe;
mod paper;
mod pictures;
mod plot;
mod profile;
mod shown;
mod support;
