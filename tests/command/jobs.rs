//! What works.

#[cfg(unix)]
use crate::support::Running;
use crate::support::{Folder, bytes_i32, command, ended, npy, npy_parts};

#[test]
fn the_quick_start_prints_result_tasks_levels_dispatches_and_time() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = ended(
        &command(root)
            .args(["run", "examples/fib.ron", "--threads", "1"])
            .output()
            .unwrap(),
    );
    assert_eq!(run.code, Some(0), "{}", run.err);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines[0], "fib(30) = 832040");
    assert!(
        lines[1].starts_with("2,692,537 tasks, 30 levels, ") && lines[1].ends_with(" dispatches"),
        "{}",
        lines[1]
    );
    assert!(
        lines[2].contains(" on cpu (1 thread), ") && lines[2].contains("compiled in"),
        "{}",
        lines[2]
    );
}

#[test]
fn an_entry_comes_from_its_text_from_names_or_from_the_program() {
    let t = Folder::new();
    for args in [
        &["run", "fib.rs", "-q", "--entry", "fib(20)"][..],
        &["run", "fib.rs", "-q", "--entry", "fib", "--set", "n=20"],
        &[
            "run", "fib.rs", "-q", "--entry", "fib(..)", "--set", "n=4 * 5",
        ],
        &["run", "fib.rs", "-q", "--set", "n=20"],
        &[
            "run",
            "fib.rs",
            "-q",
            "--entry",
            "fib(m - 1)",
            "--set",
            "m=21",
        ],
    ] {
        assert_eq!(t.good(args), "6765\n", "{args:?}");
    }
}

#[test]
fn bytes_of_an_entry_are_written_as_text() {
    let t = Folder::new();
    t.write(
        "bytes.rs",
        "#[millstream::program] mod bytes { #[task] pub fn count(text: &[u8], x: u8, two: [u8; 2]) -> usize {
            text.iter().filter(|y| **y == x || **y == two[1]).count()
        } }",
    );
    let call = r#"count(b"banana", b'a', *b"?n")"#;
    assert_eq!(t.good(&["run", "bytes.rs", "-q", "--entry", call]), "5\n");
}

#[test]
fn ranges_are_arguments() {
    let t = Folder::new();
    let source = "#[millstream::program]
mod parts {
    use std::ops::{Range, RangeInclusive};
    #[task]
    pub fn sum(of: Range<u32>, by: RangeInclusive<i64>) -> i64 {
        i64::from(of.end - of.start) * (by.end() - by.start())
    }
}
";
    t.write("parts.rs", source);
    let run = |call: &str| t.good(&["run", "parts.rs", "-q", "--set", "n=9", "--entry", call]);
    assert_eq!(run("sum(2..n, -1..=4)"), "35\n");
    assert_eq!(run("sum(1 + 1..n, -1..=4)"), "35\n");
    for (call, says) in [
        ("sum(2..=9, 0..=1)", "expected `std::ops::Range<u32>`"),
        ("sum(2..-9, 0..=1)", "-9 is no `u32`"),
        ("sum(2.., 0..=1)", "expected `std::ops::Range<u32>`"),
        ("sum(2, 0..=1)", "found the integer `2`"),
    ] {
        t.bad(2, &["run", "parts.rs", "--entry", call], &[says]);
    }
}

