//! Files that are wrong: sources, RON, NumPy.

use crate::support::{Folder, bytes_i32, npy};

const JOB: &str = r#"Program(
    source: "sort.rs",
    entry: "sort(&mut data, &mut tmp)",
    params: { "n": 100 },
    buffers: {
        "data": Random(ty: "i32", len: n, seed: 7),
        "tmp": Like("data"),
    },
    outputs: { "data": "out.npy" },
    device: Cpu,
    threads: 2,
    memory: "64 MiB",
    expect: (buffers: { "data": Sorted }),
)
"#;

/// A RON file with one thing replaced is refused, with its place and these texts.
fn job_with(old: &str, new: &str, says: &[&str]) {
    let t = Folder::new();
    assert!(JOB.contains(old), "{old}");
    t.write("job.ron", JOB.replace(old, new));
    t.bad(1, &["run", "job.ron"], says);
}

#[test]
fn unknown_names_in_ron_have_a_place_and_a_guess() {
    job_with(
        "source:",
        "sorce:",
        &[
            "job.ron:2:5",
            "there is no field `sorce` in `Program`",
            "did you mean `source`?",
        ],
    );
    job_with(
        "seed: 7",
        "sed: 7",
        &[
            "job.ron:6:43",
            "there is no field `sed` in `Random`",
            "did you mean `seed`?",
        ],
    );
    job_with(
        "Random(",
        "Randm(",
        &[
            "job.ron:6:17",
            "there is no `Randm`",
            "did you mean `Random`?",
        ],
    );
    job_with(
        "device: Cpu",
        "device: Gpu",
        &["job.ron:10:13", "there is no `Gpu`", "did you mean `Cpu`?"],
    );
    job_with(
        "Sorted",
        "Sotred",
        &["job.ron:13:33", "did you mean `Sorted`?"],
    );
    job_with(
        "sort(&",
        "srot(&",
        &["job.ron:3:13", "has no task `srot`", "did you mean `sort`?"],
    );
    job_with(
        "&mut tmp",
        "&mut tmq",
        &["job.ron:3:34", "no buffer `tmq`", "did you mean `tmp`?"],
    );
    job_with(
        "Like(\"data\")",
        "Like(\"dat\")",
        &["job.ron:7:22", "no buffer `dat`", "did you mean `data`?"],
    );
    job_with(
        "\"i32\"",
        "\"i31\"",
        &["job.ron:6:29", "`i31` is not a type", "did you mean `i32`?"],
    );
    job_with(
        "\"data\": \"out",
        "\"dta\": \"out",
        &["job.ron:9:17", "no buffer `dta`", "did you mean `data`?"],
    );
    job_with(
        "len: n",
        "len: m",
        &["job.ron:6:40", "no parameter `m`", "there is `n`"],
    );
}

#[test]
fn wrong_types_in_ron_have_a_place() {
    job_with(
        "entry: \"sort(&mut data, &mut tmp)\"",
        "entry: 5",
        &["job.ron:3:12", "text in quotes is expected"],
    );
    job_with(
        "threads: 2",
        "threads: \"two\"",
        &["job.ron:11:15", "`threads` is a number, not `two`"],
    );
    job_with(
        "threads: 2",
        "threads: 0",
        &["job.ron:11:14", "at least 1 thread"],
    );
    job_with(
        "threads: 2",
        "threads: 1025",
        &["job.ron:11:14", "no more than 1024 threads, not 1025"],
    );
    job_with(
        "64 MiB",
        "64 Mega",
        &[
            "job.ron:12:14",
            "`64 Mega` is not a size in bytes",
            "256 MiB",
        ],
    );
    job_with(
        "\"n\": 100",
        "\"n\": -5",
        &["job.ron:4:20", "-5 is no `usize`"],
    );
    job_with(
        "\"n\": 100",
        "\"n\": 1.5",
        &["job.ron:4:20", "expected `usize`, found the float `1.5`"],
    );
    job_with(
        "ty: \"i32\"",
        "ty: \"f32\"",
        &["job.ron:3:23", "holds `f32`, but `i32` is wanted"],
    );
}

#[test]
fn what_cannot_be_in_ron_has_a_hint() {
    let t = Folder::new();
    t.write("empty.ron", "\n");
    t.bad(
        1,
        &["run", "empty.ron"],
        &["empty.ron:", "a run is written `Program(source: .., ..)`"],
    );
    job_with(
        "Program(",
        "(",
        &[
            "job.ron:1:1",
            "a name is expected",
            "a run is written `Program(source: .., ..)`",
        ],
    );
    job_with(
        "\"data\": Sorted",
        "\"data\": [1, 2]",
        &[
            "job.ron:13:33",
            "a name is expected",
            "`Values(values: [1, 2])`",
        ],
    );
    job_with(
        "threads: 2",
        "checked: true, unchecked: true",
        &[
            "job.ron:11:20",
            "`checked` and `unchecked` exclude each other",
        ],
    );
    job_with(
        "&mut tmp)",
        "&mut tmp",
        &["job.ron:3:", "a bracket or a quote has no counterpart"],
    );
}

