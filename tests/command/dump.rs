//! Runs that are stopped or stuck leave a dump, and `inspect` reads it.
#![cfg(unix)]

use crate::support::{Ended, Folder, Running, command, ended};
use serde_json::Value;
use std::{thread, time::Duration};

const ENDLESS: &str = "#[millstream::program]
mod endless {
    #[task]
    pub fn tree(n: u32) -> u64 {
        if n == 0 {
            let mut i = 1u64;
            while i > 0 { i |= 1; }
            return i;
        }
        let x = spawn!(tree(n - 1));
        let y = spawn!(tree(n - 1));
        sync!();
        x + y * 3
    }
}
";

/// `a` and `b` are full of each other's elements.
const CIRCLE: &str = "#[millstream::program]
mod circle {
    #[kernel]
    pub fn there(n: u32, b: Channel<u32>) { b.emit(n); b.emit(n + 1); }
    #[kernel]
    pub fn back(n: u32, a: Channel<u32>) { a.emit(n); a.emit(n + 1); }
}
";
const CIRCLE_JOB: &str = r#"Graph(
    source: "circle.rs",
    channels: { "a": (element: "u32", width: 8, predicate: Any), "b": (element: "u32", width: 8, predicate: Any) },
    kernels: {
        "there": (consumes: "a", produces: ["b"]),
        "back": (consumes: "b", produces: ["a"]),
    },
    send: { "a": "[1, 2, 3]" },
)
"#;

fn folder() -> Folder {
    let t = Folder::new();
    t.write("endless.rs", ENDLESS);
    t.write("circle.rs", CIRCLE);
    t.write("circle.ron", CIRCLE_JOB);
    t
}

/// What the command says after this signal, which comes when it has run for a while.
fn stopped(t: &Folder, args: &[&str], which: &str) -> Ended {
    let running = Running::new(t, args);
    thread::sleep(Duration::from_millis(3000));
    running.signal(which);
    running.end()
}

#[test]
fn ctrl_c_leaves_a_dump_of_tasks_that_inspect_reads() {
    let t = folder();
    let run = [
        "run",
        "endless.rs",
        "--entry",
        "tree(6)",
        "--dump",
        "d.json",
        "--trace",
        "t.json",
    ];
    for threads in ["1", "2"] {
        let args = [&run[..], &["--threads", threads]].concat();
        let ended = stopped(&t, &args, "-INT");
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let dump: Value = serde_json::from_slice(&t.read("d.json")).unwrap();
        assert_eq!(dump["millstream_dump"], 1);
        assert_eq!(dump["call"], "tree(6)");
        let dump = &dump["dump"];
        assert_eq!(dump["why"], "the run was cancelled");
        let workers = dump["workers"].as_array().unwrap();
        assert_eq!(workers.len().to_string(), threads);
        let last = &workers[0]["last"];
        assert_eq!(
            (&last["doing"], &last["level"]),
            (&"runs".into(), &6.into())
        );
        let node = last["at"].as_str().unwrap();
        assert_eq!(node, "tree");
        for says in [
            "tree(6) of endless.rs on cpu",
            "the run was cancelled",
            &*format!("worker 0 runs {node} at level 6"),
            "wrote d.json: `millstream inspect` reads it",
        ] {
            assert!(ended.err.contains(says), "{says}: {}", ended.err);
        }
        // It has run since the first second, which was seen.
        assert!(last["ago_ns"].as_u64().unwrap() > 1_000_000_000, "{last}");
        // All tasks but the leaves have run, each with a frame and a continuation; the leaves wait, or are being run.
        let channels = dump["channels"].as_array().unwrap();
        let waiting = channels.iter().filter(|c| c["name"] == "tree");
        let waiting: u64 = waiting.map(|c| c["waiting"].as_u64().unwrap()).sum();
        let lent = |w: &Value| w["lent"].as_u64().unwrap();
        if threads == "1" {
            assert_eq!(dump["done"], 63);
            assert_eq!(waiting, 64, "{channels:?}");
        } else {
            assert!(waiting > 0 || workers.iter().map(lent).sum::<u64>() > 0);
        }
        let said = t.good(&["inspect", "d.json"]);
        for says in [
            &*format!("what looks wrong\n  worker 0 runs one wavefront of `{node}` for "),
            "tree.frame",
        ] {
            assert!(said.contains(says), "{says}: {said}");
        }
        // A run that failed leaves no trace, whole or not.
        let is = |name: &&String| name.ends_with("json");
        assert_eq!(t.files().iter().filter(is).collect::<Vec<_>>(), ["d.json"]);
    }
}

