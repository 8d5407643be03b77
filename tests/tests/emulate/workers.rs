//! The tier inside the blocks: what workers do for each other really happens, whoever comes first, and changes nothing.

use super::MEMORY;
use millstream_aggregator::{
    Aggregator, Policy, RunReport,
    timeline::{Span, What},
};
use millstream_tests::{
    emulator::{self, Emulator, How},
    engine::{Prepared, emulate, prepare, serial_tasks},
    on_all_cores,
};
use std::time::Duration;

/// A tree of random shape, of which most lies below few nodes; and a node with very many children.
const SOURCE: &str = "#[millstream::program] mod trees {
    fn mix(x: u64) -> u64 {
        let a = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        let b = (a ^ (a >> 27)).wrapping_mul(0x94d049bb133111eb);
        b ^ (b >> 31)
    }
    #[task]
    pub fn node(seed: u64, left: u32) -> u64 {
        if left == 0 {
            return 1;
        }
        let h = mix(seed);
        let children = match h % 8 { 0 | 1 | 2 => 0, 3 | 4 | 5 => 1, 6 => 2, _ => 3 };
        let mut total = 1;
        for i in 0..children {
            total += spawn!(node(h.wrapping_add(i).wrapping_mul(0x9e3779b97f4a7c15), left - 1));
        }
        sync!();
        total
    }
    #[task]
    pub fn left(seed: u64, levels: u32) -> u64 {
        if levels == 0 {
            return 1;
        }
        let h = mix(seed);
        let mut total = 1;
        for i in 0..h % 3 {
            total += spawn!(right(h.wrapping_add(i), levels - 1));
        }
        for i in 0..(h >> 8) % 2 {
            total += spawn!(left(h.wrapping_sub(i), levels - 1));
        }
        sync!();
        total
    }
    #[task]
    pub fn right(seed: u64, levels: u32) -> u64 {
        if levels == 0 {
            return 2;
        }
        let h = mix(seed ^ 5);
        let mut total = 2;
        for i in 0..h % 4 {
            total += spawn!(left(h.wrapping_add(i), levels - 1));
        }
        sync!();
        total
    }
    #[task]
    pub fn burst(depth: u32, children: u64) -> u64 {
        if depth == 0 {
            return 1;
        }
        let n = if depth == 2 { children } else { 2 };
        let mut total = 1;
        for _ in 0..n {
            total += spawn!(burst(depth - 1, children));
        }
        sync!();
        total
    }
    #[task]
    pub fn ping(depth: u32, children: u64) -> u64 {
        if depth == 0 {
            return 1;
        }
        let n = if depth == 2 { children } else { 2 };
        let mut total = 1;
        for _ in 0..n {
            total += spawn!(ping(depth - 1, children));
            total += spawn!(pong(depth - 1, children));
        }
        sync!();
        total
    }
    #[task]
    pub fn pong(depth: u32, children: u64) -> u64 {
        if depth == 0 {
            return 2;
        }
        let n = if depth == 2 { children } else { 2 };
        let mut total = 2;
        for _ in 0..n {
            total += spawn!(pong(depth - 1, children));
            total += spawn!(ping(depth - 1, children));
        }
        sync!();
        total
    }
}";

/// What a call gives across the device, and how many tasks it has.
fn expected(
    emulator: &mut Emulator,
    prepared: &Prepared,
    (task, args): (&str, &[String]),
) -> (String, u64) {
    let how = How::new(Aggregator::HostThread, 2, MEMORY);
    let (outcome, report) = emulate(emulator, how, prepared, task, args).unwrap();
    assert_eq!(report.subtrees.count, 0, "the other tier");
    (outcome.result, report.total)
}

fn inside(blocks: u32, memory: u64, seed: u64) -> How {
    How {
        policy: Policy::Block,
        seed,
        ..How::new(Aggregator::HostThread, blocks, memory)
    }
}

fn text(args: &[u64]) -> Vec<String> {
    args.iter().map(ToString::to_string).collect()
}

