//! Commands and runs that are wrong.

use crate::support::Folder;

#[test]
fn arguments_of_the_entry_must_fit_the_task() {
    let t = Folder::new();
    for (entry, says) in [
        ("srot(1)", &["the program `misc` has no task `srot`"][..]),
        ("ad(1, 2)", &["has no task `ad`", "did you mean `add`?"]),
        ("helper(1)", &["`helper` is a helper function, not a task"]),
        (
            "add(1)",
            &[
                "task `add` takes 2 arguments, but 1 was given",
                "add(a: u8, b: u8) -> u8",
            ],
        ),
        ("add(1, 2, 3)", &["takes 2 arguments, but 3 were given"]),
        (
            "add(1, 256)",
            &[
                "--entry:1:8",
                "argument `b` of `add`: 256 is no `u8`",
                "a `u8` is from 0 to 255",
            ],
        ),
        ("add(1, -1)", &["-1 is no `u8`"]),
        ("add(1, 1.5)", &["expected `u8`, found the float `1.5`"]),
        ("add(1, true)", &["expected `u8`, found the bool `true`"]),
        (
            "add(1, 2u16)",
            &["expected `u8`, found `2u16`, of type `u16`"],
        ),
        ("add(1, \"a\")", &["expected `u8`, found the string"]),
        ("add(1, [2])", &["expected `u8`, found an array of 1"]),
        ("add(1, 1 / 0)", &["`1 / 0` has no value"]),
        (
            "add(1, 99999999999999999999999999999999999999999)",
            &["is no `u8`"],
        ),
        ("add(1, m)", &["there is no parameter `m`", "--set m=.."]),
        ("add(1, ", &["is not an expression"]),
        ("", &["is not an expression"]),
        (
            "add(1, zeros:u8:3)",
            &["is not an expression", "--buffer data=zeros:f32:1000"],
        ),
        ("1 + 1", &["the entry is a call of a task"]),
        (
            "shapes(P { x: 1, n: true }, Pair(1, 2), (1, true), [1, 2, 3])",
            &["`P` has no field `n`", "did you mean `on`?"],
        ),
        (
            "shapes(P { x: 1 }, Pair(1, 2), (1, true), [1, 2, 3])",
            &["`P` lacks `on`"],
        ),
        (
            "shapes(P { x: 1, on: true }, Pair(1), (1, true), [1, 2, 3])",
            &["`Pair` takes 2 values, here is 1"],
        ),
        (
            "shapes(P { x: 1, on: true }, Pair(1, 2), 1, [1, 2, 3])",
            &["expected `(u8, bool)`, found the integer `1`"],
        ),
        (
            "shapes(P { x: 1, on: true }, Pair(1, 2), (1, true), [1, 2])",
            &["expected `[i16; 3]`, found an array of 2"],
        ),
        (
            "at(&d, 0)",
            &["there is no buffer `d`", "--buffer d=zeros:f64:1000"],
        ),
        ("at(3, 0)", &["expected `&[f64]`, found `3`"]),
        ("at(&[1, 1e400], 0)", &["1e400 is no `f64`", "out of range"]),
        (
            "at(&[1, true], 0)",
            &["expected `f64`, found the bool `true`"],
        ),
    ] {
        t.bad(2, &["run", "misc.rs", "--entry", entry], says);
    }
    t.bad(1, &["run", "misc.rs"], &["which task?", "`shapes`, `add`"]);
    t.bad(
        1,
        &["run", "fib.rs"],
        &[
            "argument `n` of `fib` has no value; a `u32` is expected",
            "--set n=..",
        ],
    );
}

