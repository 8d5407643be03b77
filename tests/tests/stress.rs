//! Runs on a GPU at budgets from little to plenty, by each aggregator and inside the blocks: results, tasks and tasks of each level are the CPU
//! device's, and every decision is the policy's. And a small tree a thousand times inside random numbers of blocks.
//!
//! - `MILLSTREAM_TEST_DEVICE=cuda` asks for it; it is skipped aloud without. `cpu` runs all of it on the CPU device, by one thread; `sm_90` makes
//!   machine code for such a GPU, into the cache, and runs nothing.
//! - `MILLSTREAM_SECONDS`: begins no run after that time, 60 if it is not set.
//! - `MILLSTREAM_SEED`: the first round, 1 if it is not set, and which random programs.
//! - `MILLSTREAM_CASES`: how many random programs are tried beside those of `millstream_tests::stress`, 200 if it is not set; they are compiled by all
//!   processors meanwhile.

use millstream_aggregator::{
    Aggregator, CpuOptions, CudaOptions, Device, Policy, RunError, RunReport,
};
use millstream_channels_kernel::cuda::{Options, nvrtc::Arch};
use millstream_graph::levelized::Levelized;
use millstream_tests::{
    Outcome, cubins,
    engine::{Engine, Failure, Prepared, prepare},
    stress::{PROGRAMS, Tried},
    swarm::swarm,
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

const MEBI: u64 = 1 << 20;
/// Budgets that every program is tried at, in KiB; those below 1 MiB for random programs only.
const BUDGETS: [u64; 17] = [
    64,
    128,
    256,
    384,
    512,
    1 << 10,
    2 << 10,
    3 << 10,
    4 << 10,
    8 << 10,
    16 << 10,
    32 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
    1 << 20,
    4 << 20,
];
/// A run that takes longer is named.
const LONG: Duration = Duration::from_secs(2);
/// With less memory than where a random program took longer, it is not tried in the same way: it would take longer still, and there are many programs.
const ENOUGH: Duration = Duration::from_millis(300);
/// With less memory than where another program took longer, it is tried in the same way at each fourth budget.
const OFTEN: Duration = Duration::from_secs(1);
/// When all runs of a random program took longer, what is left of its budgets is left out, so that many programs have their turn.
const RANDOM_SHARE: Duration = Duration::from_secs(2);
/// As [`RANDOM_SHARE`], of a call of another program.
const SHARE: Duration = Duration::from_secs(10);
/// Decisions of a run that are compared.
const RECORDS: u32 = 1 << 16;
/// Children of a random program's task, at most.
const MOST_CHILDREN: u32 = 100_000;
/// Random programs between two calls of the others, at most.
const RANDOM: usize = 32;
/// So many are compiled before they are run: more machine code than that of some hundred programs is not kept.
const AHEAD: usize = 48;
const WAYS: [(Aggregator, Policy); 4] = [
    (Aggregator::Auto, Policy::Auto),
    (Aggregator::Persistent, Policy::Device),
    (Aggregator::HostThread, Policy::Device),
    (Aggregator::Auto, Policy::Block),
];

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |v| v.parse().unwrap())
}

/// What of a run has to be the CPU device's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Same {
    /// The result, and the tasks of each level.
    All,
    /// The result: how many tasks there are depends on who finds what first.
    Result,
}

/// A program that is ready to run, its call, and what is compared.
#[derive(Clone)]
struct Case {
    tried: Tried,
    prepared: Arc<Prepared>,
    same: Same,
    /// One of many, made by lot.
    is_random: bool,
}

/// The programs that every round runs, by name: those of `stress`, and some examples.
fn programs() -> BTreeMap<&'static str, Arc<Prepared>> {
    let own = PROGRAMS.iter().map(|(name, source, _)| (*name, *source));
    let examples = [
        ("sort", include_str!("../../examples/sort.rs")),
        ("tsp", include_str!("../../examples/tsp.rs")),
        ("quadrature", include_str!("../../examples/quadrature.rs")),
        ("unbalanced", include_str!("../../examples/unbalanced.rs")),
        ("bound", include_str!("../corpus/run/branch_and_bound.rs")),
    ];
    own.chain(examples)
        .map(|(name, source)| (name, Arc::new(prepare(source, name).unwrap())))
        .collect()
}

