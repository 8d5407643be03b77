//! Tries a GPU: programs through all aggregators against the interpreter, runs that must fail, then times of fib and queens.
//!
//! `cargo run --release -p millstream-aggregator --example cuda_check [quick]`; exits with 1 if anything differs.

#[path = "../../channels-kernel/src/cuda/tests/programs.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod programs;
#[path = "../../cilk-lower/tests/lower/programs.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod shared;

use millstream_aggregator::{
    ErasedArg, ErasedCall, MemoryArg, RunError, RunReport,
    cuda::{self, Aggregator, CudaDevice, CudaOptions},
};
use millstream_cilk_lower::lower::lower;
use millstream_graph::{
    interp::{ArgValue, Interp},
    ir::Program,
    levelized::Levelized,
    text::parse_program,
};
use std::{process::ExitCode, sync::Arc, time::Duration};

const GIB: u64 = 1 << 30;
const ALL: [Aggregator; 3] = [
    Aggregator::Persistent,
    Aggregator::HostThread,
    Aggregator::Auto,
];

/// An argument, before there is memory for it.
#[derive(Clone, Debug)]
enum In {
    Bits(u64),
    Blob(Vec<u8>),
    /// Bytes and length in elements.
    Memory(Vec<u64>, usize, u64),
}

fn program(text: &str) -> (Program, Arc<Levelized>) {
    let program = parse_program(text).unwrap_or_else(|e| panic!("{e}"));
    let lowered = lower(&program).unwrap_or_else(|e| panic!("{e:?}"));
    (program, Arc::new(lowered))
}

fn options(aggregator: Aggregator, memory: u64) -> CudaOptions {
    CudaOptions {
        aggregator,
        memory: Some(memory),
        watchdog: Duration::from_secs(2),
        // What is checked is what programs come to.
        early: false,
        ..CudaOptions::default()
    }
}

fn launch(
    device: &CudaDevice,
    lowered: &Arc<Levelized>,
    task: &str,
    args: &mut [In],
) -> Result<(Vec<u8>, RunReport), RunError> {
    let loaded = device.load(lowered)?;
    let mut erased = Vec::new();
    for arg in args {
        match arg {
            In::Bits(bits) => erased.push(ErasedArg::Scalar(*bits)),
            In::Blob(bytes) => erased.push(ErasedArg::Blob(bytes.clone())),
            In::Memory(words, bytes, length) => {
                assert!(*bytes <= 8 * words.len());
                // SAFETY: the words live longer than the call, and nobody else touches them.
                erased.push(ErasedArg::Memory(unsafe {
                    MemoryArg::raw(words.as_mut_ptr().cast(), *bytes, true)
                }));
                erased.push(ErasedArg::Scalar(*length));
            }
        }
    }
    let mut calls = [ErasedCall::new(erased)];
    let task = lowered.find(task).expect("a task of the program");
    let report = device.launch(&loaded, task, &mut calls)?;
    Ok((std::mem::take(&mut calls[0].result), report))
}

/// Whether a run gives what the interpreter does.
fn agrees(
    device: &CudaDevice,
    program: &Program,
    lowered: &Arc<Levelized>,
    task: &str,
    args: &[In],
) -> bool {
    let mut interp = Interp::new(program);
    let (mut values, mut memory) = (Vec::new(), Vec::new());
    for arg in args {
        match arg {
            In::Bits(bits) => values.push(ArgValue::Scalar(*bits)),
            In::Blob(bytes) => values.push(ArgValue::Blob(bytes.clone())),
            In::Memory(words, bytes, length) => {
                let all: Vec<u8> = words
                    .iter()
                    .flat_map(|w| w.to_le_bytes())
                    .take(*bytes)
                    .collect();
                memory.push(interp.alloc(all, 8));
                values.push(ArgValue::Scalar(memory[memory.len() - 1]));
                values.push(ArgValue::Scalar(*length));
            }
        }
    }
    let expected = interp.call(program.find(task).expect("a task"), &values);
    let mut args = args.to_vec();
    let found = launch(device, lowered, task, &mut args);
    let mut same = match (&expected, &found) {
        (Ok(a), Ok((b, report))) => a == b && report.total == interp.stats().tasks,
        _ => false,
    };
    let after = args.iter().filter_map(|a| {
        if let In::Memory(words, bytes, _) = a {
            Some((words, *bytes))
        } else {
            None
        }
    });
    for (address, (words, bytes)) in memory.iter().zip(after) {
        same &= interp.read(*address)[..]
            == words
                .iter()
                .flat_map(|w| w.to_le_bytes())
                .take(bytes)
                .collect::<Vec<u8>>()[..];
    }
    println!("  {} {task}({args:?})", if same { "ok  " } else { "FAIL" });
    if !same {
        println!(
            "    expected {expected:?} with {} tasks\n    found {found:?}",
            interp.stats().tasks
        );
    }
    same
}

