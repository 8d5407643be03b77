//! The `millstream` command: runs, checks and draws programs, and says what devices a machine has.
//!
//! It is thin: jobs are [`millstream::job`]'s. Exit codes: 0 if all went well, 1 if a program or its run failed, 2 if the command was
//! not understood.

mod args;
#[cfg(all(feature = "cpu", feature = "cuda"))]
mod bench;
#[cfg(not(all(feature = "cpu", feature = "cuda")))]
#[path = "no_bench.rs"]
mod bench;
mod check;
#[cfg(feature = "cuda")]
mod cuda;
#[cfg(not(feature = "cuda"))]
#[path = "no_cuda.rs"]
mod cuda;
mod doctor;
mod inspect;
mod live;
mod lower;
mod plot;
mod profile;
mod report;
mod run;
mod spans;
mod stats;
mod stop;

use args::{Cli, Command};
use clap::Parser;
use millstream::job::JobError;
use spans::Spans;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// Why a command failed.
#[derive(Debug)]
enum Failure {
    /// A job is wrong or its run failed.
    Job(JobError),
    /// Something else: a file that cannot be written, a device that is not there.
    Other(String),
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        Self::Job(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Other(error.to_string())
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse_from(args::joined(std::env::args_os()));
    let spans = match &cli.command {
        Command::Run(args) if args.trace.is_some() => Some(Spans::default()),
        _ => None,
    };
    report::start_log(cli.verbose, spans.clone());
    let takes_over = matches!(cli.command, Command::TakeOver);
    let done = match cli.command {
        Command::Run(args) => run::run(&args, cli.quiet, spans.as_ref()),
        Command::Check(args) => check::check(&args, cli.quiet),
        Command::Profile(args) => profile::profile(&args, cli.quiet),
        Command::Lower(args) => lower::lower(&args),
        Command::Bench(args) => bench::run(&args).map_err(Failure::Other),
        Command::Inspect(args) => inspect::inspect(&args.file),
        Command::Doctor => doctor::doctor(),
        Command::TakeOver => cuda::take_over(),
    };
    let code = match done {
        Ok(()) => 0,
        // Who reads our output has seen enough: `millstream lower .. | head`.
        Err(Failure::Other(message)) if message == report::CLOSED => 0,
        Err(failure) => report::failure(&failure),
    };
    // What was handed over once is done, or takes too long for anybody.
    if !takes_over && io::stdout().flush().is_ok() {
        cuda::leave_if_only_compiling(code);
    }
    ExitCode::from(code)
}
