//! Whole runs of graphs.

use super::{
    GraphCall, Running,
    testing::{Built, device, load, longs, words},
};
use crate::{RunError, dump::Doing};
use millstream_graph::graph::{ChannelKey, Predicate, WhenFull};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

/// Nobody waited until the caller's patience was over.
fn at_once(start: Instant) {
    assert!(start.elapsed() < GraphCall::default().patience);
}

/// Figure 6 of the paper.
fn fib<'a>(width: u32, full: WhenFull, result: &'a AtomicU64) -> (Built<'a>, ChannelKey) {
    let mut built = Built::default();
    built.graph.name = "fib".into();
    let calls = built.input("calls", "FibObj", width);
    built.with(calls, |c| c.full = full);
    let node = built.node("fib", calls, &[calls]);
    built.arg(node, result);
    (built, calls)
}

#[test]
fn figure_6_gives_fib() {
    for threads in [1, 2, 4] {
        let result = AtomicU64::new(0);
        let (built, calls) = fib(32_768, WhenFull::Wait, &result);
        let send = |run: &Running<'_>| run.send(calls, &20u32.to_ne_bytes());
        let report = built.run(&device(threads), send).unwrap().1;
        assert_eq!(result.into_inner(), 6765, "{threads}");
        assert_eq!(report.channels[0].elements, 21_891);
        assert!(report.channels[0].peak > 1000, "{report}");
    }
}

#[test]
fn a_graph_runs_again_without_compiling() {
    let device = device(2);
    let result = AtomicU64::new(0);
    let (built, calls) = fib(32_768, WhenFull::Wait, &result);
    let loaded = load(&device, &built.graph).unwrap();
    for n in 1..40u32 {
        let again = AtomicU64::new(0);
        let (built, _) = fib(32_768, WhenFull::Wait, &again);
        let send = |run: &Running<'_>| run.send(calls, &(n % 20).to_ne_bytes());
        loaded.run(built.call, send).unwrap();
        assert_eq!(
            again.load(Ordering::Relaxed),
            [
                0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181
            ][(n % 20) as usize]
        );
    }
}

#[test]
fn a_cycle_of_full_channels_is_an_error_with_all_counts() {
    for threads in [1, 2] {
        let result = AtomicU64::new(0);
        let (built, calls) = fib(64, WhenFull::Wait, &result);
        let send = |run: &Running<'_>| run.send(calls, &30u32.to_ne_bytes());
        let start = Instant::now();
        let error = built.run(&device(threads), send).unwrap_err();
        at_once(start);
        assert_eq!(
            error.to_string(),
            "the graph `fib` cannot go on: what waits in each channel, of what there is room for, is `calls` 64 of 64; give full channels \
             more width or let them grow, and look for a predicate that is never true"
        );
    }
}

#[test]
fn a_channel_that_may_grow_needs_no_room() {
    for width in [1, 7, 64] {
        let result = AtomicU64::new(0);
        let (built, calls) = fib(width, WhenFull::Grow, &result);
        let send = |run: &Running<'_>| run.send(calls, &20u32.to_ne_bytes());
        built.run(&device(2), send).unwrap();
        assert_eq!(result.into_inner(), 6765, "{width}");
    }
}

#[test]
fn a_channel_that_drops_counts_what_it_drops() {
    for (threads, width) in [(1, 1), (2, 5), (2, 64), (1, 200)] {
        let result = AtomicU64::new(0);
        let (built, calls) = fib(width, WhenFull::DropOldest, &result);
        let send = |run: &Running<'_>| run.send(calls, &25u32.to_ne_bytes());
        let report = built.run(&device(threads), send).unwrap().1;
        let (channel, ran) = (&report.channels[0], report.total);
        assert!(channel.dropped > 0, "{report}");
        assert_eq!(channel.elements, ran + channel.dropped, "{report}");
    }
}

