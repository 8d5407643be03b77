//! What a run says of itself: `--stats json` and `--trace`.

use crate::support::{Folder, command};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    process::Stdio,
    thread,
    time::Duration,
};

const SORT: [&str; 8] = [
    "run",
    "sort.rs",
    "--entry",
    "sort(&mut data, &mut tmp)",
    "--buffer",
    "data=random:i32:20000:7",
    "--buffer",
    "tmp=like:data",
];

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap()
}

fn number(of: &Value) -> u64 {
    of.as_u64().unwrap_or_else(|| panic!("{of} is no number"))
}

/// A span of a trace: its track, begin and end in nanoseconds, name and arguments.
struct Span<'a> {
    track: u64,
    begin: u64,
    end: u64,
    name: &'a str,
    category: &'a str,
    args: &'a Value,
}

fn spans(trace: &Value) -> Vec<Span<'_>> {
    let nanoseconds = |of: &Value| (of.as_f64().unwrap() * 1e3).round() as u64;
    let events = trace["traceEvents"].as_array().unwrap();
    let spans = events.iter().filter(|e| e["ph"] == "X");
    let span = |e| {
        let e: &Value = e;
        let begin = nanoseconds(&e["ts"]);
        Span {
            track: number(&e["tid"]),
            begin,
            end: begin + nanoseconds(&e["dur"]),
            name: e["name"].as_str().unwrap(),
            category: e["cat"].as_str().unwrap(),
            args: &e["args"],
        }
    };
    spans.map(span).collect()
}

