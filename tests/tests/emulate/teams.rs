//! Loops that warps run together: what rounds write, spawn and gather, in order where it shows, is what their elision does, and a check that fails in
//! one lane ends the run for all.

use millstream_aggregator::{Aggregator, Policy, RunError};
use millstream_tests::{
    emulator::{self, Emulator, How},
    engine::{Engine, Prepared, emulate, prepare},
    stress::plants,
};

/// Rounds that write (each lane every fourth one), whose parts are spawned (in succession), that gather integers (joined behind the loop) and floats (in their order), and
/// one of which a check may fail. A child beside them keeps them from being [shared out](super::regions) by all blocks.
const LOOPS: &str = "#[millstream::program] mod loops {
    #[task] fn child(i: u32) -> u64 { (i as u64 * 7) % 11 + 1 }
    #[task] fn beside() {}
    #[task] pub fn written(data: &mut [u32]) {
        spawn!(beside());
        #[parallel]
        for (i, x) in data.iter_mut().enumerate() { *x = *x * 3 + i as u32; }
    }
    #[task] pub fn gathered(data: &[u32]) -> (u64, u32, f32, f64) {
        spawn!(beside());
        let (mut sum, mut most, mut product, mut floats) = (1u64, 0u32, 1.0f32, 0.5f64);
        #[parallel]
        for x in data {
            sum += *x as u64;
            if *x % 3 != 0 { most = most.max(*x); }
            product *= 1.0 + *x as f32 / 1000.0;
            floats -= 1.0 / (*x + 1) as f64;
        }
        (sum, most, product, floats)
    }
    #[task] pub fn spawned(n: u32) -> u64 {
        let mut sum = 0u64;
        #[parallel]
        for i in 0..n { sum += spawn!(child(i)); }
        sum
    }
    #[task] pub fn looked_up(data: &[u32], table: &[u32]) -> u64 {
        spawn!(beside());
        let mut sum = 0u64;
        #[parallel]
        for x in data { sum += table[*x as usize] as u64; }
        sum
    }
}";

const WAYS: [(Aggregator, Policy, u32); 4] = [
    (Aggregator::Persistent, Policy::Device, 2),
    (Aggregator::HostThread, Policy::Device, 1),
    (Aggregator::Auto, Policy::Device, 2),
    (Aggregator::HostThread, Policy::Block, 2),
];

pub(crate) fn numbers(count: u32) -> String {
    format!(
        "{:?}",
        (0..count).map(|i| i * 37 % 101).collect::<Vec<u32>>()
    )
}

fn calls() -> Vec<(&'static str, Vec<String>)> {
    let mut calls = Vec::new();
    // Around what one piece has, and lanes with one turn more than others.
    for count in [0, 1, 31, 33, 64, 203] {
        calls.push(("written", vec![numbers(count)]));
        calls.push(("gathered", vec![numbers(count)]));
        calls.push(("spawned", vec![count.to_string()]));
        calls.push(("looked_up", vec![numbers(count), numbers(101)]));
    }
    calls
}

fn program() -> Prepared {
    prepare(LOOPS, "loops.rs").unwrap()
}

/// The first call whose result differs from the CPU device's.
fn differing(prepared: &Prepared, emulator: &mut Emulator) -> Option<String> {
    first_differing(prepared, emulator, &calls(), &WAYS, &[1 << 20, 96 << 10])
}

/// The same of such calls, each in so many ways and with so much memory.
pub(crate) fn first_differing(
    prepared: &Prepared,
    emulator: &mut Emulator,
    calls: &[(&'static str, Vec<String>)],
    ways: &[(Aggregator, Policy, u32)],
    memories: &[u64],
) -> Option<String> {
    let cpu = Engine::Device("cpu".into(), millstream_aggregator::Device::cpu().unwrap());
    let mut seed = 0;
    for (task, args) in calls {
        let expected = cpu.call(prepared, task, args).unwrap();
        for (aggregator, policy, blocks) in ways.iter().copied() {
            for memory in memories.iter().copied() {
                seed += 1;
                let how = How {
                    policy,
                    ..How::new(aggregator, blocks, memory).interleaved(seed)
                };
                match emulate(emulator, how, prepared, task, args) {
                    Ok((found, _)) if found == expected => {}
                    other => {
                        return Some(format!(
                            "{task}({args:?}), {how:?}: {other:?}, not {expected:?}"
                        ));
                    }
                }
            }
        }
    }
    None
}

#[test]
fn warps_run_loops_as_their_elisions_do() {
    if !emulator::is_there() {
        return;
    }
    let prepared = program();
    let mut emulator = Emulator::with_text(&prepared.levelized, |text| {
        let teams = text.matches("LANES = WARP;").count();
        assert!(teams >= 3, "only {teams} of the loops are run by warps");
        text.to_owned()
    })
    .unwrap();
    assert_eq!(differing(&prepared, &mut emulator), None);
}

#[test]
fn a_check_that_fails_in_one_lane_ends_the_run() {
    if !emulator::is_there() {
        return;
    }
    let prepared = program();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    for (aggregator, policy, blocks) in WAYS {
        let how = How {
            policy,
            ..How::new(aggregator, blocks, 1 << 20)
        };
        // The largest number is one beyond the table.
        let args = [numbers(203), numbers(100)];
        let error = emulate(&mut emulator, how, &prepared, "looked_up", &args).unwrap_err();
        assert!(matches!(&error, RunError::Fault(_)), "{how:?}: {error}");
    }
}

/// Planted in what is written for teams.
#[test]
fn planted_bugs_of_teams_are_found() {
    if !plants() || !emulator::is_there() {
        return;
    }
    let prepared = program();
    let bugs = [
        ("all lanes have all turns", " += lane_id();", " += 0;"),
        (
            "parts overlap",
            "own = each * lane_id();",
            "own = lane_id();",
        ),
        (
            "what other lanes have is not joined",
            "shuffle_xor_wide(bits_of(gathered_",
            "shuffle_xor_wide(0 * bits_of(gathered_",
        ),
        (
            "what lanes find is added in another order",
            "if (who >> i & 1) take",
            "if (who >> (WARP - 1 - i) & 1) take",
        ),
        (
            "all lanes give the result",
            "if constexpr (W::RUN) if (lane_id() == 0)",
            "if constexpr (W::RUN)",
        ),
    ];
    for (bug, right, wrong) in bugs {
        let mut emulator = Emulator::with_bug(&prepared.levelized, right, wrong);
        assert!(
            differing(&prepared, &mut emulator).is_some(),
            "{bug} is not found"
        );
    }
}
