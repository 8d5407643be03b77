//! Elements that find no room in the middle of what they do: given up at a restart point and gone on with there, in budgets that hold a small part of
//! what they spawn, by every aggregator and in interleavings drawn by lot.

use millstream_aggregator::{Aggregator, Device, Policy, RunReport};
use millstream_tests::{
    budget::least,
    emulator::{self, Emulator, How},
    engine::{Engine, emulate, prepare},
    on_all_cores,
    spawners::spawners,
    stress::Tried,
    swarm::swarm,
};
use std::cell::RefCell;

/// Runs a call in so many KiB, in many interleavings: all comes of it that comes of it on the CPU, and nothing twice.
fn every_way(tried: &Tried, kib: u64, policy: Policy) -> Vec<RunReport> {
    let prepared = prepare(&tried.source, &tried.name).unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    let cpu = Engine::Device("cpu".into(), Device::cpu().unwrap());
    let (expected, of_cpu) = cpu
        .call_and_report(&prepared, &tried.task, &tried.args)
        .unwrap();
    let mut reports = Vec::new();
    for seed in 1..=6 {
        for aggregator in [
            Aggregator::Persistent,
            Aggregator::HostThread,
            Aggregator::Auto,
        ] {
            let how = How {
                policy,
                ..How::new(aggregator, 1 + seed as u32 % 3, kib << 10).interleaved(seed)
            };
            let (outcome, report) =
                emulate(&mut emulator, how, &prepared, &tried.task, &tried.args)
                    .unwrap_or_else(|e| panic!("{}: {how:?}: {e}", tried.name));
            assert_eq!(outcome, expected, "{}: {how:?}", tried.name);
            assert_eq!(Some(report.total), of_cpu.as_ref().map(|r| r.total));
            assert!(report.peak <= report.budget);
            reports.push(report);
        }
    }
    reports
}

fn spawner(children: u64) -> Tried {
    let mut tried = Tried::new("spawner", &[children]);
    let marks = format!("{:?}", vec![0; children as usize]);
    tried.args.extend([marks, "0".into(), "0".into()]);
    tried
}

fn effects() -> Tried {
    let mut tried = Tried::new("effects", &[11, 5, 300 | 1 << 21]);
    tried.args.push("[0, 5, 0]".into());
    tried
}

#[test]
fn a_loop_with_an_effect_before_each_spawn_runs_in_6_kib() {
    if !emulator::is_there() {
        return;
    }
    for (children, least) in [(700, 50), (5000, 400)] {
        let reports = every_way(&spawner(children), 6, Policy::Device);
        let dispatches = reports.iter().map(|r| r.dispatches).min().unwrap();
        assert!(
            dispatches > least,
            "{children} children in {dispatches} dispatches: it was never given up"
        );
    }
}

/// Tiles that want room in two channels, which find it in both or are given back.
#[test]
fn two_kinds_of_children_find_room_or_none_does() {
    if !emulator::is_there() {
        return;
    }
    for (count, kib) in [(1500, 64), (6000, 160)] {
        let mut pieces = Tried::new("pieces", &[count]);
        pieces.args.push("[0, 0, 0, 0, 0, 0, 0]".into());
        every_way(&pieces, kib, Policy::Device);
        every_way(&pieces, kib.max(100), Policy::Block);
    }
}

/// The places below a level that waits are free again when it is done, however often levels took turns in two places.
#[test]
fn many_recursions_with_frames_run_in_little_memory() {
    if !emulator::is_there() {
        return;
    }
    for (rays, kib) in [(200, 80), (600, 140)] {
        every_way(&Tried::new("rays", &[rays]), kib, Policy::Device);
    }
}

#[test]
fn trees_of_tasks_with_effects_run_in_40_kib() {
    if !emulator::is_there() {
        return;
    }
    every_way(&effects(), 40, Policy::Device);
}

