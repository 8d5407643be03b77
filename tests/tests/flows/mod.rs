//! Graphs of ring channels on the CUDA device without a GPU: the generated text on fibers, in interleavings drawn by lot, with blocks of 8 threads,
//! stages of a few elements and channels of a few more, so that every rare way is taken.
//!
//! Needs a C++ compiler, `c++` or `CXX`; without one nothing of it runs. Where there is NVRTC, the texts are compiled by it too. With
//! `MILLSTREAM_TEST_DEVICE=cuda` the same graphs run on the first GPU.

mod bench;
mod outside;
mod room;
mod spawning;

use bench::{Bench, On, bytes, compiles, drain, lent, made, slice, words};
use millstream::dump::{WorkerState, suspicions};
use millstream_aggregator::{ErasedArg, GraphProgram, HostFn, RunError, Running, cuda::Machine};
use millstream_graph::graph::{Predicate, WhenFull};
use millstream_tests::{
    emulator::{self, FlowEmulator},
    stress::plants,
};
use std::sync::Arc;

const FIB: &str = "
#[derive(Clone, Copy)]
pub struct FibObj { pub n: u32 }
#[kernel]
pub fn fib(src: FibObj, next: Channel<FibObj>, result: &AtomicU64) {
    if src.n < 2 { result.fetch_add(src.n as u64, Ordering::Relaxed); return; }
    next.emit(FibObj { n: src.n - 1 });
    next.emit(FibObj { n: src.n - 2 });
}";

fn fib(width: u32) -> GraphProgram {
    let (channels, nodes) = (
        [("calls", "FibObj", width)],
        [("fib", "calls", &["calls"][..])],
    );
    made(FIB, &channels, &nodes, |_| {})
}

#[test]
fn figure_6_of_the_paper_counts_fib() {
    compiles(&fib(4096));
    for (blocks, stage) in [(1, 4096), (2, 256), (3, 512)] {
        let Some(mut bench) = Bench::new(fib(4096), blocks, stage) else {
            return;
        };
        let calls = bench.channel("calls");
        for seed in 1..=4 {
            let mut result = [0u64];
            let args = vec![("fib", lent(&mut result))];
            let (_, report) = bench
                .run(seed, args, vec![], |run| run.send(calls, &bytes([15])))
                .unwrap();
            assert_eq!(result, [610], "{blocks} blocks, stage {stage}, seed {seed}");
            assert_eq!(report.total, 1973, "elements");
        }
    }
}

#[test]
fn a_circle_of_full_channels_ends_with_all_counts() {
    let program = fib(4);
    let Some(mut bench) = Bench::new(program, 2, 256) else {
        return;
    };
    let calls = bench.channel("calls");
    for seed in 1..=4 {
        let mut result = [0u64];
        let args = vec![("fib", lent(&mut result))];
        let send = |run: &Running<'_>| run.send(calls, &bytes([40]));
        let error = bench.run(seed, args, vec![], send).unwrap_err();
        assert!(
            matches!(&error, RunError::Stalled { graph, channels } if graph == "flow" && channels.contains("`calls` 4 of 4")),
            "{error}"
        );
        let On::Fibers(emulator) = &bench.on else {
            continue;
        };
        let dump = emulator.live().dump().unwrap();
        assert_eq!(
            (dump.why, dump.graph.as_deref()),
            (Some(error.to_string()), Some("flow"))
        );
        let calls = &dump.channels[0];
        assert_eq!(
            (calls.waiting, calls.held, calls.capacity),
            (Some(4), Some(4), Some(4))
        );
        assert!(dump.missing.is_empty(), "{:?}", dump.missing);
        // What blocks could not put there.
        let kept = |w: &WorkerState| w.no_room.iter().map(|h| h.elements).sum::<u64>();
        assert!(
            dump.workers.iter().map(kept).sum::<u64>() > 0,
            "{:?}",
            dump.workers
        );
        let says = suspicions(&emulator.live().dump().unwrap());
        assert!(
            says[0].contains("in a circle, so that nobody can go on: `calls` -> fib -> `calls`"),
            "{says:?}"
        );
    }
}