fn corpus(device: &CudaDevice) -> bool {
    let zeros = |n: usize| In::Memory(vec![0; n], 8 * n, n as u64);
    let floats = [0.0f64, -2.5, 1e300, f64::NAN, -3e9];
    let ops = floats
        .iter()
        .zip([0u64, 77, 0xffff_ffff, 0x8000_0000, 0x7fff_ffff])
        .map(|(x, a)| {
            let b = a >> 3;
            vec![
                In::Bits(a),
                In::Bits(b),
                In::Bits(7),
                In::Bits(x.to_bits()),
                In::Bits((*x as f32).to_bits().into()),
            ]
        });
    let mut runs: Vec<(&str, &str, Vec<Vec<In>>)> = vec![
        (
            shared::FIB,
            "fib",
            [0, 1, 10, 20, 25].map(|n| vec![In::Bits(n)]).to_vec(),
        ),
        (
            shared::SYNCS,
            "chain",
            [0, 3, 9].map(|n| vec![In::Bits(n)]).to_vec(),
        ),
        (
            shared::SYNC_LOOP,
            "sum",
            [0, 5, 300].map(|n| vec![In::Bits(n)]).to_vec(),
        ),
        (
            shared::GATHER,
            "count",
            [0, 5, 14].map(|n| vec![In::Bits(n)]).to_vec(),
        ),
        (
            shared::BRANCH,
            "maybe",
            [0, 5, 8].map(|n| vec![In::Bits(n)]).to_vec(),
        ),
        (shared::EARLY, "early", vec![vec![In::Bits(6), zeros(16)]]),
        (shared::LENT, "main", vec![vec![In::Bits(5)]]),
        (shared::ELEMENTS, "main", vec![vec![In::Bits(5), zeros(8)]]),
        (shared::MUTUAL, "even", vec![vec![In::Bits(9)]]),
        (
            shared::QUEENS,
            "queens",
            vec![vec![In::Blob(vec![0; 8]), In::Bits(0)]],
        ),
        (
            shared::PARAM_ARRAY,
            "main",
            vec![vec![In::Blob((1..=16).collect()), In::Bits(1)]],
        ),
        (shared::PAIRS, "walk", vec![vec![In::Bits(5)]]),
        (shared::TAIL, "fill", vec![vec![zeros(9), In::Bits(0)]]),
        (shared::SHADOW, "main", vec![vec![In::Bits(7)]]),
        (
            programs::QUEENS,
            "queens",
            [4, 8, 9]
                .map(|n| {
                    vec![
                        In::Bits((1 << n) - 1),
                        In::Bits(0),
                        In::Bits(0),
                        In::Bits(0),
                    ]
                })
                .to_vec(),
        ),
        (
            programs::HELPERS,
            "main",
            [0, 1, 2, 4, 5].map(|n| vec![In::Bits(n)]).to_vec(),
        ),
    ];
    runs.push((programs::OPS, "ops", ops.collect()));
    let atomics = vec![
        In::Bits(40),
        In::Memory(vec![0; 3], 20, 5),
        In::Memory(vec![3], 7, 7),
        In::Memory(vec![0; 2], 16, 2),
    ];
    runs.push((programs::ATOMICS, "spread", vec![atomics]));
    let mut good = true;
    for (text, task, calls) in runs {
        let (program, lowered) = program(text);
        for args in calls {
            good &= agrees(device, &program, &lowered, task, &args);
        }
    }
    good
}

/// Runs that must fail, and one behind them that must not.
fn failures(device: &CudaDevice) -> bool {
    let (_, faults) = program(programs::FAULTS);
    let (fib_program, fib) = program(shared::FIB);
    let mut good = true;
    let mut expect = |what: &str,
                      found: Result<(Vec<u8>, RunReport), RunError>,
                      right: fn(&RunError) -> bool| {
        let same = found.as_ref().is_err_and(right);
        println!(
            "  {} {what}: {}",
            if same { "ok  " } else { "FAIL" },
            found.map_or_else(|e| e.to_string(), |_| "it ran".into())
        );
        good &= same;
    };
    let cells = || In::Memory(vec![0; 2], 16, 4);
    expect(
        "bounds",
        launch(device, &faults, "index", &mut [In::Bits(9), cells()]),
        |e| matches!(e, RunError::Fault(_)),
    );
    expect(
        "endless recursion",
        launch(device, &faults, "endless", &mut [In::Bits(0)]),
        |e| {
            matches!(
                e,
                RunError::OutOfMemory { .. } | RunError::TooManyLevels { .. }
            )
        },
    );
    expect(
        "endless loop",
        launch(device, &faults, "spin", &mut [In::Bits(0)]),
        |e| matches!(e, RunError::Watchdog { .. }),
    );
    let cancel = device.cancel_handle();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        cancel.cancel();
    });
    expect(
        "cancel",
        launch(device, &faults, "spin", &mut [In::Bits(0)]),
        |e| matches!(e, RunError::Cancelled),
    );
    let _ = stopper.join();
    good & agrees(device, &fib_program, &fib, "fib", &[In::Bits(15)])
}

