//! Where memory is short siblings run in the order in which they were spawned: a search whose first child leads does little more than its elision.

use millstream_aggregator::Aggregator;
use millstream_tests::{
    emulator::{self, Emulator, How},
    engine::{emulate, prepare, serial_tasks},
};

/// Sorted by worth per weight, which nearly is the order in which the best knapsack takes them.
fn knapsack() -> Vec<String> {
    let mut state = 7u64;
    let mut next = |most| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) % most
    };
    let mut items: Vec<_> = (0..26)
        .map(|_| {
            let weight = 1000 + next(1000);
            (weight + 100 + next(20), weight)
        })
        .collect();
    items.sort_by(|a, b| (b.0 * a.1).cmp(&(a.0 * b.1)));
    let (worth, weight): (Vec<u64>, Vec<u64>) = items.into_iter().unzip();
    let words = [
        format!("{worth:?}"),
        format!("{weight:?}"),
        "0".into(),
        "19500".into(),
        "0".into(),
        "0".into(),
    ];
    words.into()
}

#[test]
fn a_search_in_little_memory_does_what_its_elision_does() {
    if !emulator::is_there() {
        return;
    }
    let listed = super::run::PROGRAMS
        .iter()
        .find(|p| p.name == "branch_and_bound");
    let prepared = prepare(listed.unwrap().source, "branch_and_bound.rs").unwrap();
    let args = knapsack();
    let serial = serial_tasks(&prepared, "pack", &args);
    println!("{serial} tasks in order");
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    for aggregator in [Aggregator::Persistent, Aggregator::HostThread] {
        for kib in [7, 8, 9] {
            let how = How::new(aggregator, 2, kib << 10);
            let (_, report) = emulate(&mut emulator, how, &prepared, "pack", &args)
                .unwrap_or_else(|e| panic!("{how:?}: {e}"));
            assert!(
                report.total * 10 <= serial * 15,
                "{how:?}: {} tasks, {serial} in order",
                report.total
            );
        }
    }
}
