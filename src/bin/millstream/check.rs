//! `millstream check`

use crate::{
    Failure,
    args::RunArgs,
    report::{count, grouped, observes_nothing, print},
};
use millstream::job::{Borrows, Job};
use millstream_graph::{
    ir::{FunctionKind, TaskId},
    levelized::{Field, Levelized},
};
use std::fmt::Write;

pub(crate) fn check(args: &RunArgs, quiet: bool) -> Result<(), Failure> {
    observes_nothing(args)?;
    let job = Job::open(&args.file, &args.settings())?;
    let mut out = match job.flow() {
        Some(_) => graph(&job),
        None => program(&job),
    };
    if job.is_described() {
        job.device()?;
        let prepared = job.prepare()?;
        let _ = writeln!(out, "call {}", prepared.call());
        for buffer in prepared.buffers() {
            let _ = writeln!(out, "  buffer {buffer}");
        }
    }
    if let Borrows::Unchecked(why) = job.check_borrows()? {
        let _ = writeln!(out, "borrows were not checked: {why}");
    }
    out.push_str("no errors\n");
    if quiet { Ok(()) } else { print(&out) }
}

fn graph(job: &Job) -> String {
    let graph = job.graph();
    let mut out = format!(
        "graph {}: {}, {}\n",
        graph.name,
        count(graph.kernels().len() as u64, "kernel", "kernels"),
        count(graph.channels().len() as u64, "channel", "channels")
    );
    for (_, c) in graph.channels() {
        let fields = c.fields(&job.program().structs).unwrap_or_default();
        let room = grouped(c.width.into());
        let fields = self::fields(&fields);
        let _ = writeln!(
            out,
            "  channel {}: {}, {fields}, room for {room}",
            c.name, c.element
        );
    }
    let name = |key| graph.channel(key).map_or("", |c| c.name.as_str());
    for (_, k) in graph.kernels() {
        let from = k.consumes.map_or("", name);
        let _ = write!(out, "  kernel {}: {from}", k.name);
        let into: Vec<&str> = k.produces.iter().map(|c| name(*c)).collect();
        if !into.is_empty() {
            let _ = write!(out, " -> {}", into.join(", "));
        }
        out.push('\n');
    }
    for warning in job.warnings() {
        let _ = writeln!(out, "warning: {warning}");
    }
    out
}

fn program(job: &Job) -> String {
    let lowered = job.lowered();
    let tasks = job.program().callable().count();
    let mut out = format!(
        "program {}: {}",
        job.program().name,
        count(tasks as u64, "task", "tasks")
    );
    let functions = &job.program().functions;
    let helpers = functions
        .iter()
        .filter(|f| f.kind == FunctionKind::Helper)
        .count();
    let kernels = job.program().kernels().count();
    if helpers > 0 {
        let _ = write!(out, ", {}", count(helpers as u64, "helper", "helpers"));
    }
    if kernels > 0 {
        let _ = write!(out, ", {}", count(kernels as u64, "kernel", "kernels"));
    }
    let _ = writeln!(
        out,
        ", {}",
        count(
            lowered.stacks().len() as u64,
            "channel stack",
            "channel stacks"
        )
    );
    for (task, _) in lowered.tasks() {
        describe(&mut out, job, lowered, task);
    }
    for (_, kernel) in job.program().kernels() {
        let signature = job.signature(&kernel.name);
        let _ = writeln!(
            out,
            "  kernel {}",
            signature.as_ref().unwrap_or(&kernel.name)
        );
    }
    out
}

fn describe(out: &mut String, job: &Job, lowered: &Levelized, task: TaskId) {
    // A task that is called for its result to be added to something has a segment set of its own.
    let name = &lowered.program[lowered.func(task)].name;
    let signature = job.signature(name);
    let signature = signature.unwrap_or_else(|| lowered[task].name.clone());
    let _ = writeln!(out, "  task {signature}");
    let segments = count(lowered.segments(task).len() as u64, "segment", "segments");
    let _ = write!(
        out,
        "    {segments}; an element has {}",
        fields(lowered.element(task))
    );
    let frame = lowered.frame(task);
    if !frame.is_empty() {
        let _ = write!(out, "; a frame {}", fields(frame));
    }
    out.push('\n');
}

/// Bytes and names of fields.
fn fields(fields: &[Field]) -> String {
    let stride = |f: &Field| f.kind.layout().size.next_multiple_of(f.kind.layout().align);
    let bytes: u64 = fields.iter().map(stride).sum();
    let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
    format!("{} ({})", count(bytes, "byte", "bytes"), names.join(", "))
}
