//! `millstream profile`

use crate::{
    Failure,
    args::ProfileArgs,
    live,
    report::{count, grouped, observes_nothing, print},
};
use millstream::job::{Job, Profiled};
use millstream_graph::interp::{BURDEN, Profile, Progress};
use serde::Serialize;
use std::{fmt::Write, sync::Arc};

/// Lines of the source that are shown one by one.
const SHOWN_LINES: usize = 20;

pub(crate) fn profile(args: &ProfileArgs, quiet: bool) -> Result<(), Failure> {
    observes_nothing(&args.run)?;
    let job = Job::open(&args.run.file, &args.run.settings())?;
    let prepared = job.prepare()?;
    let progress = Arc::new(Progress::default());
    let line = |_| {
        let so_far = progress.so_far();
        let (steps, tasks) = (grouped(so_far.steps), grouped(so_far.tasks));
        format!("{steps} steps, {tasks} tasks")
    };
    let profiled = live::watched(live::wanted(quiet), line, || {
        prepared.profile(args.steps, progress.clone())
    })?;
    let text = if args.json {
        let json = serde_json::to_string_pretty(&Report::of(&job, &profiled));
        json.map_err(|e| Failure::Other(e.to_string()))? + "\n"
    } else {
        shown(&job, &profiled)
    };
    print(&text)
}

/// Steps and tasks.
#[derive(Serialize)]
struct Both<T> {
    steps: T,
    tasks: T,
}

/// A part of the critical path.
#[derive(Serialize)]
struct OnPath {
    task: String,
    tasks: u64,
    steps: u64,
    /// Of the span, from 0 to 1.
    share: f64,
}

/// A line of the source.
#[derive(Serialize)]
struct Line {
    line: u32,
    steps: u64,
    /// Of the work, from 0 to 1.
    share: f64,
    text: String,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    call: String,
    result: Option<String>,
    /// What a step is.
    unit: &'static str,
    work: Both<u64>,
    span: Both<u64>,
    parallelism: Both<f64>,
    /// Steps that a spawn and a sync cost.
    burden: u64,
    burdened_span: u64,
    burdened_parallelism: f64,
    critical_path: Vec<OnPath>,
    file: String,
    lines: Vec<Line>,
}

impl Report {
    fn of(job: &Job, Profiled { outcome, profile }: &Profiled) -> Self {
        let on_path = profile.path.iter().map(|p| OnPath {
            task: p.task.clone(),
            tasks: p.amount.tasks,
            steps: p.amount.steps,
            share: share(p.amount.steps, profile.span.steps),
        });
        let lines = profile.lines.iter().map(|l| Line {
            line: l.line,
            steps: l.steps,
            share: share(l.steps, profile.work.steps),
            text: text(job, l.line),
        });
        Self {
            call: outcome.call().to_owned(),
            result: outcome.result().map(str::to_owned),
            unit: "statements of the program as it was written",
            work: Both {
                steps: profile.work.steps,
                tasks: profile.work.tasks,
            },
            span: Both {
                steps: profile.span.steps,
                tasks: profile.span.tasks,
            },
            parallelism: Both {
                steps: profile.parallelism(),
                tasks: profile.parallelism_of_tasks(),
            },
            burden: BURDEN,
            burdened_span: profile.burdened_span,
            burdened_parallelism: profile.burdened_parallelism(),
            critical_path: on_path.collect(),
            file: job.program().file.clone(),
            lines: lines.collect(),
        }
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// A line of the source without the space around it.
fn text(job: &Job, line: u32) -> String {
    job.source_line(line).unwrap_or("").trim().to_owned()
}

/// For people.
fn shown(job: &Job, Profiled { outcome, profile }: &Profiled) -> String {
    let mut out = match outcome.result() {
        Some(result) => format!("{} = {result}\n", outcome.call()),
        None => format!("{}\n", outcome.call()),
    };
    for file in outcome.written() {
        let _ = writeln!(out, "wrote {file}");
    }
    let mut row = |name: &str, steps: String, tasks: String, note: &str| {
        let line = format!("{name:<22}{steps:>18}{tasks:>16}{note}");
        let _ = writeln!(out, "{}", line.trim_end());
    };
    let (work, span) = (profile.work, profile.span);
    row("", "steps".into(), "tasks".into(), "");
    row("work", grouped(work.steps), grouped(work.tasks), "");
    row("span", grouped(span.steps), grouped(span.tasks), "");
    row(
        "parallelism",
        tenths(profile.parallelism()),
        tenths(profile.parallelism_of_tasks()),
        "",
    );
    let note = format!("  {BURDEN} steps a spawn and a sync");
    let pad = String::new();
    row("burdened span", grouped(profile.burdened_span), pad, &note);
    let burdened = tenths(profile.burdened_parallelism());
    row("burdened parallelism", burdened, String::new(), "");
    out.push_str("\ntasks on the critical path, by their share of the span\n");
    for part in &profile.path {
        let percent = percent(part.amount.steps, span.steps);
        let steps = grouped(part.amount.steps);
        let times = count(part.amount.tasks, "task", "tasks");
        let _ = writeln!(out, "{percent:>7} %{steps:>18}  {}: {times}", part.task);
    }
    lines(&mut out, job, profile);
    out.push_str("\na step is a statement of the program as it was written, which the interpreter counts: nothing was timed\n");
    out
}

fn lines(out: &mut String, job: &Job, profile: &Profile) {
    let _ = writeln!(
        out,
        "\nlines of {}, by their share of the work",
        job.program().file
    );
    let (first, rest) = profile.lines.split_at(profile.lines.len().min(SHOWN_LINES));
    for line in first {
        let percent = percent(line.steps, profile.work.steps);
        let (steps, text) = (grouped(line.steps), text(job, line.line));
        let _ = writeln!(out, "{percent:>7} %{steps:>18}{:>6}  {text}", line.line);
    }
    if !rest.is_empty() {
        let steps = rest.iter().map(|l| l.steps).sum();
        let percent = percent(steps, profile.work.steps);
        let (steps, many) = (grouped(steps), count(rest.len() as u64, "line", "lines"));
        let _ = writeln!(out, "{percent:>7} %{steps:>18}        {many} more");
    }
}

/// A share of the whole.
fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}", share(part, whole) * 100.0)
}

/// A number with its thousands apart and one place behind the point.
fn tenths(number: f64) -> String {
    let tenths = (number * 10.0).round() as u64;
    format!("{}.{}", grouped(tenths / 10), tenths % 10)
}
