//! `millstream run`

use crate::{
    Failure,
    args::RunArgs,
    report::{count, grouped, note, print},
};
use millstream::{
    Device, RunReport,
    job::{Job, Outcome},
};
use std::{
    fmt::Write,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

/// Levels that `--stats` lists one by one.
const LISTED_LEVELS: usize = 100;

pub(crate) fn run(args: &RunArgs, quiet: bool) -> Result<(), Failure> {
    let job = Job::open(&args.file, &args.settings())?;
    let device = job.device()?;
    let prepared = job.prepare()?;
    if job.borrows() && !quiet {
        note("races were not looked for: `millstream check` has rustc check the borrows");
    }
    if !quiet {
        job.warnings().iter().for_each(|w| note(&w.to_string()));
    }
    tracing::info!(
        call = prepared.call(),
        device = device.name(),
        threads = device.threads(),
        "running"
    );
    let cancel = device.cancel_handle();
    let again = AtomicBool::new(false);
    let handler = move || {
        // Relaxed: it alone reads and writes the flag.
        if again.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
        cancel.cancel();
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        tracing::warn!(%error, "Ctrl-C will end the command without a word");
    }
    let outcome = prepared.run(&device)?;
    print(&if quiet {
        bare(&outcome)
    } else {
        told(&outcome, &device, args.stats)
    })
}

/// The result alone.
fn bare(outcome: &Outcome) -> String {
    outcome
        .result()
        .map(|r| format!("{r}\n"))
        .unwrap_or_default()
}

fn told(outcome: &Outcome, device: &Device, stats: bool) -> String {
    let mut out = match outcome.result() {
        Some(result) => format!("{} = {result}\n", outcome.call()),
        None => format!("{}\n", outcome.call()),
    };
    for buffer in outcome.buffers() {
        let _ = writeln!(out, "{buffer}");
    }
    for file in outcome.written() {
        let _ = writeln!(out, "wrote {file}");
    }
    let report = outcome.report();
    // Of a graph of kernels each element is a task, and has no level.
    let (one, counts) = match report.channels.is_empty() {
        true => {
            let levels = count(report.levels, "level", "levels");
            let tasks = count(report.total, "task", "tasks");
            ("a task", format!("{tasks}, {levels}"))
        }
        false => ("an element", count(report.total, "element", "elements")),
    };
    let dispatches = count(report.dispatches, "dispatch", "dispatches");
    let on = match (device.gpu(), report.workers.len() as u64) {
        (Some(gpu), _) => format!("{} ({})", device.name(), gpu.name),
        (None, workers) => format!(
            "{} ({}{})",
            device.name(),
            count(workers, "thread", "threads"),
            match report.left_out {
                0 => "",
                _ => "; the memory is too little for more",
            }
        ),
    };
    let each = match report.running.as_secs_f64() * 1e9 / report.total.max(1) as f64 {
        nanoseconds if nanoseconds < 1e4 => format!("{nanoseconds:.1} ns"),
        nanoseconds => time(Duration::from_nanos(nanoseconds as u64)),
    };
    let _ = writeln!(out, "{counts}, {dispatches}");
    let (running, compiling) = (time(report.running), time(report.compiling));
    let _ = writeln!(
        out,
        "{running} on {on}, {each} {one}; compiled in {compiling}"
    );
    if stats {
        out.push_str(&statistics(report));
    }
    out
}

fn statistics(report: &RunReport) -> String {
    let mut out = format!("\n{report}\n");
    out.push_str("  tasks of each level\n");
    for (level, elements) in report.elements.iter().enumerate().take(LISTED_LEVELS) {
        let _ = writeln!(out, "    {level:>4}  {}", grouped(*elements));
    }
    let listed = report.elements.len().min(LISTED_LEVELS) as u64;
    if report.levels > listed {
        let _ = writeln!(
            out,
            "    .. and {} more",
            count(report.levels - listed, "level", "levels")
        );
    }
    out
}

fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.0} us", s * 1e6),
    }
}