#[test]
fn a_ring_of_one_slot_goes_round() {
    for threads in [1, 2, 3] {
        let hits = AtomicU64::new(0);
        let mut built = Built::default();
        let numbers = built.input("numbers", "u32", 1);
        let node = built.node("down", numbers, &[numbers]);
        built.arg(node, &hits);
        let report = built
            .run(&device(threads), |run| run.send(numbers, &words([5000])))
            .unwrap()
            .1;
        assert_eq!(hits.into_inner(), 5001);
        assert_eq!(report.channels[0].peak, 1);
    }
}

/// Numbers fan out to two channels of different elements and come together again; `out` is drained outside.
fn diamond<'a>(widths: [u32; 4]) -> (Built<'a>, ChannelKey, ChannelKey) {
    let mut built = Built::default();
    let counts = built.input("counts", "u32", widths[0]);
    let evens = built.channel("evens", "u32", widths[1]);
    let odds = built.channel("odds", "(u32, u8)", widths[2]);
    let out = built.output("out", "u64", widths[3]);
    built.node("fan", counts, &[evens, odds]);
    built.node("even", evens, &[out]);
    built.node("odd", odds, &[out]);
    (built, counts, out)
}

fn diamond_sum(counts: impl IntoIterator<Item = u32>) -> (u64, u64) {
    let of = |i: u64| if i.is_multiple_of(2) { i } else { i * 1000 + 7 };
    let all = counts.into_iter().flat_map(|n| (0..u64::from(n)).map(of));
    all.fold((0, 0), |(n, sum), x| (n + 1, sum + x))
}

#[test]
fn one_thread_feeds_and_another_drains() {
    for (threads, widths) in [
        (1, [1, 1, 1, 1]),
        (2, [1, 1, 1, 1]),
        (2, [3, 2, 5, 1]),
        (3, [64, 1, 100, 7]),
        (2, [1000, 1000, 1000, 1000]),
    ] {
        let (built, counts, out) = diamond(widths);
        let ((received, sum), report) = built
            .run(&device(threads), |run| {
                thread::scope(|scope| {
                    let fed = scope.spawn(|| {
                        for batch in 0..50u32 {
                            run.send(counts, &words(batch..batch + 20))?;
                        }
                        run.close();
                        Ok::<(), RunError>(())
                    });
                    let (mut received, mut sum) = (0, 0);
                    while let Some(batch) = run.receive(out, 100)? {
                        received += batch.len() as u64 / 8;
                        sum += longs(&batch).iter().sum::<u64>();
                    }
                    fed.join().unwrap()?;
                    Ok((received, sum))
                })
            })
            .unwrap();
        assert_eq!(
            (received, sum),
            diamond_sum((0..50).flat_map(|b| b..b + 20)),
            "{widths:?}"
        );
        let of: BTreeMap<&str, u64> = report
            .channels
            .iter()
            .map(|c| (&*c.name, c.elements))
            .collect();
        assert_eq!(
            (of["counts"], of["evens"] + of["odds"], of["out"]),
            (1000, received, received)
        );
        for (channel, width) in report.channels.iter().zip(widths) {
            assert!(channel.peak <= u64::from(width), "{report}");
        }
    }
}

#[test]
fn what_finds_no_room_is_given_back() {
    let (built, counts, out) = diamond([4, 4, 4, 4]);
    let sums = built.run(&device(2), |run| {
        let (mut sent, mut got) = (0, Vec::new());
        let all = words([9; 300]);
        while sent < 300 {
            sent += run.try_send(counts, &all[4 * sent..])?;
            while let Some(batch) = run.try_receive(out, 3)? {
                assert!(batch.len() <= 24);
                got.extend(longs(&batch));
            }
        }
        run.close();
        while let Some(batch) = run.receive(out, 1000)? {
            got.extend(longs(&batch));
        }
        Ok((got.len() as u64, got.iter().sum()))
    });
    assert_eq!(sums.unwrap().0, diamond_sum([9; 300]));
}

