//! Runs on a GPU at budgets from little to plenty, by each aggregator: results, tasks and tasks of each level are the CPU device's, and every
//! decision is the policy's.
//!
//! - `MILLSTREAM_TEST_DEVICE=cuda` asks for it; it is skipped aloud without.
//! - `MILLSTREAM_SECONDS`: begins no run after that time, 60 if it is not set.
//! - `MILLSTREAM_SEED`: the first round, 1 if it is not set.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

use millstream_aggregator::{Aggregator, CudaOptions, Device, RunReport};
use millstream_tests::{
    Outcome,
    engine::{Engine, Failure, Prepared, prepare},
    stress::{PROGRAMS, Tried},
};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

const MEBI: u64 = 1 << 20;
/// Budgets that every program is tried at.
const BUDGETS: [u64; 12] = [1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 1024, 4096];
/// A run that takes longer is named.
const LONG: Duration = Duration::from_secs(2);
/// Decisions of a run that are compared.
const RECORDS: u32 = 1 << 16;
const AGGREGATORS: [Aggregator; 3] = [
    Aggregator::Auto,
    Aggregator::Persistent,
    Aggregator::HostThread,
];

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |v| v.parse().unwrap())
}

/// The calls of a round: large ones, and of those whose arguments can vary others each time.
fn round(seed: u64) -> Vec<Tried> {
    let n = 12 + seed % 5;
    let all = (1 << n) - 1;
    let wide = |name, depth, most: u64| Tried::new(name, &[seed, depth, most | 1 << 21]);
    let seen = |mut tried: Tried| {
        tried.args.push("0".into());
        tried
    };
    vec![
        Tried::new("queens", &[all, 0, 0, 0]),
        Tried::new("tree", &[seed, 12]),
        Tried::new("fib", &[24 + seed % 9]),
        wide("wide", 6 + seed % 7, 100_000),
        seen(wide("marks", 6 + seed % 7, 100_000)),
        Tried::new("phases", &[seed, 3, 1000]),
        Tried::new("chains", &[1 + seed * 37 % 300, 100 + seed * 13 % 400]),
    ]
}

/// What was seen of a program.
#[derive(Default, Debug)]
struct Seen {
    runs: u64,
    tasks: u64,
    compared: u64,
    out_of_memory: u64,
}

fn run(
    engine: &Engine,
    prepared: &Prepared,
    tried: &Tried,
) -> Result<(Outcome, RunReport), Failure> {
    let (outcome, report) = engine.call_and_report(prepared, tried.task, &tried.args)?;
    Ok((outcome, report.unwrap()))
}

#[test]
fn tight_budgets_change_nothing_on_a_gpu() {
    if std::env::var("MILLSTREAM_TEST_DEVICE").as_deref() != Ok("cuda") {
        return eprintln!("SKIPPED: MILLSTREAM_TEST_DEVICE=cuda asks for a GPU");
    }
    let gpu = |aggregator, memory: u64| {
        let options = CudaOptions {
            aggregator,
            memory: Some(memory),
            records: RECORDS,
            ..CudaOptions::default()
        };
        let device = Device::cuda_with(options).unwrap();
        Engine::Device(format!("{aggregator:?} with {} MiB", memory / MEBI), device)
    };
    let engines: Vec<Engine> = BUDGETS
        .iter()
        .flat_map(|b| AGGREGATORS.map(|a| gpu(a, b * MEBI)))
        .collect();
    let cpu = Engine::Device("cpu".into(), Device::cpu().unwrap());
    let prepared: BTreeMap<&str, Prepared> = PROGRAMS
        .iter()
        .map(|(name, source, _)| (*name, prepare(source, name).unwrap()))
        .collect();
    // Machine code of all of them, at the same time.
    std::thread::scope(|scope| {
        for prepared in prepared.values() {
            let Engine::Device(_, device) = &engines[0] else {
                unreachable!("made above")
            };
            scope.spawn(|| device.load(&prepared.levelized).unwrap());
        }
    });
    let (start, limit) = (
        Instant::now(),
        Duration::from_secs(setting("MILLSTREAM_SECONDS", 60)),
    );
    let (mut seen, mut wrong) = (BTreeMap::<&str, Seen>::new(), Vec::new());
    'rounds: for seed in setting("MILLSTREAM_SEED", 1).. {
        for tried in round(seed) {
            let prepared = &prepared[tried.name];
            let expected = run(&cpu, prepared, &tried).unwrap_or_else(|e| panic!("{tried:?}: {e}"));
            let seen = seen.entry(tried.name).or_default();
            // A program after the other, at each budget: the host thread where it takes long only now and then.
            for (i, engine) in engines.iter().enumerate() {
                if start.elapsed() > limit {
                    break 'rounds;
                }
                let (began, is_host) = (Instant::now(), i % 3 == 2);
                if is_host && (i / 3) as u64 % 4 != seed % 4 {
                    continue;
                }
                let what = || format!("{} {:?} by {}", tried.name, tried.args, engine.name());
                seen.runs += 1;
                match run(engine, prepared, &tried) {
                    Ok((outcome, report)) => {
                        seen.tasks += report.total;
                        seen.compared += report.compared;
                        if outcome != expected.0 {
                            wrong.push(format!("{}: {outcome:?} for {:?}", what(), expected.0));
                        }
                        let levels = expected.1.elements.len().min(1000);
                        if report.total != expected.1.total
                            || report.elements[..levels] != expected.1.elements[..levels]
                        {
                            wrong.push(format!(
                                "{}: {} tasks for {}",
                                what(),
                                report.total,
                                expected.1.total
                            ));
                        }
                        assert!(report.peak <= report.budget, "{}", what());
                    }
                    Err(e) if e.is_memory() => seen.out_of_memory += 1,
                    Err(e) => wrong.push(format!("{}: {e}", what())),
                }
                if began.elapsed() > LONG {
                    println!("{}: {:.1?}", what(), began.elapsed());
                }
            }
        }
    }
    for (name, seen) in &seen {
        println!("{name}: {seen:?}");
    }
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
