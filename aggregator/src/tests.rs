//! Whole runs of the program in [`testing`](crate::testing).

use crate::{
    CpuOptions, Device, ErasedArg, ErasedCall, Reason, RunError, RunReport, SoFar,
    cpu::{CpuDevice, CpuLoaded, cancel},
    testing::{ByHand, COUNT, FIB, REPEAT, SLEEPY, count, fib, program},
    timeline::{Observe, Span, Timeline, Track, What},
};
use millstream_graph::ir::TaskId;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const SIZES: [u32; 4] = [1, 2, 4, 16];

fn device(threads: u32, memory: u64, width: Option<u64>) -> (CpuDevice, Arc<CpuLoaded>) {
    by(CpuOptions {
        threads: Some(threads),
        memory: Some(memory),
        width,
        ..CpuOptions::default()
    })
}

fn by(options: CpuOptions) -> (CpuDevice, Arc<CpuLoaded>) {
    let device = CpuDevice::with(options).unwrap();
    let loaded = device.prepare(&Arc::new(program()), &[], Arc::new(ByHand), Instant::now());
    (device, loaded)
}

fn run(
    (device, loaded): &(CpuDevice, Arc<CpuLoaded>),
    task: TaskId,
    calls: &[&[u64]],
) -> Result<(Vec<u64>, RunReport), RunError> {
    let mut calls: Vec<_> = calls
        .iter()
        .map(|args| ErasedCall::new(args.iter().map(|&a| ErasedArg::Scalar(a)).collect()))
        .collect();
    let report = device
        .launch(loaded, task, &mut calls, true)?
        .expect("told");
    assert!(
        report.peak <= report.budget,
        "peak {} of {}",
        report.peak,
        report.budget
    );
    Ok((
        calls
            .iter()
            .map(|c| u64::from_ne_bytes(c.result[..].try_into().unwrap()))
            .collect(),
        report,
    ))
}

/// How many tasks a call of fib makes.
fn fib_tasks(n: u32) -> u64 {
    2 * fib(n + 1) - 1
}

#[test]
fn fib_counts_its_tasks_and_levels() {
    for threads in SIZES {
        let on = device(threads, 64 << 20, None);
        for n in [0, 1, 2, 10, 20, 25] {
            let (results, report) = run(&on, FIB, &[&[n]]).unwrap();
            assert_eq!(results, [fib(n as u32)]);
            assert_eq!(report.total, fib_tasks(n as u32));
            assert_eq!(report.levels, n.max(1));
            assert_eq!(report.elements.iter().sum::<u64>(), report.total);
            assert_eq!(report.elements[0], 1);
            assert_eq!(report.tasks, [("fib".to_owned(), report.total)]);
        }
    }
}

#[test]
fn many_calls_are_one_run() {
    let args: Vec<[u64; 1]> = (0..2000).map(|i| [i % 13]).collect();
    let args: Vec<&[u64]> = args.iter().map(|a| &a[..]).collect();
    let expected: Vec<u64> = args.iter().map(|a| fib(a[0] as u32)).collect();
    for (threads, memory) in [(1, 64 << 20), (1, 16 << 10), (3, 64 << 20)] {
        assert_eq!(
            run(&device(threads, memory, None), FIB, &args).unwrap().0,
            expected
        );
    }
    assert_eq!(
        run(&device(1, 1 << 20, None), FIB, &[]).unwrap().0,
        [0u64; 0]
    );
}

#[test]
fn trees_whose_spawns_cannot_be_counted() {
    for threads in SIZES {
        let on = device(threads, 64 << 20, None);
        for seed in 0..20 {
            let (results, report) = run(&on, COUNT, &[&[14, seed]]).unwrap();
            assert_eq!(results, [count(14, seed)], "seed {seed}");
            assert_eq!(report.total, results[0]);
        }
    }
}

#[test]
fn a_continuation_continues() {
    for threads in SIZES {
        for width in [None, Some(1), Some(3)] {
            let on = device(threads, 64 << 20, width);
            let (results, _) =
                run(&on, REPEAT, &[&[10, 1], &[12, 7], &[3, 100], &[15, 20]]).unwrap();
            assert_eq!(results, [fib(10), 7 * fib(12), 100 * fib(3), 20 * fib(15)]);
        }
    }
}

