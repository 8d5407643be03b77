//! Loops of a task that the device runs alone, which all blocks share out, some blocks or a warp those inside: the results are the CPU device's to the last bit,
//! however many blocks there are, and a check that fails in one round ends the run.

use super::{
    stress::seconds,
    teams::{first_differing, numbers},
};
use millstream_aggregator::{Aggregator, Policy, RunError};
use millstream_channels_kernel::cuda::{Options, Plan, generate};
use millstream_tests::{
    emulator::{self, Emulator, How},
    engine::{Prepared, emulate, prepare},
    stress::plants,
};

/// Rounds that write, that gather what may be joined in any order and what may not, loops in loops down to the fourth, in functions and behind arrays of a
/// round's own, few rounds and many, and one of which a check may fail. Helpers that a task run alone has in common with
/// others, whose loops are theirs.
const LOOPS: &str = "#[millstream::program] mod loops {
    use std::sync::atomic::{AtomicU32, Ordering};
    #[derive(Clone, Copy)] pub struct Both { pub sum: f64, pub count: u32 }
    fn mean(data: &[u32], from: u32) -> f32 {
        let (mut sum, mut count) = (0.0f32, 0u32);
        #[parallel]
        for x in data { if *x >= from { sum += 1.0 / (*x + 1) as f32; count += 1; } }
        sum / (count + 1) as f32
    }
    #[task] pub fn written(data: &mut [u32]) {
        #[parallel]
        for (i, x) in data.iter_mut().enumerate() { *x = *x * 3 + i as u32; }
        #[parallel]
        for (i, x) in data.iter_mut().enumerate() { *x ^= i as u32; }
    }
    #[task] pub fn gathered(data: &[u32]) -> (u64, u32, f32, f64) {
        let (mut sum, mut most, mut product, mut floats) = (1u64, 0u32, 1.0f32, 0.5f64);
        #[parallel]
        for x in data {
            sum += *x as u64;
            if *x % 3 != 0 { most = most.max(*x); }
            product *= 1.0 + *x as f32 / 1000.0;
            floats -= 1.0 / (*x + 1) as f64;
        }
        #[parallel]
        for x in data { sum += *x as u64 * 3; most |= *x; }
        (sum, most, product, floats)
    }
    #[task] pub fn rows(data: &mut [u32], width: usize) -> (u64, f32) {
        let (mut sum, mut far) = (0u64, 0.0f32);
        #[parallel]
        for (y, row) in data.chunks_mut(width).enumerate() {
            let before = row[0];
            #[parallel]
            for (x, cell) in row.iter_mut().enumerate() {
                *cell = *cell * 5 + (x * 7 + y) as u32;
                sum += *cell as u64;
            }
            row[0] += before;
        }
        #[parallel]
        for row in data.chunks(width) {
            #[parallel]
            for cell in row { far = far.max(*cell as f32 / 3.0); }
        }
        (sum, far)
    }
    #[task] pub fn means(data: &[u32], out: &mut [f32]) -> f32 {
        let mut all = 0.0f32;
        #[parallel]
        for (i, own) in out.iter_mut().enumerate() { *own = mean(data, i as u32); }
        #[parallel]
        for (i, own) in out.iter().enumerate() { all += *own * mean(&data[i..], 3); }
        all
    }
    #[task] pub fn cube(data: &[u32], out: &mut [u64], n: usize) -> u64 {
        let mut all = 0u64;
        #[parallel]
        for (i, plane) in out.chunks_mut(n).enumerate() {
            let mut table = [0u32; 5];
            for j in 0..5 { table[j] = (i * j) as u32; }
            let mut flat = 0u64;
            #[parallel]
            for j in 0..n * 5 { flat += (j * i + 1) as u64; }
            all ^= flat;
            #[parallel]
            for (j, cell) in plane.iter_mut().enumerate() {
                let mut sum = table[j % 5] as f32;
                #[parallel]
                for x in data { sum += (*x * table[(j + 1) % 5]) as f32 / 7.0; }
                let mut more = 0u64;
                #[parallel]
                for k in 0..j {
                    #[parallel]
                    for l in 0..k { more += (l * i) as u64; }
                }
                *cell = sum.to_bits() as u64 + more;
                all ^= *cell;
            }
        }
        all
    }
    #[task] pub fn structs(data: &[u32], parts: usize) -> f64 {
        let mut out = 0.0;
        #[parallel]
        for p in 0..parts {
            let (mut sum, mut count) = (0.0f64, 0u32);
            #[parallel]
            for x in data { if *x as usize % parts == p { sum += *x as f64 / 3.0; count += 1; } }
            let both = Both { sum, count };
            out += both.sum / (both.count + 1) as f64;
        }
        out
    }
    #[task] pub fn counted(data: &[u32], counts: &[AtomicU32]) -> (i32, u32, u64) {
        let (mut left, mut seen, mut last) = (1000i32, 0u32, 0u64);
        #[parallel]
        for x in data {
            let before = counts[*x as usize % 7].fetch_add(1, Ordering::Relaxed);
            left -= *x as i32;
            if *x % 2 == 0 { left += 3; }
            seen |= before + 1;
            last ^= *x as u64;
        }
        // Whatever the order was, the highest bit of what was seen is that of the most.
        (left, seen.ilog2(), last)
    }
    fn smooth(data: &mut [u32]) {
        #[parallel]
        for x in data.iter_mut() { *x = *x * 3 + 1; }
    }
    #[task] pub fn smoothed(data: &mut [u32]) { smooth(data); }
    #[task] fn next(i: u32) -> u32 { i + 1 }
    #[task] fn inner(data: &mut [u32]) -> u32 { smooth(data); data[0] }
    #[task] pub fn outer(data: &mut [u32], n: u32) -> u32 {
        let mut k = 0;
        for i in 0..n { k += spawn!(next(i)); }
        let r = inner(data);
        sync!();
        k + r
    }
    #[task] pub fn halves(rows: &mut [u32]) -> u32 {
        if rows.len() <= 40 { return inner(rows); }
        let (l, r) = rows.split_at_mut(rows.len() / 2);
        let a = spawn!(halves(l));
        let b = spawn!(halves(r));
        sync!();
        a + b
    }
    #[task] pub fn by_rows(data: &mut [u32]) -> u32 {
        let mut sum = 0;
        #[parallel]
        for row in data.chunks_mut(50) { sum += inner(row); }
        sum
    }
    #[task] pub fn looked_up(data: &[u32], table: &[u32], rounds: usize) -> u64 {
        let mut sum = 0u64;
        #[parallel]
        for i in 0..rounds {
            #[parallel]
            for x in data { sum += table[*x as usize] as u64 * i as u64; }
        }
        sum
    }
    #[task] pub fn few(table: &[u32], own: &mut [u32], rounds: usize) -> u64 {
        let mut sum = 0u64;
        for k in 0..rounds {
            #[parallel]
            for (i, x) in own[..40 * k + 1].iter_mut().enumerate() {
                *x += table[i + k];
                sum += *x as u64;
            }
            own[k] += sum as u32;
        }
        sum
    }
}";