/// One element pushes very many and each of those one: what the first did says nothing of the others. (On an H200 10^6 of them took 5,872 dispatches.)
#[test]
fn what_one_element_pushed_does_not_narrow_the_levels_below() {
    if !emulator::is_there() {
        return;
    }
    let source = "#[millstream::program] mod wide {
        use std::sync::atomic::{AtomicU64, Ordering};
        #[task] pub fn node(depth: u32, n: u32, count: &[AtomicU64]) {
            count[0].fetch_add(1, Ordering::Relaxed);
            if depth == 0 {
                for _ in 0..n { spawn!(node(1, n, count)); }
            } else if depth == 1 {
                spawn!(node(2, n, count));
            }
        }
    }";
    let tried = Tried {
        source: source.into(),
        name: "wide.rs".into(),
        task: "node".into(),
        args: vec!["0".into(), "20000".into(), "[0]".into()],
    };
    for report in every_way(&tried, 4 << 10, Policy::Device) {
        assert!(report.dispatches <= 100, "{} dispatches", report.dispatches);
    }
}

/// An element that waits in the middle of its loop keeps the frames of those beside it, which are done: it goes on before more of its siblings where
/// not all of these find room. (Each lot of them left its frames there, until there was room for one element at a time: 3,002 dispatches.)
#[test]
fn who_waits_goes_on_before_siblings_that_do_not_all_find_room() {
    if !emulator::is_there() {
        return;
    }
    for report in every_way(&swarm(22, 3000), 128, Policy::Device) {
        assert!(
            report.dispatches <= 1000,
            "{} dispatches of {} elements",
            report.dispatches,
            report.total
        );
    }
}

/// Each block has a part of the memory, and gives elements up by itself.
#[test]
fn workers_give_elements_up_too() {
    if !emulator::is_there() {
        return;
    }
    every_way(&spawner(5000), 48, Policy::Block);
    every_way(&effects(), 256, Policy::Block);
}

/// What only spawns and gathers has no restart points at first; a run of it that finds no room without is run again with them. Then what a task
/// spawns needs no room at once, so that programs whose tasks spawn eight times as many need no more.
#[test]
fn what_only_spawns_is_run_again_with_restart_points() {
    if !emulator::is_there() {
        return;
    }
    // Each has four texts to compile: every other one, where nobody gives time. What a CPU does with all of them, and in less, is in `pressure`.
    let one_in = super::stress::seconds().map_or(2, |_| 1);
    let pairs = spawners(100).into_iter().zip(spawners(800));
    let pairs: Vec<_> = pairs.skip(one_in - 1).step_by(one_in).collect();
    let wrong = on_all_cores(&pairs, |(few, many)| {
        let [few, many] = [few, many].map(least_of_all);
        let text = format!("{}: {few:?} bytes for few, {many:?} for many", many.0);
        println!("{text}");
        (many.1 > few.1 + few.1 / 8).then_some(text)
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The least budget in which all aggregators and both tiers do what the CPU does.
fn least_of_all(tried: &Tried) -> (String, u64) {
    let prepared = prepare(&tried.source, &tried.name).unwrap();
    let cpu = Engine::Device("cpu".into(), Device::cpu().unwrap());
    let expected = cpu.call(&prepared, &tried.task, &tried.args).unwrap();
    let emulator = RefCell::new(Emulator::new(&prepared.levelized).unwrap());
    let ways = [
        (Aggregator::HostThread, Policy::Device),
        (Aggregator::Auto, Policy::Device),
        (Aggregator::Persistent, Policy::Block),
    ];
    let needs = ways.map(|(aggregator, policy)| {
        let run = |memory| {
            let how = How {
                policy,
                ..How::new(aggregator, 2, memory)
            };
            let mut emulator = emulator.borrow_mut();
            let came = emulate(&mut emulator, how, &prepared, &tried.task, &tried.args);
            came.inspect(|(outcome, _)| assert_eq!(*outcome, expected, "{}: {how:?}", tried.name))
        };
        least(&run).unwrap().unwrap_or(u64::MAX)
    });
    (tried.name.clone(), needs.into_iter().fold(0, u64::max))
}