#[test]
fn budgets_bound_memory_and_narrow_wavefronts() {
    for memory in [4 << 10, 16 << 10, 64 << 10, 1 << 20, 8 << 20] {
        for threads in [1, 4] {
            let on = device(threads, memory, None);
            assert_eq!(
                run(&on, FIB, &[&[22]]).unwrap().0,
                [fib(22)],
                "{memory} bytes"
            );
            assert_eq!(
                run(&on, COUNT, &[&[9, 3]]).unwrap().0,
                [count(9, 3)],
                "{memory} bytes"
            );
        }
    }
}

#[test]
fn too_small_a_budget_is_an_error_that_names_the_task() {
    let on = device(1, 600, None);
    let error = run(&on, FIB, &[&[30]]).unwrap_err();
    let RunError::OutOfMemory {
        task,
        depth,
        need,
        budget,
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!((&**task, *budget), ("fib", 600));
    assert!(*depth > 0 && *depth < 20, "{depth}");
    assert!(*need > 40 && *need < 200, "{need}");
    assert!(error.to_string().contains("task `fib` at depth"), "{error}");
    // The device works on.
    assert_eq!(run(&on, FIB, &[&[1]]).unwrap().0, [1]);
    let error = run(&device(1, 20, None), FIB, &[&[1]]).unwrap_err();
    assert!(
        matches!(error, RunError::OutOfMemory { depth: 0, .. }),
        "{error}"
    );
    // Half a dozen children at one element, and no room for them.
    let errors =
        (0..200).filter_map(|seed| run(&device(1, 450, None), COUNT, &[&[12, seed]]).err());
    let full = errors.filter(|e| matches!(e, RunError::ChannelFull { task, channel, .. } if task == "count" && channel == task));
    assert!(full.count() > 0);
}

#[test]
fn a_recursion_that_never_ends_runs_out_of_memory() {
    // A level takes less than 200 bytes. One worker has over a quarter of the budget for depth. Of two, each is sure of its levels' allowances alone, which
    // the first 400 levels fit: how much of the common part the one got that fails first depends on time.
    for (threads, sure) in [(1, (2 << 20) / 200), (2, 400)] {
        let error = run(&device(threads, 8 << 20, None), FIB, &[&[1 << 30]]).unwrap_err();
        assert!(
            matches!(&error, RunError::OutOfMemory { depth, .. } if *depth > sure),
            "{threads} threads: {error}"
        );
    }
}

#[test]
fn one_wavefront_at_a_time_gives_the_same() {
    for threads in SIZES {
        let on = device(threads, 64 << 20, Some(1));
        assert_eq!(run(&on, FIB, &[&[18]]).unwrap().0, [fib(18)]);
        assert_eq!(run(&on, COUNT, &[&[12, 5]]).unwrap().0, [count(12, 5)]);
    }
}

#[test]
fn one_thread_is_deterministic() {
    let runs: Vec<_> = (0..3)
        .map(|_| {
            run(&device(1, 32 << 20, None), COUNT, &[&[16, 6]])
                .unwrap()
                .1
        })
        .collect();
    let same = |r: &RunReport| (r.total, r.dispatches, r.elements.clone(), r.peak);
    assert!(runs.iter().all(|r| same(r) == same(&runs[0])));
}

#[test]
fn heavy_leaves_are_donated() {
    for threads in [2, 4] {
        let on = device(threads, 64 << 20, None);
        let (results, report) = run(&on, SLEEPY, &[&[19]]).unwrap();
        assert_eq!(results, [fib(19)]);
        assert!(report.workers.len() > 1, "{report}");
        let (donated, acquired) = report
            .workers
            .iter()
            .fold((0, 0), |s, w| (s.0 + w.donated, s.1 + w.acquired));
        assert!(acquired > 0 && acquired <= donated, "{report}");
        assert!(
            report.workers.iter().filter(|w| w.tasks > 100).count() > 1,
            "{report}"
        );
    }
}

/// The first elements may be all that there are, and each may take long: what is in a wavefront nobody else runs. So each worker's first wavefront of a
/// node has one element, the next no more than two, in each run anew.
#[test]
fn wavefronts_that_may_be_shared_begin_narrow() {
    let on = by(CpuOptions {
        threads: Some(2),
        memory: Some(64 << 20),
        decisions: true,
        ..CpuOptions::default()
    });
    for _ in 0..2 {
        let (_, report) = run(&on, COUNT, &[&[12, 5]]).unwrap();
        for worker in &report.workers {
            let mut most = BTreeMap::new();
            let dispatches = worker.decisions.iter();
            for d in dispatches.filter(|d| d.reason != Reason::Batch) {
                let most = most.entry(d.segment).or_insert(1);
                assert!(d.count <= *most, "{d:?}");
                *most *= 2;
            }
        }
    }
}

#[test]
fn ten_thousand_small_unbalanced_runs() {
    let on: Vec<_> = SIZES
        .iter()
        .map(|&threads| device(threads, 64 << 20, None))
        .collect();
    let narrow: Vec<_> = SIZES
        .iter()
        .map(|&threads| device(threads, 64 << 20, Some(2)))
        .collect();
    let mut random = 1u64;
    for i in 0..10_000u64 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let on = if random >> 40 & 3 == 0 { &narrow } else { &on };
        let on = &on[(random >> 33) as usize % on.len()];
        let (task, args, expected) = match random >> 50 & 7 {
            0 => (SLEEPY, vec![5], fib(5)),
            1 | 2 => (
                FIB,
                vec![random >> 55 & 15],
                fib((random >> 55 & 15) as u32),
            ),
            3 => (REPEAT, vec![6, 1 + i % 5], (1 + i % 5) * fib(6)),
            _ => (COUNT, vec![7 + i % 5, i], count(7 + (i % 5) as u32, i)),
        };
        assert_eq!(
            run(on, task, &[&args]).unwrap().0,
            [expected],
            "run {i} of {task}{args:?}"
        );
    }
}