#[test]
fn buffers_must_fit_the_task() {
    let t = Folder::new();
    let sort = |entry: &str, buffers: &[&str], code: i32, says: &[&str]| {
        let mut args = vec!["run", "sort.rs", "--entry", entry];
        buffers.iter().for_each(|b| args.extend(["--buffer", *b]));
        t.bad(code, &args, says);
    };
    let call = "sort(&mut data, &mut tmp)";
    sort(call, &["data=zeros:10"], 2, &["there is no buffer `tmp`"]);
    sort(
        call,
        &["data=zeros:f32:10", "tmp=like:data"],
        2,
        &["the buffer `data` holds `f32`, but `i32` is wanted"],
    );
    sort(
        "sort(&mut data, &mut data)",
        &["data=zeros:10"],
        2,
        &["the buffer `data` is passed twice"],
    );
    sort(
        "sort(&data, &mut tmp)",
        &["data=zeros:10", "tmp=like:data"],
        2,
        &["found a shared borrow", "write `&mut data`"],
    );
    sort(
        "sort(&mut data[..3], &mut tmp)",
        &["data=zeros:10", "tmp=like:data"],
        2,
        &["pass a whole buffer by its name"],
    );
    sort(
        call,
        &["data=zeros:10", "tmp=like:dat"],
        2,
        &["there is no buffer `dat`", "did you mean `data`?"],
    );
    sort(
        call,
        &["data=zeros:10", "data=zeros:10"],
        2,
        &["`data` is given twice"],
    );
    sort(
        call,
        &["data=zeros:10", "tmp=like:data", "x=zeros:i32:1"],
        2,
        &["`sort` does not use the buffer `x`"],
    );
    sort(
        call,
        &["data=zeroes:10", "tmp=like:data"],
        2,
        &["a buffer cannot be `zeroes`", "did you mean `zeros`?"],
    );
    sort(
        call,
        &["data=zeros", "tmp=like:data"],
        2,
        &["zeros:TYPE:LENGTH"],
    );
    sort(
        call,
        &["data=zeros:i32:-1", "tmp=like:data"],
        2,
        &["-1 is no `usize`"],
    );
    sort(
        call,
        &["data=zeros:i32:99999999999999", "tmp=like:data"],
        1,
        &["there is no memory"],
    );
    sort(
        call,
        &["data", "tmp=like:data"],
        2,
        &["`--buffer` takes a name and a value"],
    );
    t.bad(
        2,
        &[
            "run",
            "misc.rs",
            "--entry",
            "scale(&mut m, 1.0)",
            "--buffer",
            "m=zeros:6",
        ],
        &["`m` has one dimension", "Mat::new"],
    );
    t.bad(
        2,
        &[
            "run",
            "misc.rs",
            "--entry",
            "scale(Mat::new(&mut m, 4, 2), 1.0)",
            "--buffer",
            "m=zeros:6",
        ],
        &["4 rows of 2 are not the 6"],
    );
    t.bad(
        2,
        &[
            "run",
            "misc.rs",
            "--entry",
            "put(&mut o, 1)",
            "--buffer",
            "o=zeros:2",
        ],
        &["expected `&mut u64`, but `o` has 2 elements"],
    );
}

