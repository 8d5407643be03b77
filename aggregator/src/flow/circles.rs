//! Elements that go round and round by one ring. Slots are free again in the order in which they were allocated, and who is held up between allocating one and
//! publishing it leaves an old slot to an element that others take late: meanwhile they drive the ring round once, and it is full of slots that are done.

use super::{
    Running,
    testing::{Built, device, words},
};
use millstream_graph::graph::{Predicate, WhenFull};
use std::sync::atomic::AtomicU64;

/// Slots, elements alive at any time, turns of each, and runs with each number of threads: before who waits for room took elements, one of three ended.
const WIDTH: u32 = 256;
const ALIVE: u32 = 120;
const TURNS: u32 = 1000;
const RUNS: u32 = 12;

fn go_round(threads: u32, predicate: Predicate, full: WhenFull) {
    let ended = AtomicU64::new(0);
    let mut built = Built::default();
    let ring = built.input("ring", "u32", WIDTH);
    built.with(ring, |c| {
        c.predicate = predicate;
        c.full = full;
    });
    let node = built.node("round", ring, &[ring]);
    built.arg(node, &ended);
    let send = |run: &Running<'_>| run.send(ring, &words((0..ALIVE).map(|_| TURNS)));
    let report = built.run(&device(threads), send).unwrap().1;
    assert_eq!(ended.into_inner(), u64::from(ALIVE), "{threads}: {report}");
    let elements = u64::from(ALIVE) * u64::from(TURNS + 1);
    assert_eq!(report.channels[0].elements, elements);
    assert_eq!(report.channels[0].dropped, 0);
}

#[test]
fn few_elements_go_round_as_often_as_they_want() {
    for threads in [1, 2, 3, 8] {
        for _ in 0..RUNS {
            go_round(threads, Predicate::Any, WhenFull::Wait);
        }
        go_round(threads, Predicate::Full, WhenFull::Wait);
    }
}

#[test]
fn none_is_dropped_where_most_slots_are_done() {
    for threads in [2, 8] {
        for _ in 0..RUNS {
            go_round(threads, Predicate::Any, WhenFull::DropOldest);
        }
    }
}