#[test]
fn failures_end_the_run_and_leave_the_device_whole() {
    for threads in SIZES {
        let on = device(threads, 64 << 20, None);
        assert!(matches!(
            run(&on, SLEEPY, &[&[14], &[1001], &[12]]),
            Err(RunError::Fault(_))
        ));
        let error = run(&on, SLEEPY, &[&[14], &[1003], &[12]]).unwrap_err();
        assert!(
            matches!(&error, RunError::Panicked { message } if message.contains("the bug that was asked for")),
            "{error}"
        );
        let word = on.0.stop_word().clone();
        let canceller = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            cancel(&word);
        });
        assert_eq!(
            run(&on, SLEEPY, &[&[10], &[1002]]).unwrap_err(),
            RunError::Cancelled
        );
        canceller.join().unwrap();
        cancel(on.0.stop_word());
        assert_eq!(run(&on, FIB, &[&[10]]).unwrap_err(), RunError::Cancelled);
        assert_eq!(run(&on, FIB, &[&[10]]).unwrap().0, [55]);
    }
}

#[test]
fn bad_arguments_are_refused() {
    let on = device(1, 1 << 20, None);
    for (args, message) in [
        (vec![], "argument `n` of task `fib`: is missing"),
        (vec![1, 2], "too many arguments for task `fib`"),
        (
            vec![1 << 32],
            "argument `n` of task `fib`: 0x100000000 is not a `u32`",
        ),
    ] {
        assert_eq!(
            run(&on, FIB, &[&args]).unwrap_err(),
            RunError::BadArguments(message.into())
        );
    }
    assert!(matches!(
        run(&on, TaskId(9), &[]),
        Err(RunError::BadArguments(_))
    ));
    for options in [
        CpuOptions {
            threads: Some(0),
            ..CpuOptions::default()
        },
        CpuOptions {
            memory: Some(0),
            ..CpuOptions::default()
        },
        CpuOptions {
            width: Some(0),
            ..CpuOptions::default()
        },
    ] {
        assert!(matches!(CpuDevice::with(options), Err(RunError::Device(_))));
    }
}

/// Those of nodes, and that all lie one behind another or one inside another.
fn spans_of(track: &Track) -> Vec<Span> {
    let mut open: Vec<Span> = Vec::new();
    for &span in &track.spans {
        assert!(span.begin <= span.end, "{span:?}");
        // What ended before lies inside of this one, or before it.
        while let Some(before) = open.pop_if(|before| before.begin >= span.begin) {
            assert!(before.end <= span.end, "{before:?}, {span:?}");
        }
        if let Some(before) = open.last() {
            assert!(before.end <= span.begin, "{before:?}, {span:?}");
        }
        open.push(span);
    }
    let nodes = |s: &&Span| matches!(s.what, What::Node(_));
    track.spans.iter().filter(nodes).copied().collect()
}