#[test]
fn who_has_nothing_gets_what_others_have() {
    if !emulator::is_there() {
        return;
    }
    let prepared = prepare(SOURCE, "trees.rs").unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    let mut seen = RunReport::default().subtrees;
    for root in 0..12 {
        let args = text(&[root, 400]);
        let call = ("node", &args[..]);
        let expected = expected(&mut emulator, &prepared, call);
        for seed in 1..=12 {
            let how = inside(1 + seed as u32 % 6, MEMORY, seed);
            let (outcome, report) = emulate(&mut emulator, how, &prepared, call.0, call.1).unwrap();
            assert_eq!((outcome.result, report.total), expected, "{how:?}");
            let now = report.subtrees;
            batches_agree(&report, &format!("{how:?}"));
            assert!(now.recalls == 0 && now.acquired <= now.donated, "{now:?}");
            assert!(now.workers <= how.blocks && report.peak <= report.budget);
            seen.count += now.count;
            seen.donated += now.donated;
            seen.acquired += now.acquired;
        }
    }
    println!("{seen:?}");
    assert!(seen.count > 0 && seen.acquired > 0);
    assert!(seen.donated > seen.acquired, "some is taken back: {seen:?}");
}

/// Each worker's batches lie one behind another, with what it gave away in them, and are all that was taken from roots and from others.
fn batches_agree(report: &RunReport, of: &str) {
    let timeline = &report.timeline;
    assert_eq!(timeline.missing(), 0, "{of}");
    let mut host = timeline.tracks[0].spans.iter();
    let run = host.find(|s| s.what == What::Run).unwrap();
    let (mut batches, mut given, mut worked) = (0, 0, Duration::ZERO);
    for track in &timeline.blocks {
        let mut last = run.begin;
        let mut inside: Vec<&Span> = Vec::new();
        for span in &track.spans {
            assert!(
                last <= span.begin && span.begin <= span.end,
                "{of}: {last}, {span:?}"
            );
            match span.what {
                What::Donate => {
                    inside.push(span);
                    given += span.elements;
                }
                What::Batch => {
                    let within = |s: &&Span| span.begin <= s.begin && s.end <= span.end;
                    assert!(inside.drain(..).all(|s| within(&s)), "{of}: {span:?}");
                    assert!(span.elements > 0, "{of}: {span:?}");
                    batches += span.elements;
                    worked += Duration::from_nanos(span.end - span.begin);
                    last = span.end;
                }
                What::Node(_) => last = span.end,
                what => panic!("{of}: {what:?} on the track of a block"),
            }
        }
        assert!(last <= run.end && inside.is_empty(), "{of}: {inside:?}");
    }
    let subtrees = report.subtrees;
    assert_eq!(given, subtrees.donated, "{of}");
    assert!(subtrees.count == 0 || batches > subtrees.acquired, "{of}");
    let blocked = report.blocked.unwrap();
    assert!(blocked <= report.running, "{of}: {blocked:?}");
    // One worker has nobody to wait for, but its kernel begins and ends.
    assert!(subtrees.count == 0 || worked > Duration::ZERO, "{of}");
}

#[test]
fn a_trace_has_the_batches_of_each_worker() {
    if !emulator::is_there() {
        return;
    }
    let prepared = prepare(SOURCE, "trees.rs").unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    let mut reports = (0..12).map(|root| {
        let (how, args) = (inside(3, MEMORY, 1), text(&[root, 400]));
        let (_, report) = emulate(&mut emulator, how, &prepared, "node", &args).unwrap();
        report
    });
    let report = reports.find(|r| r.subtrees.acquired > 0).unwrap();
    let mut out = Vec::new();
    millstream::trace::write(&report, ("node", "emulated"), &[], &mut out).unwrap();
    let trace = String::from_utf8(out).unwrap();
    let told = |name: &str| trace.matches(&format!("\"name\":\"{name}\"")).count();
    let blocks = &report.timeline.blocks;
    assert!(
        !blocks.is_empty() && blocks.iter().all(|b| told(&b.name) == 1),
        "{trace}"
    );
    let spans = |what| {
        let all = blocks.iter().flat_map(|b| &b.spans);
        all.filter(|s| s.what == what).count()
    };
    assert!(spans(What::Batch) > 0, "{report:?}");
    for (name, what) in [("batch", What::Batch), ("donate", What::Donate)] {
        assert_eq!(told(name), spans(what), "{name}");
    }
}