#[test]
fn a_graph_that_is_full_in_a_circle_leaves_a_dump_that_says_so() {
    let t = folder();
    for threads in ["1", "2"] {
        let ended = t.run(&[
            "run",
            "circle.ron",
            "--threads",
            threads,
            "--dump",
            "d.json",
        ]);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let circle = "channels are full in a circle, so that nobody can go on: `a` -> there -> `b` -> back -> `a`";
        assert!(ended.err.contains(circle), "{}", ended.err);
        let said = t.good(&["inspect", "d.json"]);
        for says in [
            circle,
            "the graph `circle` cannot go on",
            "waits for room in",
            "back, the caller -> there",
            "without room in: ",
        ] {
            assert!(said.contains(says), "{says}: {said}");
        }
        // What kernels consume lies in rings, and on no stacks beside them.
        let dump: Value = serde_json::from_slice(&t.read("d.json")).unwrap();
        let channels = dump["dump"]["channels"].as_array().unwrap().iter();
        assert_eq!(channels.map(|c| &c["name"]).collect::<Vec<_>>(), ["a", "b"]);
    }
}

#[test]
fn a_dump_that_nobody_named_goes_to_the_folder_for_temporary_files() {
    let t = folder();
    std::fs::create_dir(t.path("tmp")).unwrap();
    let output = command(&t.path(""))
        .args(["run", "circle.ron", "-q"])
        .env("TMPDIR", t.path("tmp"))
        .output();
    let said = ended(&output.unwrap());
    let files: Vec<_> = std::fs::read_dir(t.path("tmp"))
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let name = files[0].to_str().unwrap();
    assert!(name.ends_with(".dump.json"), "{name}");
    assert!(said.err.contains(&format!("wrote {name}")), "{}", said.err);
    assert!(t.good(&["inspect", name]).contains("circle"));
}

#[test]
fn a_killed_run_leaves_no_broken_file() {
    let t = folder();
    let run = [
        "run",
        "endless.rs",
        "--entry",
        "tree(6)",
        "--dump",
        "d.json",
        "--trace",
        "t.json",
        "--plot",
        "p.svg",
    ];
    let before = t.files();
    let ended = stopped(&t, &run, "-KILL");
    assert_eq!(ended.code, None, "{ended:?}");
    assert_eq!(t.files(), before);
}

/// Whether the second Ctrl-C comes before the run has ended, while the dump is written or after it: what there is of a dump is whole.
#[test]
fn two_ctrl_cs_leave_a_whole_dump_or_none() {
    let t = folder();
    let run = [
        "run",
        "endless.rs",
        "--entry",
        "tree(6)",
        "--dump",
        "d.json",
    ];
    for between in [0, 1, 3, 10] {
        let running = Running::new(&t, &run);
        thread::sleep(Duration::from_millis(400));
        running.signal("-INT");
        thread::sleep(Duration::from_millis(between));
        running.signal("-INT");
        let ended = running.end();
        assert!([Some(1), Some(130)].contains(&ended.code), "{ended:?}");
        if t.files().contains(&"d.json".to_owned()) {
            assert!(
                t.good(&["inspect", "d.json"])
                    .contains("the run was cancelled")
            );
            std::fs::remove_file(t.path("d.json")).unwrap();
        } else {
            assert_eq!(ended.code, Some(130), "{ended:?}");
        }
    }
}

#[test]
fn what_is_no_dump_is_refused_and_says_why() {
    let t = folder();
    t.run(&["run", "circle.ron", "--dump", "d.json"]);
    let whole = t.read("d.json");
    t.write("half.json", &whole[..whole.len() / 2]);
    t.write("other.json", "{\"traceEvents\": []}");
    t.bad(
        1,
        &["inspect", "half.json"],
        &["cannot read `half.json`: it is no JSON, or not whole: EOF"],
    );
    t.bad(
        1,
        &["inspect", "other.json"],
        &["cannot read `other.json`: it is JSON, but no dump of a run"],
    );
    t.bad(
        1,
        &["inspect", "sort.rs"],
        &["cannot read `sort.rs`: it is no JSON"],
    );
    t.bad(
        1,
        &["inspect", "nothing.json"],
        &["cannot read `nothing.json`: No such file"],
    );
    t.bad(
        1,
        &["run", "circle.ron", "--dump", "no/where.json"],
        &["cannot write the dump `no/where.json`"],
    );
    t.bad(
        1,
        &["run", "circle.ron", "--dump", "x", "--trace", "x"],
        &["the trace and the dump cannot be the same file"],
    );
    t.bad(
        1,
        &["check", "circle.ron", "--dump", "x"],
        &["`--dump` are about a run on a device"],
    );
}
