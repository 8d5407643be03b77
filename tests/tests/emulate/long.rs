//! Loops that only spawn and have many turns: all lanes of a warp run them together, and it is as if each lane ran its own.

use super::stress::{calls, stress};
use millstream_aggregator::{Aggregator, Policy, RunError};
use millstream_tests::{
    emulator::{self, Emulator, How},
    engine::{Prepared, emulate, prepare},
    stress::plants,
};
use std::time::Duration;

/// What differs of the programs with such loops, if something does, in all of their budgets once; `plant` changes their text.
fn differing(plant: &impl Fn(&str) -> String) -> Option<String> {
    let has_long = |name: &str| ["wide", "hubs", "counters"].contains(&name);
    calls()
        .iter()
        .filter(|(tried, _)| has_long(&tried.name))
        .find_map(|call| {
            let (tried, _) = call;
            let prepared = prepare(&tried.source, &tried.name).unwrap();
            let mut emulator = Emulator::with_text(&prepared.levelized, |text| {
                assert!(
                    text.contains("LONG = true"),
                    "{} has no such loop",
                    tried.name
                );
                plant(&text)
            })
            .unwrap();
            stress(call, &prepared, &mut emulator, Duration::ZERO).wrong
        })
}

const CHECKED: &str = "#[millstream::program] mod checked {
    #[task] pub fn all(n: u32, depth: u32, data: &[u32]) -> u64 {
        if depth == 0 { return data[n as usize % data.len()] as u64; }
        let mut sum = 0u64;
        for i in 0..n as usize {
            sum += spawn!(all(100 / data[i], depth - 1, data));
        }
        sync!();
        sum
    }
}";

#[test]
fn a_check_that_fails_in_one_turn_ends_the_run() {
    if !emulator::is_there() {
        return;
    }
    let prepared: Prepared = prepare(CHECKED, "checked").unwrap();
    let mut emulator = Emulator::with_text(&prepared.levelized, |text| {
        assert!(text.contains("LONG = true"), "the loop is not one of these");
        text
    })
    .unwrap();
    let mut data = vec![50; 200];
    let good = [String::from("200"), "2".into(), format!("{data:?}")];
    data[199] = 0;
    let zero = [String::from("200"), "2".into(), format!("{data:?}")];
    let beyond = [String::from("201"), "2".into(), good[2].clone()];
    for aggregator in [
        Aggregator::Persistent,
        Aggregator::HostThread,
        Aggregator::Auto,
    ] {
        for policy in [Policy::Device, Policy::Block] {
            let how = How {
                policy,
                ..How::new(aggregator, 2, 1 << 20)
            };
            let (outcome, _) = emulate(&mut emulator, how, &prepared, "all", &good).unwrap();
            // Each of 200 children has two, which give 50.
            assert_eq!(outcome.result, "20000", "{how:?}");
            for wrong in [&zero, &beyond] {
                let error = emulate(&mut emulator, how, &prepared, "all", wrong).unwrap_err();
                assert!(matches!(&error, RunError::Fault(_)), "{how:?}: {error}");
            }
        }
    }
}

#[test]
fn planted_bugs_of_long_loops_are_found() {
    if !plants() || !emulator::is_there() {
        return;
    }
    // What is left out would be whatever lay there, so these only write other values.
    let bugs = [
        (
            "each lane counts from where its own loop does",
            "of.from_0 = from_lane(own.from_0, lane);",
            "of.from_0 = own.from_0;",
        ),
        (
            "two turns are the same",
            "(u64)of.from_0 + turn)",
            "(u64)of.from_0 + turn / 2)",
        ),
    ];
    for (bug, right, wrong) in bugs {
        let mut planted = std::cell::Cell::new(false);
        let found = differing(&|text| {
            planted.set(planted.get() || text.contains(right));
            text.replace(right, wrong)
        });
        assert!(*planted.get_mut(), "`{right}` stands nowhere");
        assert!(found.is_some(), "{bug}: not found");
    }
}
