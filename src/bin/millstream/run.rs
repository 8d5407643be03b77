//! `millstream run`

use crate::{
    Failure,
    args::{RunArgs, Stats},
    live,
    plot::{self, Caption},
    report::{count, note, print},
    spans::Spans,
    stats,
    stop::Stop,
};
use millstream::{
    Device, Dump,
    dump::DumpFile,
    job::{Job, Outcome, check_place, write_file, write_file_by},
    trace,
};
use std::{fmt::Write, io, path::Path, time::Duration};

pub(crate) fn run(args: &RunArgs, quiet: bool, spans: Option<&Spans>) -> Result<(), Failure> {
    let files = [
        ("trace", &args.trace),
        ("plot", &args.plot),
        ("dump", &args.dump),
    ];
    for (i, (what, file)) in files.iter().enumerate() {
        let Some(file) = file else { continue };
        if let Some((other, _)) = files[..i].iter().find(|f| f.1.as_ref() == Some(file)) {
            let message = format!("the {other} and the {what} cannot be the same file");
            return Err(Failure::Other(message));
        }
        // A run may take long: what cannot be written is said before.
        check_place(file).map_err(|e| unwritable(what, file, &e))?;
    }
    let job = Job::open(&args.file, &args.settings())?;
    let device = job.device()?;
    let prepared = job.prepare()?;
    if job.borrows() && !quiet {
        note("races were not looked for: `millstream check` has rustc check the borrows");
    }
    if !quiet {
        job.warnings().iter().for_each(|w| note(&w.to_string()));
    }
    let of = DumpFile {
        program: job.program().file.clone(),
        call: prepared.call().to_owned(),
        device: device.name().to_owned(),
        gpu: device.gpu().map(|gpu| gpu.name.clone()),
        threads: device.threads(),
        dump: Dump::default(),
    };
    let stop = Stop::new(&device, of, args.dump.as_deref(), quiet);
    stop.on_interrupt();
    tracing::info!(
        call = prepared.call(),
        device = device.name(),
        threads = device.threads(),
        "running"
    );
    let live = device.live();
    let outcome = live::watched(
        live::wanted(quiet),
        live::of_run(job.flow().is_some(), || live.so_far()),
        || prepared.run(&device),
    );
    stop.over(outcome.is_err());
    let outcome = outcome?;
    let json = args.stats == Some(Stats::Json);
    print(&if json {
        stats::json(&job, &outcome, &device)?
    } else if quiet {
        bare(&outcome)
    } else {
        let mut out = told(&outcome, &device);
        if args.stats.is_some() {
            out.push_str(&stats::text(&job, &outcome, &device));
        }
        out
    })?;
    // What cannot be written now takes no result away, nor does one take away the other.
    let traced = args
        .trace
        .as_ref()
        .map(|file| trace(file, &outcome, &device, spans));
    let plotted = args.plot.as_ref();
    let plotted = plotted.map(|file| plot(file, &job, &outcome, &device));
    for wrote in [traced, plotted].into_iter().flatten() {
        let wrote = wrote?;
        if !json && !quiet {
            print(&wrote)?;
        }
    }
    Ok(())
}

/// Writes the trace; says so.
fn trace(
    file: &Path,
    outcome: &Outcome,
    device: &Device,
    spans: Option<&Spans>,
) -> Result<String, Failure> {
    let report = outcome.report();
    let around = spans.map(Spans::all).unwrap_or_default();
    let names = (outcome.call(), device.name());
    write_file_by(file, |out| trace::write(report, names, &around, out))
        .map_err(|e| unwritable("trace", file, &e))?;
    let tracks = report.timeline.tracks.iter();
    let tracks = tracks.chain(&report.timeline.blocks);
    let kept: usize = tracks.map(|t| t.spans.len()).sum();
    let missing = match report.timeline.missing() {
        0 => String::new(),
        n => format!(
            "; {} found no room, the last of their tracks",
            count(n, "span", "spans")
        ),
    };
    let kept = count(kept as u64, "span", "spans");
    let unseen = unseen(report.subtrees.count);
    Ok(format!(
        "wrote {}: {kept}{missing}{unseen}\n",
        file.display()
    ))
}

/// That of so many subtree dispatches there are the workers' batches, and how to see what is in them.
fn unseen(subtrees: u64) -> &'static str {
    match subtrees {
        0 => "",
        _ => "; what ran inside the blocks is in batches, `--policy device` shows its levels",
    }
}

/// Draws the run; says so.
fn plot(file: &Path, job: &Job, outcome: &Outcome, device: &Device) -> Result<String, Failure> {
    let gpu = device.gpu().map(|gpu| format!(" ({})", gpu.name));
    let caption = Caption {
        program: &job.program().file,
        call: outcome.call(),
        device: &format!("{}{}", device.name(), gpu.unwrap_or_default()),
        threads: device.threads(),
    };
    let Some(svg) = plot::svg(outcome.report(), &caption) else {
        return Err(Failure::Other("the run had no dispatch to draw".into()));
    };
    write_file(file, svg.as_bytes()).map_err(|e| unwritable("plot", file, &e))?;
    let unseen = unseen(outcome.report().subtrees.count);
    Ok(format!("wrote {}{unseen}\n", file.display()))
}

fn unwritable(what: &str, file: &Path, error: &io::Error) -> Failure {
    Failure::Other(format!(
        "cannot write the {what} `{}`: {error}",
        file.display()
    ))
}

/// The result alone.
fn bare(outcome: &Outcome) -> String {
    outcome
        .result()
        .map(|r| format!("{r}\n"))
        .unwrap_or_default()
}

fn told(outcome: &Outcome, device: &Device) -> String {
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
        // Nothing was sent.
        (None, 0) => device.name().to_owned(),
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
    let each = match report.total {
        0 => String::new(),
        _ => format!(", {each} {one}"),
    };
    let dropped = report.channels.iter().filter(|c| c.dropped > 0);
    let dropped = dropped.map(|c| format!(", {} dropped from `{}`", c.dropped, c.name));
    let dropped: String = dropped.collect();
    let _ = writeln!(out, "{counts}, {dispatches}{dropped}");
    let (running, compiling) = (time(report.running), time(report.compiling));
    let _ = writeln!(out, "{running} on {on}{each}; compiled in {compiling}");
    out
}

pub(crate) fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.0} us", s * 1e6),
    }
}