#[test]
fn arguments_and_results_are_written_as_in_rust() {
    let t = Folder::new();
    let call = "shapes(P { on: true, x: 1.5 }, Pair(255, -4), (0xff, false), [1, -2, 3])";
    assert_eq!(
        t.good(&["run", "misc.rs", "-q", "--entry", call]),
        "(1.5, [1, -2, 3], Pair(255, -4), P { x: -1.5, on: false })\n"
    );
    let call = "shapes(p, Pair(1, i64::MIN), (0, true), [7; 3])";
    let out = t.good(&[
        "run",
        "misc.rs",
        "-q",
        "--entry",
        call,
        "--set",
        "p=P { x: 1e3, on: false }",
    ]);
    assert_eq!(
        out,
        "(1000.0, [7, 7, 7], Pair(1, -9223372036854775808), P { x: -1000.0, on: true })\n"
    );
    let out = t.good(&[
        "run",
        "misc.rs",
        "-q",
        "--entry",
        "limits(-f64::INFINITY, u64::MAX, -9223372036854775808)",
    ]);
    assert_eq!(out, "(-inf, 18446744073709551615, -9223372036854775808)\n");
    assert_eq!(
        t.good(&["run", "misc.rs", "-q", "--entry", "at(&[1.0, 2.5], 1)"]),
        "2.5\n"
    );
    assert_eq!(
        t.good(&[
            "run",
            "misc.rs",
            "-q",
            "--entry",
            "at(&d, d.len() - 1)",
            "--buffer",
            "d=iota:f64:n",
            "--set",
            "n=9"
        ]),
        "8.0\n"
    );
}

#[test]
fn enums_and_results_are_written_as_in_rust() {
    let t = Folder::new();
    t.write(
        "sums.rs",
        "use millstream::prelude::*;
#[program]
mod sums {
    pub enum Shape { Nothing, Circle(f32), Rect { w: f32, h: f32 } }
    #[task]
    pub fn area(s: Shape) -> Result<f32, Shape> {
        match s { Shape::Nothing => Err(s), Shape::Circle(r) => Ok(3.0 * r * r), Shape::Rect { w, h } => Ok(w * h) }
    }
    #[task]
    pub fn first(all: &[Shape], r: Result<u8, (bool, Shape)>) -> (Shape, Option<Shape>) {
        (all[0], r.err().map(|e| e.1))
    }
    #[task]
    pub fn order(a: u32, o: std::cmp::Ordering) -> std::cmp::Ordering { a.cmp(&3).then(o) }
}
",
    );
    let good = |entry: &str| t.good(&["run", "sums.rs", "-q", "--entry", entry]);
    assert_eq!(good("area(Shape::Circle(2.0))"), "Ok(12.0)\n");
    assert_eq!(good("area(Rect { h: 1.5, w: 2.0 })"), "Ok(3.0)\n");
    assert_eq!(good("area(Nothing)"), "Err(Nothing)\n");
    assert_eq!(
        good("first(&[Shape::Rect { w: 1.0, h: 2.0 }, Nothing], Err((true, Circle(4.0))))"),
        "(Rect { w: 1.0, h: 2.0 }, Some(Circle(4.0)))\n"
    );
    assert_eq!(
        good("first(&[Circle(1.0)], Ok(3))"),
        "(Circle(1.0), None)\n"
    );
    assert_eq!(good("order(3, Ordering::Less)"), "Less\n");
    for (entry, wrong) in [
        (
            "area(Shape::Square(2.0))",
            "`Shape` has no variant `Square`",
        ),
        ("area(Circle)", "expected `Shape`, found `Circle`"),
        ("area(Rect { w: 1.0 })", "`Rect` lacks `h`"),
        (
            "area(7)",
            "there are `Nothing`, `Circle(..)`, `Rect { w: .., h: .. }`",
        ),
        (
            "area(Circle(1.0, 2.0))",
            "`Circle` takes 1 value, here are 2",
        ),
        ("area(Circle(1.0, 2.0))", "expected `Circle(f32)`"),
        (
            "first(&[Nothing], Some(3))",
            "`Result` has no variant `Some`",
        ),
    ] {
        t.bad(2, &["run", "sums.rs", "-q", "--entry", entry], &[wrong]);
    }
}

