//! Where memory is short siblings run in the order in which they were spawned: a search whose first child leads does little more than its elision.

use millstream_aggregator::Aggregator;
use millstream_tests::{
    emulator::{self, Emulator, How},
    engine::{emulate, prepare, serial_tasks},
    knapsack,
};

#[test]
fn a_search_in_little_memory_does_what_its_elision_does() {
    if !emulator::is_there() {
        return;
    }
    let listed = millstream_corpus::PROGRAMS
        .iter()
        .find(|p| p.name == "branch_and_bound");
    let prepared = prepare(listed.unwrap().source, "branch_and_bound.rs").unwrap();
    let args = knapsack::args(26, 19_500);
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