#[test]
fn what_is_missing_or_twice_in_ron_is_said() {
    job_with(
        "sort.rs",
        "srot.rs",
        &[
            "job.ron:2:14",
            "cannot read `srot.rs`",
            "did you mean `sort.rs`?",
        ],
    );
    job_with(
        "sort.rs",
        "quadrature.rs",
        &["cannot read `quadrature.rs`", "this folder has `"],
    );
    job_with(
        "sort.rs",
        "src/sort.rs",
        &["cannot read `src/sort.rs`", "there is no folder `src`"],
    );
    job_with(
        "Like(\"data\")",
        "Zeros(4)",
        &[
            "job.ron:7:",
            "the name of a field is expected",
            "`Zeros(len: 4)`",
        ],
    );
    job_with(
        "source: \"sort.rs\"",
        "source: 3",
        &["job.ron:2:13", "text in quotes is expected"],
    );
    job_with(
        "len: n,",
        "len: 2 * n,",
        &[
            "job.ron:6:",
            "Expected comma",
            "an expression stands in a string: `len: \"2 * n\"`",
        ],
    );
    job_with(
        "    source: \"sort.rs\",\n",
        "",
        &["the field `source` is missing"],
    );
    job_with(
        "\"tmp\": Like",
        "\"data\": Like",
        &["job.ron:7:10", "`data` is given twice"],
    );
    job_with(
        "\"n\": 100",
        "\"n\": 100, \"n\": 3",
        &["job.ron:4:26", "`n` is given twice"],
    );
    job_with(
        "threads: 2",
        "device: Cpu",
        &["job.ron:11:5", "duplicate field named `device`"],
    );
    job_with(
        "Like(\"data\")",
        "Like(\"tmp\")",
        &["job.ron:7:22", "`tmp` is like itself"],
    );
    job_with(
        "\"out.npy\"",
        "\"no/out.npy\"",
        &["job.ron:9:25", "there is no folder `no`"],
    );
    job_with(
        "\"out.npy\"",
        "\"out.txt\"",
        &[
            "job.ron:9:25",
            "neither a `.npy` nor a `.bin` file, nor a `.png` file to write",
        ],
    );
    job_with("),\n)\n", "),\n", &["job.ron", "Unexpected end"]);
    job_with(
        "device: Cpu",
        "device: Cuda(99)",
        &["cuda:99", "--device cpu"],
    );
}

#[test]
fn other_results_than_expected_are_errors_and_write_nothing() {
    job_with(
        "Sorted",
        "Is(Zeros(len: n))",
        &[
            "job.ron:13:26",
            "is not as expected: element 0 is",
            "100 of 100 elements differ",
        ],
    );
    let t = Folder::new();
    t.write(
        "fib.ron",
        "Program(\n    source: \"fib.rs\",\n    entry: \"fib(10)\",\n    expect: (result: 54),\n)",
    );
    t.bad(
        1,
        &["run", "fib.ron"],
        &["fib.ron:4:22", "fib(10) is 55, but 54 was expected"],
    );
}

#[test]
fn sources_that_are_wrong_show_the_line() {
    let t = Folder::new();
    let source = |body: &str| {
        format!(
            "#[millstream::program]\nmod bad {{\n    #[task]\n    pub fn bad(n: u32) -> u64 {{\n{body}\n    }}\n}}\n"
        )
    };
    for (body, says) in [
        (
            "        let y: u64 = n;\n        y",
            &[
                "bad.rs:5:22",
                "expected `u64`, found `u32`",
                "let y: u64 = n;",
            ][..],
        ),
        (
            "        let x = spawn!(bad(n));\n        x + 1",
            &["bad.rs:6:9"],
        ),
        (
            "        foo(n)",
            &["bad.rs:5:9", "there is no function `foo`"],
        ),
        ("        let = 1; 2", &["bad.rs:5:13", "expected"]),
        ("        let x = 300u8; 2", &["bad.rs:5:17"]),
    ] {
        t.write("bad.rs", source(body));
        t.bad(1, &["check", "bad.rs"], says);
        t.bad(1, &["run", "bad.rs", "--entry", "bad(1)"], says);
    }
    t.write("bad.rs", "fn main() {}\n");
    t.bad(1, &["run", "bad.rs"], &["there is no program in this file"]);
    t.write("bad.rs", [0xff, 0xfe, 0]);
    t.bad(1, &["run", "bad.rs"], &["it is not UTF-8 text"]);
    t.write(
        "bad.rs",
        format!("{}{}", crate::support::SORT, crate::support::FIB),
    );
    t.bad(
        1,
        &["check", "bad.rs"],
        &["several programs: `sort`, `fib`"],
    );
    assert!(
        t.good(&["check", "bad.rs", "--program", "fib"])
            .contains("program fib")
    );
    t.write(
        "bad.rs",
        format!(
            "#[millstream::program] mod deep {{ #[task] pub fn deep() -> u32 {{ {}1{} }} }}",
            "(".repeat(100),
            ")".repeat(100)
        ),
    );
    t.good(&["check", "bad.rs"]);
}

