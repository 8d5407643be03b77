//! What `--stats` prints: for people, and as JSON. `docs/observe.md` says what it means.

use crate::{
    Failure,
    report::{count, grouped},
    run::time,
};
use millstream::{
    Bytes, Device, RunReport,
    job::{Choice, Job, Outcome},
};
use serde::Serialize;
use std::fmt::Write;

/// Levels that are listed one by one.
const LISTED_LEVELS: usize = 100;

/// The JSON object.
#[derive(Serialize)]
struct Object<'a> {
    call: &'a str,
    /// As Rust writes it.
    result: Option<&'a str>,
    buffers: &'a [String],
    written: &'a [String],
    device: On<'a>,
    choices: Vec<Choice>,
    run: &'a RunReport,
}

#[derive(Serialize)]
struct On<'a> {
    name: &'a str,
    gpu: Option<&'a str>,
    threads: u32,
}

pub(crate) fn json(job: &Job, outcome: &Outcome, device: &Device) -> Result<String, Failure> {
    let report = outcome.report();
    let object = Object {
        call: outcome.call(),
        result: outcome.result(),
        buffers: outcome.buffers(),
        written: outcome.written(),
        device: On {
            name: device.name(),
            gpu: device.gpu().map(|g| g.name.as_str()),
            threads: device.threads(),
        },
        choices: job.choices(device, report),
        run: report,
    };
    let text = serde_json::to_string(&object);
    let text = text.map_err(|e| Failure::Other(format!("the statistics are no JSON: {e}")))?;
    Ok(text + "\n")
}

pub(crate) fn text(job: &Job, outcome: &Outcome, device: &Device) -> String {
    let report = outcome.report();
    let mut out = format!("\n{report}\n");
    for Choice {
        what, value, why, ..
    } in job.choices(device, report)
    {
        let _ = writeln!(out, "  {what:<10} {value}: {why}");
    }
    nodes(&mut out, report);
    stacks(&mut out, report);
    kernels(&mut out, report);
    levels(&mut out, report);
    out
}

fn nodes(out: &mut String, report: &RunReport) {
    if report.nodes.is_empty() {
        return;
    }
    let name = |n: &str| n.chars().count();
    let width = report.nodes.iter().map(|n| name(&n.name)).max();
    let width = width.unwrap_or(0).max("node".len());
    let _ = writeln!(
        out,
        "  {:<width$}  {:>15} {:>10} {:>10} {:>7} {:>7} {:>10}  wavefronts of 1, 2.., 4.., 8.. elements",
        "node", "elements", "dispatches", "full", "lanes", "yields", "time"
    );
    for node in &report.nodes {
        let spent = node.time.map_or_else(String::new, time);
        let lanes = node.lanes_active;
        let lanes = lanes.map_or_else(String::new, |share| format!("{:.1} %", share * 100.0));
        let widths: Vec<String> = node.widths.iter().map(u64::to_string).collect();
        let _ = writeln!(
            out,
            "  {:<width$}  {:>15} {:>10} {:>10} {lanes:>7} {:>7} {spent:>10}  {}",
            node.name,
            grouped(node.elements),
            grouped(node.dispatches),
            grouped(node.full),
            grouped(node.yields),
            widths.join(" ")
        );
    }
}

fn stacks(out: &mut String, report: &RunReport) {
    if report.stacks.is_empty() {
        return;
    }
    let width = report.stacks.iter().map(|s| s.name.chars().count()).max();
    let width = width.unwrap_or(0).max("stack".len());
    let _ = writeln!(out, "  {:<width$}  {:>15}  at most", "stack", "elements");
    for stack in &report.stacks {
        let bytes = Bytes(stack.peak * stack.element_bytes);
        let _ = writeln!(
            out,
            "  {:<width$}  {:>15}  {bytes}",
            stack.name,
            grouped(stack.peak)
        );
    }
}

fn kernels(out: &mut String, report: &RunReport) {
    for kernel in &report.kernels {
        let _ = writeln!(
            out,
            "  kernel {}: {} registers, {} of shared memory a block, {} of local memory a thread, {} blocks",
            kernel.name,
            kernel.registers,
            Bytes(kernel.shared_bytes.into()),
            Bytes(kernel.local_bytes.into()),
            kernel.blocks
        );
    }
}

fn levels(out: &mut String, report: &RunReport) {
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
}
