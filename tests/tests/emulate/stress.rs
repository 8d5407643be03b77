//! Budgets so tight that tiles are given back, moved and tried again in every run, in interleavings drawn by lot: results, tasks and tasks of each
//! level are the interpreter's, and every decision is the policy's.
//!
//! `MILLSTREAM_STRESS` says for how many seconds each program is tried; one, if it is not set. If it is, bugs are planted too, each of which has to be
//! found in that time.

use millstream_aggregator::{Aggregator, Device, Policy, RunReport};
use millstream_tests::{
    emulator::{self, Emulator, How},
    engine::{Engine, Prepared, emulate, is_memory, prepare},
    on_all_cores,
    stress::{Tried, plants},
    swarm::swarm,
};
use std::time::{Duration, Instant};

/// Small calls of the programs, and budgets in KiB: some in which elements run one by one, and others little more than that.
pub(crate) fn calls() -> [(Tried, &'static [u64]); 16] {
    let lent = |mut tried: Tried, memory: &[&str]| {
        tried.args.extend(memory.iter().map(ToString::to_string));
        tried
    };
    let marks = format!("{:?}", [0; 700]);
    [
        (
            Tried::new("queens", &[511, 0, 0, 0]),
            &[55, 59, 61, 62, 63, 64, 66, 68, 72, 80, 128],
        ),
        (
            Tried::new("tree", &[3, 7]),
            &[55, 60, 62, 64, 68, 72, 80, 96],
        ),
        (Tried::new("fib", &[13]), &[6, 8, 10, 12, 16, 24]),
        (
            Tried::new("wide", &[11, 5, 300 | 1 << 21]),
            &[57, 60, 64, 72, 96],
        ),
        (
            lent(Tried::new("marks", &[11, 5, 300 | 1 << 21]), &["0"]),
            &[16, 24, 32, 48, 64, 96],
        ),
        (
            Tried::new("phases", &[5, 2, 60]),
            &[60, 88, 96, 112, 128, 160],
        ),
        (
            Tried::new("late", &[0, 3, 5000]),
            &[200, 250, 350, 450, 500, 550, 700, 1000],
        ),
        (Tried::new("chains", &[10, 40]), &[64, 96, 128, 192, 256]),
        (
            lent(
                Tried::new("effects", &[11, 5, 300 | 1 << 21]),
                &["[0, 5, 0]"],
            ),
            &[32, 40, 48, 64, 96, 128],
        ),
        (
            lent(Tried::new("spawner", &[700]), &[&marks, "0", "0"]),
            &[6, 8, 12, 16, 24, 32],
        ),
        (
            lent(Tried::new("hubs", &[13, 103, 150]), &["[7, 1, 9, 40]"]),
            &[48, 64, 96, 128, 192],
        ),
        (Tried::new("counters", &[5, 2, 90]), &[64, 96, 128, 1024]),
        (boards(), &[24, 32, 40, 48, 64, 96, 128, 1024]),
        (
            Tried {
                task: "triples".into(),
                ..Tried::new("kinds", &[9, 5])
            },
            &[72, 80, 96, 128, 192, 1024],
        ),
        (
            Tried {
                task: "paper".into(),
                ..Tried::new("kinds", &[8])
            },
            &[72, 80, 96, 128, 192, 1024],
        ),
        (
            Tried {
                task: "left".into(),
                ..Tried::new("kinds", &[3, 9])
            },
            &[72, 80, 96, 128, 192, 1024],
        ),
    ]
}

/// Seven queens on an empty board.
fn boards() -> Tried {
    let mut tried = Tried::new("boards", &[]);
    tried.args = [format!("{:?}", [0u8; 12]), "0".into(), "7".into()].into();
    tried
}

/// For how long each program is tried, if nobody says, but in all its budgets by each aggregator once: nine of the first ten bugs below were found so.
const SECONDS: u64 = 1;

pub(crate) fn seconds() -> Option<u64> {
    std::env::var("MILLSTREAM_STRESS")
        .ok()
        .map(|v| v.parse().unwrap())
}

/// What was seen of a program.
#[derive(Default, Debug)]
pub(crate) struct Seen {
    runs: u64,
    compared: u64,
    out_of_memory: u64,
    pub(crate) wrong: Option<String>,
}

/// Runs a program at all its budgets, in one interleaving after another, until the time is over or something is wrong. With no limit, each is run once.
pub(crate) fn stress(
    (tried, budgets): &(Tried, &[u64]),
    prepared: &Prepared,
    emulator: &mut Emulator,
    limit: Duration,
) -> Seen {
    let args = &tried.args;
    let cpu = Engine::Device("cpu".into(), Device::cpu().unwrap());
    let (expected, report) = cpu.call_and_report(prepared, &tried.task, args).unwrap();
    let report = report.unwrap();
    let (expected_total, expected_levels) = (report.total, report.elements);
    if !limit.is_zero() {
        emulator.compile_workers().unwrap();
    }
    let (mut seen, start) = (Seen::default(), Instant::now());
    // By each way, the least budget in which a run worked: so does every larger one.
    let mut works = [u64::MAX; 5];
    for seed in 1.. {
        for budget in *budgets {
            for (way, (aggregator, policy, blocks)) in [
                (Aggregator::Persistent, Policy::Device, 1 + seed as u32 % 4),
                (Aggregator::HostThread, Policy::Device, 1 + seed as u32 % 3),
                (Aggregator::Auto, Policy::Device, 2),
                (Aggregator::HostThread, Policy::Block, 1 + seed as u32 % 5),
                (Aggregator::Auto, Policy::Block, 3),
            ]
            .into_iter()
            .enumerate()
            {
                let how = How {
                    policy,
                    ..How::new(aggregator, blocks, budget << 10).interleaved(seed)
                };
                seen.runs += 1;
                match emulate(emulator, how, prepared, &tried.task, args) {
                    Ok((
                        outcome,
                        RunReport {
                            elements,
                            compared,
                            total,
                            ..
                        },
                    )) => {
                        seen.compared += compared;
                        works[way] = works[way].min(*budget);
                        // Workers know no levels, and little memory remembers the first ones alone.
                        let levels =
                            policy == Policy::Block || expected_levels.starts_with(&elements);
                        if outcome != expected || !levels || total != expected_total {
                            seen.wrong = Some(format!(
                                "{how:?}: {outcome:?} for {expected:?}, {total} tasks for {expected_total}, levels {elements:?} for {expected_levels:?}"
                            ));
                        }
                    }
                    Err(e) if is_memory(&e) && *budget < works[way] => seen.out_of_memory += 1,
                    Err(e) => seen.wrong = Some(format!("{how:?}: {e}")),
                }
                if seen.wrong.is_some() {
                    return seen;
                }
            }
        }
        // All of them once, however slow the machine is.
        if start.elapsed() > limit {
            return seen;
        }
    }
    unreachable!("seeds do not end")
}

#[test]
fn tight_budgets_change_nothing() {
    if !emulator::is_there() {
        return;
    }
    on_all_cores(&calls(), |call| {
        let tried = &call.0;
        let prepared = prepare(&tried.source, &tried.name).unwrap();
        let mut emulator = Emulator::new(&prepared.levelized).unwrap();
        let limit = Duration::from_secs(seconds().unwrap_or(SECONDS));
        let seen = stress(call, &prepared, &mut emulator, limit);
        println!("{}: {seen:?}", tried.name);
        assert_eq!(seen.wrong, None, "{}", tried.name);
        assert!(seen.out_of_memory < seen.runs / 2, "{seen:?}");
    });
}

/// Random programs whose tasks spawn up to some hundred children; `MILLSTREAM_CASES` says how many of them.
#[test]
fn tight_budgets_change_nothing_of_random_programs() {
    if !emulator::is_there() {
        return;
    }
    let cases = std::env::var("MILLSTREAM_CASES").map_or(3, |v| v.parse().unwrap());
    let seeds: Vec<u64> = (1..=cases).collect();
    on_all_cores(&seeds, |&seed| {
        let tried = swarm(seed, 300);
        let prepared = prepare(&tried.source, &tried.name).unwrap();
        let mut emulator = Emulator::new(&prepared.levelized).unwrap();
        let call: (Tried, &[u64]) = (tried, &[32, 48, 64, 80, 96, 128, 192, 256, 1024, 8192]);
        let limit = Duration::from_secs(seconds().unwrap_or(10 * SECONDS) / 10);
        let seen = stress(&call, &prepared, &mut emulator, limit);
        println!("{}: {seen:?}", call.0.name);
        assert_eq!(seen.wrong, None, "{}: {}", call.0.name, call.0.source);
    });
}

/// Bugs of the kernels: where, what stands there, and what is put in its place.
const BUGS: [(&str, &str, &str); 17] = [
    (
        "narrow levels: continuations that find no room are lost",
        "if (!n.entry.of[k]) n.top.of[k] += n.left;",
        "",
    ),
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
        "|| entry.count < other.count)",
        "|| entry.count <= other.count)",
    ),
    (
        "policy: continuations wait for siblings that do not all find room",
        "entry.count < entry.have ||",
        "",
    ),
    (
        "policy: frames of a level are never given back",
        "if (!waiting) p.top[s] = now.hi[s] = now.lo[s];",
        "",
    ),
    (
        "narrow levels: children begin anywhere",
        "n.base.of[k] = n.entry.of[k] && narrow_young(n, k) == 0 ? aligned(top) : top;",
        "n.base.of[k] = top;",
    ),
    (
        "narrow levels: of sources that run one after another only the last one's children are known",
        "n.young.of[k] = narrow_young(n, k) + (children.of[k] ? n.added.of[k] : 0);",
        "n.young.of[k] = children.of[k] ? n.added.of[k] : 0;",
    ),
    (
        "narrow levels: nothing joins",
        "if (SEVERAL && n.others && n.left == 0",
        "if (SEVERAL && n.others && n.left != 0",
    ),
    (
        "policy: what joins is thought to find room whatever lies below children that wait",
        "const f32 free = FILL * (f32)room - (pending ? young * now.below[s] : 0);",
        "const f32 free = FILL * (f32)room;",
    ),
    (
        "narrow levels: neighbours are stored anywhere behind children that wait",
        "return !any_lane(odd);",
        "return true;",
    ),
    (
        "levels: where the elements end that wait above is forgotten",
        "waiting[at + 1] = Mark{what + MARK_END * STACKS, hi};",
        "waiting[at + 1] = Mark{what + MARK_END * STACKS, lo + 1};",
    ),
    (
        "levels: children go below a run that leaves some of its level",
        "return whole & (needs != 0) &",
        "return (needs != 0) &",
    ),
    (
        "reservation: a tile that begins in the room may end outside",
        "if (total && first + total > room) end_room",
        "if (total && first >= room) end_room",
    ),
    (
        "turns: other blocks wait for the first dispatch again",
        "for (u32 epoch = began + 1;; epoch++) {",
        "for (u32 epoch = 1;; epoch++) {",
    ),
    (
        "turns: other blocks run what is handed to the host",
        "if (thread_id() == 0) sh.dispatch.stop = 1;",
        "",
    ),
    (
        "workers: what is taken back is forgotten",
        "o.bottom[gift.stack] -= gift.count;",
        "",
    ),
];