const PIPE: &str = "
#[kernel]
pub fn count(n: u32, out: Channel<u32>) {
    let mut i: u32 = 0;
    while i < n { out.emit(i); i += 1; }
}
#[kernel]
pub fn triple(x: u32, out: Channel<u32>) { out.emit(3 * x); }
#[kernel]
pub fn tail(x: u32, out: Channel<u32>) { if x % 2 == 0 { out.emit(x); } }
";

const FANS: &str = "
#[kernel]
pub fn split(x: u32, even: Channel<u32>, odd: Channel<(u32, u8)>) {
    if x % 2 == 0 { even.emit(x / 2); } else { odd.emit((x, 1)); }
}
#[kernel]
pub fn evens(x: u32, all: Channel<(u32, u64)>) { all.emit((x, 2)); }
#[kernel]
pub fn odds(x: (u32, u8), all: Channel<(u32, u64)>) { all.emit((x.0, x.1 as u64)); all.emit((1000, 0)); }
#[kernel]
pub fn sum(x: (u32, u64), sums: &[AtomicU64]) {
    sums[x.1 as usize].fetch_add(x.0 as u64, Ordering::Relaxed);
}
";

#[test]
fn what_fans_out_comes_together_again() {
    for width in [1, 3, 10, 64] {
        let channels = [
            ("input", "u32", width),
            ("even", "u32", width),
            ("odd", "(u32, u8)", width),
            ("all", "(u32, u64)", 2 * width),
        ];
        let nodes = [
            ("split", "input", &["even", "odd"][..]),
            ("evens", "even", &["all"]),
            ("odds", "odd", &["all"]),
            ("sum", "all", &[]),
        ];
        let program = made(FANS, &channels, &nodes, |_| {});
        compiles(&program);
        let Some(mut bench) = Bench::new(program, 2, 512) else {
            return;
        };
        let input = bench.channel("input");
        for seed in 1..=3 {
            let mut sums = [0u64; 3];
            let args = vec![("sum", slice(&mut sums))];
            bench
                .run(seed, args, vec![], |run| run.send(input, &bytes(0..200)))
                .unwrap();
            let (odd, even) = ((0..200).filter(|x| x % 2 == 1).sum::<u64>(), (0..100).sum());
            assert_eq!(sums, [100_000, odd, even], "width {width}, seed {seed}");
        }
    }
}

const BALL: &str = "
#[kernel]
pub fn ping(x: u32, out: Channel<u32>, hits: &AtomicU64) {
    hits.fetch_add(1, Ordering::Relaxed);
    if x > 0 { out.emit(x - 1); }
}
#[kernel]
pub fn pong(x: u32, out: Channel<u32>, hits: &AtomicU64) {
    hits.fetch_add(1, Ordering::Relaxed);
    if x > 0 { out.emit(x - 1); }
}
";

#[test]
fn a_circle_goes_round_as_long_as_there_is_room() {
    for (width, count) in [(1, 1), (2, 3), (7, 13)] {
        let program = made(
            BALL,
            &[("left", "u32", width), ("right", "u32", width)],
            &[("ping", "left", &["right"]), ("pong", "right", &["left"])],
            |_| {},
        );
        let Some(mut bench) = Bench::new(program, 2, 256) else {
            return;
        };
        let left = bench.channel("left");
        for seed in 1..=3 {
            let (mut pings, mut pongs) = ([0u64], [0u64]);
            let args = vec![("ping", lent(&mut pings)), ("pong", lent(&mut pongs))];
            let balls = bytes(std::iter::repeat_n(9, count));
            bench
                .run(seed, args, vec![], |run| run.send(left, &balls))
                .unwrap();
            let each = 5 * count as u64;
            assert_eq!(
                (pings, pongs),
                ([each], [each]),
                "width {width}, seed {seed}"
            );
        }
    }
}

const SHAPES: &str = "
#[derive(Clone, Copy)]
pub struct Shape { pub small: u8, pub many: [u16; 5], pub wide: f64, pub yes: bool, pub id: u32 }
#[kernel]
pub fn make(n: u32, out: Channel<Shape>) {
    let mut many = [0u16; 5];
    let mut i: usize = 0;
    while i < 5 { many[i] = (n as u16) + (i as u16); i += 1; }
    out.emit(Shape { small: n as u8, many, wide: n as f64 / 2.0, yes: n % 3 == 0, id: n });
}
#[kernel]
pub fn check(s: Shape, key: [u32; 3], good: &AtomicU64, factor: f64) {
    let mut right = s.small == s.id as u8 && s.yes == (s.id % 3 == 0) && s.wide * factor == s.id as f64;
    let mut i: usize = 0;
    while i < 5 { if s.many[i] != (s.id as u16) + (i as u16) { right = false; } i += 1; }
    if right && key[2] == 9 { good.fetch_add(1, Ordering::Relaxed); }
}
";