#[test]
fn a_kernel_may_spawn_and_sync_between_what_it_emits() {
    for (threads, width) in [(1, 3), (2, 64), (2, 1)] {
        let result = AtomicU64::new(0);
        let mut built = Built::default();
        let numbers = built.input("numbers", "u32", 16);
        let sums = built.channel("sums", "u64", width);
        built.node("spawns", numbers, &[sums]);
        let node = built.node("sum", sums, &[]);
        built.arg(node, &result);
        built
            .run(&device(threads), |run| run.send(numbers, &words(0..20)))
            .unwrap();
        assert_eq!(result.into_inner(), 190_000_000 + 10_945);
    }
}

#[test]
fn tasks_that_a_kernel_spawns_are_shared() {
    // A thread that the system lets sleep all the while acquires nothing: so some of several runs are shared.
    let mut runs = (0..8).map(|_| {
        let result = AtomicU64::new(0);
        let mut built = Built::default();
        let numbers = built.input("numbers", "u32", 16);
        let sums = built.channel("sums", "u64", 16);
        built.node("spawns", numbers, &[sums]);
        let node = built.node("sum", sums, &[]);
        built.arg(node, &result);
        let report = built
            .run(&device(3), |run| run.send(numbers, &words([32])))
            .unwrap()
            .1;
        assert_eq!(result.into_inner(), 32_000_000 + 2_178_309);
        report.workers.iter().map(|w| w.acquired).sum::<u64>()
    });
    assert!(runs.any(|acquired| acquired > 0));
}

#[test]
fn a_graph_may_have_no_kernels() {
    let mut seen = Vec::new();
    let mut built = Built::default();
    let numbers = built.channel("numbers", "u32", 2);
    let mut left = 10;
    built.host("source", None, &[numbers], |_, out| {
        out[0].extend(words([left]));
        left -= 1;
        Ok(left > 0)
    });
    built.host("sink", Some(numbers), &[], |batch, _| {
        seen.extend_from_slice(batch);
        Ok(true)
    });
    built.run(&device(2), |_| Ok(())).unwrap();
    assert_eq!(seen, words((1..=10).rev()));
}

#[test]
fn host_nodes_are_sources_and_sinks() {
    for width in [1, 10, 1000] {
        let (mut next, mut seen) = (0, Vec::new());
        let mut built = Built::default();
        let counts = built.channel("counts", "u32", width);
        let evens = built.channel("evens", "u32", width);
        let odds = built.channel("odds", "(u32, u8)", width);
        let long = built.channel("long", "u64", width);
        let last = built.channel("last", "u64", width);
        built.host("numbers", None, &[counts], |batch, out| {
            assert!(batch.is_empty());
            out[0].extend(words([next, next + 1]));
            next += 2;
            Ok(next < 40)
        });
        built.node("fan", counts, &[evens, odds]);
        built.host("widen", Some(evens), &[long], |batch, out| {
            for value in batch.chunks_exact(4) {
                let value = u32::from_ne_bytes(value.try_into().unwrap());
                out[0].extend(u64::from(value).to_ne_bytes());
            }
            Ok(true)
        });
        built.node("odd", odds, &[long]);
        built.node("pass", long, &[last]);
        built.host("sink", Some(last), &[], |batch, _| {
            seen.extend(longs(batch));
            Ok(true)
        });
        built.run(&device(2), |_| Ok(())).unwrap();
        let sum = (seen.len() as u64, seen.iter().sum());
        assert_eq!(sum, diamond_sum(0..40), "{width}");
    }
}

#[test]
fn an_error_of_a_kernel_names_node_element_and_line() {
    let limits = [5u32, 6, 7];
    let mut built = Built::default();
    let numbers = built.input("numbers", "u32", 16);
    let out = built.output("out", "u64", 16);
    let node = built.node("strict", numbers, &[out]);
    built.arg(node, &limits[..]);
    let error = built.run(&device(2), |run| {
        run.send(numbers, &words([0, 2, 3, 1]))?;
        run.wait_for_done()
    });
    let text = error.unwrap_err().to_string();
    assert_eq!(
        text,
        "node `strict`, element (value: 3): index out of bounds: the length is 3 but the index is 3, in `strict` at nodes.rs:6:18"
    );
}

