//! Memory that is short: what runs in a budget runs in every larger one, in order and one sibling after the other where it must.
//!
//! - `MILLSTREAM_CASES`: how many random programs are tried in every budget, 12 if it is not set. `MILLSTREAM_CASES=500 cargo test -p
//!   millstream-tests --test all pressure::` tries many, and every call of the corpus instead of one in eight.
//! - `MILLSTREAM_SEED`: the first seed, 1 if it is not set.

use millstream_aggregator::{
    CpuOptions, Device, ErasedArg, ErasedCall, Loaded, MemoryArg, RunError, RunReport,
};
use millstream_corpus::PROGRAMS;
use millstream_tests::{
    Listed, Outcome,
    budget::{cpu, every_budget, least},
    engine::{Prepared, call_loaded, prepare, serial_tasks},
    knapsack, on_all_cores,
    random::{Choices, decide, generate, pressure},
    spawners::spawners,
    stress::Tried,
    swarm::swarm,
};
use std::sync::atomic::{AtomicU64, Ordering};

fn setting(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(
        value
            .parse()
            .unwrap_or_else(|_| panic!("{name}={value} is not a number")),
    )
}

/// Whether as many random programs are asked for as are tried with all else there is.
fn all_is_asked() -> bool {
    setting("MILLSTREAM_CASES").is_some_and(|n| n >= 100)
}

/// A program, compiled: for devices of all budgets, as it does not depend on them.
fn program(tasks: &str) -> Loaded {
    let module = format!("#[millstream::program]\nmod pressure {{ {tasks} }}");
    compiled(&prepare(&module, "pressure.rs").unwrap())
}

fn compiled(prepared: &Prepared) -> Loaded {
    cpu(1, 1 << 20).load(&prepared.levelized).unwrap()
}

/// A call of a task that takes scalars and returns a word or nothing.
fn call(
    (threads, memory): (u32, u64),
    program: &Loaded,
    task: &str,
    args: &[u64],
) -> Result<(u64, RunReport), RunError> {
    let args = args.iter().map(|&a| ErasedArg::Scalar(a)).collect();
    launch((threads, memory), program, task, args)
}

fn launch(
    (threads, memory): (u32, u64),
    program: &Loaded,
    task: &str,
    args: Vec<ErasedArg<'_>>,
) -> Result<(u64, RunReport), RunError> {
    let device = cpu(threads, memory);
    let mut calls = [ErasedCall::new(args)];
    let task = program.program().find(task).unwrap();
    let report = device.launch(program, task, &mut calls)?;
    assert!(report.peak <= memory, "{threads} threads: {report}");
    let result = calls[0].result[..].try_into().unwrap_or_default();
    Ok((u64::from_ne_bytes(result), report))
}

/// Tasks whose frames hold 64 words, and 340.
const FRAMES: &str = "
    #[task]
    pub fn medium(depth: u32, seed: u64) -> u64 {
        let mut parts = [0u64; 64];
        if depth == 0 {
            return seed;
        }
        for i in 0..7 {
            parts[i] = spawn!(medium(depth - 1, seed * 31 + i as u64));
        }
        sync!();
        let mut sum = 0;
        for i in 0..64 {
            sum ^= parts[i] * (i as u64 + 1);
        }
        sum
    }

    #[task]
    pub fn large(depth: u32, seed: u64) -> u64 {
        let mut parts = [0u64; 340];
        if depth == 0 {
            return seed;
        }
        for i in 0..18 {
            parts[i] = spawn!(large(depth - 1, seed * 31 + i as u64));
        }
        sync!();
        let mut sum = 0;
        for i in 0..340 {
            sum ^= parts[i] * (i as u64 + 1);
        }
        sum
    }
";

#[test]
fn more_memory_is_never_too_little() {
    let program = program(FRAMES);
    for depth in [2, 4, 6] {
        let run = |memory| call((1, memory), &program, "medium", &[depth, 1]);
        let expected = run(1 << 30).unwrap().0;
        let least = every_budget(&expected, run).unwrap().unwrap();
        // Depth first, each level has a frame and seven children.
        assert!(
            least < (depth + 1) * 1400,
            "{depth} levels need {least} bytes"
        );
    }
}

#[test]
fn one_siblings_frame_is_alive_at_a_time() {
    let program = program(FRAMES);
    for (depth, kib) in [(2, 9), (4, 16)] {
        let run = |memory| call((1, memory), &program, "large", &[depth, 1]);
        let least = least(&run).unwrap().unwrap();
        assert!(
            least <= kib * 1024 * 3 / 2,
            "{depth} levels need {least} bytes"
        );
    }
}