const WAYS: [(Aggregator, Policy, u32); 5] = [
    (Aggregator::Persistent, Policy::Device, 2),
    (Aggregator::HostThread, Policy::Device, 1),
    (Aggregator::HostThread, Policy::Device, 13),
    (Aggregator::Auto, Policy::Device, 3),
    (Aggregator::HostThread, Policy::Block, 4),
];

fn zeros(count: usize, zero: &str) -> String {
    format!("[{}]", vec![zero; count].join(", "))
}

fn calls() -> Vec<(&'static str, Vec<String>)> {
    let mut calls = Vec::new();
    // The first time all blocks have few rounds, the next time perhaps the master's own.
    for count in [0, 1, 33, 200, 64, 300, 41] {
        calls.push(("written", vec![numbers(count)]));
        calls.push(("gathered", vec![numbers(count)]));
    }
    for (height, width) in [(2, 7), (3, 90), (11, 5), (40, 3), (300, 1)] {
        let data = numbers(height * width);
        calls.push(("rows", vec![data, width.to_string()]));
    }
    for outs in [3, 12, 40] {
        calls.push(("means", vec![numbers(70), zeros(outs, "0.0")]));
    }
    for n in [3, 9] {
        let out = zeros(9 * n, "0");
        calls.push(("cube", vec![numbers(23), out, n.to_string()]));
    }
    for parts in [2, 10] {
        calls.push(("structs", vec![numbers(90), parts.to_string()]));
    }
    for count in [5, 200] {
        calls.push(("counted", vec![numbers(count), zeros(7, "0")]));
    }
    for count in [45, 333] {
        calls.push(("smoothed", vec![numbers(count)]));
        calls.push(("outer", vec![numbers(count), "9".into()]));
        calls.push(("halves", vec![numbers(count)]));
        calls.push(("by_rows", vec![numbers(count)]));
    }
    for rounds in ["5", "8", "9"] {
        calls.push(("few", vec![numbers(400), zeros(330, "0"), rounds.into()]));
    }
    for rounds in ["2", "9"] {
        let table = vec![numbers(60), numbers(101), rounds.into()];
        calls.push(("looked_up", table));
    }
    calls
}

