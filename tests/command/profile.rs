//! `millstream profile`: work, span and lines of programs whose numbers are known.

use crate::support::{Folder, command, ended};
use serde_json::Value;
use std::path::Path;

/// What `--json` prints.
fn json(folder: &Path, args: &[&str]) -> Value {
    let run = ended(
        &command(folder)
            .arg("profile")
            .args(args)
            .arg("--json")
            .output()
            .unwrap(),
    );
    assert_eq!(run.code, Some(0), "{args:?}: {}", run.err);
    let json: Value = serde_json::from_str(&run.out).unwrap();
    // Whatever it is of, its parts are whole.
    let sum = |list: &str, of: &str| {
        let all = json[list].as_array().unwrap().iter();
        all.map(|part| part[of].as_f64().unwrap()).sum::<f64>()
    };
    assert_eq!(sum("lines", "steps"), json["work"]["steps"]);
    assert_eq!(sum("critical_path", "steps"), json["span"]["steps"]);
    assert!((sum("lines", "share") - 1.0).abs() < 1e-9, "{json}");
    assert!((sum("critical_path", "share") - 1.0).abs() < 1e-9, "{json}");
    json
}

fn examples() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"))
}

#[test]
fn fib_has_its_closed_forms() {
    for n in [2u64, 5, 10, 17] {
        let json = json(examples(), &["fib.ron", "--set", &format!("n={n}")]);
        let fib = |n: u64| (0..n).fold((0u64, 1), |(a, b), _| (b, a + b)).0;
        let tasks = 2 * fib(n + 1) - 1;
        assert_eq!(json["work"]["tasks"], tasks);
        assert_eq!(json["span"]["tasks"], n);
        assert_eq!(json["result"], fib(n).to_string());
        let parallelism = json["parallelism"]["tasks"].as_f64().unwrap();
        assert!((parallelism - tasks as f64 / n as f64).abs() < 1e-9);
        // The way down over n - 1, and back: a spawn and a sync for each.
        let burdened = json["burdened_span"].as_u64().unwrap();
        let span = json["span"]["steps"].as_u64().unwrap();
        let burden = json["burden"].as_u64().unwrap();
        assert_eq!(burdened, span + 2 * (n - 1) * burden);
        assert_eq!(json["critical_path"][0]["task"], "fib");
        assert_eq!(json["critical_path"][0]["tasks"], n);
    }
}

/// Placements of up to n queens of which none attacks another: a task each.
fn placements(n: u32, columns: u32, left: u32, right: u32) -> u64 {
    let free = (0..n).filter(|c| (columns | left | right) >> c & 1 == 0);
    let of = |c| {
        let queen = 1u32 << c;
        placements(
            n,
            columns | queen,
            (left | queen) << 1,
            (right | queen) >> 1,
        )
    };
    1 + free.map(of).sum::<u64>()
}

#[test]
fn queens_has_a_task_a_placement_and_a_chain_of_all_rows() {
    for n in [1, 4, 5, 6] {
        let json = json(
            examples(),
            &["queens.ron", "--entry", &format!("queens({n})")],
        );
        assert_eq!(json["work"]["tasks"], 1 + placements(n, 0, 0, 0));
        // The task that is called, the empty board, and a queen in each row.
        assert_eq!(json["span"]["tasks"], n + 2);
    }
    assert_eq!(placements(4, 0, 0, 0), 17);
}

#[test]
fn the_halves_of_a_sort_run_side_by_side() {
    let t = Folder::new();
    let of = |n: u64| {
        json(
            t.path("").as_path(),
            &[
                "sort.rs",
                "--entry",
                "sort(&mut data, &mut tmp)",
                "--buffer",
                &format!("data=iota:i32:{n}"),
                "--buffer",
                "tmp=like:data",
            ],
        )
    };
    let steps = |json: &Value, of: &str| json[of]["steps"].as_u64().unwrap();
    let mut half = of(1);
    assert_eq!(half["work"], half["span"]);
    for (n, height) in [(2, 2), (4, 3), (8, 4), (16, 5)] {
        let whole = of(n);
        assert_eq!(whole["work"]["tasks"], 2 * n - 1);
        assert_eq!(whole["span"]["tasks"], height);
        // Sorted halves are alike, and the second is spawned last: all that is not on the path is the first half, and what of the second is not.
        let beside = steps(&half, "work") + steps(&half, "work") - steps(&half, "span");
        assert_eq!(steps(&whole, "span"), steps(&whole, "work") - beside);
        half = whole;
    }
}