#[test]
fn buffers_are_passed_as_slices_references_matrices_and_atomics() {
    let t = Folder::new();
    let first = |entry: &str, buffer: &str| {
        let out = t.good(&["run", "misc.rs", "--entry", entry, "--buffer", buffer]);
        out.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(
        first("scale(&mut m, 2.0)", "m=iota:[2, 3]"),
        "m = [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]  (2 x 3 x f32)"
    );
    assert_eq!(
        first("scale(MatMut::new(&mut m, 3, 2), 2)", "m=iota:6"),
        "m = [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]  (6 x f32)"
    );
    assert_eq!(
        first("tally(&c, 10)", "c=zeros:3"),
        "c = [18, 12, 15]  (3 x AtomicU32)"
    );
    assert_eq!(
        first("put(&mut o, 10)", "o=zeros:u64:1"),
        "o = [10]  (1 x u64)"
    );
    assert_eq!(
        first("pairs(&mut a)", "a=values:[[1.0, 2.0], [3.0, 4.0]]"),
        "a = [[2.0, 1.0], [4.0, 3.0]]  (2 x [f32; 2])"
    );
    let point = "ps=values:[P { x: 1.0, on: true }]";
    assert_eq!(
        first("points(&mut ps)", point),
        "ps = [P { x: 2.0, on: true }]  (1 x P)"
    );
}

#[test]
fn numpy_files_are_sorted_into_numpy_files() {
    let t = Folder::new();
    let values: Vec<i32> = (0..1000)
        .map(|i: i32| i.wrapping_mul(-1_640_531_527))
        .collect();
    let mut sorted = values.clone();
    sorted.sort_unstable();
    t.write("in.npy", npy("<i4", false, "(1000,)", &bytes_i32(&values)));
    for threads in ["1", "2"] {
        let out = t.good(&[
            "run",
            "sort.rs",
            "--entry",
            "sort(&mut data, &mut tmp)",
            "--input",
            "data=in.npy",
            "--buffer",
            "tmp=like:data",
            "--output",
            "data=out.npy",
            "--threads",
            threads,
        ]);
        assert!(out.contains("wrote out.npy: 1000 x i32"), "{out}");
        assert!(
            npy_parts(&t.read("out.npy"))
                == npy_parts(&npy("<i4", false, "(1000,)", &bytes_i32(&sorted)))
        );
    }
    assert_eq!(
        t.files(),
        ["fib.rs", "in.npy", "misc.rs", "out.npy", "sort.rs"]
    );
}

#[test]
#[cfg(unix)]
fn links_and_pipes_are_written_through() {
    use std::{fs, io::Read, os::unix::fs::FileTypeExt, process::Command};
    let t = Folder::new();
    t.write("in.bin", bytes_i32(&[3, 1, 2]));
    t.write("real.bin", "old");
    std::os::unix::fs::symlink("real.bin", t.path("link.bin")).unwrap();
    std::os::unix::fs::symlink("new.bin", t.path("ahead.bin")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(t.path("pipe.bin"))
            .status()
            .unwrap()
            .success()
    );
    // Open for both, so that neither this nor the command waits for the other.
    let mut pipe = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(t.path("pipe.bin"))
        .unwrap();
    for out in ["link.bin", "ahead.bin", "pipe.bin"] {
        let (entry, output) = ("sort(&mut data, &mut tmp)", format!("data={out}"));
        t.good(&[
            "run",
            "sort.rs",
            "--entry",
            entry,
            "-i",
            "data=i32:in.bin",
            "-b",
            "tmp=like:data",
            "-o",
            &output,
        ]);
    }
    for (link, file) in [("link.bin", "real.bin"), ("ahead.bin", "new.bin")] {
        assert!(fs::symlink_metadata(t.path(link)).unwrap().is_symlink());
        assert_eq!(t.read(file), bytes_i32(&[1, 2, 3]));
    }
    assert!(
        fs::metadata(t.path("pipe.bin"))
            .unwrap()
            .file_type()
            .is_fifo()
    );
    let mut sorted = [0; 12];
    pipe.read_exact(&mut sorted).unwrap();
    assert_eq!(sorted.to_vec(), bytes_i32(&[1, 2, 3]));
}

#[test]
fn matrices_keep_their_shape_and_big_endian_is_read() {
    let t = Folder::new();
    let big: Vec<u8> = (0..6).flat_map(|i| (i as f32).to_be_bytes()).collect();
    let little: Vec<u8> = (0..6)
        .flat_map(|i| (i as f32 * 2.0).to_le_bytes())
        .collect();
    t.write("m.npy", npy(">f4", false, "(2, 3)", &big));
    t.good(&[
        "run",
        "misc.rs",
        "--entry",
        "scale(&mut m, 2.0)",
        "--input",
        "m=m.npy",
        "--output",
        "m=m2.npy",
    ]);
    assert!(npy_parts(&t.read("m2.npy")) == npy_parts(&npy("<f4", false, "(2, 3)", &little)));
    // Two dimensions are also a slice of arrays.
    let pairs = |v: [f32; 4]| npy("<f4", false, "(2, 2)", &v.map(f32::to_le_bytes).concat());
    t.write("p.npy", pairs([1.0, 2.0, 3.0, 4.0]));
    assert_eq!(
        t.good(&[
            "run",
            "misc.rs",
            "-q",
            "--entry",
            "pairs(&mut a)",
            "--input",
            "a=p.npy",
            "--output",
            "a=p.npy"
        ]),
        "2\n"
    );
    assert!(npy_parts(&t.read("p.npy")) == npy_parts(&pairs([2.0, 1.0, 4.0, 3.0])));
}

#[test]
fn raw_files_hold_structs() {
    let t = Folder::new();
    let points = "ps=values:[P { x: 1.0, on: true }, P { x: 2.0, on: false }]";
    t.good(&[
        "run",
        "misc.rs",
        "--entry",
        "points(&mut ps)",
        "--buffer",
        points,
        "--output",
        "ps=p.bin",
    ]);
    assert_eq!(
        t.read("p.bin"),
        [0, 0, 0, 64, 1, 0, 0, 0, 0, 0, 64, 64, 0, 0, 0, 0]
    );
    let out = t.good(&[
        "run",
        "misc.rs",
        "--entry",
        "points(&mut ps)",
        "--input",
        "ps=P:p.bin",
    ]);
    assert!(
        out.contains("ps = [P { x: 3.0, on: true }, P { x: 4.0, on: false }]"),
        "{out}"
    );
    let elsewhere = format!("ps=P:{}", t.path("p.bin").display());
    t.good(&[
        "run",
        "misc.rs",
        "--entry",
        "points(&mut ps)",
        "--input",
        &elsewhere,
    ]);
}

#[test]
fn a_ron_file_says_everything_and_the_command_goes_before_it() {
    let t = Folder::new();
    t.write(
        "sort.ron",
        r#"Program(
            source: "sort.rs",
            entry: "sort(&mut data, &mut tmp)",
            params: { "n": 1000 },
            buffers: { "data": Random(len: n, seed: 7), "tmp": Like("data") },
            outputs: { "data": "out.npy" },
            device: Cpu,
            threads: 2,
            memory: "64 MiB",
            checked: true,
            expect: (buffers: { "data": Sorted }),
        )"#,
    );
    let out = t.good(&["run", "sort.ron"]);
    assert!(
        out.contains("wrote out.npy: 1000 x i32") && out.contains("1,999 tasks, 11 levels"),
        "{out}"
    );
    let out = t.good(&[
        "run",
        "sort.ron",
        "--set",
        "n=50",
        "--threads",
        "1",
        "--output",
        "data=other.npy",
    ]);
    assert!(
        out.contains("wrote other.npy: 50 x i32") && out.contains("(1 thread)"),
        "{out}"
    );
    let out = t.good(&["check", "sort.ron"]);
    assert!(
        out.contains("call sort(&mut data, &mut tmp)") && out.contains("buffer data: 1000 x i32"),
        "{out}"
    );
    t.write("values.ron", "Program(source: \"misc.rs\", entry: \"at(&d, 2)\", buffers: {\"d\": Values(values: [0.5, 1, 1.25])}, expect: (result: 1.3, tolerance: 0.1))");
    assert_eq!(t.good(&["run", "values.ron", "-q"]), "1.25\n");
    t.write(
        "ten.ron",
        "Program(source: \"fib.rs\", entry: \"fib(n)\", params: {\"n\": 10}, expect: (result: 55))",
    );
    assert_eq!(t.good(&["run", "ten.ron", "-q"]), "55\n");
    // Another run than the one that the file describes has another result.
    assert_eq!(t.good(&["run", "ten.ron", "-q", "--set", "n=11"]), "89\n");
}

