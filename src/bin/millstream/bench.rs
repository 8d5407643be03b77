//! `millstream bench`: ours beside the rivals, in one run, as a table.

use millstream::job::write_file;
use std::{collections::BTreeSet, path::PathBuf};

#[path = "../../../benches/mod.rs"]
mod benches;

use benches::{
    elision::Elision,
    feed, gpu, graphs, graphs_gpu,
    measure::measure,
    ours::Ours,
    paper,
    program::{Contestant, Program},
    rayon_join::Rayon,
    regions,
    report::{Header, Record, Report, head, records, row, say},
    rings::{self, Passed},
};
use millstream::{CpuOptions, Device};

/// What is measured.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    figures: Option<Figures>,
    /// Writes the records to a file: program, device, threads, times, ratio, tasks.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// What is measured: cpu, or a GPU by cuda:0.
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Numbers of threads of the CPU, separated by commas.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<u32>,
    /// Only these programs: fib, queens, queens-serial, sort, strassen, unbalanced, series, bfs, regions (parallel loops), rings, deliver (10^9
    /// elements through rings) and feed (a graph that is fed and drained for a minute), both only if they are named; on a GPU also multiply, chain and tracer.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    program: Vec<String>,
    /// Rounds that are measured.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Small sizes and few rounds: shows that everything works, measures nothing well.
    #[arg(long)]
    quick: bool,
}

/// What is measured in place of the table.
#[derive(clap::Subcommand, Debug)]
enum Figures {
    /// The experiments of the channels paper, of GTaP's and of task donation's, as CSV files and pictures
    Paper(paper::Args),
}

/// Names that `--program` takes beside those of the programs.
const SERIES: &str = "series";
/// On a GPU: what a dispatch costs.
const CHAIN: &str = "chain";

/// Elements a second through a ring channel.
const RINGS: &str = "rings";
/// A thousand million elements through rings of all widths.
const DELIVER: &str = "deliver";
/// How many they are.
const DELIVERED: u64 = 1_000_000_000;

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), String> {
    if let Some(Figures::Paper(args)) = &args.figures {
        return on_a_large_stack(|| paper::run(args));
    }
    let all = Program::all(args.quick);
    let names: BTreeSet<&str> = all
        .iter()
        .map(|p| p.name())
        .chain(gpu::names())
        .chain([SERIES, CHAIN, RINGS, DELIVER, feed::FEED])
        .chain([graphs::BFS, graphs_gpu::TRACER, regions::REGIONS])
        .collect();
    if let Some(name) = args.program.iter().find(|n| !names.contains(n.as_str())) {
        return Err(format!(
            "there is no benchmark `{name}`; there are {}",
            Vec::from_iter(names).join(", ")
        ));
    }
    let gpu = gpu::ordinal(&args.device)?;
    let wanted = |name: &str| args.program.is_empty() || args.program.iter().any(|n| n == name);
    let named = |name: &str| args.program.iter().any(|n| n == name);
    let passed = Passed {
        rings: wanted(RINGS),
        delivered: named(DELIVER).then_some(DELIVERED / if args.quick { 1000 } else { 1 }),
        fed: named(feed::FEED).then_some(if args.quick { feed::QUICK } else { feed::FED }),
    };
    let measured = || match gpu {
        Some(ordinal) => {
            let rounds = if args.quick { 3 } else { args.rounds.max(1) };
            let report = gpu::table(ordinal, rounds, args.quick, &wanted, &passed)?;
            write(args, &report)
        }
        None => table(args, &all, &wanted, &passed),
    };
    on_a_large_stack(measured)
}

/// Serial code recurses as deep as the tree does.
fn on_a_large_stack(measured: impl FnOnce() -> Result<(), String> + Send) -> Result<(), String> {
    std::thread::scope(|s| {
        let big = std::thread::Builder::new().stack_size(1 << 30);
        let done = big.spawn_scoped(s, measured).map_err(|e| e.to_string())?;
        done.join().map_err(|_| "a benchmark panicked".to_owned())?
    })
}

fn table(
    args: &Args,
    all: &[Program],
    wanted: &dyn Fn(&str) -> bool,
    passed: &Passed,
) -> Result<(), String> {
    let rounds = if args.quick { 3 } else { args.rounds.max(1) };
    let header = Header::here(rounds);
    say!("{}", header.line());
    let mut names = all.iter().map(|p| p.name());
    if names.any(wanted) || wanted(graphs::BFS) || wanted(regions::REGIONS) {
        say!("\n{}", head());
    }
    let mut found: Vec<Record> = Vec::new();
    for &threads in &args.threads {
        let (mut ours, mut rayon) = (Ours::cpu(threads)?, Rayon::new(threads)?);
        for &program in all.iter().filter(|p| wanted(p.name())) {
            let contestants: &mut [&mut dyn Contestant] =
                &mut [&mut ours, &mut rayon, &mut Elision];
            let records = records(
                &program.to_string(),
                &measure(program, contestants, rounds)?,
            );
            say!("{}", row(&records));
            found.extend(records);
        }
        if wanted(graphs::BFS) {
            let records = graphs::bfs(threads, rounds, args.quick)?;
            say!("{}", row(&records));
            found.extend(records);
        }
        if wanted(regions::REGIONS) {
            found.extend(regions::rows(threads, rounds, args.quick)?);
        }
    }
    if wanted(regions::REGIONS) {
        say!("{}", regions::note());
    }
    if wanted(SERIES) {
        say!(
            "\nNanoseconds a task on one thread\n\n| program | tasks | ours | rayon | serial |\n|---|---|---|---|---|"
        );
        let (mut ours, mut rayon) = (Ours::cpu(1)?, Rayon::new(1)?);
        for program in Program::series(args.quick) {
            let contestants: &mut [&mut dyn Contestant] =
                &mut [&mut ours, &mut rayon, &mut Elision];
            let records = records(
                &program.to_string(),
                &measure(program, contestants, rounds.min(5))?,
            );
            let each = |ms: f64| ms * 1e6 / records[0].tasks.max(1) as f64;
            let rivals: Vec<String> = records
                .iter()
                .map(|r| format!("{:.2}", each(r.rival_ms)))
                .collect();
            say!(
                "| {program} | {} | {:.2} | {} |",
                records[0].tasks,
                records[0].ns_per_task,
                rivals.join(" | ")
            );
            found.extend(records);
        }
    }
    let (mut rates, mut delivered, mut fed) = (Vec::new(), Vec::new(), Vec::new());
    if passed.rings {
        rates = rings::rates(rounds, args.quick)?;
    }
    if let Some(count) = passed.delivered {
        delivered = rings::deliver(count)?;
    }
    if let Some(time) = passed.fed {
        feed::head();
        for threads in args.threads.iter().copied() {
            let name = format!("cpu, threads: {threads}");
            let options = CpuOptions {
                threads: Some(threads),
                ..CpuOptions::default()
            };
            let device = Device::cpu_with(options).map_err(|e| e.to_string())?;
            fed.push(feed::feed(&device, &name, time)?);
        }
    }
    write(
        args,
        &Report {
            header,
            records: found,
            rings: rates,
            delivered,
            fed,
        },
    )
}

/// Writes the records, if a file is named.
fn write(args: &Args, report: &impl serde::Serialize) -> Result<(), String> {
    let Some(path) = &args.json else {
        return Ok(());
    };
    let text = serde_json::to_string_pretty(report).map_err(|e| e.to_string())?;
    write_file(path, text.as_bytes()).map_err(|e| format!("{}: {e}", path.display()))
}
