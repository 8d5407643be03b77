//! Graphs of kernels, built in Rust, on the CPU.

#![allow(
    clippy::unwrap_used,
    unreachable_pub,
    missing_docs,
    reason = "a test ends there, and nobody calls its programs"
)]

use millstream::{
    CpuOptions, Device, Graph, RunError,
    graph::{Predicate, WhenFull},
};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The paper's Figure 6.
#[millstream::program]
mod fib {
    use std::sync::atomic::{AtomicU64, Ordering};

    #[derive(Clone, Copy)]
    pub struct FibObj {
        pub n: u32,
    }

    #[kernel]
    pub fn fib(src: FibObj, next: Channel<FibObj>, result: &AtomicU64) {
        if src.n < 2 {
            result.fetch_add(src.n as u64, Ordering::Relaxed);
            return;
        }
        next.emit(FibObj { n: src.n - 1 });
        next.emit(FibObj { n: src.n - 2 });
    }
}

/// Splits numbers by what they are, with every kind of argument.
#[millstream::program]
mod sorts {
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    #[kernel]
    pub fn split(
        n: u32,
        odd: Channel<(u32, f32)>,
        even: Channel<[u32; 2]>,
        weights: &[f32],
        add: u32,
        seen: &[AtomicU32],
    ) {
        seen[(n % 4) as usize].fetch_add(1, Ordering::Relaxed);
        if n % 2 == 1 {
            odd.emit((n, weights[(n % 4) as usize]));
        } else {
            even.emit([n, n + add]);
        }
    }

    #[kernel]
    pub fn count(pair: [u32; 2], sum: &AtomicU64) {
        sum.fetch_add((pair[0] + pair[1]) as u64, Ordering::Relaxed);
    }
}

/// Tasks that take a while before they fail.
#[millstream::program]
mod late {
    #[kernel]
    pub fn begin(n: u32) {
        for i in 0..n {
            spawn!(walk(i, 0));
        }
    }

    #[kernel]
    pub fn calm(n: u32) {
        for i in 0..n {
            spawn!(walk(i, 1));
        }
    }

    #[task]
    pub fn walk(n: u32, by: u32) -> u32 {
        let mut x = n;
        for _ in 0..100_000 {
            x = x.wrapping_mul(1_664_525).wrapping_add(1);
        }
        x / by
    }
}

/// Whoever runs a task that a node spawned, and whatever else it has in hand: it is the node that failed.
#[test]
fn tasks_of_a_node_fail_by_its_name_on_any_thread() {
    let device = Device::cpu_with(CpuOptions {
        threads: Some(4),
        ..CpuOptions::default()
    })
    .unwrap();
    for _ in 0..40 {
        let mut graph = Graph::new("late");
        let begin = graph.channel::<u32>("begin");
        let calm = graph.channel::<u32>("calm");
        graph
            .kernel(late::kernel::begin)
            .named("first")
            .consumes(&begin);
        graph
            .kernel(late::kernel::calm)
            .named("second")
            .consumes(&calm);
        graph.send(&calm, [8; 8]);
        graph.send(&begin, [64]);
        match graph.run(&device) {
            Err(RunError::Node { node, .. }) => assert_eq!(node, "first"),
            other => panic!("{other:?}"),
        }
    }
}

fn devices() -> Vec<Device> {
    [1, 2]
        .map(|threads| {
            Device::cpu_with(CpuOptions {
                threads: Some(threads),
                ..CpuOptions::default()
            })
            .unwrap()
        })
        .into()
}

#[test]
fn figure_6() {
    for device in devices() {
        let result = AtomicU64::new(0);
        let mut graph = Graph::new("fib");
        let calls = graph.channel::<fib::FibObj>("calls").width(32_768);
        graph
            .kernel(fib::kernel::fib)
            .consumes(&calls)
            .produces(&calls)
            .arg(&result);
        graph.send(&calls, [fib::FibObj { n: 20 }]);
        let report = graph.run(&device).unwrap();
        assert_eq!(result.load(Ordering::Relaxed), 6765);
        assert_eq!(report.channels[0].elements, 21_891);
        // Again, without compiling anew.
        assert_eq!(
            graph.run(&device).unwrap().compiling.as_nanos(),
            report.compiling.as_nanos()
        );
        assert_eq!(result.load(Ordering::Relaxed), 2 * 6765);
    }
}

/// Parallel loops in a kernel, and in a helper that it calls: both are run round by round.
#[millstream::program]
mod loops {
    use std::sync::atomic::{AtomicU64, Ordering};

    fn harmonic(n: u64) -> f64 {
        let mut sum = 0.0;
        #[parallel]
        for i in 0..n {
            sum += 1.0 / (i + 1) as f64;
        }
        sum
    }

    #[kernel]
    pub fn squares(n: u64, total: &AtomicU64) {
        let (mut own, mut most) = (0, 0);
        #[parallel]
        for i in 0..n {
            own += i * i;
            most = most.max(i % 7);
        }
        let mut single = 0;
        #[parallel]
        for i in 0..n {
            single ^= i;
        }
        total.fetch_add(own + most + single + harmonic(n) as u64, Ordering::Relaxed);
    }
}