fn program() -> Prepared {
    prepare(LOOPS, "loops.rs").unwrap()
}

/// A block of the emulated GPU has too few lanes for the rounds of a loop ever to be fewer, of those that are handed to its warps.
fn few_lanes(text: &str) -> String {
    let right = "FN_IN static u64 lanes() { return (u64)size() * BLOCK; }";
    assert!(text.contains(right));
    text.replace(right, &right.replace("BLOCK", "BLOCK * 8"))
}

/// The first call whose result differs from the CPU device's.
fn differing(prepared: &Prepared, emulator: &mut Emulator) -> Option<String> {
    first_differing(prepared, emulator, &calls(), &WAYS, &[1 << 20])
}

#[test]
fn all_blocks_run_loops_as_their_elisions_do() {
    if !emulator::is_there() {
        return;
    }
    let prepared = program();
    let mut emulator = Emulator::with_text(&prepared.levelized, |text| {
        for crew in [
            "OfDevice, OfLane",
            "OfDevice, OfWarp",
            "OfDevice, OfBlocks",
            "OfMaster, OfLane",
            "OfBlocks, OfWarp",
            "OfBlocks, OfLane",
            "OfWarp, OfLane",
        ] {
            let part = format!("(w, parts, Part<{crew}>::own()");
            assert!(text.contains(&part), "no loop is shared out as {part}");
        }
        few_lanes(&text)
    })
    .unwrap();
    assert_eq!(differing(&prepared, &mut emulator), None);
}

#[test]
fn a_check_that_fails_in_one_round_ends_the_run() {
    if !emulator::is_there() {
        return;
    }
    let prepared = program();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    let seeds = if seconds().is_some() { 40 } else { 8 };
    for (seed, (aggregator, policy, blocks)) in (1..=seeds).flat_map(|s| WAYS.map(|way| (s, way))) {
        let how = How {
            policy,
            ..How::new(aggregator, blocks, 1 << 20).interleaved(seed)
        };
        // The largest number is one beyond the table: in the rounds of a warp, of a block and of several.
        for (data, table, rounds) in [(60, 60, "9"), (203, 100, "9"), (203, 100, "2")] {
            let args = [numbers(data), numbers(table), rounds.into()];
            let error = emulate(&mut emulator, how, &prepared, "looked_up", &args).unwrap_err();
            assert!(matches!(&error, RunError::Fault(_)), "{how:?}: {error}");
            // The same in rounds that the master's own block may have.
            let args = [numbers(200), zeros(330, "0"), "8".into()];
            let error = emulate(&mut emulator, how, &prepared, "few", &args).unwrap_err();
            assert!(matches!(&error, RunError::Fault(_)), "{how:?}: {error}");
            // And the next run is as if nothing had been.
            let args = [numbers(60), numbers(101), "3".into()];
            assert!(emulate(&mut emulator, how, &prepared, "looked_up", &args).is_ok());
        }
    }
}

/// Accesses of the records, of the arrays and of what rounds write are in order.
#[test]
fn accesses_of_regions_are_ordered() {
    if !emulator::is_there() {
        return;
    }
    let prepared = program();
    let mut emulator = Emulator::watched(&prepared.levelized).unwrap();
    assert_eq!(differing(&prepared, &mut emulator), None);
}

