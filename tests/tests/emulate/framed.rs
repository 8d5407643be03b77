//! Workers with levels of their own: tasks that wait and spawn their kind again, in the blocks of a GPU.

use super::MEMORY;
use millstream_aggregator::{Aggregator, Policy};
use millstream_tests::{
    emulator::{self, Emulator, How},
    engine::{Prepared, emulate, is_memory, prepare},
    on_all_cores,
};

/// Loops that spawn and wait, with one child and with several; two times to spawn; and kinds that do it to each other. What they give depends on the order of
/// their turns.
const SOURCE: &str = "#[millstream::program] mod turns {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    fn mix(x: u64) -> u64 {
        let a = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        let b = (a ^ (a >> 27)).wrapping_mul(0x94d049bb133111eb);
        b ^ (b >> 31)
    }
    #[task]
    pub fn beam(n: u64, energy: u64) -> u64 {
        let mut total = 0;
        for i in 0..n {
            total += spawn!(shower(mix(i), energy));
        }
        sync!();
        total
    }
    #[task]
    pub fn shower(seed: u64, energy: u64) -> u64 {
        let (mut left, mut total, mut s) = (energy, 1, seed);
        while left > 4 {
            s = mix(s);
            if s % 4 == 0 {
                let part = left / 2 - (s >> 32) % (left / 4 + 1);
                left -= part;
                let got = spawn!(shower(mix(s ^ 77), part));
                sync!();
                total += got;
                s ^= got;
            } else {
                left -= left / 5 + 1;
            }
        }
        total
    }
    #[task]
    pub fn rounds(n: u64, depth: u64, seed: u64) -> u64 {
        let mut all = seed;
        for i in 0..n {
            all = all.wrapping_add(spawn!(round(depth, mix(seed ^ i))));
        }
        sync!();
        all
    }
    #[task]
    pub fn round(depth: u64, seed: u64) -> u64 {
        if depth == 0 {
            return seed % 5;
        }
        let mut best = seed;
        for turn in 0..seed % 4 {
            let mut sum = 0;
            // Few have many children, more than is left for as many of them.
            let children = if best % 16 == 5 { 25 } else { best % 3 };
            for i in 0..children {
                sum += spawn!(round(depth - 1, mix(best ^ i ^ turn)));
            }
            sync!();
            best = mix(best ^ sum);
        }
        best
    }
    #[task]
    pub fn games(n: u64, depth: u64) -> u64 {
        let mut all = 0;
        for i in 0..n {
            all += spawn!(first(depth, mix(i), 0));
        }
        sync!();
        all
    }
    #[task]
    pub fn first(depth: u64, seed: u64, bound: u64) -> u64 {
        if depth == 0 {
            return mix(seed) % 100;
        }
        let lead = bound.max(spawn!(then(depth - 1, mix(seed), bound)));
        sync!();
        let mut best = lead;
        for i in 1..1 + seed % 3 {
            best = best.max(spawn!(then(depth - 1, mix(seed.wrapping_add(i)), lead)));
        }
        sync!();
        100 - best % 100
    }
    #[task]
    pub fn then(depth: u64, seed: u64, bound: u64) -> u64 {
        let x = spawn!(first(depth / 2, mix(seed), bound));
        sync!();
        let (y, z) = (spawn!(first(depth / 2, mix(x), bound)), spawn!(first(depth.saturating_sub(1), x ^ 9, 3)));
        sync!();
        (y * 3 + z) % 97
    }
    #[task]
    pub fn count(n: u64, depth: u64, counters: &[AtomicU64]) {
        for i in 0..n {
            spawn!(count_one(mix(i), depth, counters));
        }
        sync!();
    }
    #[task]
    pub fn count_one(seed: u64, depth: u64, counters: &[AtomicU64]) {
        counters[(depth % 5) as usize].fetch_add(1 + seed % 3, Relaxed);
        if depth == 0 {
            return;
        }
        for turn in 0..seed % 4 {
            for i in 0..1 + turn % 2 {
                spawn!(count_one(mix(seed ^ i ^ turn), depth - 1, counters));
            }
            sync!();
            counters[0].fetch_add(7, Relaxed);
        }
    }
    #[task]
    pub fn deep(n: u64, depth: u64) -> u64 {
        let mut all = 0;
        for i in 0..n {
            all += spawn!(line(depth, i));
        }
        sync!();
        all
    }
    #[task]
    pub fn line(depth: u64, x: u64) -> u64 {
        if depth == 0 {
            return x;
        }
        let y = spawn!(line(depth - 1, mix(x) % 1000));
        sync!();
        if y % 64 != 1 {
            return y + 1;
        }
        let z = spawn!(line(depth / 8, y));
        sync!();
        z + 2
    }
}";

/// Calls, each with more roots than there are workers, and than one takes at a time.
const CALLS: [(&str, &[u64]); 6] = [
    ("beam", &[40, 60]),
    ("beam", &[7, 400]),
    ("rounds", &[20, 3, 5]),
    ("rounds", &[200, 2, 11]),
    ("games", &[30, 4]),
    ("deep", &[9, 150]),
];

fn inside(blocks: u32, memory: u64, seed: u64) -> How {
    How {
        policy: Policy::Block,
        ..How::new(Aggregator::HostThread, blocks, memory).interleaved(seed)
    }
}

fn text(args: &[u64]) -> Vec<String> {
    args.iter().map(ToString::to_string).collect()
}