#[test]
fn what_a_file_has_for_another_call_is_no_warning() {
    let t = Folder::new();
    t.write(
        "fib.ron",
        r#"Program(source: "fib.rs", entry: "fib(9)", params: {"n": 30})"#,
    );
    let unused = "WARN not used by `fib` param=\"n\"";
    let own = t.run(&["run", "fib.ron"]);
    assert!(own.err.contains(unused), "{}", own.err);
    assert_eq!(own.code, Some(0));
    let other = t.run(&["run", "fib.ron", "-q", "--entry", "fib(8)"]);
    assert_eq!((other.err.as_str(), other.out.as_str()), ("", "21\n"));
}

#[test]
fn statistics_name_levels_memory_and_times() {
    let t = Folder::new();
    let out = t.good(&[
        "run",
        "fib.rs",
        "--entry",
        "fib(10)",
        "--stats",
        "--threads",
        "1",
    ]);
    for text in [
        "177 tasks",
        "levels     10",
        "dispatches",
        "channels",
        "compiling",
        "tasks of each level",
        "       0  1\n       1  2\n",
    ] {
        assert!(out.contains(text), "{text}: {out}");
    }
    let logged = t.run(&["run", "fib.rs", "--entry", "fib(10)", "-vv"]);
    assert!(
        logged.err.contains("lowered") && logged.err.contains("running"),
        "{}",
        logged.err
    );
}