/// Planted in what is written for regions.
#[test]
fn planted_bugs_of_regions_are_found() {
    if !plants() || !emulator::is_there() {
        return;
    }
    let bugs = [
        (
            "lanes of a warp have the same rounds",
            "? warp * lanes + lane_id() :",
            "? warp * lanes :",
        ),
        (
            "warps of a block have the same rounds",
            "return warp_id() * OfBlocks::size() + OfBlocks::own();",
            "return OfBlocks::own();",
        ),
        (
            "blocks of a crew have the same rounds",
            "return warp_id() * OfBlocks::size() + OfBlocks::own();",
            "return warp_id() * OfBlocks::size();",
        ),
        (
            "what other blocks of a crew have is not joined",
            "} else {\n        R::template give",
            "} else if (own() == 0) {\n        R::template give",
        ),
        (
            "lanes of blocks leave rounds out",
            "step = warps * lanes;",
            "step = 2 * warps * lanes;",
        ),
        (
            "blocks have the same rounds",
            "{ return OfBlocks::number(); }",
            "{ return 0; }",
        ),
        (
            "what other lanes have is not joined",
            "value = R::join(value, from_bits<typename R::Value>(shuffle_xor_wide(bits_of(value), o)));",
            ";",
        ),
        (
            "what other warps have is not joined",
            "for (u32 w = 1; w < WARPS; w++) value = R::join",
            "for (u32 w = 1; w < 1; w++) value = R::join",
        ),
        (
            "what a region gathers does not begin with nothing",
            "handed.gathered[g] = none[g];",
            "handed.gathered[g] += none[g];",
        ),
        (
            "arguments are those of the region before",
            "for (u32 i = 0; i < ARGS; i++) handed.args[i] = args[i];",
            "for (u32 i = 1; i < ARGS; i++) handed.args[i] = args[i];",
        ),
        (
            "a block does not wait for its warps",
            "== WARPS - 1) {",
            "== 0) {",
        ),
        (
            "the master does not wait for all",
            "if (!await(c, &handed.arrived, serving())) w.failed = true;",
            "",
        ),
        (
            "the master's own block leaves rounds out",
            "FN_IN static u32 all() { return WARPS; }",
            "FN_IN static u32 all() { return 2 * WARPS; }",
        ),
        (
            "what lanes of a warp find is added in another order",
            "if (who >> i & 1) take",
            "if (who >> (WARP - 1 - i) & 1) take",
        ),
    ];
    let prepared = program();
    for (bug, right, wrong) in bugs {
        let mut emulator = Emulator::with_text(&prepared.levelized, |text| {
            assert!(text.contains(right), "{bug}: the text has changed");
            few_lanes(&text).replace(right, wrong)
        })
        .unwrap();
        assert!(
            differing(&prepared, &mut emulator).is_some(),
            "{bug} is not found"
        );
    }
}

/// What a loop of all blocks gathers in order lies where all see it, so a helper that calls itself wants no stack for it: some drivers have none so large.
#[test]
fn what_all_blocks_gather_is_on_no_stack() {
    let source = "#[millstream::program] mod program {
        fn deep(n: u32, p: u32) -> u32 {
            if n == 0 { return p; }
            deep(n - 1, p * 3 + n) + deep(n / 2, p)
        }
        fn mean(data: &[u32]) -> f64 {
            let mut sum = 0.0;
            #[parallel]
            for x in data { sum += *x as f64 / 3.0; }
            sum / data.len() as f64
        }
        #[task] pub fn alone(n: u32, data: &[u32]) -> f64 {
            let (mut sum, mut product) = (deep(n, 3) as f64, 1.0);
            #[parallel]
            for x in data { sum -= *x as f64 * 0.5; product *= *x as f64 * 0.001 + 1.0; }
            sum + product + mean(data)
        }
    }";
    let prepared = prepare(source, "program.rs").unwrap();
    let plan = Plan::new(prepared.levelized.on_wide(), 1 << 30);
    let generated = generate(&plan, Options::default());
    assert!(generated.source.contains("static __device__ char results"));
    let recursion = generated.recursion.unwrap();
    assert!(recursion.base(&plan, None) < 4 << 10);
}