/// So many numbers, as `Debug` text.
fn numbers(seed: u64, count: u64, below: u64) -> String {
    let number = |i: u64| (seed.wrapping_add(i)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let all: Vec<String> = (0..count)
        .map(|i| (number(i) % below).to_string())
        .collect();
    format!("[{}]", all.join(", "))
}

/// The calls of a round: large ones, and of those whose arguments can vary others each time.
fn round(seed: u64, programs: &BTreeMap<&'static str, Arc<Prepared>>) -> Vec<Case> {
    let n = 12 + seed % 5;
    let all = (1 << n) - 1;
    let wide = |name, depth, most: u64| Tried::new(name, &[seed, depth, most | 1 << 21]);
    let seen = |mut tried: Tried| {
        tried.args.push("0".into());
        tried
    };
    let boards = |mut tried: Tried| {
        tried.args.insert(0, format!("{:?}", [0u8; 12]));
        tried
    };
    let hubs = |mut tried: Tried| {
        tried.args.push(numbers(seed, 100, 1 << 20));
        tried
    };
    let example = |name: &str, task: &str, args: Vec<String>| Tried {
        name: name.into(),
        source: String::new(),
        task: task.into(),
        args,
    };
    let (many, cities, items) = (20_000 + seed * 977 % 60_000, 8 + seed % 3, 20 + seed % 8);
    let calls = [
        Tried::new("queens", &[all, 0, 0, 0]),
        Tried::new("tree", &[seed, 12]),
        Tried::new("fib", &[24 + seed % 9]),
        wide("wide", 6 + seed % 7, 100_000),
        seen(wide("marks", 6 + seed % 7, 100_000)),
        Tried::new("phases", &[seed, 3, 1000]),
        hubs(Tried::new("hubs", &[seed, 102 + seed % 2, 30_000])),
        Tried::new("counters", &[seed % 300, 2, 3000]),
        Tried::new("kinds", &[seed, 7 + seed % 6]),
        boards(Tried::new("boards", &[0, 8 + seed % 5])),
        Tried::new("chains", &[1 + seed * 37 % 300, 100 + seed * 13 % 400]),
        example(
            "sort",
            "sort",
            vec![numbers(seed, many, 1 << 20), numbers(0, many, 2)],
        ),
        example(
            "tsp",
            "tsp",
            vec![numbers(seed, cities * cities, 1 << 12), cities.to_string()],
        ),
        example(
            "quadrature",
            "quadrature",
            vec!["0.0".into(), format!("{}.5", 1 + seed % 3), "1e-9".into()],
        ),
        example("unbalanced", "tree", vec![seed.to_string(), "2000".into()]),
        example(
            "bound",
            "pack",
            vec![
                numbers(seed, items, 20),
                numbers(seed + 7, items, 1000),
                "0".into(),
                "4000".into(),
                "0".into(),
                "0".into(),
            ],
        ),
    ];
    let case = |tried: Tried| Case {
        prepared: Arc::clone(&programs[tried.name.as_str()]),
        same: match tried.name.as_str() {
            // Branches that are cut depend on what was found by then, and the sort's grain on what it runs on.
            "tsp" | "bound" | "sort" => Same::Result,
            _ => Same::All,
        },
        tried,
        is_random: false,
    };
    calls.map(case).into()
}

/// Whether two results are the same; of floats, whose sums depend on the order, nearly.
fn agree(a: &str, b: &str) -> bool {
    let number = |text: &str| {
        text.contains('.')
            .then(|| text.parse::<f64>().ok())
            .flatten()
    };
    a == b
        || matches!((number(a), number(b)), (Some(x), Some(y)) if (x - y).abs() <= 1e-9 * y.abs())
}

/// What was seen of a program.
#[derive(Default, Debug)]
struct Seen {
    runs: u64,
    tasks: u64,
    compared: u64,
    out_of_memory: u64,
    /// Of these, refused with more memory than a run in the same way had.
    with_more: u64,
    /// Budgets that were left out, for a larger one took long.
    left_out: u64,
    calls: u64,
    took: Duration,
    running: Duration,
    compiling: Duration,
}

/// Devices, and what was seen on them.
struct Stress {
    engines: Vec<(u64, (Aggregator, Policy), Engine)>,
    cpu: Engine,
    start: Instant,
    limit: Duration,
    seen: BTreeMap<String, Seen>,
    wrong: Vec<String>,
}

fn run(
    engine: &Engine,
    prepared: &Prepared,
    tried: &Tried,
) -> Result<(Outcome, RunReport), Failure> {
    let (outcome, report) = engine.call_and_report(prepared, &tried.task, &tried.args)?;
    Ok((outcome, report.unwrap()))
}

impl Stress {
    fn new(on_cpu: bool) -> Self {
        let one = |memory: u64, (aggregator, policy)| {
            let device = if on_cpu {
                Device::cpu_with(CpuOptions {
                    threads: Some(1),
                    memory: Some(memory),
                    ..CpuOptions::default()
                })
            } else {
                Device::cuda_with(CudaOptions {
                    aggregator,
                    policy,
                    memory: Some(memory),
                    records: RECORDS,
                    early: false,
                    ..CudaOptions::default()
                })
            };
            let name = format!(
                "{aggregator:?}, policy {policy:?}, with {} KiB",
                memory >> 10
            );
            (
                memory,
                (aggregator, policy),
                Engine::Device(name, device.unwrap()),
            )
        };
        Self {
            engines: BUDGETS
                .iter()
                .flat_map(|b| WAYS.map(|way| one(b << 10, way)))
                .collect(),
            cpu: Engine::Device("cpu".into(), Device::cpu().unwrap()),
            start: Instant::now(),
            limit: Duration::from_secs(setting("MILLSTREAM_SECONDS", 60)),
            seen: BTreeMap::new(),
            wrong: Vec::new(),
        }
    }

    /// Runs a case at each budget, the largest first. By the host thread, and where it takes long, it is run at each fourth one, which ones depends on the
    /// turn; a random program, of which there are many, at each eighth, in each way at others. What is over its share is left out. False when the time is over.
    fn try_all(&mut self, case: &Case, turn: u64) -> bool {
        let Case {
            tried,
            prepared,
            same,
            is_random,
        } = case;
        let (least, enough, share) = if *is_random {
            (0, ENOUGH, RANDOM_SHARE)
        } else {
            (MEBI, OFTEN, SHARE)
        };
        let begun = Instant::now();
        let expected =
            run(&self.cpu, prepared, tried).unwrap_or_else(|e| panic!("{}: {e}", tried.name));
        let family = tried.name.split(' ').next().unwrap().to_owned();
        let seen = self.seen.entry(family).or_default();
        let (mut refused, mut slow, mut spent) = (Vec::new(), Vec::new(), Duration::ZERO);
        for (i, (memory, way, engine)) in self.engines.iter().enumerate().rev() {
            if self.start.elapsed() > self.limit {
                return false;
            }
            let (budget, number) = ((i / WAYS.len()) as u64, (i % WAYS.len()) as u64);
            let is_turn = if *is_random {
                (budget + 2 * number) % 8 == turn % 8
            } else {
                budget % 4 == turn % 4
            };
            let seldom = *is_random || way.0 == Aggregator::HostThread;
            if *memory < least || (seldom && !is_turn) {
                continue;
            }
            if spent > share || (slow.contains(way) && (*is_random || !is_turn)) {
                seen.left_out += 1;
                continue;
            }
            // Without what it waits for machine code, which all processors make for the next programs.
            let (mut took, mut how) = (Duration::ZERO, String::new());
            let what = || {
                let args: String = format!("{:?}", tried.args).chars().take(80).collect();
                format!("{} {args} by {}", tried.name, engine.name())
            };
            seen.runs += 1;
            match run(engine, prepared, tried) {
                Ok((outcome, report)) => {
                    took = report.running;
                    how = format!(
                        "{} tasks, {} dispatches, {:?}",
                        report.total, report.dispatches, report.subtrees
                    );
                    let all = refused.len();
                    refused.retain(|of| of != way);
                    seen.with_more += (all - refused.len()) as u64;
                    seen.tasks += report.total;
                    seen.running += report.running;
                    seen.compiling += report.compiling;
                    seen.compared += report.compared;
                    if !agree(&outcome.result, &expected.0.result)
                        || (*same == Same::All && outcome.after != expected.0.after)
                    {
                        differs(
                            &mut self.wrong,
                            format!("{}: {} for {}", what(), outcome.result, expected.0.result),
                        );
                    }
                    // Workers know no levels.
                    let known = expected.1.elements.len().min(report.elements.len());
                    let levels = if report.subtrees.count > 0 { 0 } else { known };
                    if *same == Same::All
                        && (report.total != expected.1.total
                            || report.elements[..levels] != expected.1.elements[..levels])
                    {
                        differs(
                            &mut self.wrong,
                            format!(
                                "{}: {} tasks for {}",
                                what(),
                                report.total,
                                expected.1.total
                            ),
                        );
                    }
                    assert!(
                        report.peak <= report.budget && report.budget <= *memory,
                        "{}",
                        what()
                    );
                }
                Err(e) if e.is_memory() => {
                    seen.out_of_memory += 1;
                    refused.push(*way);
                }
                Err(e) => differs(&mut self.wrong, format!("{}: {e}", what())),
            }
            if took > enough {
                slow.push(*way);
            }
            spent += took;
            if took > LONG {
                println!(
                    "{}: {took:.1?}, {how}; {:.0?}",
                    what(),
                    self.start.elapsed()
                );
            }
        }
        seen.calls += 1;
        seen.took += begun.elapsed();
        true
    }
}

/// Random programs, each as soon as there is machine code for it for every way, and for runs that find no room without restart points; or why there is
/// none. Until nobody listens.
fn compile(
    devices: &[Device],
    next: &AtomicU64,
    last: u64,
    ready: &SyncSender<Result<Case, String>>,
) {
    loop {
        // Relaxed: each number is taken once.
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed > last {
            break;
        }
        let (tried, prepared) = random_program(seed);
        let case = match load_all(devices, &prepared) {
            Ok(()) => Ok(Case {
                tried,
                prepared,
                same: Same::All,
                is_random: true,
            }),
            Err(error) => Err(format!("{}: {error}", tried.name)),
        };
        if ready.send(case).is_err() {
            break;
        }
    }
}

/// The first random program's seed, and how many there are.
fn random_programs() -> (u64, u64) {
    let cases = setting("MILLSTREAM_CASES", 200);
    let before = setting("MILLSTREAM_SEED", 1).saturating_sub(1);
    (before * cases + 1, cases)
}

/// The random program of a seed, and its call.
fn random_program(seed: u64) -> (Tried, Arc<Prepared>) {
    let tried = swarm(seed, MOST_CHILDREN);
    let prepared = Arc::new(prepare(&tried.source, &tried.name).unwrap());
    (tried, prepared)
}

/// A program as it is lowered, and as it runs where it finds no room without restart points.
fn forms(prepared: &Prepared) -> impl Iterator<Item = Arc<Levelized>> {
    let restarting = prepared.levelized.restarting().map(Arc::new);
    std::iter::once(Arc::clone(&prepared.levelized)).chain(restarting)
}

/// Compiles a program for each way.
fn load_all(devices: &[Device], prepared: &Prepared) -> Result<(), RunError> {
    for program in forms(prepared) {
        for device in devices {
            device.load(&program)?;
        }
    }
    Ok(())
}

/// Rounds of the programs of every round, with the random ones that are ready by then between them.
fn rounds(
    stress: &mut Stress,
    programs: &BTreeMap<&'static str, Arc<Prepared>>,
    ready: &Receiver<Result<Case, String>>,
) {
    let mut turn = setting("MILLSTREAM_SEED", 1);
    for seed in turn.. {
        for case in round(seed, programs) {
            if !stress.try_all(&case, seed) {
                return;
            }
            let random = stress.seen.get("swarm").map_or(0, |seen| seen.calls);
            println!(
                "{:.0?}: {} {seed}, {random} random programs",
                stress.start.elapsed(),
                case.tried.name
            );
            for case in ready.try_iter().take(RANDOM) {
                turn += 1;
                let case = match case {
                    Ok(case) => case,
                    Err(refused) => {
                        differs(&mut stress.wrong, refused);
                        continue;
                    }
                };
                if !stress.try_all(&case, turn) {
                    return;
                }
            }
        }
    }
}

/// Machine code of all that is tried, for a GPU that is elsewhere.
fn compile_for(arch: Arch) {
    let named: Vec<Arc<Prepared>> = programs().into_values().collect();
    let (first, cases) = random_programs();
    // As its devices have it, whose kernels keep records: others' are other texts.
    let options = Options {
        records: true,
        ..Options::default()
    };
    let all = named.len() + cases as usize;
    let make = |i: usize| {
        let prepared = match named.get(i) {
            Some(prepared) => Arc::clone(prepared),
            None => random_program(first + (i - named.len()) as u64).1,
        };
        for program in forms(&prepared) {
            cubins::compile_with(&program, options, arch, false)
                .unwrap_or_else(|e| panic!("{}: {e}", program.program.name));
        }
    };
    let compiled = cubins::as_ready(all, make, |_| ());
    println!("Seen: {compiled} of {all} programs compiled for {arch}");
}

#[test]
fn tight_budgets_change_nothing_on_a_gpu() {
    if let Some(arch) = cubins::elsewhere() {
        return compile_for(arch);
    }
    let asked = std::env::var("MILLSTREAM_TEST_DEVICE").unwrap_or_default();
    if asked != "cuda" && asked != "cpu" {
        return eprintln!("SKIPPED: MILLSTREAM_TEST_DEVICE=cuda asks for a GPU");
    }
    let mut stress = Stress::new(asked == "cpu");
    let programs = programs();
    let ways = stress.engines[..WAYS.len()].iter();
    let devices: Vec<Device> = ways
        .map(|(_, _, engine)| match engine {
            Engine::Device(_, device) => device.clone(),
            _ => unreachable!("made above"),
        })
        .collect();
    // Machine code of all of them, at the same time.
    std::thread::scope(|scope| {
        for prepared in programs.values() {
            scope.spawn(|| load_all(&devices, prepared).unwrap());
        }
    });
    let (first, cases) = random_programs();
    let next = Arc::new(AtomicU64::new(first));
    let (last, workers) = (
        first + cases - 1,
        std::thread::available_parallelism().map_or(1, |n| n.get().saturating_sub(2).max(1)),
    );
    stress.start = Instant::now();
    let (send, ready) = sync_channel(AHEAD);
    let compiling: Vec<_> = (0..workers)
        .map(|_| {
            let (devices, next, send) = (devices.clone(), Arc::clone(&next), send.clone());
            std::thread::spawn(move || compile(&devices, &next, last, &send))
        })
        .collect();
    drop(send);
    rounds(&mut stress, &programs, &ready);
    for (name, seen) in &stress.seen {
        println!("{name}: {seen:?}");
    }
    println!("Seen: all of it in {:.0?}", stress.start.elapsed());
    // What was refused and had no turn; and who panicked. What is still being compiled nobody waits for: that is a minute of some programs.
    for refused in ready.try_iter().filter_map(Result::err) {
        differs(&mut stress.wrong, refused);
    }
    for thread in compiling.into_iter().filter(JoinHandle::is_finished) {
        thread.join().unwrap();
    }
    leave_without_destructors();
    stress.wrong.truncate(40);
    assert!(stress.wrong.is_empty(), "{}", stress.wrong.join("\n"));
}

/// The process ends as it says, but no library takes down what it has: threads that nobody waits for are still in the compiler, and would find it gone.
#[cfg(target_env = "gnu")]
fn leave_without_destructors() {
    use std::{
        ffi::{c_int, c_void},
        ptr::null_mut,
    };
    unsafe extern "C" {
        fn on_exit(then: extern "C" fn(c_int, *mut c_void), of: *mut c_void) -> c_int;
        fn _exit(status: c_int) -> !;
    }
    extern "C" fn leave(status: c_int, _: *mut c_void) {
        // SAFETY: it takes any status.
        unsafe { _exit(status) }
    }
    // SAFETY: `leave` is of the type that glibc wants (on_exit(3)), uses nothing of its argument, and stays as long as the process.
    let refused = unsafe { on_exit(leave, null_mut()) };
    assert_eq!(refused, 0);
}
#[cfg(not(target_env = "gnu"))]
fn leave_without_destructors() {}

/// Notes what differs, and says it at once: a run that is cut off has said it too.
fn differs(wrong: &mut Vec<String>, what: String) {
    eprintln!("DIFFERS: {what}");
    wrong.push(what);
}

/// Blocks that have nothing, or little, or all: what is donated, taken and recalled differs from run to run.
#[test]
fn a_small_tree_ends_a_thousand_times_in_any_number_of_blocks() {
    if std::env::var("MILLSTREAM_TEST_DEVICE").as_deref() != Ok("cuda") {
        return eprintln!("SKIPPED: MILLSTREAM_TEST_DEVICE=cuda asks for a GPU");
    }
    let programs = programs();
    let runs = setting("MILLSTREAM_RUNS", 1000);
    let mut donated = 0;
    for round in 0..runs.div_ceil(100) {
        let number = (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let blocks = if round % 2 == 0 {
            1 + number % 16
        } else {
            1 + number % 600
        };
        let engine = Engine::Device(
            format!("{blocks} blocks"),
            Device::cuda_with(CudaOptions {
                policy: Policy::Block,
                blocks: Some(blocks as u32),
                memory: Some(64 * MEBI),
                early: false,
                ..CudaOptions::default()
            })
            .unwrap(),
        );
        let tried = Tried {
            name: "unbalanced".into(),
            source: String::new(),
            task: "tree".into(),
            args: vec![round.to_string(), "1000".into()],
        };
        let prepared = &programs["unbalanced"];
        let cpu = Engine::Device("cpu".into(), Device::cpu().unwrap());
        let (expected, all) = run(&cpu, prepared, &tried).unwrap();
        for _ in 0..100 {
            let (outcome, report) = run(&engine, prepared, &tried).unwrap();
            assert_eq!(outcome, expected, "{blocks} blocks");
            assert_eq!(report.total, all.total, "{blocks} blocks");
            assert!(report.subtrees.count > 0, "{blocks} blocks");
            donated += report.subtrees.donated;
        }
    }
    println!("Seen: {runs} runs, {donated} elements donated");
    assert!(donated > 0);
}
