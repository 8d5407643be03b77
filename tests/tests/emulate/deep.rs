//! Deep recursions: how much memory a level takes, and who runs it.

use millstream_aggregator::{Aggregator, CpuOptions, Device, RunReport};
use millstream_tests::{
    Outcome,
    deep::{CHAIN, CHAINS, FIVE, LINE},
    emulator::{self, Emulator, How},
    engine::{Engine, emulate, prepare},
    stress::KINDS,
};

const AGGREGATORS: [Aggregator; 3] = [
    Aggregator::Auto,
    Aggregator::Persistent,
    Aggregator::HostThread,
];

/// Runs a call by an aggregator, and says what the CPU device makes of it.
fn both(
    source: &str,
    (task, args): (&str, &[&str]),
    ways: &[Aggregator],
    memory: u64,
    mut look: impl FnMut(Aggregator, RunReport, &RunReport),
) {
    if !emulator::is_there() {
        return;
    }
    let prepared = prepare(source, "deep.rs").unwrap();
    let args: Vec<String> = args.iter().map(ToString::to_string).collect();
    let cpu = Engine::Device(
        "cpu".into(),
        Device::cpu_with(CpuOptions::default()).unwrap(),
    );
    let (expected, report): (Outcome, _) = cpu.call_and_report(&prepared, task, &args).unwrap();
    let report = report.unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    for &aggregator in ways {
        let how = How::new(aggregator, 2, memory);
        let (found, seen) = emulate(&mut emulator, how, &prepared, task, &args)
            .unwrap_or_else(|e| panic!("{task} {args:?} by {aggregator:?}: {e}"));
        assert_eq!(found, expected, "{task} {args:?} by {aggregator:?}");
        assert_eq!(seen.levels, report.levels, "{task} by {aggregator:?}");
        look(aggregator, seen, &report);
    }
}

/// A million levels in 64 MiB, a fiftieth of both.
#[test]
fn a_chain_takes_sixty_seven_bytes_a_level() {
    both(
        CHAIN,
        ("chain", &["20000"]),
        &AGGREGATORS,
        (64 << 20) / 50,
        |aggregator, seen, cpu| {
            assert!(seen.peak <= seen.budget, "{aggregator:?}");
            let first = seen.elements.len();
            assert!(first >= 1000, "{first}");
            assert_eq!(seen.elements[..1000], cpu.elements[..1000]);
        },
    );
}

/// What keeps nothing takes nothing.
#[test]
fn a_recursion_without_frames_has_no_depth() {
    both(
        LINE,
        ("line", &["30000", "0"]),
        &AGGREGATORS,
        64 << 10,
        |_, _, _| {},
    );
}

#[test]
fn a_chain_in_a_program_of_five_tasks_is_narrow() {
    for way in ["0", "1", "2"] {
        both(
            FIVE,
            ("start", &[way, "500"]),
            &[Aggregator::Persistent],
            1 << 20,
            |_, seen, _| {
                println!(
                    "way {way}: {} of {} dispatches, {} levels",
                    seen.narrow, seen.dispatches, seen.levels
                );
                assert_eq!(seen.narrow, seen.dispatches, "way {way}");
            },
        );
    }
}

/// Forty chains of three hundred levels, where all of them side by side find no room: they end one after the other.
#[test]
fn deep_siblings_run_in_turn_where_memory_is_short() {
    both(
        CHAINS,
        ("chains", &["40", "300"]),
        &AGGREGATORS,
        480 << 10,
        |_, _, _| {},
    );
}

/// What makes something of one child's result and adds another's spawns children of one kind, so that a level is one wavefront and the way back another.
#[test]
fn children_whose_results_are_used_in_two_ways_share_wavefronts() {
    let source = "#[millstream::program] mod heaps {
        #[task] pub fn heaps(n: u64, k: u64) -> u64 {
            match (n, k) {
                (0, 0) => 1,
                (0, _) | (_, 0) => 0,
                _ => k * spawn!(heaps(n - 1, k)) + spawn!(heaps(n - 1, k - 1)),
            }
        }
    }";
    both(
        source,
        ("heaps", &["16", "4"]),
        &AGGREGATORS,
        16 << 20,
        |aggregator, seen, _| {
            let (levels, dispatches) = (seen.levels, seen.dispatches);
            assert!(
                dispatches < 3 * levels,
                "{aggregator:?}: {dispatches} dispatches for {levels} levels"
            );
        },
    );
}