/// What a call gives across the device, and how many tasks it has.
fn expected(
    emulator: &mut Emulator,
    prepared: &Prepared,
    task: &str,
    args: &[u64],
) -> (String, u64) {
    let how = How::new(Aggregator::HostThread, 2, MEMORY);
    let (outcome, report) = emulate(emulator, how, prepared, task, &text(args)).unwrap();
    assert_eq!(report.subtrees.count, 0, "the other tier");
    (outcome.result, report.total)
}

#[test]
fn workers_run_levels_of_their_own() {
    if !emulator::is_there() {
        return;
    }
    let prepared = prepare(SOURCE, "turns.rs").unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    for (task, args) in CALLS {
        let expected = expected(&mut emulator, &prepared, task, args);
        for seed in 1..=3 {
            let how = inside(2 * seed as u32 - 1, MEMORY, seed);
            let (outcome, report) =
                emulate(&mut emulator, how, &prepared, task, &text(args)).unwrap();
            assert_eq!(
                (outcome.result, report.total),
                expected,
                "{task}{args:?} {how:?}"
            );
            let inside = report.subtrees;
            assert!(inside.count > 0 && inside.framed, "{task}{args:?} {how:?}");
            assert!(inside.workers <= how.blocks && report.peak <= report.budget);
        }
    }
}

/// What waits for children cannot be handed back: a run in which a worker finds no room is begun again without such workers, and what tasks did until then is
/// not seen.
#[test]
fn who_finds_no_room_begins_again() {
    if !emulator::is_there() {
        return;
    }
    let prepared = prepare(SOURCE, "turns.rs").unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    let counters = |n: u64, depth: u64| {
        let mut args = text(&[n, depth]);
        args.push("[0, 0, 0, 0, 0]".into());
        args
    };
    let (mut ran, mut again) = (0, 0);
    for (task, args) in [
        ("count", counters(40, 7)),
        ("count", counters(6, 9)),
        ("deep", text(&[9, 150])),
        ("deep", text(&[40, 400])),
    ] {
        let how = How::new(Aggregator::HostThread, 2, MEMORY);
        let (expected, _) = emulate(&mut emulator, how, &prepared, task, &args).unwrap();
        for (seed, kib) in (1..).zip((16..400).step_by(40)) {
            emulator.forget();
            let how = inside(1 + seed as u32 % 4, kib << 10, seed);
            match emulate(&mut emulator, how, &prepared, task, &args) {
                Ok((outcome, report)) => {
                    assert_eq!(outcome, expected, "{task}{args:?} {how:?}");
                    assert!(report.peak <= report.budget, "{how:?}");
                    ran += u32::from(report.subtrees.framed);
                    again += u32::from(emulator.is_crowded());
                }
                Err(e) if is_memory(&e) => {}
                Err(e) => panic!("{how:?}: {e}"),
            }
        }
    }
    println!("{ran} ran inside, {again} were begun again");
    assert!(ran > 3 && again > 1);
}

#[test]
fn threads_of_a_worker_do_not_race() {
    if !emulator::is_there() {
        return;
    }
    let prepared = prepare(SOURCE, "turns.rs").unwrap();
    let mut emulator = Emulator::watched(&prepared.levelized).unwrap();
    for (task, args) in [
        ("rounds", [9, 2, 11]),
        ("games", [12, 3, 0]),
        ("deep", [5, 90, 0]),
    ] {
        let args = &args[..if task == "rounds" { 3 } else { 2 }];
        for seed in 1..=4 {
            let how = inside(1 + seed as u32 % 3, MEMORY, seed);
            let ended = emulate(&mut emulator, how, &prepared, task, &text(args));
            let (_, report) = ended.unwrap_or_else(|e| panic!("{task}{args:?} {how:?}: {e}"));
            assert!(report.subtrees.framed, "{how:?}");
        }
    }
}

/// What is wrong, what stands there, and what is put in its place. None of them makes elements of what lies anywhere.
const PLANTED: [(&str, &str, &str); 2] = [
    (
        "a worker's marks lie where another's do",
        "(Mark*)crew.marks + (u64)blockIdx.x * crew.marks_each",
        "(Mark*)crew.marks",
    ),
    (
        "who has no more roots has not done those that it had",
        "o.consumed[s] = policy.consumed[s];",
        "o.consumed[s] = s;",
    ),
];

#[test]
fn planted_bugs_are_found() {
    if !emulator::is_there() {
        return;
    }
    let prepared = prepare(SOURCE, "turns.rs").unwrap();
    let mut right = Emulator::new(&prepared.levelized).unwrap();
    let calls: [(&str, &[u64]); 4] = [
        ("beam", &[400, 30]),
        ("rounds", &[300, 2, 11]),
        ("games", &[30, 4]),
        ("deep", &[40, 150]),
    ];
    let expected = calls.map(|(task, args)| expected(&mut right, &prepared, task, args));
    let missed = on_all_cores(&PLANTED, |(bug, right, wrong)| {
        let mut emulator = Emulator::with_bug(&prepared.levelized, right, wrong);
        let differs = (1..=8).any(|seed| {
            calls.iter().zip(&expected).any(|((task, args), expected)| {
                // A run that is begun again is right.
                emulator.forget();
                let memory = match seed % 2 {
                    0 => MEMORY,
                    _ => (64 + 12 * seed) << 10,
                };
                let how = inside(1 + seed as u32 % 3, memory, seed);
                let now = emulate(&mut emulator, how, &prepared, task, &text(args));
                match now {
                    Ok(_) if memory == MEMORY && emulator.is_crowded() => true,
                    Ok((outcome, report)) => (outcome.result, report.total) != *expected,
                    Err(error) => !is_memory(&error),
                }
            })
        });
        (!differs).then(|| (*bug).to_owned())
    });
    let missed: Vec<_> = missed.into_iter().flatten().collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}