#[test]
fn a_timeline_has_every_dispatch_and_counts_what_found_no_room() {
    for threads in [1, 4] {
        let options = |observe| CpuOptions {
            threads: Some(threads),
            memory: Some(64 << 20),
            observe,
            ..CpuOptions::default()
        };
        let plain = run(&by(options(Observe::Counts)), FIB, &[&[22], &[3]])
            .unwrap()
            .1;
        assert_eq!(plain.timeline, Timeline::default());
        assert!(plain.nodes.iter().all(|n| n.time.is_none()));

        let report = run(&by(options(Observe::TIMELINE)), FIB, &[&[22], &[3]])
            .unwrap()
            .1;
        let timeline = &report.timeline;
        assert_eq!((timeline.roots, timeline.missing()), (2, 0));
        assert_eq!(timeline.tracks[0].name, "host");
        assert_eq!(timeline.tracks.len(), 1 + report.workers.len());
        let spans: Vec<Span> = timeline.tracks.iter().flat_map(spans_of).collect();
        assert_eq!(spans.len() as u64, report.dispatches);
        for node in &report.nodes {
            let mine = |s: &&Span| {
                let What::Node(n) = s.what else { return false };
                timeline.nodes[n as usize] == node.name
            };
            let mine: Vec<&Span> = spans.iter().filter(mine).collect();
            assert_eq!(mine.iter().map(|s| s.elements).sum::<u64>(), node.elements);
            let time: u64 = mine.iter().map(|s| s.end - s.begin).sum();
            assert_eq!(Some(Duration::from_nanos(time)), node.time);
            assert_eq!(node.widths.iter().sum::<u64>(), node.dispatches);
            assert!(node.full <= node.dispatches);
        }
        // Each entry was a child, or a root.
        let entries: u64 = report
            .nodes
            .iter()
            .filter(|n| n.entry)
            .map(|n| n.elements)
            .sum();
        assert_eq!(entries + report.leaves, report.total);
        assert_eq!(spans.iter().map(|s| s.children).sum::<u64>() + 2, entries);
        for (level, &tasks) in report.elements.iter().enumerate() {
            let of = |l: usize, what: fn(&Span) -> u64| -> u64 {
                let at = spans.iter().filter(|s| s.level == l as u64);
                at.filter(|s| matches!(s.what, What::Node(0)))
                    .map(what)
                    .sum()
            };
            assert_eq!(of(level, |s| s.elements), tasks, "level {level}");
        }

        let report = run(&by(options(Observe::Timeline(5))), FIB, &[&[22]])
            .unwrap()
            .1;
        for track in &report.timeline.tracks[1..] {
            assert_eq!(track.missing > 0, track.spans.len() == 5, "{track:?}");
        }
        assert!(report.timeline.missing() + 5 >= report.dispatches);
        let report = run(&by(options(Observe::Times)), FIB, &[&[22]]).unwrap().1;
        assert!(report.nodes.iter().all(|n| n.time > Some(Duration::ZERO)));
        assert!(
            report.timeline.tracks.is_empty(),
            "no timeline was asked for"
        );
    }
}

/// A run that somebody watches from beginning to end: what it reports, and what was seen.
fn watched(on: &(CpuDevice, Arc<CpuLoaded>)) -> (RunReport, Vec<SoFar>) {
    let live = on.0.live();
    assert_eq!(live.so_far(), SoFar::default());
    let (ready, over) = (Barrier::new(2), AtomicBool::new(false));
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = vec![live.so_far()];
            ready.wait();
            while !over.load(Ordering::Relaxed) {
                seen.push(live.so_far());
                thread::sleep(Duration::from_millis(1));
            }
            seen
        });
        ready.wait();
        let report = run(on, FIB, &[&[36]]).unwrap().1;
        over.store(true, Ordering::Relaxed);
        (report, watcher.join().unwrap())
    })
}

#[test]
fn who_watches_a_run_sees_it_come_to_what_it_reports() {
    for threads in [1, 4] {
        // A busy machine may not let the watcher look in time.
        let tries = (0..20).map(|_| {
            let on = device(threads, 64 << 20, None);
            let (report, seen) = watched(&on);
            let never_less =
                |of: fn(&SoFar) -> u64| seen.windows(2).all(|w| of(&w[0]) <= of(&w[1]));
            assert!(never_less(|s| s.tasks) && never_less(|s| s.levels));
            let end = on.0.live().so_far();
            assert_eq!((end.tasks, end.levels), (report.total, report.levels));
            let under_way = seen
                .iter()
                .filter(|s| 0 < s.tasks && s.tasks < report.total);
            let most = under_way.map(|s| s.bytes).max();
            assert!(
                threads > 1 || most.is_none_or(|m| m <= report.peak),
                "{most:?}"
            );
            // The next run begins anew.
            let report = run(&on, FIB, &[&[5]]).unwrap().1;
            assert_eq!(on.0.live().so_far().tasks, report.total);
            most
        });
        // It was seen on its way.
        assert!(tries.flatten().any(|bytes| bytes > 0));
    }
}