#[test]
fn chains_run_one_after_the_other_where_they_must() {
    let program = program(
        "
    #[task]
    pub fn chain(len: u64) -> u64 {
        if len == 0 {
            return 1;
        }
        let rest = spawn!(chain(len - 1));
        sync!();
        (rest * 3) ^ len
    }

    #[task]
    pub fn chains(count: u64, len: u64) -> u64 {
        let mut sum = 0;
        for i in 0..count {
            sum += spawn!(chain(len));
        }
        sync!();
        sum
    }
    ",
    );
    let need = |count| {
        let run = |memory| call((1, memory), &program, "chains", &[count, 30_000]);
        least(&run).unwrap().unwrap()
    };
    let (one, many) = (need(1), need(64));
    assert!(
        many * 10 < one * 11,
        "one chain needs {one} bytes, 64 of them {many}"
    );
}

/// What only spawns and gathers has restart points as well: it runs in what its tasks take one at a time, however many they spawn.
#[test]
fn loops_that_only_spawn_run_in_6_kib() {
    let (most, swarms) = if all_is_asked() {
        (12_000, 30)
    } else {
        (5000, 20)
    };
    let all = spawners(most);
    let swarms = (1..=swarms).map(|seed| swarm(seed, 1000));
    let all: Vec<Tried> = all.into_iter().chain(swarms).collect();
    let wrong = on_all_cores(&all, |tried| spawns_in_little(tried).err());
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn spawns_in_little(tried: &Tried) -> Result<(), String> {
    let (name, task, args) = (&tried.name, &tried.task, &tried.args);
    let prepared = prepare(&tried.source, name).unwrap();
    let run = on_cpu(&prepared, task, args);
    let (expected, report) = run(1 << 30).unwrap();
    let least = every_budget(&expected, run).map_err(|e| format!("{name}: {e}"))?;
    let least = least.unwrap_or(u64::MAX);
    println!("{name}: {} tasks in {least} bytes", report.total);
    if least > 6 << 10 {
        return Err(format!("{name} needs {least} bytes"));
    }
    let loaded = compiled(&prepared);
    for mib in [4, 5, 9, 64] {
        let device = cpu(2, mib << 20);
        let (outcome, report) = call_loaded(&device, &loaded, &prepared, task, args).unwrap();
        assert_eq!(outcome, expected, "{name}, two threads in {mib} MiB");
        assert!(report.peak <= mib << 20, "{name}, {mib} MiB: {report}");
    }
    Ok(())
}

/// A loop that spawns many, each of which does little.
const WIDE: &str = "
    use std::sync::atomic::{AtomicU64, Ordering};

    #[task]
    pub fn count(n: u64, wide: u64, counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
        if n == 2 {
            for i in 0..wide {
                spawn!(count(1, wide, counter));
            }
        } else if n == 1 {
            spawn!(count(0, wide, counter));
        }
    }

    #[task]
    pub fn sum(n: u64, wide: u64) -> u64 {
        let mut total = 1;
        if n == 2 {
            for i in 0..wide {
                total += spawn!(sum(1, wide));
            }
        } else if n == 1 {
            total += spawn!(sum(0, wide));
        }
        sync!();
        total
    }
";

#[test]
fn a_wide_loop_stays_wide_without_a_result() {
    let program = program(WIDE);
    let wide = 1_000_000;
    let mut counter = AtomicU64::new(0);
    let args = vec![
        ErasedArg::Scalar(2),
        ErasedArg::Scalar(wide),
        ErasedArg::Memory(MemoryArg::exclusive(std::slice::from_mut(
            counter.get_mut(),
        ))),
    ];
    // As wide as a second level cache of 2 MiB makes it.
    let device = Device::cpu_with(CpuOptions {
        threads: Some(1),
        width: Some(8192),
        ..CpuOptions::default()
    });
    let device = device.unwrap();
    let mut calls = [ErasedCall::new(args)];
    let task = program.program().find("count").unwrap();
    let report = device.launch(&program, task, &mut calls).unwrap();
    assert_eq!(counter.load(Ordering::Relaxed), 2 * wide + 1);
    assert_eq!(report.total, 2 * wide + 1);
    assert!(report.dispatches <= 300, "{report}");
    let mut calls = [ErasedCall::new(
        [2, wide].map(ErasedArg::Scalar).into_iter().collect(),
    )];
    let task = program.program().find("sum").unwrap();
    let with = device.launch(&program, task, &mut calls).unwrap();
    assert_eq!(calls[0].result, (2 * wide + 1).to_ne_bytes());
    assert!(with.dispatches <= 1000, "{with}");
}

/// A loop that spawns as many as are asked for, and does something before each: nobody can count them, and nothing may be done twice.
const EFFECTS: &str = "
    use std::sync::atomic::{AtomicU64, Ordering};

    #[task]
    pub fn child(i: u64, sum: &AtomicU64) {
        sum.fetch_add(i, Ordering::Relaxed);
    }

    #[task]
    pub fn spawner(n: u64, marks: &mut [u8], seen: &AtomicU64, sum: &AtomicU64) {
        let mut i = 0;
        while seen.fetch_add(1, Ordering::Relaxed) < n {
            marks[i % marks.len()] += 1;
            spawn!(child(i as u64, sum));
            i += 1;
        }
    }
";

/// The same, of one child a level.
const LINE: &str = "
    use std::sync::atomic::{AtomicU64, Ordering};

    #[task]
    pub fn line(depth: u64, seen: &AtomicU64) {
        let mut left = 1u64.min(depth);
        while left > 0 {
            left -= 1;
            seen.fetch_add(1, Ordering::Relaxed);
            spawn!(line(depth - 1, seen));
        }
    }
";

/// Runs `spawner` for so many children, and sees that each was marked and summed up once.
fn effects_once(place: (u32, u64), program: &Loaded, children: u64) -> Result<RunReport, RunError> {
    let mut marks = vec![0u8; children as usize];
    let (mut seen, mut sum) = (AtomicU64::new(0), AtomicU64::new(0));
    let args = vec![
        ErasedArg::Scalar(children),
        ErasedArg::Memory(MemoryArg::exclusive(&mut marks)),
        ErasedArg::Scalar(children),
        ErasedArg::Memory(MemoryArg::exclusive(std::slice::from_mut(seen.get_mut()))),
        ErasedArg::Memory(MemoryArg::exclusive(std::slice::from_mut(sum.get_mut()))),
    ];
    let (_, report) = launch(place, program, "spawner", args)?;
    assert!(marks.iter().all(|&m| m == 1), "{place:?}");
    assert_eq!(seen.into_inner(), children + 1);
    assert_eq!(sum.into_inner(), (0..children).sum::<u64>());
    assert_eq!(report.total, children + 1);
    Ok(report)
}

#[test]
fn ten_million_children_with_an_effect_before_each_take_16_mib() {
    let program = program(EFFECTS);
    for threads in [1, 2] {
        effects_once((threads, 16 << 20), &program, 10_000_000).unwrap();
    }
}

/// A loop that spawns needs no more memory for more children: it stops for want of room, and goes on where it stopped.
#[test]
fn a_loop_of_effects_needs_room_for_one_child() {
    let program = program(EFFECTS);
    let need = |children| {
        let run = |memory| Ok(((), effects_once((1, memory), &program, children)?));
        every_budget(&(), run).unwrap().unwrap()
    };
    let (one, many) = (need(1), need(3000));
    assert!(
        many <= one + 16,
        "one child needs {one} bytes, 3,000 of them {many}"
    );
}

#[test]
fn a_million_levels_of_loops_take_64_mib() {
    let program = program(LINE);
    let mut word = 0u64;
    let args = vec![
        ErasedArg::Scalar(1_000_000),
        ErasedArg::Memory(MemoryArg::exclusive(std::slice::from_mut(&mut word))),
    ];
    let (_, report) = launch((1, 64 << 20), &program, "line", args).unwrap();
    assert_eq!((word, report.levels), (1_000_000, 1_000_001));
}

/// How much memory a run takes does not depend on how many share it by more than what they keep apart.
#[test]
fn two_threads_need_little_more_memory_than_one() {
    let program = program(WIDE);
    let need = |threads| {
        let run = |memory| call((threads, memory), &program, "sum", &[2, 400_000]);
        least(&run).unwrap().unwrap()
    };
    let (one, two) = (need(1), need(2));
    assert!(
        two * 2 < one * 3,
        "one thread needs {one} bytes, two need {two}"
    );
}

/// What is donated of a very wide level is written once more and read from there, so it is a little at a time.
#[test]
fn a_wide_level_is_shared_in_small_batches() {
    let program = program(WIDE);
    let run = |threads| call((threads, 1 << 30), &program, "sum", &[2, 3_000_000]).unwrap();
    let ((sum, one), (same, two)) = (run(1), run(2));
    assert_eq!(sum, same);
    let batches: u64 = two.workers.iter().map(|w| w.donated).sum();
    assert!(
        two.peak * 2 < one.peak * 3 && batches < 1000,
        "one thread held {} bytes, two {} with {batches} batches",
        one.peak,
        two.peak
    );
}

#[test]
fn all_threads_together_take_no_more_than_is_granted() {
    let (wide, frames) = (program(WIDE), program(FRAMES));
    for threads in [2, 3, 8] {
        for mib in [5, 16, 33] {
            // `launch` compares the peak.
            let memory = mib << 20;
            let (sum, _) = call((threads, memory), &wide, "sum", &[2, 100_000]).unwrap();
            assert_eq!(sum, 200_001);
            call((threads, memory), &frames, "large", &[3, 1]).unwrap();
            call((threads, memory), &frames, "medium", &[6, 1]).unwrap();
        }
    }
}

/// A search whose first child leads does what its elision does, and where memory allows for many elements at a time little more.
#[test]
fn siblings_run_in_order() {
    let listed = PROGRAMS.iter().find(|p| p.name == "branch_and_bound");
    let program = prepare(listed.unwrap().source, "branch_and_bound.rs").unwrap();
    let args = knapsack::args(32, 24_000);
    let serial = serial_tasks(&program, "pack", &args);
    let search = on_cpu(&program, "pack", &args);
    let least = least(&search).unwrap().unwrap();
    let best = search(least).unwrap().0;
    for doublings in 0..24 {
        let memory = least << doublings;
        let (outcome, report) = search(memory).unwrap();
        println!(
            "{memory:>11} bytes: {} tasks, {serial} in order",
            report.total
        );
        assert_eq!(outcome, best);
        assert!(
            report.total * 10 <= serial * 12,
            "{} tasks in {memory} bytes, {serial} in order",
            report.total
        );
    }
}

/// A call whose arguments are text, on one thread, in as much memory as is asked for.
fn on_cpu(
    prepared: &Prepared,
    task: &str,
    args: &[String],
) -> impl Fn(u64) -> Result<(Outcome, RunReport), RunError> {
    let loaded = compiled(prepared);
    move |memory| call_loaded(&cpu(1, memory), &loaded, prepared, task, args)
}

/// Each call of the corpus, and random programs, in every budget from the least that they run in.
#[test]
fn the_corpus_in_every_budget() {
    let every = if all_is_asked() { 1 } else { 8 };
    let calls = PROGRAMS
        .iter()
        .flat_map(|p| p.cases.iter().map(move |c| (p, c)));
    // The elision of one needs a stack of a gigabyte; `chains` above are as deep.
    // Every eighth from the first on would have a loop of 70,000 rounds, which takes as long as all others.
    let calls = calls
        .skip(every / 2)
        .step_by(every)
        .filter(|(p, _)| p.name != "deep_recursion");
    let calls: Vec<_> = calls.collect();
    let tried = on_all_cores(&calls, |(Listed { name, source, .. }, case)| {
        let prepared = prepare(source, name).unwrap();
        let run = (case.elision)();
        let tried = every_budget(&run.outcome, on_cpu(&prepared, case.task, &run.before));
        tried.err().map(|e| format!("{name}: {}: {e}", case.text))
    });
    let wrong: Vec<String> = tried.into_iter().flatten().collect();
    assert!(
        wrong.is_empty() && calls.len() > 20,
        "{} calls\n{}",
        calls.len(),
        wrong.join("\n")
    );
}

#[test]
fn random_programs_in_every_budget() {
    let (first, cases) = (
        setting("MILLSTREAM_SEED").unwrap_or(1),
        setting("MILLSTREAM_CASES").unwrap_or(12),
    );
    let (mut ran, mut wrong) = (0, Vec::new());
    for seed in first.. {
        if ran == cases || wrong.len() > 3 {
            break;
        }
        match pressure(&generate(&mut Choices::seeded(seed))) {
            Ok(None) => {}
            Ok(Some(_)) => ran += 1,
            Err(message) => wrong.push(format!("seed {seed}: {message}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a worker decided keeps the rules of the policy, in any memory. Bugs planted to see that they are found, and taken out again, both in
/// the first program: continuations before entries, and an element that has no room beside others begun while one of them waits. One that
/// nobody planted was found in program 286: a leaf that ran before the children of such an element.
#[test]
fn decisions_keep_the_rules() {
    let first = setting("MILLSTREAM_SEED").unwrap_or(1);
    let cases = setting("MILLSTREAM_CASES").unwrap_or(75);
    let seeds: Vec<u64> = (first..first + 4 * cases).collect();
    let decided = on_all_cores(&seeds, |&seed| {
        let sample = generate(&mut Choices::seeded(seed));
        let mut more = Choices::seeded(seed ^ 0xdec1);
        let (memory, width) = (1u64 << (7 + more.below(14)), 1 << more.below(7));
        let memory = memory + memory / 7 * u64::from(more.below(7));
        let decided = decide(&sample, memory, width);
        decided.map_err(|message| format!("seed {seed}, {memory} bytes: {message}"))
    });
    let wrong = decided.iter().filter_map(|d| d.as_ref().err());
    let wrong: Vec<&String> = wrong.take(3).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let decisions: usize = decided.iter().flatten().sum();
    assert!(decisions as u64 > 10 * cases, "only {decisions} decisions");
}
