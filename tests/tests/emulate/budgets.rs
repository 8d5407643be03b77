//! What runs in a budget runs in every larger one, as far as this was tried: `MILLSTREAM_CASES` says with how many random programs, beside those of the
//! stress.

use millstream_aggregator::{Aggregator, Device, parse_bytes};
use millstream_tests::{
    emulator::{self, Emulator, How},
    engine::{Engine, emulate, is_memory, prepare},
    stress::Tried,
    swarm::swarm,
};

/// Runs at the least budget that works, and at fifty from there to 64 times it: how many of these were refused.
fn refused(tried: &Tried, aggregator: Aggregator) -> Vec<u64> {
    let prepared = prepare(&tried.source, &tried.name).unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    let cpu = Engine::Device("cpu".into(), Device::cpu().unwrap());
    let expected = cpu.call(&prepared, &tried.task, &tried.args).unwrap();
    let mut works = |memory: u64| {
        let how = How::new(aggregator, 2, memory);
        match emulate(&mut emulator, how, &prepared, &tried.task, &tried.args) {
            Ok((outcome, report)) => {
                assert_eq!(outcome, expected, "{how:?}");
                assert!(report.peak <= report.budget && report.budget <= memory);
                true
            }
            Err(e) if is_memory(&e) => false,
            Err(e) => panic!("{}: {how:?}: {e}", tried.name),
        }
    };
    let mut high = 1 << 10;
    while !works(high) {
        high *= 2;
        assert!(high < 1 << 30, "{}", tried.name);
    }
    let mut low = high / 2;
    while high - low > 16 {
        let middle = low.midpoint(high);
        if works(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    let step = |i: i32| (high as f64 * 64f64.powf(f64::from(i) / 50.0)) as u64;
    let more: Vec<u64> = (1..=50).map(step).filter(|m| !works(*m)).collect();
    println!("{}: {high} works; refused {more:?}", tried.name);
    more
}

#[test]
fn what_runs_in_a_budget_runs_in_every_larger_one() {
    if !emulator::is_there() {
        return;
    }
    let calls = [
        Tried::new("fib", &[9]),
        Tried::new("queens", &[127, 0, 0, 0]),
        Tried::new("tree", &[3, 5]),
        Tried::new("wide", &[11, 5, 100 | 1 << 21]),
        Tried::new("phases", &[5, 2, 30]),
        Tried::new("chains", &[10, 40]),
    ];
    let cases = std::env::var("MILLSTREAM_CASES").map_or(0, |v| v.parse().unwrap());
    let calls = calls.into_iter().take(if cases == 0 { 1 } else { 6 });
    let mut all = Vec::new();
    for tried in calls.chain((1..=cases).map(|s| swarm(s, 100))) {
        let refused = refused(&tried, Aggregator::Persistent);
        if !refused.is_empty() {
            all.push(format!("{} {:?}: {refused:?}", tried.name, tried.args));
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// What a budget lacks that is too small for the call itself is said, and with that the call begins.
#[test]
fn who_has_too_little_is_told_how_much_is_missing() {
    if !emulator::is_there() {
        return;
    }
    let tried = Tried::new("fib", &[9]);
    let prepared = prepare(&tried.source, &tried.name).unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    let mut run = |memory| {
        let how = How::new(Aggregator::HostThread, 2, memory);
        emulate(&mut emulator, how, &prepared, &tried.task, &tried.args)
    };
    let error = run(2000).unwrap_err().to_string();
    let (_, missing) = error.split_once("needs ").unwrap();
    let more = parse_bytes(missing.split_once(" more").unwrap().0).unwrap();
    assert!(more > 0, "{error}");
    // It is said to a tenth of a KiB.
    if let Err(error) = run(2000 + more + 128) {
        assert!(!error.to_string().contains("at depth 0"), "{error}");
    }
    assert!(
        run(2000 + more / 2).is_err_and(|e| e.to_string().contains("at depth 0")),
        "it was enough"
    );
}