#[test]
fn an_error_or_panic_of_a_host_node_ends_the_graph_once() {
    let cases: [(bool, &str); 2] = [
        (false, "host node `sink`: the disk is full"),
        (true, "host node `sink`: it panicked: no more"),
    ];
    for (panics, text) in cases {
        let mut built = Built::default();
        let counts = built.input("counts", "u32", 4);
        built.host("sink", Some(counts), &[], move |_, _| {
            assert!(!panics, "no more");
            Err("the disk is full".into())
        });
        let error = built.run(&device(2), |run| {
            for _ in 0..1000 {
                run.send(counts, &words([1]))?;
            }
            Ok(())
        });
        assert_eq!(error.unwrap_err().to_string(), text);
    }
}

#[test]
fn cancelling_wakes_everybody() {
    let device = device(2);
    for by_handle in [false, true] {
        let (built, counts, out) = diamond([1, 1, 1, 1]);
        let start = Instant::now();
        let error = built.run(&device, |run| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(30));
                    if by_handle {
                        device.cancel_handle().cancel();
                    } else {
                        run.cancel();
                    }
                });
                scope.spawn(|| run.receive(out, 1));
                // Nobody drains.
                run.send(counts, &words([1000; 1000]))
            })
        });
        assert_eq!(error.unwrap_err(), RunError::Cancelled, "{by_handle}");
        at_once(start);
    }
}

#[test]
fn an_output_that_nobody_drains_is_an_error() {
    let (built, counts, _) = diamond([4, 4, 4, 100]);
    let error = built.run(&device(2), |run| run.send(counts, &words([10])));
    assert_eq!(
        error.unwrap_err().to_string(),
        "10 elements of the channel `out` were not received: an output is drained before the graph is left"
    );
    // It fills up, and the caller may drain it yet, for a while.
    let (mut built, counts, _) = diamond([4, 4, 4, 4]);
    built.call.patience = Duration::from_millis(100);
    let start = Instant::now();
    let error = built.run(&device(2), |run| run.send(counts, &words([10; 100])));
    let text = error.unwrap_err().to_string();
    assert!(text.contains("`out` 4 of 4;"), "{text}");
    assert!(start.elapsed() >= Duration::from_millis(100));
}

#[test]
fn a_predicate_that_is_never_true_is_an_error() {
    for threads in [1, 2] {
        let (mut built, counts, _) = diamond([4, 4, 4, 4]);
        built.with(counts, |c| c.predicate = Predicate::Own("never".into()));
        let start = Instant::now();
        let error = built.run(&device(threads), |run| run.send(counts, &words([1, 2, 3])));
        let text = error.unwrap_err().to_string();
        assert!(text.contains("`counts` 3 of 4, `evens` 0 of 4"), "{text}");
        at_once(start);
    }
}