#[test]
fn numpy_files_of_another_type_or_shape_are_refused() {
    let t = Folder::new();
    let floats: Vec<u8> = [0.5f64; 4].iter().flat_map(|f| f.to_le_bytes()).collect();
    let refused = |file: Vec<u8>, says: &[&str]| {
        t.write("x.npy", file);
        let says: Vec<&str> = says
            .iter()
            .copied()
            .chain(["cannot read `x.npy`"])
            .collect();
        t.bad(
            1,
            &[
                "run",
                "sort.rs",
                "--input",
                "data=x.npy",
                "--buffer",
                "tmp=like:data",
                "--output",
                "data=out.npy",
            ],
            &says,
        );
    };
    refused(
        npy("<f8", false, "(4,)", &floats),
        &[
            "it holds float64 of shape (4,), but int32 is wanted, for `i32`",
            "a.astype(numpy.int32)",
        ],
    );
    refused(
        npy("<i4", false, "(2, 2)", &bytes_i32(&[1; 4])),
        &["its shape is (2, 2), but one dimension of `i32` is wanted"],
    );
    refused(
        npy("<i4", false, "()", &bytes_i32(&[1])),
        &["its shape is ()"],
    );
    refused(
        npy("<i4", false, "(4,)", &bytes_i32(&[1; 3])),
        &["has 16 bytes, but 12 follow the header"],
    );
    refused(
        npy("<i4", false, "(4611686018427387904, )", &[]),
        &["but 0 follow the header"],
    );
    refused(
        npy("|O", false, "(1,)", &[0; 8]),
        &["the dtype '|O'", "int32 is wanted"],
    );
    refused(b"hello".to_vec(), &["it is not a NumPy file"]);
    refused(Vec::new(), &["it is not a NumPy file"]);
    t.write("y.npy", npy("<f4", true, "(2, 3)", &[0; 24]));
    t.bad(
        1,
        &[
            "run",
            "misc.rs",
            "--entry",
            "scale(&mut m, 2.0)",
            "--input",
            "m=y.npy",
        ],
        &["Fortran order", "ascontiguousarray"],
    );
    t.bad(
        1,
        &[
            "run",
            "misc.rs",
            "--entry",
            "points(&mut p)",
            "--input",
            "p=y.npy",
        ],
        &["elements of `P` cannot come from a NumPy file", ".bin"],
    );
    t.write("z.bin", [0, 0, 0, 0, 2, 0, 0, 0]);
    t.bad(
        1,
        &[
            "run",
            "misc.rs",
            "--entry",
            "points(&mut p)",
            "--input",
            "p=z.bin",
        ],
        &["a `bool` that is neither 0 nor 1"],
    );
    t.write("z.bin", [0; 7]);
    t.bad(
        1,
        &[
            "run",
            "misc.rs",
            "--entry",
            "points(&mut p)",
            "--input",
            "p=z.bin",
        ],
        &["it has 7 bytes", "8 bytes each"],
    );
    t.bad(
        1,
        &[
            "run",
            "sort.rs",
            "--input",
            "data=none.npy",
            "--buffer",
            "tmp=like:data",
        ],
        &["cannot read `none.npy`"],
    );
}

/// However deep the brackets are: a short message with its place, at once.
#[test]
fn what_is_nested_too_deep_is_refused_whatever_it_stands_in() {
    let t = Folder::new();
    let deep =
        |open: &str, close: &str| format!("{}1{}", open.repeat(40_000), close.repeat(40_000));
    let refused = |args: &[&str], code: i32, place: &str| {
        t.bad(code, args, &["the source is nested too deep here", place]);
        let said = t.run(args).err.len();
        assert!(said < 2000, "{said} bytes are said");
    };
    let parens = deep("(", ")");
    let job = |params: &str| {
        format!("Program(source: \"fib.rs\", entry: \"fib(n)\", params: {{ \"n\": {params} }})")
    };
    t.write("value.ron", job(&parens));
    refused(&["run", "value.ron"], 1, "value.ron:1:");
    t.write("text.ron", job(&format!("\"{parens}\"")));
    refused(&["run", "text.ron"], 1, "text.ron:1:");
    refused(
        &["run", "fib.rs", "--entry", &format!("fib({parens})")],
        2,
        "--entry:1:",
    );
    let ty = format!("{}u8{}", "[".repeat(10_000), "; 1]".repeat(10_000));
    refused(
        &[
            "run",
            "sort.rs",
            "--buffer",
            &format!("data=zeros:{ty}:3"),
            "--entry",
            "sort(&mut data, &mut data)",
        ],
        2,
        "--buffer:1:",
    );
    t.write("deep.rs", super::support::FIB.replace("n as u64", &parens));
    refused(&["check", "deep.rs"], 1, "deep.rs:5:");
}
