//! Deep recursions on a GPU: a million levels in 64 MiB, and what a level takes in a program of several tasks.
//!
//! `MILLSTREAM_TEST_DEVICE=cuda` asks for it; it is skipped aloud without.

use millstream_aggregator::{Aggregator, CudaOptions, Device, Policy, RunReport};
use millstream_tests::{
    deep::{CHAIN, FIVE},
    engine::{Engine, prepare},
};
use std::time::Duration;

const MEBI: u64 = 1 << 20;
/// What a level of a task of a few instructions takes at most, where no host stands between two of them.
const MOST_A_LEVEL: Duration = Duration::from_micros(2);
const AGGREGATORS: [Aggregator; 3] = [
    Aggregator::Auto,
    Aggregator::Persistent,
    Aggregator::HostThread,
];

fn is_asked_for() -> bool {
    let asked = std::env::var("MILLSTREAM_TEST_DEVICE").as_deref() == Ok("cuda");
    if !asked {
        eprintln!("SKIPPED: MILLSTREAM_TEST_DEVICE=cuda asks for a GPU");
    }
    asked
}

/// Runs a call twice with so much memory, and says what the second run reports; results and levels are the CPU device's.
fn report(
    source: &str,
    (task, args): (&str, &[u32]),
    aggregator: Aggregator,
    memory: u64,
) -> RunReport {
    let prepared = prepare(source, "deep.rs").unwrap();
    let args: Vec<String> = args.iter().map(ToString::to_string).collect();
    let cpu = Engine::Device("cpu".into(), Device::cpu().unwrap());
    let (expected, of_cpu) = cpu.call_and_report(&prepared, task, &args).unwrap();
    let options = CudaOptions {
        aggregator,
        // Inside the blocks there are no levels to count.
        policy: Policy::Device,
        memory: Some(memory),
        early: false,
        ..CudaOptions::default()
    };
    let gpu = Engine::Device("cuda".into(), Device::cuda_with(options).unwrap());
    let mut last = None;
    for _ in 0..2 {
        let (found, report) = gpu
            .call_and_report(&prepared, task, &args)
            .unwrap_or_else(|e| panic!("{task}{args:?} by {aggregator:?}: {e}"));
        assert_eq!(found, expected, "{task}{args:?} by {aggregator:?}");
        last = report;
    }
    let report = last.unwrap();
    assert_eq!(report.levels, of_cpu.unwrap().levels);
    assert!(report.peak <= report.budget);
    report
}

/// Prints a run, and gives the time of a level.
fn a_level(what: &str, report: &RunReport) -> Duration {
    let each = report.running / report.levels as u32;
    println!(
        "{what}: {} levels in {:.1?}, {each:.2?} a level; {} of {} dispatches were narrow",
        report.levels, report.running, report.narrow, report.dispatches
    );
    each
}

#[test]
fn a_chain_of_a_million_levels_takes_64_mib() {
    if !is_asked_for() {
        return;
    }
    for aggregator in AGGREGATORS {
        let report = report(CHAIN, ("chain", &[1_000_000]), aggregator, 64 * MEBI);
        a_level(&format!("chain by {aggregator:?}"), &report);
    }
}

#[test]
fn a_level_takes_little_in_a_program_of_several_tasks() {
    if !is_asked_for() {
        return;
    }
    for aggregator in [Aggregator::Auto, Aggregator::Persistent] {
        for (way, name) in ["chain", "even and odd", "fan"].iter().enumerate() {
            let report = report(
                FIVE,
                ("start", &[way as u32, 50_000]),
                aggregator,
                256 * MEBI,
            );
            let each = a_level(&format!("{name} of five by {aggregator:?}"), &report);
            assert!(each <= MOST_A_LEVEL, "{name} by {aggregator:?}: {each:?}");
        }
    }
}