/// A level runs each kind once, and its continuations.
#[test]
fn kinds_of_tasks_that_spawn_each_other_run_level_by_level() {
    // What spawns in loops that data decides on joins where it has several elements.
    for (task, args, each) in [
        ("odd", &["14"][..], 6),
        ("even", &["11"], 6),
        ("pairs", &["5", "7"], 8),
        ("paper", &["12"], 16),
    ] {
        both(
            KINDS,
            (task, args),
            &AGGREGATORS,
            16 << 20,
            |aggregator, seen, _| {
                let (levels, dispatches) = (seen.levels, seen.dispatches);
                assert!(
                    dispatches < each * levels,
                    "{task} {aggregator:?}: {dispatches} dispatches for {levels} levels"
                );
            },
        );
    }
}

#[test]
fn kinds_of_tasks_that_spawn_each_other_run_in_little_memory() {
    for memory in [96 << 10, 160 << 10, 512 << 10] {
        for (task, args) in [
            ("odd", &["15"][..]),
            ("even", &["12"]),
            ("pairs", &["5", "6"]),
            ("paper", &["9"]),
            ("stone", &["11"]),
        ] {
            both(KINDS, (task, args), &AGGREGATORS, memory, |_, seen, _| {
                assert!(seen.peak <= seen.budget);
            });
        }
    }
}

/// Chains of two and of three kinds side by side: a level has the frame and the continuation of each, and there are marks for all of them.
#[test]
fn chains_of_several_kinds_go_as_deep_as_one() {
    let source = "#[millstream::program] mod chains {
        #[task] pub fn one(n: u32) -> u64 {
            if n == 0 { return 1; }
            let y = spawn!(one(n - 1));
            sync!();
            y.wrapping_mul(3)
        }
        #[task] pub fn two(n: u32) -> u64 {
            if n == 0 { return 2; }
            let y = spawn!(two(n - 1));
            sync!();
            y.wrapping_mul(5)
        }
        #[task] pub fn three(n: u32) -> u64 {
            if n == 0 { return 3; }
            let y = spawn!(three(n - 1));
            sync!();
            y.wrapping_mul(7)
        }
        #[task] pub fn start(n: u32, kinds: u32) -> u64 {
            let a = spawn!(one(n));
            let b = spawn!(two(n));
            let mut c = 0;
            if kinds > 2 { c = spawn!(three(n)); }
            sync!();
            a ^ b.wrapping_add(c)
        }
    }";
    for kinds in ["2", "3"] {
        both(
            source,
            ("start", &["3400", kinds]),
            &AGGREGATORS,
            512 << 10,
            |_, _, _| {},
        );
    }
}

/// What all elements of a run have in common is kept once, and is not reported as often as there are elements.
#[test]
fn a_peak_is_what_was_used() {
    let source = "#[millstream::program] mod walk {
        use std::sync::atomic::{AtomicU64, Ordering};
        #[task] pub fn walk(n: u32, data: &[u64], count: &AtomicU64) {
            count.fetch_add(data[n as usize % 2], Ordering::Relaxed);
            if n == 0 { return; }
            spawn!(walk(n - 1, data, count));
            spawn!(walk(n - 1, data, count));
        }
    }";
    both(
        source,
        ("walk", &["14", "[1, 2]", "0"]),
        &AGGREGATORS,
        64 << 10,
        |aggregator, seen, _| {
            let (peak, budget) = (seen.peak, seen.budget);
            assert!(
                peak > budget / 8 && peak <= budget,
                "{aggregator:?}: {peak} of {budget}"
            );
        },
    );
}

/// The last continuation of `halves` has children, which lie above a frame that is done.
const HALVES: &str = "#[millstream::program] mod halves {
    use std::sync::atomic::{AtomicU64, Ordering};
    #[task] pub fn start(count: u32, n: u32, seen: &AtomicU64) {
        for i in 0..count { spawn!(halves(n + i % 2, seen)); }
        for _ in 0..2 * count { spawn!(below(n, seen)); }
    }
    #[task] pub fn below(n: u32, seen: &AtomicU64) { spawn!(halves(n, seen)); }
    #[task] pub fn halves(n: u32, seen: &AtomicU64) {
        if n == 0 { return; }
        spawn!(halves(n - 1, seen));
        sync!();
        spawn!(leaf(n, seen));
    }
    #[task] pub fn leaf(n: u32, seen: &AtomicU64) { seen.fetch_add(n as u64, Ordering::Relaxed); }
}";

/// Two run below one that waits: when it is its turn, nothing waits at the level of the two, but their frames were there.
#[test]
fn frames_that_are_done_are_given_back_on_the_way_past_them() {
    both(
        HALVES,
        ("start", &["1", "1", "0"]),
        &AGGREGATORS,
        64 << 10,
        |_, _, _| {},
    );
}

/// Where memory is short a level runs in parts: when it is the next part's turn, nobody waits for the frames of the last one.
#[test]
fn frames_that_are_done_are_given_back_where_others_wait() {
    both(
        HALVES,
        ("start", &["20", "40", "0"]),
        &AGGREGATORS,
        72 << 10,
        |_, _, _| {},
    );
}