#[test]
fn a_chain_has_a_parallelism_of_one_and_a_loop_of_spawns_the_span_of_its_last() {
    let t = Folder::new();
    t.write(
        "chain.rs",
        "#[millstream::program]
mod chain {
    #[task]
    pub fn chain(n: u32) {
        if n > 1 {
            spawn!(chain(n - 1));
            sync!();
        }
    }
    #[task]
    pub fn wide(n: u32) {
        for _ in 0..n {
            spawn!(chain(1));
        }
    }
}
",
    );
    let of = |entry: &str| json(t.path("").as_path(), &["chain.rs", "--entry", entry]);
    let chain = of("chain(100)");
    assert_eq!(chain["work"]["tasks"], 100);
    assert_eq!(chain["work"], chain["span"]);
    assert_eq!(chain["parallelism"]["steps"], 1.0);
    let (wide, one) = (of("wide(200)"), of("chain(1)"));
    assert_eq!(wide["work"]["tasks"], 201);
    assert_eq!(wide["span"]["tasks"], 2);
    // The loop is longer than what it spawns: two hundred children, of which no step is on the path.
    let own =
        wide["work"]["steps"].as_u64().unwrap() - 200 * one["work"]["steps"].as_u64().unwrap();
    let on_path = &wide["critical_path"];
    assert_eq!(on_path[0]["task"], "wide");
    assert!(
        wide["span"]["steps"].as_u64().unwrap() <= own + one["work"]["steps"].as_u64().unwrap()
    );
    assert!(wide["span"]["steps"].as_u64().unwrap() >= own);
}

#[test]
fn people_are_told_the_same_and_buffers_are_sorted_and_written() {
    let t = Folder::new();
    let out = t.good(&["profile", "fib.rs", "--entry", "fib(10)"]);
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "fib(10) = 55 steps tasks work 1,941 177 span 134 10 parallelism 14.5 17.7 burdened",
        "200 steps a spawn and a sync",
        "100.0 % 134 fib: 10 tasks",
        "lines of fib.rs, by their share of the work 36.5 % 709 5 if n < 2",
        "22.7 % 440 9 x + y",
        "nothing was timed",
    ] {
        assert!(out.contains(line), "`{line}` in {out}");
    }
    let args = [
        "profile",
        "sort.rs",
        "--entry",
        "sort(&mut data, &mut tmp)",
        "--buffer",
        "data=values:i32:[3, 1, 2]",
        "--buffer",
        "tmp=like:data",
        "--output",
        "data=sorted.bin",
    ];
    assert!(t.good(&args).contains("wrote sorted.bin: 3 x i32\n"));
    assert_eq!(t.read("sorted.bin"), crate::support::bytes_i32(&[1, 2, 3]));
}

#[test]
fn what_cannot_be_profiled_says_why() {
    let t = Folder::new();
    t.bad(
        1,
        &[
            "profile", "fib.rs", "--entry", "fib(30)", "--steps", "100000",
        ],
        &[
            "fib(30) is too large to be profiled: the program ran for more than 100000 steps",
            "profile a smaller call",
        ],
    );
    t.bad(
        1,
        &["profile", "misc.rs", "--entry", "forever(0)"],
        &["forever(0) is too large to be profiled: the program recursed deeper than 1000000 calls"],
    );
    t.bad(
        1,
        &[
            "profile", "fib.rs", "--entry", "fib(3)", "--trace", "t.json",
        ],
        &["`--stats`, `--trace`, `--plot` and `--dump` are about a run on a device"],
    );
    for observed in [
        ["--stats", "json"],
        ["--trace", "t.json"],
        ["--plot", "t.svg"],
    ] {
        let check = ["check", "fib.rs", "--entry", "fib(3)"];
        t.bad(
            1,
            &[&check[..], &observed[..]].concat(),
            &["`--stats`, `--trace`, `--plot` and `--dump` are about a run on a device"],
        );
    }
    t.bad(
        1,
        &["profile", "misc.rs", "--entry", "div(1, 0)"],
        &["div", "misc.rs"],
    );
    let run = ended(
        &command(examples())
            .args(["profile", "mandelbrot.ron"])
            .output()
            .unwrap(),
    );
    assert_eq!(run.code, Some(1));
    assert!(
        run.err.contains("a graph of kernels cannot be profiled"),
        "{}",
        run.err
    );
}

#[test]
fn the_page_shows_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/profile.md")).unwrap();
    let call = ["profile", "examples/fib.ron", "--set", "n=24"];
    let shown = page
        .split_once(&format!("    $ millstream {}\n", call.join(" ")))
        .unwrap()
        .1;
    let shown: String = shown
        .lines()
        .take_while(|l| l.is_empty() || l.starts_with("    "))
        .map(|l| format!("{}\n", l.strip_prefix("    ").unwrap_or(l)))
        .collect();
    let run = ended(&command(root).args(call).output().unwrap());
    assert_eq!(run.out.trim_end(), shown.trim_end());
}