#[test]
fn a_predicate_that_fails_or_never_ends_ends_the_graph() {
    for (helper, says) in [
        (
            "fails",
            "the predicate `fails` of channel `counts`: division by zero",
        ),
        (
            "endless",
            "the predicate `endless` of channel `counts`: the program ran for more than",
        ),
    ] {
        let (mut built, counts, _) = diamond([4, 4, 4, 4]);
        built.with(counts, |c| c.predicate = Predicate::Own(helper.into()));
        let error = built.run(&device(2), |run| run.send(counts, &words([1, 2, 3])));
        let text = error.unwrap_err().to_string();
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn predicates_hold_elements_back_until_nothing_can_come() {
    for (predicate, least) in [
        (Predicate::AtLeast(10), 10),
        (Predicate::Own("pairs".into()), 2),
    ] {
        let mut batches = Vec::new();
        let mut built = Built::default();
        let numbers = built.input("numbers", "u32", 64);
        built.with(numbers, |c| c.predicate = predicate.clone());
        built.host("sink", Some(numbers), &[], |batch, _| {
            batches.push(batch.len() / 4);
            Ok(true)
        });
        built
            .run(&device(2), |run| {
                for n in 0..25 {
                    run.send(numbers, &words([n]))?;
                }
                Ok(())
            })
            .unwrap();
        assert_eq!(batches.iter().sum::<usize>(), 25);
        let all_but_last = &batches[..batches.len() - 1];
        assert!(all_but_last.iter().all(|&b| b >= least), "{batches:?}");
    }
}

#[test]
fn what_has_a_higher_priority_goes_first() {
    // The one worker is held until elements are in both inputs, and takes those of the higher priority then, be they a full wavefront or not.
    for first in [0, 1] {
        let (clock, latest) = (AtomicU64::new(0), [AtomicU64::new(0), AtomicU64::new(0)]);
        let (began, go) = (AtomicU64::new(0), AtomicU64::new(0));
        let mut built = Built::default();
        let inputs = [0, 1].map(|i| {
            let input = built.input(&format!("in{i}"), "u64", 4096);
            built.with(input, |c| {
                c.priority = i32::from(i == first);
                c.predicate = Predicate::Any;
            });
            let node = built.node("stamp", input, &[]);
            built.graph.kernel_mut(node).unwrap().name = format!("stamp{i}");
            built.arg(node, &clock);
            built.arg(node, &latest[i]);
            input
        });
        let held = built.input("held", "u64", 1);
        built.with(held, |c| c.predicate = Predicate::Any);
        let hold = built.node("hold", held, &[]);
        built.arg(hold, &began);
        built.arg(hold, &go);
        let send = |run: &Running<'_>| {
            run.send(held, &1u64.to_ne_bytes())?;
            while began.load(Ordering::Acquire) == 0 {
                thread::yield_now();
            }
            for (i, input) in inputs.into_iter().enumerate() {
                let count = if i == first { 3 } else { 4096 };
                run.send(input, &vec![1; 8 * count])?;
            }
            go.store(1, Ordering::Release);
            Ok(())
        };
        built.run(&device(1), send).unwrap();
        let latest = latest.map(AtomicU64::into_inner);
        assert_eq!((latest[first], latest[1 - first]), (2, 4098));
    }
}

#[test]
fn channels_that_are_too_wide_for_the_memory_are_named() {
    let (built, ..) = diamond([1 << 20, 1 << 25, 4, 4]);
    let error = built.run(&device(2), |_| Ok(()));
    let text = error.unwrap_err().to_string();
    assert!(text.contains(" MiB of memory, and the budget of 64 MiB has 32 MiB for them; the largest is `evens` with "), "{text}");
    assert!(
        text.ends_with(
            " for 33554432 elements: give the run more memory, or the channels less width"
        ),
        "{text}"
    );
}

#[test]
fn a_channel_grows_no_further_than_the_memory() {
    let result = AtomicU64::new(0);
    let (built, calls) = fib(64, WhenFull::Grow, &result);
    let error = built.run(&device(2), |run| run.send(calls, &60u32.to_ne_bytes()));
    let text = error.unwrap_err().to_string();
    assert!(
        text.starts_with("the channel `calls` cannot grow beyond the "),
        "{text}"
    );
    assert!(
        text.ends_with(
            "what the budget of 64 MiB leaves for that is used up; give the run more memory"
        ),
        "{text}"
    );
}

#[test]
fn what_cannot_be_sent_or_received_is_said() {
    let (built, counts, out) = diamond([4, 4, 4, 4]);
    let evens = built.graph.find_channel("evens").unwrap();
    built
        .run(&device(1), |run| {
            let said = |error: RunError| error.to_string();
            assert_eq!(
                said(run.send(evens, &words([1])).unwrap_err()),
                "nothing can be sent to the channel `evens`: it is no input"
            );
            assert_eq!(
                said(run.send(counts, &[1, 2]).unwrap_err()),
                "2 bytes are no elements of the channel `counts`, which take 4 each"
            );
            assert_eq!(
                said(run.receive(counts, 1).unwrap_err()),
                "nothing can be received from the channel `counts`: a node consumes it"
            );
            run.wait_for_done()?;
            assert_eq!(
                said(run.send(counts, &words([1])).unwrap_err()),
                "nothing can be sent to the channel `counts`: the graph was closed"
            );
            assert_eq!(run.receive(out, 1)?, None);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_panic_of_the_caller_ends_the_graph_before_it_is_passed_on() {
    let device = device(2);
    let result = AtomicU64::new(0);
    let (built, calls) = fib(32_768, WhenFull::Grow, &result);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        built.run(&device, |run| -> Result<(), RunError> {
            run.send(calls, &40u32.to_ne_bytes())?;
            panic!("by the caller")
        })
    }));
    assert!(panicked.is_err());
    let after = result.load(Ordering::Relaxed);
    thread::sleep(Duration::from_millis(20));
    assert_eq!(
        result.load(Ordering::Relaxed),
        after,
        "nobody runs any more"
    );
    let result = AtomicU64::new(0);
    let (built, calls) = fib(32_768, WhenFull::Wait, &result);
    built
        .run(&device, |run| run.send(calls, &10u32.to_ne_bytes()))
        .unwrap();
    assert_eq!(result.into_inner(), 55);
}

#[test]
fn a_graph_in_progress_and_one_that_was_cancelled_are_seen_from_outside() {
    let on = device(2);
    let live = on.live();
    assert_eq!(on.dump(), None);
    let (entered, leave) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut built = Built::default();
    let numbers = built.input("numbers", "u32", 8);
    let out = built.channel("out", "u64", 4);
    built.node("even", numbers, &[out]);
    built.host("sink", Some(out), &[], |_, _| {
        entered.store(true, Ordering::Release);
        while !leave.load(Ordering::Acquire) {
            thread::yield_now();
        }
        Ok(true)
    });
    let error = thread::scope(|scope| {
        // Whoever looks does so twice, and knows what stands still.
        let watcher = scope.spawn(|| {
            while !entered.load(Ordering::Acquire) {
                thread::yield_now();
            }
            let _ = live.so_far();
            // What the kernel emits fills its channel, and the inputs behind it.
            let full = || live.dump().filter(|d| d.channels[1].held == Some(4));
            let dump = loop {
                if let Some(dump) = full() {
                    break dump;
                }
                thread::yield_now();
            };
            on.cancel_handle().cancel();
            leave.store(true, Ordering::Release);
            dump
        });
        let error = built
            .run(&on, |run| run.send(numbers, &words(0..1000)))
            .unwrap_err();
        let dump = watcher.join().unwrap();
        assert_eq!((dump.why, dump.graph.as_deref()), (None, Some("")));
        let sink = dump.workers.iter().find(|w| w.name == "sink").unwrap();
        assert_eq!(sink.last.doing, Doing::Runs);
        let out = &dump.channels[1];
        assert_eq!(
            (out.from[0].as_str(), out.to.as_deref()),
            ("even", Some("sink"))
        );
        error
    });
    assert_eq!(error, RunError::Cancelled);
    let left = on.dump().unwrap();
    assert_eq!(left.why, Some(error.to_string()));
    assert!(left.missing.is_empty(), "{:?}", left.missing);
    // A run that ends well takes it away.
    let mut built = Built::default();
    let numbers = built.input("numbers", "u32", 8);
    built.host("sink", Some(numbers), &[], |_, _| Ok(true));
    built
        .run(&on, |run| run.send(numbers, &words([1])))
        .unwrap();
    assert_eq!(on.dump(), None);
}
