//! Kernels that spawn: what they emit, when they wait, what is left where there is little room, and how they fail.

use super::bench::{Bench, On, bytes, compiles, drain, lent, made, slice};
use millstream_aggregator::{GraphProgram, RunError};

/// A task of a kernel, and kernels that emit before a sync, behind it, and in loops, into a kernel that spawns nothing.
const TREES: &str = "
#[task]
pub fn fib(n: u32) -> u64 {
    if n < 2 { return n as u64; }
    let a = spawn!(fib(n - 1));
    let b = spawn!(fib(n - 2));
    sync!();
    a + b
}
#[kernel]
pub fn count(n: u32, out: Channel<(u32, u64)>, calls: &AtomicU64) {
    calls.fetch_add(1, Ordering::Relaxed);
    let x = spawn!(fib(n));
    sync!();
    out.emit((n, x));
}
#[kernel]
pub fn sum(x: (u32, u64), sums: &[AtomicU64]) {
    sums[x.0 as usize].fetch_add(x.1, Ordering::Relaxed);
}
#[kernel]
pub fn many(n: u32, out: Channel<u32>, more: Channel<u32>) {
    let mut i: u32 = 0;
    while i < n { out.emit(i % 8); i += 1; }
    let x = spawn!(fib(n % 7));
    if n > 3 { more.emit(n - 4); }
    sync!();
    if x > 2 { out.emit(7); }
}
";

fn fib(n: u32) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

#[test]
fn what_tasks_return_goes_on_through_channels() {
    for (width, stage) in [(1, 256), (5, 512), (64, 4096)] {
        let channels = [("ns", "u32", width), ("found", "(u32, u64)", width)];
        let nodes = [("count", "ns", &["found"][..]), ("sum", "found", &[])];
        let program = made(TREES, &channels, &nodes, |_| {});
        if width == 1 {
            compiles(&program);
        }
        let Some(mut bench) = Bench::new(program, 2, stage) else {
            return;
        };
        let ns = bench.channel("ns");
        for seed in 1..=3 {
            let (mut calls, mut sums) = ([0u64], [0u64; 16]);
            let args = vec![("count", lent(&mut calls)), ("sum", slice(&mut sums))];
            let sent = (0..60).map(|i| i % 16);
            let (_, report) = bench
                .run(seed, args, vec![], |run| run.send(ns, &bytes(sent)))
                .unwrap();
            let times = |n: u32| (0..60).filter(|i| i % 16 == n).count() as u64;
            let expected: Vec<u64> = (0..16).map(|n| times(n) * fib(n)).collect();
            assert_eq!(
                (calls[0], &sums[..]),
                (60, &expected[..]),
                "width {width}, seed {seed}"
            );
            let ran = |name: &str| report.tasks.iter().find(|t| t.0 == name).map(|t| t.1);
            assert_eq!(
                (ran("count"), ran("sum")),
                (Some(60), Some(60)),
                "{:?}",
                report.tasks
            );
            let nodes = |n: u32| 2 * fib(n + 1) - 1;
            assert_eq!(ran("fib"), Some((0..16).map(|n| times(n) * nodes(n)).sum()));
        }
    }
}

/// Emits in loops, before a sync and behind it, into two channels, one of which is its own.
#[test]
fn a_circle_through_a_kernel_that_spawns_ends() {
    for (width, stage) in [(64, 256), (200, 1024)] {
        let channels = [("ns", "u32", width), ("out", "u32", 7)];
        let nodes = [("many", "ns", &["out", "ns"][..])];
        let Some(mut bench) = Bench::new(made(TREES, &channels, &nodes, |_| {}), 3, stage) else {
            return;
        };
        let (ns, out) = (bench.channel("ns"), bench.channel("out"));
        let mut expected = Vec::new();
        for mut n in 0..30u32 {
            loop {
                expected.extend((0..n).map(|i| i % 8));
                expected.extend((fib(n % 7) > 2).then_some(7));
                match n > 3 {
                    true => n -= 4,
                    false => break,
                }
            }
        }
        expected.sort_unstable();
        for seed in 1..=3 {
            let run = bench.run(seed, vec![], vec![], |run| {
                run.send(ns, &bytes(0..30))?;
                let mut found = drain(run, out)?;
                found.sort_unstable();
                assert_eq!(found, expected, "width {width}, seed {seed}");
                Ok(())
            });
            run.unwrap();
        }
    }
}

const FAULTY: &str = "
#[task]
pub fn get(data: &[u32], i: usize) -> u32 { data[i] }
#[kernel]
pub fn look(i: u32, out: Channel<u32>, data: &[u32]) {
    let x = spawn!(get(data, i as usize));
    sync!();
    out.emit(x);
}
";

fn faulty() -> GraphProgram {
    let channels = [("at", "u32", 8), ("out", "u32", 8)];
    made(FAULTY, &channels, &[("look", "at", &["out"])], |_| {})
}

#[test]
fn a_fault_of_a_task_names_the_kernel_and_the_line() {
    let Some(mut bench) = Bench::new(faulty(), 2, 256) else {
        return;
    };
    let (at, out) = (bench.channel("at"), bench.channel("out"));
    for seed in 1..=3 {
        let mut data = [3u32, 5, 8];
        let args = vec![("look", slice(&mut data))];
        let error = bench
            .run(seed, args, vec![], |run| {
                run.send(at, &bytes([0, 2, 7]))?;
                drain(run, out)
            })
            .unwrap_err();
        let RunError::Node { node, error, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(node, "look");
        let RunError::Fault(fault) = &**error else {
            panic!("{error}");
        };
        assert_eq!((fault.span.line, &*fault.function), (4, "get"), "{fault}");
        // It can be run again.
        let args = vec![("look", slice(&mut data))];
        let (found, _) = bench
            .run(seed, args, vec![], |run| {
                run.send(at, &bytes([1, 2]))?;
                drain(run, out)
            })
            .unwrap();
        assert_eq!(found.iter().sum::<u32>(), 13);
    }
}

/// An element whose task finds no room at all is an error, and batches are as small as there is room for.
#[test]
fn batches_are_as_large_as_there_is_room_for() {
    let channels = [("ns", "u32", 3000), ("found", "(u32, u64)", 3000)];
    let nodes = [("count", "ns", &["found"][..]), ("sum", "found", &[])];
    let Some(mut bench) = Bench::new(made(TREES, &channels, &nodes, |_| {}), 2, 1024) else {
        return;
    };
    let ns = bench.channel("ns");
    let mut batches = Vec::new();
    for memory in [1 << 20, 64 << 20] {
        let (mut calls, mut sums) = ([0u64], [0u64; 16]);
        let args = vec![("count", lent(&mut calls)), ("sum", slice(&mut sums))];
        let ran = bench.run_in(memory, 1, args, vec![], |run| {
            run.send(ns, &bytes((0..3000).map(|i| i % 12)))
        });
        let (_, report) = ran.unwrap();
        assert_eq!((calls[0], sums[11]), (3000, 250 * 89));
        batches.push(report.dispatches);
        // A GPU has its own budget.
        if let On::Fibers(_) = bench.on {
            assert!(report.peak <= memory, "{} of {memory}", report.peak);
        }
    }
    if let On::Fibers(_) = bench.on {
        assert!(batches[0] > batches[1], "{batches:?}");
    }
}
