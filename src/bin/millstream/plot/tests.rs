#![allow(clippy::unwrap_used, reason = "a test ends there")]

use super::*;
use millstream::job::{Job, Settings};
use millstream_aggregator::{
    CpuOptions, Device, Observe,
    timeline::{Track, What},
};
use std::path::Path;

/// Runs an example with these parameters.
fn ran(example: &str, params: &[&str], options: CpuOptions) -> RunReport {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"));
    let settings = Settings {
        params: params.iter().map(|p| (*p).to_owned()).collect(),
        ..Settings::default()
    };
    let job = Job::open(&folder.join(example), &settings).unwrap();
    let device = Device::cpu_with(options).unwrap();
    let outcome = job.prepare().unwrap().run(&device).unwrap();
    outcome.report().clone()
}

fn drawn(report: &RunReport) -> String {
    let caption = Caption {
        program: "a <b>.rs",
        call: "f(\"&\")",
        device: "cpu",
        threads: 2,
    };
    svg(report, &caption).unwrap()
}

/// The numbers of what has this id.
fn number(svg: &str, id: &str, name: &str) -> u64 {
    let (_, rest) = svg.split_once(&format!("<g id=\"{id}\"")).unwrap();
    let (own, _) = rest.split_once('>').unwrap();
    let (_, value) = own.split_once(&format!("data-{name}=\"")).unwrap();
    value.split_once('"').unwrap().0.parse().unwrap()
}

#[test]
fn elements_are_there_until_they_are_consumed() {
    let options = CpuOptions {
        threads: Some(1),
        memory: Some(64 << 20),
        observe: Observe::TIMELINE,
        ..CpuOptions::default()
    };
    let report = ran("queens.ron", &["n=8"], options);
    let slices = Slices::of(&report).unwrap();
    // By hand: the elements of each level times how long they were there.
    let spans: Vec<_> = report
        .timeline
        .tracks
        .iter()
        .flat_map(|t| &t.spans)
        .collect();
    let run = spans.iter().find(|s| s.what == What::Run).unwrap();
    let entry = |what: What| match what {
        What::Node(n) => {
            let name = &report.timeline.nodes[n as usize];
            report.nodes.iter().any(|n| n.entry && n.name == *name)
        }
        _ => false,
    };
    for (row, level) in slices.rows.iter().zip(0..) {
        let left = |at: u64| (run.end - at.clamp(run.begin, run.end)) as f64;
        let mut sum = if level == 0 { left(run.begin) } else { 0.0 };
        for span in spans.iter().filter(|s| matches!(s.what, What::Node(_))) {
            if span.level + 1 == level {
                sum += span.children as f64 * left(span.end);
            }
            if span.level == level && entry(span.what) {
                sum -= span.elements as f64 * left(span.end);
            }
        }
        let drawn = row.cells.iter().sum::<f64>() * (run.end - run.begin) as f64 / SLICES as f64;
        assert!(
            (drawn - sum).abs() < 1e-6 * sum.abs() + 1.0,
            "{}: {drawn}, {sum}",
            row.name
        );
        assert!(row.cells.iter().all(|a| *a > -1e-6));
        // In the end nothing is left.
        assert!(row.cells[SLICES - 1] < row.elements.max(1) as f64);
    }
}

#[test]
fn a_run_without_a_timeline_has_no_picture_and_one_that_was_too_long_says_so() {
    let options = |observe| CpuOptions {
        threads: Some(1),
        observe,
        ..CpuOptions::default()
    };
    let report = ran("fib.ron", &["n=20"], options(Observe::Times));
    let caption = Caption {
        program: "fib.rs",
        call: "fib(20)",
        device: "cpu",
        threads: 2,
    };
    assert!(svg(&report, &caption).is_none());
    let report = ran("fib.ron", &["n=27"], options(Observe::Timeline(20)));
    let svg = drawn(&report);
    assert!(svg.contains("a &lt;b&gt;.rs") && svg.contains(">f(&quot;&amp;&quot;)<"));
    assert!(svg.contains("the timeline had no room for "), "{svg}");
    assert_eq!(number(&svg, "widths", "dispatches"), 20);
    assert_eq!(number(&svg, "run", "dispatches"), report.dispatches);
}

#[test]
fn a_graph_of_kernels_has_a_row_a_kernel() {
    let options = CpuOptions {
        threads: Some(2),
        observe: Observe::TIMELINE,
        ..CpuOptions::default()
    };
    let report = ran("mandelbrot.ron", &["width=64"], options);
    let svg = drawn(&report);
    assert!(svg.contains("Elements consumed, by kernel"));
    let consumed: u64 = report.nodes.iter().map(|n| n.elements).sum();
    assert_eq!(number(&svg, "rows", "elements"), consumed);
    assert_eq!(number(&svg, "widths", "dispatches"), report.dispatches);
    for node in &report.nodes {
        let row = number(&svg, &format!("node-{}", node.name), "consumed");
        assert_eq!(row, node.elements);
    }
    let slices = Slices::of(&report).unwrap();
    for row in &slices.rows {
        let drawn: f64 = row.cells.iter().sum();
        assert!((drawn - row.elements as f64).abs() < 1e-3, "{row:?}");
    }
}

