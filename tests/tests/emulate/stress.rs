//! Budgets so tight that tiles are given back, moved and tried again in every run, in interleavings drawn by lot: results, tasks and tasks of each
//! level are the interpreter's, and every decision is the policy's.
//!
//! `MILLSTREAM_STRESS` says for how many seconds each program is tried; a few, if it is not set. If it is, bugs are planted too, each of which has to be
//! found in that time.

use millstream_aggregator::{Aggregator, Device, RunReport};
use millstream_tests::{
    emulator::{self, Emulator, How},
    engine::{Engine, Prepared, emulate, is_memory, prepare},
};
use std::time::{Duration, Instant};

/// n-queens by bits: a task a square, as many children as a loop finds. Its tiles are tried.
const QUEENS: &str = "#[millstream::program] mod queens {
    #[task] pub fn place(all: u32, columns: u32, left: u32, right: u32) -> u64 {
        if columns == all { return 1; }
        let mut free = all & !(columns | left | right);
        let mut count = 0u64;
        while free != 0 {
            let bit = free & free.wrapping_neg();
            free ^= bit;
            count += spawn!(place(all, columns | bit, (left | bit) << 1, (right | bit) >> 1));
        }
        sync!();
        count
    }
}";

/// A tree by a hash: children by a loop, and a continuation that waits for them. Its tiles are counted.
const TREE: &str = "#[millstream::program] mod tree {
    fn hash(x: u32) -> u32 {
        let a = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        let b = (a ^ (a >> 15)).wrapping_mul(0x846c_a68b);
        b ^ (b >> 16)
    }
    #[task] pub fn tree(x: u32, depth: u32) -> u64 {
        if depth == 0 { return 1; }
        let n = hash(x) % 7;
        let mut sum = 0u64;
        let mut i = 0;
        while i < n {
            sum += spawn!(tree(hash(x).wrapping_add(i), depth - 1));
            i += 1;
        }
        sync!();
        sum.wrapping_mul(3).wrapping_add(x as u64)
    }
}";

/// Children of a fixed number, which are never given back, and frames.
const FIB: &str = "#[millstream::program] mod fib {
    #[task] pub fn fib(n: u32) -> u64 {
        if n < 2 { return n as u64; }
        let x = spawn!(fib(n - 1));
        let y = spawn!(fib(n - 2));
        sync!();
        x.wrapping_mul(y).wrapping_add(x + y)
    }
}";

/// A program and the call that is tried.
struct Tried {
    name: &'static str,
    source: &'static str,
    task: &'static str,
    args: &'static [&'static str],
    /// Budgets from little on.
    budgets: &'static [u64],
}

const PROGRAMS: [Tried; 3] = [
    Tried {
        name: "queens",
        source: QUEENS,
        task: "place",
        args: &["511", "0", "0", "0"],
        budgets: &[56, 60, 64, 68, 72, 80, 88, 96, 128],
    },
    Tried {
        name: "tree",
        source: TREE,
        task: "tree",
        args: &["3", "7"],
        budgets: &[60, 64, 72, 80, 96, 112, 128],
    },
    Tried {
        name: "fib",
        source: FIB,
        task: "fib",
        args: &["13"],
        budgets: &[6, 8, 10, 12, 16, 24],
    },
];

fn seconds() -> Option<u64> {
    std::env::var("MILLSTREAM_STRESS")
        .ok()
        .map(|v| v.parse().unwrap())
}

/// What was seen of a program.
#[derive(Default, Debug)]
struct Seen {
    runs: u64,
    compared: u64,
    out_of_memory: u64,
    wrong: Option<String>,
}