/// Where a worker finds no room, what all have left is a level of the tier across the device.
#[test]
fn what_finds_no_room_goes_back_to_the_device() {
    if !emulator::is_there() {
        return;
    }
    let prepared = prepare(SOURCE, "trees.rs").unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    let (mut ran, mut recalled) = (0, 0);
    for (task, args) in [
        ("burst", text(&[4, 900])),
        ("burst", text(&[6, 300])),
        ("burst", text(&[7, 20])),
        ("node", text(&[3, 400])),
        // What comes of one channel's roots lies above what waits at their level in another.
        ("ping", text(&[5, 40])),
        ("pong", text(&[6, 12])),
    ] {
        let call = (task, &args[..]);
        let expected = expected(&mut emulator, &prepared, call);
        for (seed, kib) in (1..).zip((64..160).step_by(4)) {
            let how = inside(1 + seed as u32 % 4, kib << 10, seed);
            match emulate(&mut emulator, how, &prepared, task, &args) {
                Ok((outcome, report)) => {
                    assert_eq!((outcome.result, report.total), expected, "{how:?}");
                    assert!(report.peak <= report.budget, "{how:?}");
                    recalled += u32::from(report.subtrees.recalls > 0);
                    ran += u32::from(report.subtrees.count > 0);
                }
                Err(e) if millstream_tests::engine::is_memory(&e) => {}
                Err(e) => panic!("{how:?}: {e}"),
            }
        }
    }
    println!("{recalled} of {ran} were recalled");
    assert!(recalled > 3 && recalled < ran);
}

/// Children of another task begin at a number that neighbours divide, above a channel that ends anywhere: what is between is closed.
#[test]
fn tasks_that_spawn_each_other_leave_no_gaps() {
    if !emulator::is_there() {
        return;
    }
    let prepared = prepare(SOURCE, "trees.rs").unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    let mut count = 0;
    for root in 0..5 {
        let args = text(&[root, 24]);
        let call = ("left", &args[..]);
        let expected = expected(&mut emulator, &prepared, call);
        for seed in 1..=4 {
            let how = inside(1 + seed as u32 % 4, MEMORY, seed);
            let (outcome, report) = emulate(&mut emulator, how, &prepared, call.0, call.1).unwrap();
            assert_eq!((outcome.result, report.total), expected, "{how:?}");
            count += report.subtrees.count;
        }
    }
    assert!(count > 0);
}

#[test]
fn a_thousand_runs_in_a_row_end() {
    if !emulator::is_there() {
        return;
    }
    let prepared = prepare(SOURCE, "trees.rs").unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    let args = text(&[7, 12]);
    let expected = expected(&mut emulator, &prepared, ("node", &args));
    for seed in 1..=1000 {
        let how = How {
            switches: [0, 1, 3, 8, 64][seed as usize % 5],
            timeline: false,
            ..inside(1 + (seed * 7) as u32 % 9, 1 << 20, seed)
        };
        let (outcome, report) = emulate(&mut emulator, how, &prepared, "node", &args).unwrap();
        assert_eq!((outcome.result, report.total), expected, "{how:?}");
    }
}