#[test]
fn a_small_warm_run_is_quick() {
    for threads in [1, 2] {
        let on = device(threads, 64 << 20, None);
        let times = (0..200).map(|_| {
            let start = Instant::now();
            run(&on, FIB, &[&[10]]).unwrap();
            start.elapsed()
        });
        let best = times.min().unwrap();
        assert!(
            best < Duration::from_micros(500),
            "{best:?}: optimised code takes less than 20 us"
        );
        println!("fib(10), {threads} threads: {best:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_idle_device_burns_no_cpu() {
    // Enough threads that one of them bears a name that no other test's device has.
    let on = device(20, 64 << 20, None);
    run(&on, SLEEPY, &[&[16]]).unwrap();
    let before = ticks("millstream-19").expect("the crew was called");
    thread::sleep(Duration::from_millis(500));
    let after = ticks("millstream-19").expect("the crew waits for the next run");
    assert!(after - before <= 1, "{} ticks", after - before);
}

/// Clock ticks that the thread of this name has used.
#[cfg(target_os = "linux")]
fn ticks(name: &str) -> Option<u64> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let stats = tasks.filter_map(|t| std::fs::read_to_string(t.unwrap().path().join("stat")).ok());
    let stat = stats
        .into_iter()
        .find(|s| s.contains(&format!("({name})")))?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    Some(fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap())
}

#[test]
fn a_buffer_of_another_device_is_refused() {
    let device = Device::cpu_with(CpuOptions {
        threads: Some(1),
        ..CpuOptions::default()
    })
    .unwrap();
    let buffer = device.buffer(&[1u32, 2, 3]).unwrap();
    let program = millstream_graph::text::parse_program(
        "program p in \"p.rs\"\ntask f(x: &[u32]) takes %0, %1 {\n    let %0 x: ptr, %1: usize\nb0:\n    return\n}\n",
    )
    .unwrap();
    let push = |home| {
        let (mut fields, mut regions) = (vec![Vec::new(); 2], Vec::new());
        let args = [
            ErasedArg::Memory(crate::MemoryArg::buffer(&buffer)),
            ErasedArg::Scalar(3),
        ];
        let function = &program.functions[0];
        crate::args::push(
            function,
            &program.structs,
            &args,
            home,
            &mut fields,
            Some(&mut regions),
        )
        .map(|()| (fields, regions))
    };
    let (fields, regions) = push(crate::args::CPU).unwrap();
    assert_eq!(fields[0], (buffer.address() as u64).to_ne_bytes());
    assert_eq!(regions, [], "a buffer is not copied");
    let error = push(7).unwrap_err();
    assert!(
        matches!(&error, RunError::BadArguments(m) if m.ends_with("argument `x` of task `f`: it is a buffer of another device")),
        "{error}"
    );
}

#[test]
fn buffers_take_as_many_values_as_they_have() {
    let mut buffer = Device::cpu().unwrap().zeros::<u16>(3).unwrap();
    assert!(matches!(
        buffer.try_write(&[1, 2]),
        Err(RunError::BadArguments(_))
    ));
    buffer.try_write(&[1, 2, 3]).unwrap();
    assert_eq!(buffer.try_read().unwrap(), [1, 2, 3]);
}

/// What the machine has decides which of the two it is; neither panics.
#[cfg(feature = "cuda")]
#[test]
fn without_a_driver_a_gpu_is_an_error_that_says_so() {
    match (crate::cuda::devices(), Device::cuda(0)) {
        (Err(RunError::Device(why)), Err(RunError::Device(same))) => {
            assert_eq!(why, same);
            assert!(
                why.contains("driver") || why.contains("MILLSTREAM_CUDA"),
                "{why}"
            );
        }
        (Err(why), found) => panic!("{why}, but {found:?}"),
        (Ok(found), device) => assert!(!found.is_empty() || device.is_err()),
    }
    assert!(Device::cuda(1000).is_err());
}