/// Whatever `MILLSTREAM_STRESS` says: who changes the text sees that a bug is planted in what was changed.
#[test]
fn planted_bugs_have_their_places() {
    let device = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../channels-kernel/src/cuda/device"
    );
    let files = std::fs::read_dir(device).unwrap();
    let text = |file: std::fs::DirEntry| std::fs::read_to_string(file.path()).unwrap();
    let texts: Vec<String> = files.map(|file| text(file.unwrap())).collect();
    for (bug, right, _) in BUGS {
        let is_there = texts.iter().any(|text| text.contains(right));
        assert!(is_there, "{bug}: no text has `{right}`");
    }
}

#[test]
fn planted_bugs_are_found() {
    if !plants() || !emulator::is_there() {
        return;
    }
    let seconds = seconds().unwrap();
    let few = ["queens", "tree", "fib", "late", "kinds", "boards"];
    let calls = calls();
    let calls = calls
        .iter()
        .filter(|(tried, _)| few.contains(&tried.name.as_str()));
    let prepared: Vec<_> = calls
        .map(|call| (call, prepare(&call.0.source, &call.0.name).unwrap()))
        .collect();
    let mut missed = Vec::new();
    for (bug, right, wrong) in BUGS {
        let start = Instant::now();
        let found = prepared.iter().find_map(|(call, prepared)| {
            let mut emulator = Emulator::with_bug(&prepared.levelized, right, wrong);
            let limit = Duration::from_secs(seconds / few.len() as u64);
            stress(call, prepared, &mut emulator, limit).wrong
        });
        println!("{bug}: {:.1?}: {found:?}", start.elapsed());
        if found.is_none() {
            missed.push(bug);
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}