/// Runs a program at all its budgets, in one interleaving after another, until the time is over or something is wrong.
fn stress(tried: &Tried, prepared: &Prepared, emulator: &mut Emulator, limit: Duration) -> Seen {
    let args: Vec<String> = tried.args.iter().map(ToString::to_string).collect();
    let cpu = Engine::Device("cpu".into(), Device::cpu().unwrap());
    let (expected, report) = cpu.call_and_report(prepared, tried.task, &args).unwrap();
    let expected_levels = report.unwrap().elements;
    let (mut seen, start) = (Seen::default(), Instant::now());
    for seed in 1.. {
        for budget in tried.budgets {
            for (aggregator, blocks) in [
                (Aggregator::Persistent, 1 + seed as u32 % 4),
                (Aggregator::HostThread, 1 + seed as u32 % 3),
                (Aggregator::Auto, 2),
            ] {
                let how = How {
                    seed,
                    switches: [2, 8, 64][seed as usize % 3],
                    ..How::new(aggregator, blocks, budget << 10)
                };
                seen.runs += 1;
                match emulate(emulator, how, prepared, tried.task, &args) {
                    Ok((
                        outcome,
                        RunReport {
                            elements, compared, ..
                        },
                    )) => {
                        seen.compared += compared;
                        if outcome != expected || elements != expected_levels {
                            seen.wrong = Some(format!(
                                "{how:?}: {outcome:?} for {expected:?}, levels {elements:?} for {expected_levels:?}"
                            ));
                        }
                    }
                    Err(e) if is_memory(&e) => seen.out_of_memory += 1,
                    Err(e) => seen.wrong = Some(format!("{how:?}: {e}")),
                }
                if seen.wrong.is_some() || start.elapsed() > limit {
                    return seen;
                }
            }
        }
    }
    unreachable!("seeds do not end")
}

#[test]
fn tight_budgets_change_nothing() {
    if !emulator::is_there() {
        return;
    }
    for tried in &PROGRAMS {
        let prepared = prepare(tried.source, tried.name).unwrap();
        let mut emulator = Emulator::new(&prepared.levelized).unwrap();
        let limit = Duration::from_secs(seconds().unwrap_or(4));
        let seen = stress(tried, &prepared, &mut emulator, limit);
        println!("{}: {seen:?}", tried.name);
        assert_eq!(seen.wrong, None, "{}", tried.name);
        assert!(seen.out_of_memory < seen.runs / 2, "{seen:?}");
    }
}

/// Bugs of the kernels: where, what stands there, and what is put in its place.
const BUGS: [(&str, &str, &str); 6] = [
    (
        "moves: what is left lies above a tile that ran, though the level goes on below",
        "} else if (lowest || part == tile) {",
        "} else if (lowest) {",
    ),
    (
        "give-back: of the two tiles that a block has, one is forgotten",
        "const u32 both = next < tiles ? 2 : 1;",
        "const u32 both = 1;",
    ),
    (
        "policy: continuations first where there are as many",
        "(best_entry >= best_other || best_entry >= SMALL_SHARE)",
        "(best_entry > best_other || best_entry >= SMALL_SHARE)",
    ),
    (
        "policy: frames of a level are never given back",
        "if (!waiting) p.top[s] = now.hi[s] = now.lo[s];",
        "",
    ),
    (
        "narrow levels: what was consumed does not give its space back",
        "n.top = n.hi;\n      few = 0;",
        "few = 0;",
    ),
    (
        "reservation: a tile that begins in the room may end outside",
        "if (total && (u64)first + total > sh.dispatch.room[0]) {",
        "if (total && first >= sh.dispatch.room[0]) {",
    ),
];

#[test]
fn planted_bugs_are_found() {
    let Some(seconds) = seconds() else {
        return eprintln!("SKIPPED: MILLSTREAM_STRESS=60 plants bugs");
    };
    if !emulator::is_there() {
        return;
    }
    let prepared = PROGRAMS
        .each_ref()
        .map(|tried| (tried, prepare(tried.source, tried.name).unwrap()));
    for (bug, right, wrong) in BUGS {
        let start = Instant::now();
        let found = prepared.iter().find_map(|(tried, prepared)| {
            let mut is_there = false;
            let mut emulator = Emulator::with_text(&prepared.levelized, |text| {
                is_there = text.contains(right);
                text.replace(right, wrong)
            })
            .unwrap();
            assert!(is_there, "{bug}: the text has no `{right}`");
            let limit = Duration::from_secs(seconds / 3);
            stress(tried, prepared, &mut emulator, limit).wrong
        });
        println!("{bug}: {:.1?}: {found:?}", start.elapsed());
        assert!(found.is_some(), "{bug}: was not found");
    }
}