#[test]
fn modes_can_be_asked_for() {
    let t = Folder::new();
    assert_eq!(
        t.good(&[
            "run",
            "misc.rs",
            "-q",
            "--unchecked",
            "--entry",
            "add(200, 100)"
        ]),
        "44\n"
    );
    t.write(
        "add.rs",
        "#[millstream::program] mod add { #[task] pub fn add(a: u8, b: u8) -> u8 { a + b } }",
    );
    assert_eq!(
        t.good(&["run", "add.rs", "-q", "--entry", "add(200, 100)"]),
        "44\n"
    );
    t.bad(
        1,
        &["run", "add.rs", "--checked", "--entry", "add(200, 100)"],
        &["overflow: 200 + 100"],
    );
}

#[test]
fn programs_are_checked_and_lowered_without_a_run() {
    let t = Folder::new();
    let out = t.good(&["check", "fib.rs"]);
    assert!(
        out.contains("task fib(n: u32) -> u64")
            && out.contains("2 segments")
            && out.contains("no errors"),
        "{out}"
    );
    for (emit, text) in [
        ("ir", "task fib("),
        ("lowered", "// t0: task fib"),
        ("graph", "name: \"fib\""),
        ("dot", "digraph \"fib\""),
        ("svg", "<svg "),
    ] {
        let out = t.good(&["lower", "fib.rs", "--emit", emit]);
        assert!(out.contains(text), "{emit}: {out}");
        t.good(&["lower", "fib.rs", "--emit", emit, "-o", "out"]);
        assert_eq!(String::from_utf8(t.read("out")).unwrap(), out);
    }
}

#[test]
fn the_doctor_says_what_there_is() {
    let out = Folder::new().good(&["doctor"]);
    for text in [
        "CPU device",
        "threads",
        "works",
        "CUDA device",
        "driver",
        "NVRTC",
        "Graphviz",
    ] {
        assert!(out.contains(text), "{text}: {out}");
    }
}