/// On each track spans lie one behind another or one inside another.
fn nested(spans: &[Span<'_>]) {
    let mut order: Vec<&Span<'_>> = spans.iter().collect();
    order.sort_by_key(|s| (s.track, s.begin, u64::MAX - s.end));
    let mut open: Vec<&Span<'_>> = Vec::new();
    for span in order {
        open.retain(|o| o.track == span.track && o.end > span.begin);
        if let Some(inside) = open.last() {
            let (a, b) = ((inside.begin, inside.end), (span.begin, span.end));
            assert!(
                span.end <= inside.end,
                "{} {a:?}, {} {b:?}",
                inside.name,
                span.name
            );
        }
        open.push(span);
    }
}

/// Elements that were consumed, by node.
fn elements(spans: &[Span<'_>]) -> BTreeMap<String, u64> {
    let mut out = BTreeMap::new();
    for span in spans.iter().filter(|s| s.category == "node") {
        *out.entry(span.name.to_owned()).or_default() += number(&span.args["elements"]);
    }
    out
}

/// The same, as `--stats json` has them.
fn reported(stats: &Value) -> BTreeMap<String, u64> {
    let nodes = stats["run"]["nodes"].as_array().unwrap().iter();
    nodes
        .map(|n| {
            (
                n["name"].as_str().unwrap().to_owned(),
                number(&n["elements"]),
            )
        })
        .collect()
}

#[test]
fn a_trace_has_the_elements_of_the_report_under_the_names_of_the_drawing() {
    let t = Folder::new();
    for threads in ["1", "3"] {
        let more = ["--threads", threads, "--stats", "json", "--trace", "t.json"];
        let stats = json(t.good(&[&SORT[..], &more].concat()).as_bytes());
        let trace = json(&t.read("t.json"));
        let spans = spans(&trace);
        nested(&spans);
        assert_eq!(trace["otherData"]["missing_spans"], 0);
        assert_eq!(elements(&spans), reported(&stats), "{threads} threads");
        let nodes = spans.iter().filter(|s| s.category == "node").count() as u64;
        assert_eq!(nodes, number(&stats["run"]["dispatches"]));
        let drawing = t.good(&["lower", "sort.rs", "--emit", "mermaid"]);
        for node in elements(&spans).keys() {
            assert!(
                drawing.contains(&format!("[\"kernel {node}\"]")),
                "{node}: {drawing}"
            );
        }
        for what in [
            "read and lower",
            "make the buffers",
            "compile",
            "copy",
            "run",
        ] {
            assert!(spans.iter().any(|s| s.name == what), "{what}");
        }
        // What waits at a level comes to nothing, and was all that ran there.
        let mut levels: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for event in trace["traceEvents"].as_array().unwrap() {
            if event["ph"] == "C" {
                let held = number(&event["args"]["elements"]);
                levels
                    .entry(event["name"].as_str().unwrap())
                    .or_default()
                    .push(held);
            }
        }
        assert_eq!(levels.values().next().unwrap().first(), Some(&1));
        assert!(
            levels.len() as u64 + 1 >= number(&stats["run"]["levels"]),
            "{levels:?}"
        );
        assert!(
            levels.values().all(|held| held.last() == Some(&0)),
            "{levels:?}"
        );
    }
    let told = t.good(&[&SORT[..], &["--trace", "t.json"]].concat());
    assert!(
        told.contains("wrote t.json: ") && told.contains(" spans\n"),
        "{told}"
    );
}

/// Viewers sort counters by their names.
#[test]
fn the_names_of_levels_are_in_their_order() {
    let t = Folder::new();
    t.good(&["run", "fib.rs", "--entry", "fib(15)", "--trace", "t.json"]);
    let trace = json(&t.read("t.json"));
    let events = trace["traceEvents"].as_array().unwrap().iter();
    let counters = events.filter(|e| e["ph"] == "C");
    let names: BTreeSet<&str> = counters.map(|e| e["name"].as_str().unwrap()).collect();
    let levels: Vec<usize> = names
        .iter()
        .map(|n| n["level ".len()..].parse().unwrap())
        .collect();
    assert!(levels.len() > 10, "{names:?}");
    assert!(levels.is_sorted(), "{names:?}");
}

#[test]
fn a_graph_is_traced_by_its_kernels() {
    let t = Folder::new();
    t.write(
        "pass.rs",
        "#[millstream::program]
mod pass {
    #[task] fn leaf(n: u32, sum: &AtomicU64) { sum.fetch_add(n as u64, Ordering::Relaxed); }
    #[kernel] pub fn begin(n: u32, next: Channel<u32>) { for i in 0..n { next.emit(i); } }
    #[kernel] pub fn finish(n: u32, sum: &AtomicU64) { spawn!(leaf(n, sum)); }
}
",
    );
    t.write(
        "pass.ron",
        "Graph(source: \"pass.rs\", buffers: { \"sum\": Zeros(len: 1) },
channels: { \"in\": (element: \"u32\", width: 8), \"middle\": (element: \"u32\", width: 64) },
kernels: {
    \"first\": (runs: \"begin\", consumes: \"in\", produces: [\"middle\"]),
    \"second\": (runs: \"finish\", consumes: \"middle\", args: [\"&sum\"]),
}, send: { \"in\": \"[5, 7, 9]\" })",
    );
    let stats = t.good(&[
        "run",
        "pass.ron",
        "--threads",
        "2",
        "--stats",
        "json",
        "--trace",
        "t.json",
    ]);
    let (stats, trace) = (json(stats.as_bytes()), json(&t.read("t.json")));
    let spans = spans(&trace);
    nested(&spans);
    assert_eq!(elements(&spans), reported(&stats));
    let ran = elements(&spans);
    assert_eq!(
        (ran.get("first"), ran.get("second")),
        (Some(&3), Some(&21)),
        "{ran:?}"
    );
    assert!(ran.keys().any(|name| name.starts_with("leaf")), "{ran:?}");
}

#[test]
fn statistics_are_one_object() {
    let t = Folder::new();
    let fib = [
        "run",
        "--stats",
        "fib.rs",
        "--entry",
        "fib(10)",
        "--threads",
        "1",
    ];
    assert!(t.good(&fib).contains("fib(10) = 55"), "a file is no format");
    let stats = json(
        t.good(&[&fib[..1], &fib[2..], &["--stats", "json"]].concat())
            .as_bytes(),
    );
    assert_eq!(
        (&stats["call"], &stats["result"]),
        (&"fib(10)".into(), &"55".into())
    );
    let run = &stats["run"];
    assert_eq!(run["tasks"], serde_json::json!([["fib", 177]]));
    let nodes = run["nodes"].as_array().unwrap();
    let entries = nodes.iter().filter(|n| n["entry"] == true);
    let begun: u64 = entries.map(|n| number(&n["elements"])).sum();
    assert_eq!(begun + number(&run["leaves"]), 177);
    for node in nodes {
        let widths = node["widths"].as_array().unwrap().iter();
        assert_eq!(
            widths.map(number).sum::<u64>(),
            number(&node["dispatches"]),
            "{node}"
        );
        assert!(number(&node["time_ns"]) > 0, "{node}");
        let (active, width) = (
            node["lanes_active"].as_f64().unwrap(),
            number(&node["width"]),
        );
        assert!(active > 0.0 && active <= 1.0, "{node}");
        // None of its wavefronts were full.
        if number(&node["full"]) == 0 {
            let places = number(&node["dispatches"]) * width;
            assert_eq!(
                active,
                number(&node["elements"]) as f64 / places as f64,
                "{node}"
            );
            assert_eq!(node["partial_lanes_active"], active, "{node}");
        }
    }
    // One thread was in a wavefront or it was blocked.
    let worked: u64 = nodes.iter().map(|n| number(&n["time_ns"])).sum();
    let blocked = number(&run["running_ns"]) - worked;
    assert_eq!(
        (number(&run["blocked_ns"]), &run["workers"][0]["blocked_ns"]),
        (blocked, &blocked.into())
    );
    assert!(run["lanes_active"].as_f64().unwrap() <= 1.0);
    let choices = stats["choices"].as_array().unwrap();
    let choice = |what: &str| choices.iter().find(|c| c["what"] == what).unwrap();
    assert_eq!(choice("threads")["why"], "asked for");
    assert_eq!(choice("memory")["why"], "a quarter of what is free");
    let short = [
        "run",
        "fib.rs",
        "--entry",
        "fib(10)",
        "--threads",
        "8",
        "--memory",
        "4 MiB",
    ];
    let stats = json(t.good(&[&short[..], &["--stats=json"]].concat()).as_bytes());
    let threads = &stats["choices"][1];
    let why = "asked for, less 6 for which the memory is too little";
    assert_eq!(
        (&threads["value"], &threads["why"]),
        (&"2".into(), &why.into())
    );
    t.bad(
        2,
        &["run", "fib.rs", "--stats=xml"],
        &["invalid value 'xml'"],
    );
}

#[test]
fn a_trace_that_cannot_be_written_is_said_before_the_run() {
    let t = Folder::new();
    let forever = ["run", "fib.rs", "--entry", "fib(90)", "--trace"];
    for (file, why) in [
        ("nowhere/t.json", "there is no folder `nowhere`"),
        (".", "is a directory"),
    ] {
        let says = format!("error: cannot write the trace `{file}`: ");
        t.bad(1, &[&forever[..], &[file]].concat(), &[&says, why]);
    }
}

#[test]
fn a_trace_and_a_plot_are_two_files() {
    let t = Folder::new();
    let both = ["--trace", "a.json", "--plot", "a.json"];
    let run = [&["run", "fib.rs", "--entry", "fib(3)"][..], &both].concat();
    t.bad(1, &run, &["the trace and the plot cannot be the same file"]);
}

#[test]
fn a_run_that_is_killed_or_fails_leaves_no_trace() {
    let t = Folder::new();
    let before = t.files();
    t.bad(
        1,
        &[
            "run",
            "misc.rs",
            "--entry",
            "div(1, 0)",
            "--trace",
            "t.json",
        ],
        &["division by zero"],
    );
    let mut child = command(&t.path(""))
        .args(["run", "fib.rs", "--entry", "fib(90)", "--trace", "t.json"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_millis(700));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(t.files(), before);
}

/// On a machine with a GPU; skipped aloud without.
#[test]
fn a_gpu_is_traced_by_who_decides() {
    if let Err(why) = millstream::Device::cuda(0) {
        return eprintln!("SKIPPED: {why}");
    }
    let t = Folder::new();
    for aggregator in ["auto", "host", "persistent"] {
        let on = ["--device", "cuda:0", "--aggregator", aggregator];
        let more = ["--stats", "json", "--trace", "t.json"];
        let stats = json(t.good(&[&SORT[..], &on, &more].concat()).as_bytes());
        let trace = json(&t.read("t.json"));
        let spans = spans(&trace);
        nested(&spans);
        assert_eq!(trace["otherData"]["missing_spans"], 0);
        assert_eq!(elements(&spans), reported(&stats), "{aggregator}");
        let run = spans.iter().find(|s| s.name == "run").unwrap();
        let inside = |s: &Span<'_>| run.begin <= s.begin && s.end <= run.end;
        let mut decided = spans.iter().filter(|s| s.category == "node");
        assert!(decided.all(inside), "{aggregator}");
        for kernel in stats["run"]["kernels"].as_array().unwrap() {
            assert!(
                number(&kernel["registers"]) > 0 && number(&kernel["blocks"]) > 0,
                "{kernel}"
            );
        }
        let plain = json(
            t.good(&[&SORT[..], &on, &["--stats=json"]].concat())
                .as_bytes(),
        );
        assert_eq!(reported(&plain), reported(&stats), "{aggregator}");
    }
}