/// What becomes of a device whose kernel fails for good, or does not end: a typed error in bounded time, and the next run is right.
fn lost_contexts() -> Result<bool, RunError> {
    const ILLEGAL: &str = "extern \"C\" __global__ void wrong() { *(volatile int*)8 = 1; }";
    const ENDLESS: &str =
        "extern \"C\" __global__ void wrong() { while (true) __nanosleep(1000); }";
    let device = CudaDevice::with(options(Aggregator::Auto, 64 << 20))?;
    let (program, fib) = program(shared::FIB);
    let good = agrees(&device, &program, &fib, "fib", &[In::Bits(15)]);
    let lost = |text| {
        let start = std::time::Instant::now();
        let error = device.run_text(text, "wrong");
        println!("  {error:?} after {:.1?}", start.elapsed());
        matches!(error, Err(RunError::Lost(_)))
    };
    // A kernel that does not end is given up, and the device goes on in a new context.
    let endless = lost(ENDLESS) && agrees(&device, &program, &fib, "fib", &[In::Bits(15)]);
    // After an illegal address the driver makes no other context in this process: every run says so.
    let illegal = lost(ILLEGAL)
        && matches!(
            launch(&device, &fib, "fib", &mut [In::Bits(15)]),
            Err(RunError::Lost(_))
        );
    println!("  an endless kernel: {endless}, an illegal address: {illegal}");
    Ok(good && endless && illegal)
}

fn time(
    name: &str,
    text: &str,
    task: &str,
    args: &[In],
    memory: u64,
    min_blocks: u32,
    expected: u64,
) -> bool {
    let mut good = true;
    for aggregator in ALL {
        let device = match CudaDevice::with(CudaOptions {
            min_blocks,
            watchdog: Duration::from_secs(10),
            ..options(aggregator, memory)
        }) {
            Ok(device) => device,
            Err(e) => {
                println!("  FAIL {name}: {e}");
                return false;
            }
        };
        let (_, lowered) = program(text);
        let mut times = Vec::new();
        for _ in 0..6 {
            match launch(&device, &lowered, task, &mut args.to_vec()) {
                Ok((result, report)) => {
                    good &= result == expected.to_le_bytes();
                    times.push((report.running, report.dispatches, report.total, report.peak));
                }
                Err(e) => {
                    println!("  FAIL {name}: {e}");
                    return false;
                }
            }
        }
        let first = times[0].0;
        times.sort();
        let (best, dispatches, tasks, peak) = times[0];
        println!(
            "  {} {name} {aggregator:?} {:.2} GiB, {min_blocks} blocks: best {:.3} ms, median {:.3}, first {:.3}; {dispatches} dispatches, {tasks} tasks, {:.2} G/s, {:.0} MB of channels used",
            if good { "ok  " } else { "FAIL" },
            memory as f64 / GIB as f64,
            best.as_secs_f64() * 1e3,
            times[times.len() / 2].0.as_secs_f64() * 1e3,
            first.as_secs_f64() * 1e3,
            tasks as f64 / best.as_secs_f64() / 1e9,
            peak as f64 / 1e6,
        );
    }
    good
}

fn main() -> ExitCode {
    let quick = std::env::args().any(|a| a == "quick");
    match cuda::devices() {
        Ok(found) => println!("driver {:?}: {found:?}", cuda::driver_version()),
        Err(e) => {
            println!("{e}");
            return ExitCode::from(2);
        }
    }
    let mut good = true;
    for aggregator in ALL {
        println!("{aggregator:?}: against the interpreter");
        match CudaDevice::with(options(aggregator, 256 << 20)) {
            Ok(device) => {
                good &= corpus(&device);
                println!("{aggregator:?}: runs that fail");
                good &= failures(&device);
            }
            Err(e) => {
                println!("FAIL {e}");
                good = false;
            }
        }
    }
    println!("times");
    let queens = |n: u64| {
        vec![
            In::Bits((1 << n) - 1),
            In::Bits(0),
            In::Bits(0),
            In::Bits(0),
        ]
    };
    good &= time("fib(10)", shared::FIB, "fib", &[In::Bits(10)], GIB, 4, 55);
    good &= time(
        "fib(30)",
        shared::FIB,
        "fib",
        &[In::Bits(30)],
        GIB,
        4,
        832_040,
    );
    good &= time(
        "queens(12)",
        programs::QUEENS,
        "queens",
        &queens(12),
        GIB,
        4,
        14200,
    );
    if !quick {
        for (memory, blocks) in [(GIB, 4), (8 * GIB, 4), (8 * GIB, 6), (8 * GIB, 8)] {
            good &= time(
                "fib(40)",
                shared::FIB,
                "fib",
                &[In::Bits(40)],
                memory,
                blocks,
                102_334_155,
            );
        }
        for (memory, blocks) in [(GIB, 4), (8 * GIB, 4), (16 * GIB, 4), (16 * GIB, 6)] {
            good &= time(
                "queens(16)",
                programs::QUEENS,
                "queens",
                &queens(16),
                memory,
                blocks,
                14_772_512,
            );
        }
    }
    println!("contexts that are lost");
    good &= lost_contexts().unwrap_or_else(|e| {
        println!("FAIL {e}");
        false
    });
    println!(
        "{}",
        if good {
            "all good"
        } else {
            "SOMETHING IS WRONG"
        }
    );
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