#[test]
fn the_tracks_of_a_gpu_are_one_worker() {
    let options = CpuOptions {
        threads: Some(1),
        observe: Observe::TIMELINE,
        ..CpuOptions::default()
    };
    let mut report = ran("fib.ron", &["n=20"], options);
    let by_one = drawn(&report);
    assert!(by_one.contains(", on cpu, 1 of 2 threads, "));
    // As a GPU says it: no thread works, and two tracks take turns.
    report.workers.clear();
    let mut second = report.timeline.tracks[1].clone();
    let first = &mut report.timeline.tracks[1].spans;
    second.spans = first.split_off(first.len() / 2);
    report.timeline.tracks.push(second);
    let svg = drawn(&report);
    for name in ["dispatches", "running-ns", "waiting-ns"] {
        let one = number(&by_one, "worker-0", name);
        assert_eq!(number(&svg, "gpu", name), one, "{name}");
    }
    assert!(svg.contains("What the GPU did") && !svg.contains(" threads, "));
    let legend = |svg: &str| {
        let (_, rest) = svg.split_once(">dispatches ").unwrap();
        rest.split_once('<').unwrap().0.to_owned()
    };
    assert_eq!(legend(&svg), legend(&by_one));
}

#[test]
fn the_blocks_of_a_gpu_that_runs_a_graph_are_workers() {
    let options = CpuOptions {
        threads: Some(1),
        observe: Observe::TIMELINE,
        ..CpuOptions::default()
    };
    let mut report = ran("mandelbrot.ron", &["width=64"], options);
    let by_one = drawn(&report);
    // As a GPU says it: no thread works, and behind the host's thread are the blocks.
    report.workers.clear();
    let mut blocks = report.timeline.tracks.split_off(1);
    let waves = &mut blocks[0].spans;
    waves.retain(|s| matches!(s.what, What::Node(_)));
    let mut second = Track {
        name: "block 5".into(),
        spans: waves.split_off(waves.len() / 3),
        missing: 0,
    };
    // At the same time.
    let ahead = second.spans[0].begin - waves[0].begin;
    for span in &mut second.spans {
        (span.begin, span.end) = (span.begin - ahead, span.end - ahead);
    }
    blocks[0].name = "block 0".into();
    let run = report.timeline.tracks[0].spans.iter();
    let mut kernel = *run.clone().find(|s| s.what == What::Run).unwrap();
    kernel.what = What::Kernel;
    let thread = Track {
        name: "host thread".into(),
        spans: vec![kernel],
        missing: 0,
    };
    report.timeline.tracks.push(thread);
    report.timeline.tracks.extend(blocks);
    report.timeline.tracks.push(second);
    let svg = drawn(&report);
    assert!(svg.contains("What the GPU's blocks did"));
    assert!(!svg.contains("host-thread") && !svg.contains(" threads, "));
    let (rows, all) = (["block-0", "block-5"], "dispatches");
    let dispatches = rows.map(|id| number(&svg, id, all));
    assert_eq!(dispatches.iter().sum::<u64>(), report.dispatches);
    assert_eq!(dispatches[0], report.dispatches / 3);
    for id in ["rows", "widths"] {
        assert_eq!(
            number(&svg, id, "elements"),
            number(&by_one, id, "elements")
        );
    }
    let worked = number(&by_one, "workers", "running-ns");
    assert_eq!(number(&svg, "workers", "running-ns"), worked);
}

/// Nothing is drawn over something else or beyond the edge, by the letters of a wide font.
#[test]
fn texts_have_room() {
    let mut report = ran(
        "unbalanced.ron",
        &[],
        CpuOptions {
            threads: Some(2),
            observe: Observe::TIMELINE,
            ..CpuOptions::default()
        },
    );
    report.total = u64::MAX / 1_000_000_000;
    report.leaves = report.total;
    let caption = Caption {
        program: "/home/somebody/with/many/folders/one/in/another/examples/unbalanced.rs",
        call: &"call_of_a_task(".repeat(20),
        device: "NVIDIA H200 (cuda:0)",
        threads: 128,
    };
    let deep = svg(&report, &caption).unwrap();
    let graph = ran(
        "mandelbrot.ron",
        &["width=64"],
        CpuOptions {
            observe: Observe::TIMELINE,
            ..CpuOptions::default()
        },
    );
    let mut graph = graph;
    for name in &mut graph.timeline.nodes {
        name.push_str("_with_a_long_name");
    }
    for text in [deep, svg(&graph, &caption).unwrap()]
        .iter()
        .flat_map(|s| s.split("<text ").skip(1))
    {
        let of = |name: &str| {
            let (_, rest) = text.split_once(&format!("{name}=\"")).unwrap_or_default();
            rest.split_once('"').map(|(value, _)| value)
        };
        let number = |name: &str| of(name).map(|v| v.parse::<f64>().unwrap());
        let (_, shown) = text.split_once('>').unwrap();
        let shown = shown.split_once("</text>").unwrap().0.replace("&amp;", "&");
        let width = shown.chars().count() as f64 * 0.56 * number("font-size").unwrap_or(12.0);
        let x = number("x").unwrap();
        if of("transform").is_some() {
            continue;
        }
        let (from, to) = match of("text-anchor") {
            Some("middle") => (x - width / 2.0, x + width / 2.0),
            Some("end") => (x - width, x),
            _ => (x, x + width),
        };
        // Titles of axes stand up to there; nodes have none.
        let number = shown.starts_with(|c: char| c.is_ascii_digit());
        let left = if number { 32.0 } else { 0.0 };
        assert!(from >= left && to <= WIDTH, "{from:.0} to {to:.0}: {shown}");
    }
}
