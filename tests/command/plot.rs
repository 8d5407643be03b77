//! `--plot`: each number of the picture is one of `--stats json`.

use crate::support::{Folder, command, ended};
use serde_json::Value;
use std::path::Path;

/// The number of what has this id.
fn number(svg: &str, id: &str, name: &str) -> u64 {
    let (_, rest) = svg
        .split_once(&format!("<g id=\"{id}\""))
        .unwrap_or_else(|| panic!("`{id}` is not drawn"));
    let (own, _) = rest.split_once('>').unwrap();
    let (_, value) = own.split_once(&format!("data-{name}=\"")).unwrap();
    value.split_once('"').unwrap().0.parse().unwrap()
}

/// The picture of an example and what `--stats json` says of the same run.
fn plotted(folder: &Folder, args: &[&str]) -> (String, Value) {
    let file = folder.path("run.svg");
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"));
    let mut run = command(examples);
    run.arg("run").args(args).args(["--memory", "64 MiB"]);
    run.args(["--stats", "json", "--plot"]).arg(&file);
    let run = ended(&run.output().unwrap());
    assert_eq!(run.code, Some(0), "{args:?}: {}", run.err);
    let svg = String::from_utf8(folder.read("run.svg")).unwrap();
    (svg, serde_json::from_str(&run.out).unwrap())
}

fn sum(list: &Value, of: impl Fn(&Value) -> bool, field: &str) -> u64 {
    let chosen = list.as_array().unwrap().iter().filter(|v| of(v));
    chosen.map(|v| v[field].as_u64().unwrap()).sum()
}

#[test]
fn each_number_of_a_plot_is_one_of_the_statistics() {
    let t = Folder::new();
    for args in [
        &["fib.ron", "--set", "n=27", "--threads", "1"][..],
        &["sort.ron", "--set", "n=100000", "--threads", "2"],
        &["queens.ron", "--set", "n=9", "--threads", "4"],
        &["mandelbrot.ron", "--set", "width=64", "--threads", "2"],
    ] {
        let (svg, json) = plotted(&t, args);
        let run = &json["run"];
        for (drawn, field) in [
            ("tasks", "total"),
            ("leaves", "leaves"),
            ("levels", "levels"),
            ("dispatches", "dispatches"),
            ("peak", "peak"),
            ("budget", "budget"),
            ("running-ns", "running_ns"),
        ] {
            assert_eq!(number(&svg, "run", drawn), run[field], "{args:?}: {field}");
        }
        let nodes = &run["nodes"];
        let all = |_: &Value| true;
        let levels = run["channels"].as_array().unwrap().is_empty();
        let entries = sum(nodes, |n| n["entry"] == true || !levels, "elements");
        assert_eq!(number(&svg, "rows", "elements"), entries, "{args:?}");
        let drawn = svg.matches("data-consumed=").count();
        let mut rows = 0;
        if levels {
            // What was in no wavefront is on no row.
            for (level, tasks) in (0..drawn).zip(run["elements"].as_array().unwrap()) {
                let row = number(&svg, &format!("level-{level}"), "consumed");
                assert!(row <= tasks.as_u64().unwrap(), "{args:?}: level {level}");
                rows += row;
            }
            let total = run["total"].as_u64().unwrap();
            assert_eq!(rows + run["leaves"].as_u64().unwrap(), total);
        } else {
            for node in nodes.as_array().unwrap() {
                let id = format!("node-{}", node["name"].as_str().unwrap());
                assert_eq!(number(&svg, &id, "consumed"), node["elements"]);
            }
        }
        let of = |name| number(&svg, "widths", name);
        assert_eq!(of("dispatches"), sum(nodes, all, "dispatches"), "{args:?}");
        assert_eq!(of("elements"), sum(nodes, all, "elements"), "{args:?}");
        assert_eq!(of("full"), sum(nodes, all, "full"), "{args:?}");
        // The widest is of the last power of two of which there was one.
        let powers = nodes.as_array().unwrap().iter();
        let powers = powers.map(|n| n["widths"].as_array().unwrap().len());
        assert_eq!(of("widest").ilog2() as usize + 1, powers.max().unwrap());
        let running = number(&svg, "workers", "running-ns");
        assert_eq!(running, sum(nodes, all, "time_ns"), "{args:?}");
        for worker in run["workers"].as_array().unwrap() {
            let id = format!("worker-{}", worker["worker"]);
            assert_eq!(number(&svg, &id, "dispatches"), worker["dispatches"]);
        }
        let call = json["call"].as_str().unwrap();
        let call = call.replace('&', "&amp;");
        assert!(svg.contains(&format!("<title>{call}</title>")), "{args:?}");
        let threads = json["device"]["threads"].as_u64().unwrap();
        let threads = match run["workers"].as_array().unwrap().len() as u64 {
            1 if threads == 1 => "1 thread".into(),
            all if all == threads => format!("{threads} threads"),
            some => format!("{some} of {threads} threads"),
        };
        let settings = format!(", on cpu, {threads}, 64 MiB of memory for channels<");
        assert!(svg.contains(&settings), "{args:?}: {settings}");
    }
}

#[test]
fn a_plot_is_written_with_the_result_or_its_place_is_refused_first() {
    let t = Folder::new();
    let out = t.good(&[
        "run", "fib.rs", "--entry", "fib(20)", "--device", "cpu", "--plot", "fib.svg",
    ]);
    assert!(out.starts_with("fib(20) = 6765\n"), "{out}");
    assert!(out.ends_with("wrote fib.svg\n"), "{out}");
    let svg = String::from_utf8(t.read("fib.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
    t.bad(
        1,
        &[
            "run",
            "fib.rs",
            "--entry",
            "fib(20)",
            "--plot",
            "no/fib.svg",
        ],
        &["cannot write the plot `no/fib.svg`"],
    );
}
