//! What runs in a budget runs in every larger one, as far as this was tried: `MILLSTREAM_CASES` says with how many random programs, beside those of the
//! stress and the calls of the corpus that are small enough. `MILLSTREAM_PART=2/3` is the second third of them.

use super::{MOST_LEVELS, MOST_TASKS};
use millstream_aggregator::{Aggregator, Device, Policy, parse_bytes};
use millstream_corpus::PROGRAMS;
use millstream_tests::{
    budget::STEPS,
    emulator::{self, Emulator, How},
    engine::{Engine, Prepared, emulate, is_memory, prepare},
    on_all_cores, on_deep_stack, part,
    stress::Tried,
    swarm::swarm,
};

/// Who decides, on which tier, and by how many blocks.
const WAYS: [(Aggregator, Policy, u32); 5] = [
    (Aggregator::Persistent, Policy::Device, 2),
    (Aggregator::HostThread, Policy::Device, 3),
    (Aggregator::Auto, Policy::Device, 2),
    (Aggregator::HostThread, Policy::Block, 3),
    (Aggregator::Auto, Policy::Block, 2),
];

/// Runs by each who decides: the least budget that works in some interleaving is found, then fifty from there to 64 times it are tried, and forty that lie
/// close to it, each in an interleaving of its own. What was refused.
fn refused(tried: &Tried, prepared: &Prepared, emulator: &mut Emulator) -> Vec<String> {
    let cpu = Engine::Device("cpu".into(), Device::cpu().unwrap());
    let expected = cpu.call(prepared, &tried.task, &tried.args).unwrap();
    let mut all = Vec::new();
    for (aggregator, policy, blocks) in WAYS {
        let mut seed = 0;
        let mut works = |memory: u64| {
            seed += 1;
            let how = How {
                policy,
                ..How::new(aggregator, blocks, memory).interleaved(seed)
            };
            match emulate(emulator, how, prepared, &tried.task, &tried.args) {
                Ok((outcome, report)) => {
                    assert_eq!(outcome, expected, "{}: {how:?}", tried.name);
                    assert!(report.peak <= report.budget && report.budget <= memory);
                    true
                }
                Err(e) if is_memory(&e) => false,
                Err(e) => panic!("{}: {how:?}: {e}", tried.name),
            }
        };
        let mut least = 1 << 10;
        while !works(least) {
            least *= 2;
            assert!(least < 1 << 30, "{}", tried.name);
        }
        let mut short = least / 2;
        while least - short > 16 {
            let middle = short.midpoint(least);
            *(if works(middle) {
                &mut least
            } else {
                &mut short
            }) = middle;
        }
        // Something less may work by chance, and then that is the least.
        let below = (1..=24).map(|i| (least as f64 * 0.98f64.powi(i)) as u64);
        let below: Vec<u64> = below.filter(|memory| works(*memory)).collect();
        least = below.last().copied().unwrap_or(least);
        let of = |part: i32| f64::from(part) / f64::from(STEPS as i32);
        let far = (0..=STEPS as i32).map(|i| (least as f64 * 64f64.powf(of(i))) as u64);
        // Most of the least budget may be for other things than elements.
        let near = (0..40).map(|i| least + (16.0 * (least as f64).powf(of(i))) as u64);
        let refused: Vec<u64> = far.chain(near).filter(|memory| !works(*memory)).collect();
        let by = format!("{} by {aggregator:?}, {policy:?}", tried.name);
        println!("{by}: {least} works; refused {refused:?}");
        if !refused.is_empty() {
            all.push(format!("{by}: {least} works, but not {refused:?}"));
        }
    }
    all
}

#[test]
fn what_runs_in_a_budget_runs_in_every_larger_one() {
    if !emulator::is_there() {
        return;
    }
    let lent = |mut tried: Tried, memory: &[&str]| {
        tried.args.extend(memory.iter().map(ToString::to_string));
        tried
    };
    let marks = format!("{:?}", [0; 300]);
    let calls = [
        Tried::new("fib", &[9]),
        lent(
            Tried::new("effects", &[11, 4, 30 | 1 << 21]),
            &["[0, 5, 0]"],
        ),
        Tried::new("queens", &[127, 0, 0, 0]),
        Tried::new("tree", &[3, 5]),
        Tried::new("wide", &[11, 5, 100 | 1 << 21]),
        Tried::new("phases", &[5, 2, 30]),
        Tried::new("chains", &[10, 40]),
        Tried::new("rays", &[40]),
        lent(Tried::new("marks", &[11, 5, 100 | 1 << 21]), &["0"]),
        lent(
            Tried::new("effects", &[11, 5, 100 | 1 << 21]),
            &["[0, 5, 0]"],
        ),
        lent(Tried::new("spawner", &[300]), &[&marks, "0", "0"]),
        lent(Tried::new("pieces", &[300]), &["[0, 0, 0, 0, 0, 0, 0]"]),
    ];
    let cases = std::env::var("MILLSTREAM_CASES").map_or(0, |v| v.parse().unwrap());
    let all: Vec<Tried> = if cases == 0 {
        calls.into_iter().take(2).collect()
    } else {
        let random = (1..=cases).map(|seed| swarm(seed, 100));
        calls.into_iter().chain(corpus()).chain(random).collect()
    };
    let (part, parts) = part().unwrap_or((0, 1));
    let mine: Vec<&Tried> = all.iter().skip(part).step_by(parts).collect();
    let refused = on_all_cores(&mine, |tried| {
        let prepared = prepare(&tried.source, &tried.name).unwrap();
        let mut emulator = Emulator::new(&prepared.levelized).unwrap();
        emulator.compile_workers().unwrap();
        refused(tried, &prepared, &mut emulator)
    });
    let wrong = refused.concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The calls of the corpus that are small enough to be run thousands of times.
fn corpus() -> Vec<Tried> {
    let cpu = Engine::Device("cpu".into(), Device::cpu().unwrap());
    let small = on_all_cores(PROGRAMS, |listed| {
        let prepared = prepare(listed.source, listed.name).unwrap();
        let small = listed.cases.iter().filter_map(|case| {
            let args = on_deep_stack(case.elision).before;
            let (_, report) = cpu.call_and_report(&prepared, case.task, &args).unwrap();
            let is_small = report.is_some_and(|r| r.total <= MOST_TASKS && r.levels <= MOST_LEVELS);
            is_small.then(|| Tried {
                name: format!("{}: {}", listed.name, case.text),
                source: listed.source.into(),
                task: case.task.into(),
                args,
            })
        });
        small.collect::<Vec<_>>()
    });
    small.into_iter().flatten().collect()
}

/// What a budget lacks that is too small for the call itself is said, and with that the call begins.
#[test]
fn who_has_too_little_is_told_how_much_is_missing() {
    if !emulator::is_there() {
        return;
    }
    let tried = Tried::new("fib", &[9]);
    let prepared = prepare(&tried.source, &tried.name).unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    let mut run = |memory| {
        let how = How::new(Aggregator::HostThread, 2, memory);
        emulate(&mut emulator, how, &prepared, &tried.task, &tried.args)
    };
    let error = run(2000).unwrap_err().to_string();
    let (_, missing) = error.split_once("needs ").unwrap();
    let more = parse_bytes(missing.split_once(" more").unwrap().0).unwrap();
    assert!(more > 0, "{error}");
    // It is said to a tenth of a KiB.
    if let Err(error) = run(2000 + more + 128) {
        assert!(!error.to_string().contains("at depth 0"), "{error}");
    }
    assert!(
        run(2000 + more / 2).is_err_and(|e| e.to_string().contains("at depth 0")),
        "it was enough"
    );
}
