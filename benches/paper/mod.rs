//! `millstream bench paper`: the experiments of three papers, for ours, on the CPU or a GPU. Each is a module, and gives a figure: rows for a CSV file
//! and panels for an SVG. Nothing is reported that did not come to the right result.
//!
//! - `figure`: what an experiment gives, and its files
//! - `lab`: the device: programs that are run on it, checked, and how often
//! - `passing`: elements through one ring; `plain`: programs without tasks, which ours are compared with
//!
//! *Channels*: Orr, Beckmann, Reinhardt, Wood, "Fine-grain Task Aggregation and Coordination on GPUs" (2014). *Donation*: Tzeng, Patney, Owens, "Task
//! Management for Irregular-Parallel Workloads on the GPU" (2010). *GTaP*: a GPU-resident runtime for fork-join parallelism.

mod divergence;
mod done;
mod figure;
mod lab;
mod passing;
#[allow(unsafe_code, reason = "plain kernels are launched by the driver")]
mod plain;
mod reservation;
mod scaling;
mod shares;
mod width;
mod workloads;

use super::report::{Header, say};
use figure::{Figure, Place};
use lab::Lab;
use std::{path::PathBuf, time::Instant};

/// Draws the papers' figures for this library: a CSV and an SVG each.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What is measured: cpu, or a GPU by cuda:0.
    #[arg(long, default_value = "cpu")]
    device: String,
    /// The folder that the files are written to; it is made if need be.
    #[arg(long, value_name = "FOLDER", default_value = "paper")]
    out: PathBuf,
    /// Only these experiments.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Small sizes and few rounds: shows that everything works, measures nothing well.
    #[arg(long)]
    quick: bool,
}

/// One experiment.
struct Experiment {
    /// What `--only` takes, and the files' name.
    name: &'static str,
    run: fn(&Lab) -> Result<Figure, String>,
}

/// All of them, in the order of the papers.
const ALL: [Experiment; 11] = [
    Experiment::new("fig15", scaling::figure),
    Experiment::new("fig17", reservation::figure),
    Experiment::new("fig18", width::widths),
    Experiment::new("done-count", done::figure),
    Experiment::new("fig19", divergence::figure),
    Experiment::new("table3", workloads::figure),
    Experiment::new("table4", plain::figure),
    Experiment::new("table5", shares::blocked),
    Experiment::new("idle", shares::idle),
    Experiment::new("timeline", shares::timeline),
    Experiment::new("memory", width::memory),
];

impl Experiment {
    const fn new(name: &'static str, run: fn(&Lab) -> Result<Figure, String>) -> Self {
        Self { name, run }
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), String> {
    let unknown = |name: &&String| ALL.iter().all(|e| e.name != name.as_str());
    if let Some(name) = args.only.iter().find(unknown) {
        let names = ALL.map(|e| e.name).join(", ");
        return Err(format!(
            "there is no experiment `{name}`; there are {names}"
        ));
    }
    let lab = Lab::new(super::gpu::ordinal(&args.device)?, args.quick)?;
    let wanted = ALL
        .iter()
        .filter(|e| args.only.is_empty() || args.only.iter().any(|name| name == e.name));
    let place = Place::new(&args.out)?;
    let header = Header::here(lab.rounds());
    say!("{}\n{}\n", lab.name(), header.line());
    let mut failed = Vec::new();
    for Experiment { name, run } in wanted {
        let start = Instant::now();
        let measured = run(&lab);
        let seconds = start.elapsed().as_secs_f64();
        // What the others come to is worth having.
        let figure = match measured {
            Ok(figure) => figure,
            Err(why) => {
                say!("{name}: FAILED after {seconds:.1} s: {why}\n");
                failed.push(format!("{name}: {why}"));
                continue;
            }
        };
        say!(
            "{name}: {} ({seconds:.1} s)\n{}",
            figure.title,
            figure.table()
        );
        for file in place.write(name, &figure, &lab, &header)? {
            say!("-> {}", file.display());
        }
        say!("");
    }
    match &failed[..] {
        [] => Ok(()),
        failed => Err(failed.join("; ")),
    }
}