#[test]
fn elements_of_all_shapes_arrive_as_they_were() {
    let channels = [("ids", "u32", 20), ("shapes", "Shape", 13)];
    let nodes = [("make", "ids", &["shapes"][..]), ("check", "shapes", &[])];
    let program = made(SHAPES, &channels, &nodes, |_| {});
    compiles(&program);
    let Some(mut bench) = Bench::new(program, 2, 1024) else {
        return;
    };
    let ids = bench.channel("ids");
    for seed in 1..=3 {
        let mut good = [0u64];
        let mut args = vec![ErasedArg::Blob(bytes([7, 8, 9]))];
        args.extend(lent(&mut good));
        args.push(ErasedArg::Scalar(2f64.to_bits()));
        bench
            .run(seed, vec![("check", args)], vec![], |run| {
                run.send(ids, &bytes(0..300))
            })
            .unwrap();
        assert_eq!(good, [300], "seed {seed}");
    }
}

#[test]
fn predicates_are_asked() {
    let source = "
    pub fn by_fives(waiting: u32, width: u32, more: bool) -> bool { waiting >= 5 || (!more && waiting >= 3) }
    #[kernel] pub fn copy(x: u32, out: Channel<u32>) { out.emit(x); }
    #[kernel] pub fn count(x: u32, sum: &AtomicU64) { sum.fetch_add(x as u64, Ordering::Relaxed); }";
    for (predicate, sent, ends) in [
        (Predicate::AtLeast(6), 20, true),
        (Predicate::AtLeast(6), 2, true),
        (Predicate::Any, 7, true),
        (Predicate::Own("by_fives".into()), 5, true),
        (Predicate::Own("by_fives".into()), 2, false),
    ] {
        let channels = [("input", "u32", 32), ("copies", "u32", 16)];
        let nodes = [("copy", "input", &["copies"][..]), ("count", "copies", &[])];
        let program = made(source, &channels, &nodes, |graph| {
            let copies = graph.find_channel("copies").unwrap();
            graph.channel_mut(copies).unwrap().predicate = predicate.clone();
        });
        compiles(&program);
        let Some(mut bench) = Bench::new(program, 2, 512) else {
            return;
        };
        let input = bench.channel("input");
        for seed in 1..=3 {
            let mut sum = [0u64];
            let args = vec![("count", lent(&mut sum))];
            let done = bench.run(seed, args, vec![], |run| run.send(input, &bytes(0..sent)));
            match (done, ends) {
                (Ok(_), true) => {
                    assert_eq!(sum, [(0..u64::from(sent)).sum::<u64>()], "{predicate:?}")
                }
                (Err(RunError::Stalled { channels, .. }), false) => {
                    assert!(channels.contains("`copies` 2 of 16"), "{channels}");
                }
                (other, _) => panic!("{predicate:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn an_error_ends_the_graph_once_and_says_where() {
    let source = "
    #[kernel] pub fn step(x: u32, out: Channel<u32>) { assert!(x != 77); out.emit(x + 1); }
    #[kernel] pub fn sink(x: u32) { assert!(x < 1000); }";
    let channels = [("input", "u32", 8), ("next", "u32", 8)];
    let nodes = [("step", "input", &["next"][..]), ("sink", "next", &[])];
    let program = made(source, &channels, &nodes, |_| {});
    let Some(mut bench) = Bench::new(program, 2, 256) else {
        return;
    };
    let input = bench.channel("input");
    for seed in 1..=4 {
        let send = |run: &Running<'_>| run.send(input, &bytes(0..200));
        let error = bench.run(seed, vec![], vec![], send).unwrap_err();
        let RunError::Node {
            node,
            element,
            error,
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!(node, "step");
        assert!(
            element.as_ref().is_some_and(|e| e.contains(": 77")),
            "{element:?}"
        );
        assert!(error.to_string().contains("flow.rs:3:"), "{error}");
    }
}

#[test]
fn host_nodes_feed_and_drain() {
    let source = "#[kernel] pub fn square(x: u32, out: Channel<u32>) { out.emit(x * x); }";
    let channels = [
        ("numbers", "u32", 5),
        ("squares", "u32", 7),
        ("odd", "u32", 6),
    ];
    let nodes = [
        ("square", "numbers", &["squares"][..]),
        ("filter", "squares", &["odd"]),
    ];
    let program = made(source, &channels, &nodes, |_| {});
    let Some(mut bench) = Bench::new(program, 2, 256) else {
        return;
    };
    let (numbers, odd) = (bench.channel("numbers"), bench.channel("odd"));
    for seed in 1..=2 {
        let filter: HostFn<'_> = Box::new(|elements, out| {
            let kept = words(elements).into_iter().filter(|x| x % 2 == 1);
            out[0].extend(bytes(kept));
            Ok(true)
        });
        let (found, _) = bench
            .run(seed, vec![], vec![("filter", filter)], |run| {
                let mut found = Vec::new();
                for chunk in 0..10u32 {
                    run.send(numbers, &bytes(10 * chunk..10 * chunk + 10))?;
                    while let Some(some) = run.try_receive(odd, 100)? {
                        found.extend(words(&some));
                    }
                }
                found.extend(drain(run, odd)?);
                Ok(found)
            })
            .unwrap();
        let mut found = found;
        found.sort_unstable();
        let expected: Vec<u32> = (0..100).map(|x| x * x).filter(|x| x % 2 == 1).collect();
        assert_eq!(found, expected, "seed {seed}");
    }
}

#[test]
fn a_channel_may_grow_or_drop_its_oldest() {
    let program = fib(4);
    let mut grown = fib(4);
    let calls = grown.graph.find_channel("calls").unwrap();
    grown.graph.channel_mut(calls).unwrap().full = WhenFull::Grow;
    let mut dropping = program;
    dropping.graph.channel_mut(calls).unwrap().full = WhenFull::DropOldest;
    compiles(&dropping);
    let Some(mut bench) = Bench::new(grown, 2, 256) else {
        return;
    };
    for seed in 1..=3 {
        let mut result = [0u64];
        let args = vec![("fib", lent(&mut result))];
        let send = |run: &Running<'_>| run.send(calls, &bytes([12]));
        bench.run(seed, args, vec![], send).unwrap();
        assert_eq!(result, [144], "grown, seed {seed}");
    }
    let mut bench = Bench::new(dropping, 2, 256).unwrap();
    for seed in 1..=3 {
        let mut result = [0u64];
        let args = vec![("fib", lent(&mut result))];
        let send = |run: &Running<'_>| run.send(calls, &bytes([12]));
        let (_, report) = bench.run(seed, args, vec![], send).unwrap();
        let channel = &report.channels[0];
        assert!(channel.dropped > 0, "seed {seed}");
        assert_eq!(
            channel.elements,
            report.total + channel.dropped,
            "seed {seed}"
        );
    }
}

/// One thread feeds, another drains, for as long as the graph runs.
#[test]
fn what_is_fed_while_it_runs_comes_out() {
    let source = "#[kernel] pub fn next(x: u32, out: Channel<u32>) { out.emit(x + 1); }";
    let channels = [("input", "u32", 16), ("output", "u32", 11)];
    let program = made(source, &channels, &[("next", "input", &["output"])], |_| {});
    let Some(mut bench) = Bench::new(program, 2, 256) else {
        return;
    };
    let (input, output) = (bench.channel("input"), bench.channel("output"));
    for seed in 1..=3 {
        let (mut found, _) = bench
            .run(seed, vec![], vec![], |run| {
                std::thread::scope(|scope| {
                    let fed = scope.spawn(|| {
                        for chunk in 0..40u32 {
                            run.send(input, &bytes(25 * chunk..25 * chunk + 25))?;
                        }
                        run.close();
                        Ok::<(), RunError>(())
                    });
                    let mut found = Vec::new();
                    while let Some(some) = run.receive(output, 7)? {
                        found.extend(words(&some));
                    }
                    fed.join().unwrap()?;
                    Ok(found)
                })
            })
            .unwrap();
        found.sort_unstable();
        assert_eq!(found, (1..=1000).collect::<Vec<u32>>(), "seed {seed}");
    }
}

/// Bugs that are planted in the device's text are found: by a wrong result, by an error, or as threads that wait for ever.
#[test]
fn planted_bugs_are_found() {
    if !plants() || !emulator::is_there() || std::env::var("MILLSTREAM_TEST_DEVICE").is_ok() {
        return;
    }
    let planted = [
        (
            "children are not counted",
            "count_alive(Ports<S, S::PORTS>::born(sh), count);",
            "count_alive(0, count);",
        ),
        (
            "what finds no room is forgotten",
            "sh.held[channel] += count - done;",
            ";",
        ),
        (
            "slots are not freed",
            "__nv_atomic_fetch_xor(&r.done[word], ring_bits(count) << slot % r.group, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);",
            "return;",
        ),
        (
            "the same part of a stage is brought to all room that is found",
            "S::template put<P>(slots.at(i), done + i);",
            "S::template put<P>(slots.at(i), i);",
        ),
        (
            "room is given twice",
            "if (__nv_atomic_compare_exchange_n(&r.words->head, &head, end",
            "if (__nv_atomic_exchange_n(&r.words->head, end, __NV_ATOMIC_RELAXED, 0) + 1 || __nv_atomic_compare_exchange_n(&r.words->head, &head, end",
        ),
        (
            "the lanes of a warp see room differently",
            "if (__shfl_sync(ALL_LANES, got, 0, WARP) == 0) {",
            "if (got == 0) {",
        ),
    ];
    for (what, from, to) in planted {
        let wrong = wrong_narrow(20, |program| {
            FlowEmulator::with_change(program, (3, 192), |text| {
                assert!(text.contains(from), "{what}");
                text.replace(from, to)
            })
        });
        assert!(wrong.is_some(), "{what}");
    }
}

/// What a pipeline of narrow channels does wrong with one of so many seeds.
fn wrong_narrow(
    seeds: u64,
    emulator: impl FnOnce(&GraphProgram) -> Result<FlowEmulator, String>,
) -> Option<String> {
    let channels = [("starts", 2), ("counted", 3), ("tripled", 5), ("out", 7)];
    let channels = channels.map(|(name, width)| (name, "u32", width));
    let nodes = [
        ("count", "starts", &["counted"][..]),
        ("triple", "counted", &["tripled"]),
        ("tail", "tripled", &["out"]),
    ];
    let mut expected: Vec<u32> = (0..40).chain(0..7).map(|i| 3 * i).collect();
    expected.retain(|x| x % 2 == 0);
    expected.sort_unstable();
    let program = made(PIPE, &channels, &nodes, |_| {});
    let on = On::Fibers(Box::new(emulator(&program).unwrap()));
    let program = Arc::new(program);
    let mut bench = Bench { program, on };
    let (starts, out) = (bench.channel("starts"), bench.channel("out"));
    (1..=seeds).find_map(|seed| {
        let done = bench.run(seed, vec![], vec![], |run| {
            run.send(starts, &bytes([40, 7]))?;
            let mut found = drain(run, out)?;
            found.sort_unstable();
            Ok(found)
        });
        match done {
            Ok((found, _)) if found == expected => None,
            Ok((found, _)) => Some(format!("seed {seed}: {found:?}")),
            Err(e) => Some(format!("seed {seed}: {e}")),
        }
    })
}

/// Whatever the threads of a graph share, somebody has put in order; and where an order is taken out, that is seen.
#[test]
fn no_access_of_a_graph_is_unordered() {
    if !emulator::is_there() || std::env::var("MILLSTREAM_TEST_DEVICE").is_ok() {
        return;
    }
    let watched = |change: &dyn Fn(String) -> String| {
        wrong_narrow(40, |program| {
            FlowEmulator::watched(program, (3, 192), change)
        })
    };
    assert_eq!(watched(&|text| text), None);
    for (order, behind) in [
        (
            "who has a place in a stage knows that it was brought away",
            "\n        if (e < S::capacity(P)) return e;",
        ),
        (
            "what is staged is written before it is counted",
            "\n      shared_add(&sh.written[P], 1);",
        ),
    ] {
        let fence = "fence_block();";
        let wrong = watched(&|text| {
            let right = format!("{fence}{behind}");
            assert_eq!(text.matches(&right).count(), 1, "{order}");
            text.replace(&right, behind)
        });
        assert!(wrong.is_some_and(|why| why.contains("a race")), "{order}");
    }
}