#[test]
fn parallel_loops_of_kernels_are_run_round_by_round() {
    let expected = AtomicU64::new(0);
    (0..200).for_each(|n| loops::squares(n, &expected));
    for device in devices() {
        let total = AtomicU64::new(0);
        let mut graph = Graph::new("loops");
        let numbers = graph.channel::<u64>("numbers").width(64);
        graph
            .kernel(loops::kernel::squares)
            .consumes(&numbers)
            .arg(&total);
        graph.send(&numbers, 0..200);
        graph.run(&device).unwrap();
        // Relaxed: the run is over.
        assert_eq!(
            total.load(Ordering::Relaxed),
            expected.load(Ordering::Relaxed)
        );
    }
}

#[test]
fn ports_arguments_and_outputs() {
    for device in devices() {
        let (weights, sum) = (vec![0.5f32, 1.5, 2.5, 3.5], AtomicU64::new(0));
        let seen: [AtomicU32; 4] = Default::default();
        let mut graph = Graph::new("sorts");
        let numbers = graph.channel::<u32>("numbers").width(100);
        let odd = graph.channel::<(u32, f32)>("odd").width(7).output();
        let even = graph
            .channel::<[u32; 2]>("even")
            .predicate(Predicate::AtLeast(3));
        graph
            .kernel(sorts::kernel::split)
            .consumes(&numbers)
            .produces(&odd)
            .produces(&even)
            .arg(&weights)
            .arg(10)
            .arg(&seen);
        graph.kernel(sorts::kernel::count).consumes(&even).arg(&sum);
        graph.send(&numbers, 0..1_000);
        graph.run(&device).unwrap();
        let mut found = graph.take(&odd);
        found.sort_by_key(|f| f.0);
        let wanted: Vec<(u32, f32)> = (0..500)
            .map(|i| (2 * i + 1, weights[((2 * i + 1) % 4) as usize]))
            .collect();
        assert_eq!(found, wanted);
        assert_eq!(
            sum.load(Ordering::Relaxed),
            (0..500).map(|i| 4 * i + 10).sum::<u64>()
        );
        assert_eq!(seen.each_ref().map(|s| s.load(Ordering::Relaxed)), [250; 4]);
    }
}

#[test]
fn a_graph_is_fed_and_drained_while_it_runs() {
    let weights = [0.0f32; 4];
    let seen: [AtomicU32; 4] = Default::default();
    for device in devices() {
        let mut host = 0;
        let mut graph = Graph::new("sorts");
        let numbers = graph.channel::<u32>("numbers").width(50).input();
        let odd = graph.channel::<(u32, f32)>("odd").width(50).output();
        let even = graph.channel::<[u32; 2]>("even").when_full(WhenFull::Grow);
        graph
            .kernel(sorts::kernel::split)
            .consumes(&numbers)
            .produces(&odd)
            .produces(&even)
            .arg(&weights)
            .arg(0)
            .arg(&seen);
        graph
            .host("sink")
            .consumes(&even)
            .run(|batch: &[[u32; 2]]| host += batch.len());
        let (received, _) = graph
            .start(&device, |run| {
                std::thread::scope(|scope| {
                    let drained = scope.spawn(|| {
                        let mut count = 0;
                        loop {
                            let batch = run.receive(&odd)?;
                            if batch.is_empty() {
                                return Ok::<_, RunError>(count);
                            }
                            count += batch.len();
                        }
                    });
                    for first in (0..10_000).step_by(100) {
                        let mut left: Vec<u32> = (first..first + 100).collect();
                        left = run.try_send(&numbers, left)?;
                        run.send(&numbers, left)?;
                    }
                    run.wait_for_done()?;
                    drained.join().unwrap()
                })
            })
            .unwrap();
        assert_eq!(received, 5_000);
        drop(graph);
        assert_eq!(host, 5_000);
    }
}

#[test]
fn errors_end_a_run_once() {
    let device = &devices()[1];
    let sum = AtomicU64::new(0);
    let mut graph = Graph::new("g");
    let even = graph.channel::<[u32; 2]>("even");
    graph.kernel(sorts::kernel::count).consumes(&even).arg(&sum);
    let cancelled = graph.start(device, |run| {
        run.cancel();
        Ok(())
    });
    // Nothing is sent to it, before or during the run.
    assert_eq!(
        cancelled.map(drop).map_err(|e| e.to_string()),
        Err("the graph `g` cannot be run\n  nothing comes into channel `even` (send elements to it (an input), or let a node produce into it)".into())
    );
    let even = even.input();
    let cancelled = graph.start(device, |run| {
        run.send(&even, [[1, 2]])?;
        run.cancel();
        Ok(())
    });
    assert_eq!(cancelled.map(drop), Err(RunError::Cancelled));

    let mut graph = Graph::new("g");
    let even = graph.channel::<u32>("even");
    graph.host("sink").consumes(&even).run(|batch: &[u32]| {
        assert!(batch.is_empty(), "there is {}", batch[0]);
    });
    graph.send(&even, [7]);
    let failed = graph.run(device).map(drop).map_err(|e| e.to_string());
    assert!(
        failed.clone().unwrap_err().contains("host node `sink`"),
        "{failed:?}"
    );
}
