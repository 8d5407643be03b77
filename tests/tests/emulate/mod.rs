//! The CUDA text of every program of the corpus, compiled for this computer and run with a thread for each CUDA thread (see
//! `src/emulator`), by all aggregators, agrees with the serial elision. It tries everything of the CUDA device but
//! the GPU; what it says nothing of is speed.
//!
//! It takes minutes, so it is asked for: `MILLSTREAM_EMULATE=all`, or a part of programs' names; with `MILLSTREAM_WATCH=1`, accesses of memory are watched. Needs a C++ compiler, `c++` or `CXX`; without one
//! nothing of it runs.

mod budgets;
mod deep;
mod dumps;
mod framed;
mod kernels;
mod long;
mod order;
mod races;
mod regions;
mod restarts;
mod stress;
mod teams;
mod workers;
// Programs as IR, shared with the tests of the code generator.
#[path = "../../../channels-kernel/src/cuda/tests/programs.rs"]
#[allow(dead_code, reason = "what one of its users wants the other may not")]
mod programs;

use millstream_aggregator::{Aggregator, CpuOptions, Device, Policy};
use millstream_corpus::PROGRAMS;
use millstream_tests::{
    Case, Elision, Listed,
    emulator::{self, Emulator, How},
    engine::{Engine, emulate, prepare},
    none_wrong, on_all_cores, on_deep_stack,
};

/// Channel memory of a run.
const MEMORY: u64 = 4 << 20;
/// A call with more is left out: threads of this computer take their time at barriers.
const MOST_TASKS: u64 = 300;
/// As above.
const MOST_LEVELS: u64 = 60;
/// With one block, and with barriers between several; and with workers from the first element on.
const WAYS: [(Aggregator, Policy, u32); 7] = [
    (Aggregator::Persistent, Policy::Device, 1),
    (Aggregator::Persistent, Policy::Device, 2),
    (Aggregator::HostThread, Policy::Device, 1),
    (Aggregator::HostThread, Policy::Device, 2),
    (Aggregator::Auto, Policy::Device, 2),
    (Aggregator::HostThread, Policy::Block, 1),
    (Aggregator::HostThread, Policy::Block, 3),
];

/// What is wrong with a program.
fn check(listed: &Listed) -> Vec<String> {
    let mut wrong = Vec::new();
    let file = format!("corpus/run/{}.rs", listed.name);
    let prepared = prepare(listed.source, &file).unwrap_or_else(|e| panic!("{file}: {e}"));
    let make = if std::env::var_os("MILLSTREAM_WATCH").is_some() {
        Emulator::watched
    } else {
        Emulator::new
    };
    let mut emulator = match make(&prepared.levelized) {
        Ok(emulator) => emulator,
        Err(e) => return vec![format!("{file}: {e}")],
    };
    let cpu = Engine::Device(
        "cpu".into(),
        Device::cpu_with(CpuOptions {
            threads: Some(1),
            ..CpuOptions::default()
        })
        .unwrap(),
    );
    for Case {
        text,
        task,
        elision,
        ..
    } in listed.cases
    {
        let Elision {
            before,
            outcome: expected,
        } = on_deep_stack(elision);
        let (_, report) = cpu
            .call_and_report(&prepared, task, &before)
            .unwrap_or_else(|e| panic!("{file}: {text}: {e}"));
        if report.is_some_and(|r| r.total > MOST_TASKS || r.levels > MOST_LEVELS) {
            println!("SKIPPED: {file}: {text}: too large to emulate");
            continue;
        }
        for (aggregator, policy, blocks) in WAYS {
            let how = How {
                policy,
                ..How::new(aggregator, blocks, MEMORY)
            };
            match emulate(&mut emulator, how, &prepared, task, &before) {
                Err(e) => wrong.push(format!("{file}: {text} by {how:?}: {e}")),
                Ok((found, _)) if found != expected => wrong.push(format!(
                    "{file}: {text} by {how:?}\n  elision:  {expected:?}\n  emulated: {found:?}"
                )),
                Ok(_) => {}
            }
        }
    }
    wrong
}

#[test]
fn the_corpus_agrees_with_its_elision_when_emulated() {
    let asked = std::env::var("MILLSTREAM_EMULATE").unwrap_or_default();
    if asked.is_empty() {
        return eprintln!("SKIPPED: MILLSTREAM_EMULATE=all asks for it");
    }
    let chosen: Vec<&Listed> = PROGRAMS
        .iter()
        .filter(|p| asked == "all" || p.name.contains(&asked))
        .collect();
    assert!(
        !chosen.is_empty(),
        "MILLSTREAM_EMULATE={asked} names no program"
    );
    let wrong = on_all_cores(&chosen, |listed| check(listed)).concat();
    println!("{} programs", chosen.len());
    none_wrong(&wrong);
}

/// Few elements are what the narrow levels are for (here a warp has four lanes), whichever of a program's stacks a run leaves alone.
#[test]
fn few_elements_are_narrow_runs() {
    let source = "#[millstream::program] mod few {
        #[task] pub fn fib(n: u32) -> u64 {
            if n < 2 { return n as u64; }
            let x = spawn!(fib(n - 1));
            let y = spawn!(fib(n - 2));
            sync!();
            x + y
        }
        #[task] pub fn chain(n: u32) -> u64 {
            if n == 0 { return 1; }
            let y = spawn!(chain(n - 1));
            sync!();
            3 * y
        }
    }";
    if !emulator::is_there() {
        return;
    }
    let prepared = prepare(source, "few.rs").unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    for (task, n, expected) in [("fib", 6, 8u64), ("chain", 20, 3u64.pow(20))] {
        let how = How::new(Aggregator::Persistent, 1, MEMORY);
        let (found, report) =
            emulate(&mut emulator, how, &prepared, task, &[n.to_string()]).unwrap();
        assert_eq!(found.result, expected.to_string());
        assert!(
            report.dispatches > 0 && report.narrow == report.dispatches,
            "{task}: {} of {} dispatches were narrow",
            report.narrow,
            report.dispatches
        );
    }
}