#[test]
fn options_must_make_sense() {
    let t = Folder::new();
    let fib = |more: &[&str], code: i32, says: &[&str]| {
        t.bad(
            code,
            &[&["run", "fib.rs", "--entry", "fib(5)"], more].concat(),
            says,
        );
    };
    fib(
        &["--threads", "0"],
        2,
        &["invalid value '0' for '--threads"],
    );
    fib(&["--memory", "lots"], 2, &["`lots` is not a size in bytes"]);
    fib(&["--memory", "0"], 2, &["is not a size in bytes"]);
    fib(
        &["--device", "gpu"],
        2,
        &["there is no device `gpu`", "did you mean `cpu`?"],
    );
    fib(&["--device", "cuda:99"], 1, &["cuda:99"]);
    fib(&["--set", "n"], 2, &["`--set` takes a name and a value"]);
    fib(
        &["--set", "n=1"],
        2,
        &[
            "nothing uses the parameter `n`",
            "the call says what `n` is: write `n` there instead",
        ],
    );
    fib(
        &["--set", "n=1", "--set", "n=2"],
        2,
        &["`n` is given twice"],
    );
    fib(&["--checked", "--unchecked"], 2, &["cannot be used with"]);
    fib(&["--output", "x=out.npy"], 2, &["there is no buffer `x`"]);
    fib(
        &["--output", "x=out.npy", "--output", "y=out.npy"],
        2,
        &["`out.npy` would be written twice"],
    );
    fib(&["--program", "sort"], 1, &["there is no program `sort`"]);
    fib(&["--frobnicate"], 2, &["unexpected argument"]);
    t.bad(
        1,
        &["run", "fbi.rs"],
        &["cannot read `fbi.rs`", "did you mean `fib.rs`?"],
    );
    t.bad(
        2,
        &["run", "fib.txt"],
        &["neither a `.rs` nor a `.ron` file"],
    );
    t.bad(2, &["frob"], &["unrecognized subcommand"]);
    t.bad(
        1,
        &["lower", "fib.rs", "--emit", "svg", "-o", "no/fib.svg"],
        &["cannot write `no/fib.svg`"],
    );
    t.bad(
        2,
        &["lower", "fib.rs", "--emit", "png"],
        &["possible values: ir, lowered, graph, dot, svg"],
    );
    t.bad(
        1,
        &[
            "run",
            "sort.rs",
            "--buffer",
            "data=zeros:4",
            "--buffer",
            "tmp=like:data",
            "--output",
            "data=no/out.npy",
        ],
        &["there is no folder `no`"],
    );
    let points = "ps=values:[P { x: 1.0, on: true }]";
    t.bad(
        1,
        &[
            "run",
            "misc.rs",
            "--entry",
            "points(&mut ps)",
            "--buffer",
            points,
            "--output",
            "ps=out.npy",
        ],
        &["elements of `P` cannot be written to a NumPy file", ".bin"],
    );
}

#[test]
fn failing_runs_name_the_place_and_write_nothing() {
    let t = Folder::new();
    let misc = |entry: &str, says: &[&str]| t.bad(1, &["run", "misc.rs", "--entry", entry], says);
    misc(
        "add(200, 100)",
        &[
            "overflow: 200 + 100, in `add` at misc.rs:13:38",
            "pub fn add(a: u8, b: u8) -> u8 { a + b }",
        ],
    );
    misc(
        "div(1, 0)",
        &["division by zero: 1 / 0, in `div` at misc.rs:15"],
    );
    misc("div(i32::MIN, -1)", &["overflow: -2147483648 / -1"]);
    misc(
        "at(&[1.0, 2.0], 2)",
        &["index out of bounds: the length is 2 but the index is 2, in `at` at misc.rs:17"],
    );
    let endless = [
        "run",
        "misc.rs",
        "--entry",
        "forever(0)",
        "--memory",
        "8 MiB",
    ];
    t.bad(
        1,
        &endless,
        &[
            "out of channel memory: task `forever` at depth",
            "the budget of 8 MiB",
            "a recursion that never ends",
        ],
    );
    // The second half of `tmp` is missing, so the merge runs out of it; the output is not begun.
    let args = [
        "run",
        "sort.rs",
        "--buffer",
        "data=random:i32:8:1",
        "--buffer",
        "tmp=zeros:3",
        "--output",
        "data=out.npy",
    ];
    t.bad(1, &args, &["in `sort` at sort.rs"]);
}

#[test]
fn kernels_are_not_called() {
    let t = Folder::new();
    let kernel = "#[kernel] pub fn work(n: u32, next: Channel<u32>, floor: f32) { next.emit(n); }";
    t.write(
        "one.rs",
        format!("#[millstream::program] mod one {{ {kernel} }}"),
    );
    let graph = "a graph runs it over the elements of a channel: docs/graph.md";
    t.bad(
        1,
        &["run", "one.rs"],
        &[
            "the program `one` has kernels, and no task that could be called",
            graph,
        ],
    );
    t.bad(
        2,
        &["run", "one.rs", "--entry", "work(3)"],
        &["--entry:1:1", "`work` is a kernel, not a task", graph],
    );
    let said = t.good(&["check", "one.rs"]);
    assert!(
        said.starts_with("program one: 0 tasks, 1 kernel, 0 channel stacks\n  kernel work(n: u32, next: Channel<u32>, floor: f32)\n"),
        "{said}"
    );
}