#[test]
fn help_has_examples() {
    let t = Folder::new();
    for command in [&["--help"][..], &["run", "--help"], &["lower", "--help"]] {
        assert!(
            t.good(command).contains("Examples:\n  millstream "),
            "{command:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_run_without_output() {
    let t = Folder::new();
    let mut running = Running::new(&t, &["run", "fib.rs", "--entry", "fib(60)"]);
    std::thread::sleep(std::time::Duration::from_millis(1000));
    assert!(!running.is_over(), "fib(60) takes longer than that");
    running.signal("-INT");
    let started = std::time::Instant::now();
    let ended = running.end();
    assert!(started.elapsed().as_secs() < 60);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(
        ended.err.contains("the run was cancelled") && ended.out.is_empty(),
        "{} {}",
        ended.out,
        ended.err
    );
}

/// What is not a file has no ending that says a format.
#[cfg(unix)]
#[test]
fn a_device_takes_an_output_and_more_than_one() {
    let t = Folder::new();
    let sort = [
        "run",
        "sort.rs",
        "--buffer",
        "data=iota:i32:9",
        "--buffer",
        "tmp=like:data",
    ];
    let null = ["-o", "data=/dev/null", "-o", "tmp=/dev/null"];
    let out = t.good(&[&sort[..], &null].concat());
    assert!(out.contains("wrote /dev/null: 9 x i32"), "{out}");
}

#[test]
fn what_is_behind_a_reference_may_be_written_into_the_call() {
    let t = Folder::new();
    t.write(
        "one.rs",
        "#[millstream::program] mod one {
         pub struct P { pub x: u32, pub y: [u8; 2] }
         #[task] pub fn sum(a: &[u32; 3]) -> u32 { a[0] + a[1] + a[2] }
         #[task] pub fn add(p: &P, to: &mut u32) { *to += p.x + p.y[1] as u32; } }",
    );
    let run = |entry| t.good(&["run", "one.rs", "--device", "cpu", "--entry", entry]);
    let out = run("sum(&[1, 2, 3])");
    assert!(out.contains("= 6\n"), "{out}");
    let out = run("add(&P { x: 3, y: [1, 2] }, &mut 40)");
    assert!(out.contains("= [45]  (1 x u32)"), "{out}");
    let bad = |entry, what: &[&str]| t.bad(2, &["run", "one.rs", "--entry", entry], what);
    bad(
        "sum(&[1, 2])",
        &[
            "--entry:1:5",
            "there are 2 elements",
            "3 elements are wanted",
        ],
    );
    bad("add(&P { x: 3 }, &mut 40)", &["--entry:1:6", "`y`"]);
    bad(
        "add(&P { x: 3, y: [1, 2] }, &40)",
        &["help: write `&mut 40`"],
    );
    bad("sum(&x)", &["`--buffer x=zeros:u32:3`"]);
    bad(
        "add(P { x: 3, y: [1, 2] }, &mut 40)",
        &["--entry:1:5", "not a buffer"],
    );
}

#[test]
fn a_buffer_of_numbers_is_one_of_atomics_and_as_many_are_an_array_of_them() {
    let t = Folder::new();
    t.write(
        "at.rs",
        "#[millstream::program] mod at { use std::sync::atomic::{AtomicU64, Ordering};
         #[task] pub fn put(a: &[AtomicU64; 5]) -> u64 { a[3].load(Ordering::Relaxed) } }",
    );
    let put = |contents: &str| {
        let buffer = format!("a={contents}");
        t.run(&[
            "run", "at.rs", "--device", "cpu", "--entry", "put(&a)", "--buffer", &buffer,
        ])
    };
    for contents in [
        "values:u64:[1, 2, 3, 4, 5]",
        "values:AtomicU64:[1, 2, 3, 4, 5]",
        "values:[1, 2, 3, 4, 5]",
    ] {
        assert!(
            put(contents).out.contains("= 4\n"),
            "{contents}: {}",
            put(contents).err
        );
    }
    let err = put("zeros:[u64; 5]:1").err;
    assert!(
        err.contains("help: make a buffer of 5 elements: `zeros:AtomicU64:5`"),
        "{err}"
    );
    let err = put("zeros:u64:4").err;
    assert!(
        err.contains("but `a` has 4 elements") && err.contains("5 elements are wanted"),
        "{err}"
    );
}