/// The persistent kernel asks after some runs whether entries have become enough for workers: a recursion that only goes up by then ends in one kernel.
#[test]
fn who_has_no_roots_is_not_asked_for_them() {
    if !emulator::is_there() {
        return;
    }
    let source = "#[millstream::program] mod lines {
        #[task]
        pub fn line(n: u32, x: u64) -> u64 {
            if n == 0 {
                return x;
            }
            let y = spawn!(line(n - 1, x + 1));
            sync!();
            y ^ x
        }
        #[task]
        pub fn lines(width: u32, n: u32) -> u64 {
            let mut total = 0;
            for i in 0..width {
                total += spawn!(line(n, i as u64));
            }
            sync!();
            total
        }
    }";
    let prepared = prepare(source, "lines.rs").unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    let mut run = |task, args: &[u64]| {
        let how = How {
            policy: Policy::Auto,
            ..How::new(Aggregator::Auto, 2, 64 << 20)
        };
        emulate(&mut emulator, how, &prepared, task, &text(args)).unwrap()
    };
    let (_, report) = run("line", &[3000, 0]);
    assert_eq!((report.dispatches, report.narrow), (3001, 3001));
    let (_, report) = run("lines", &[400, 300]);
    assert!(report.subtrees.count > 0, "{report:?}");
}

/// What has private stacks goes inside the blocks at once, whatever memory there is; another task of the same program goes by memory and by its own shape.
#[test]
fn only_what_has_private_stacks_goes_inside_in_any_memory() {
    if !emulator::is_there() {
        return;
    }
    let prepared = prepare(SOURCE, "trees.rs").unwrap();
    let mut emulator = Emulator::new(&prepared.levelized).unwrap();
    // Of the roots that with most below it.
    let mut largest = |task, roots, below| {
        let tasks = |root: &u64| serial_tasks(&prepared, task, &text(&[*root, below]));
        let largest = (0..roots).max_by_key(tasks);
        let how = How {
            policy: Policy::Auto,
            ..How::new(Aggregator::HostThread, 2, 64 << 20)
        };
        let args = text(&[largest.unwrap(), below]);
        let (_, report) = emulate(&mut emulator, how, &prepared, task, &args).unwrap();
        (report.total, report.subtrees)
    };
    let (total, inside) = largest("node", 12, 400);
    assert!(
        total > 100 && inside.private && inside.count > 0,
        "{total}, {inside:?}"
    );
    // So few levels that each of them finds room at once.
    let (total, inside) = largest("left", 40, 18);
    assert!(
        total > 100 && !inside.private && inside.count == 0,
        "{total}, {inside:?}"
    );
}

/// What is wrong of private stacks: what, what stands there, and what is put in its place. None of them makes elements of what lies anywhere: their results
/// would be written anywhere.
const PLANTED: [(&str, &str, &str); 4] = [
    (
        "what found no room is forgotten",
        "if (mine) S::template stage_again<M, EACH>(stage, rest + lane_id(), args);",
        "",
    ),
    (
        "the older half stays where it was",
        "close_gap(stage, stride, oldest, have);",
        "",
    ),
    (
        "what is left on the stacks is not handed back",
        "end += of.spilled + of.have;",
        "end += of.spilled;",
    ),
    (
        "children lie where elements are still read",
        "// Children may lie where the elements did: all have been read.\n    __syncwarp();",
        "",
    ),
];

#[test]
fn planted_bugs_of_private_stacks_are_found() {
    if !emulator::is_there() {
        return;
    }
    let prepared = prepare(SOURCE, "trees.rs").unwrap();
    let mut right = Emulator::new(&prepared.levelized).unwrap();
    let roots: Vec<_> = (0..12).map(|root| text(&[root, 400])).collect();
    let expected = roots.into_iter().map(|args| {
        let of = expected(&mut right, &prepared, ("node", &args[..]));
        (args, of)
    });
    let expected: Vec<_> = expected.collect();
    let missed = on_all_cores(&PLANTED, |(bug, right, wrong)| {
        let mut emulator = Emulator::watched_with_bug(&prepared.levelized, right, wrong);
        let differs = (1..=8).any(|seed| {
            expected.iter().any(|(args, of)| {
                let how = inside(1 + seed as u32 % 3, MEMORY, seed);
                let now = emulate(&mut emulator, how, &prepared, "node", args);
                !now.is_ok_and(|(outcome, report)| (outcome.result, report.total) == *of)
            })
        });
        (!differs).then(|| (*bug).to_owned())
    });
    let missed: Vec<_> = missed.into_iter().flatten().collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}
