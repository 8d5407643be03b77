//! Graphs of kernels in RON: runs, what is wrong with them, and how they are written.

use crate::support::Folder;

const STEPS: &str = r#"#[millstream::program]
mod steps {
    #[derive(Clone, Copy)]
    pub struct Step { n: u32, path: [u8; 2] }

    fn ready(waiting: u32, width: u32, more: bool) -> bool { waiting > width / 2 || !more }

    /// Collatz: each step counts, the last one says how high it was.
    #[kernel]
    pub fn step(at: Step, next: Channel<Step>, ends: Channel<(u32, u8)>, count: &AtomicU64, most: u32) {
        count.fetch_add(1, Ordering::Relaxed);
        if at.n <= 1 || at.path[0] as u32 >= most {
            ends.emit((at.n, at.path[0]));
            return;
        }
        let n = if at.n % 2 == 0 { at.n / 2 } else { 3 * at.n + 1 };
        next.emit(Step { n, path: [at.path[0] + 1, 0] });
    }

    #[kernel]
    pub fn forever(n: u32, next: Channel<u32>) { next.emit(n + 1); }

    #[kernel]
    pub fn check(end: (u32, u8), table: &[u32]) { assert!(table[end.1 as usize] == end.0); }

    #[task]
    pub fn sum(n: u32) -> u32 { n }
}
"#;

const JOB: &str = r#"Graph(
    source: "steps.rs",
    params: { "n": 6 },
    buffers: { "count": Zeros(len: 1) },
    channels: {
        "steps": (element: "Step", width: 64, predicate: Own("ready")),
        "ends": (element: "(u32, u8)", output: true),
    },
    kernels: {
        "step": (consumes: "steps", produces: ["steps", "ends"], args: ["&count", "100"]),
    },
    send: { "steps": "[Step { n, path: [0; 2] }, Step { n: 1, path: [7, 0] }]" },
    expect: ( buffers: { "count": Is(Values(values: [10])) } ),
)
"#;

fn folder() -> Folder {
    let t = Folder::new();
    t.write("steps.rs", STEPS);
    t
}

/// The job with one thing replaced is refused, with its place and these texts.
fn job_with(old: &str, new: &str, says: &[&str]) {
    let t = folder();
    assert!(JOB.contains(old), "{old}");
    t.write("job.ron", JOB.replace(old, new));
    t.bad(1, &["run", "job.ron"], says);
    t.bad(1, &["check", "job.ron"], says);
}

#[test]
fn a_graph_runs_and_its_outputs_are_shown_and_written() {
    let t = folder();
    t.write("job.ron", JOB);
    let out = t.good(&["run", "job.ron", "--threads", "1"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "graph steps");
    assert_eq!(lines[1], "count = [10]  (1 x AtomicU64)");
    assert!(lines[2].starts_with("ends = [("), "{out}");
    assert!(lines[3].starts_with("10 elements, "), "{out}");

    t.good(&["run", "job.ron", "--output", "ends=ends.bin"]);
    let mut ends: Vec<Vec<u8>> = t
        .read("ends.bin")
        .chunks(8)
        .map(|c| c[..5].to_vec())
        .collect();
    ends.sort();
    assert_eq!(ends, [[1, 0, 0, 0, 7], [1, 0, 0, 0, 8]]);

    // Another number of steps; then what the file expects is not asked for.
    let out = t.good(&["run", "job.ron", "--set", "n=27"]);
    assert!(out.contains("count = [102]"), "{out}");
}

#[test]
fn check_describes_a_graph() {
    let t = folder();
    t.write("job.ron", JOB);
    let out = t.good(&["check", "job.ron"]);
    assert_eq!(
        out.lines().take(6).collect::<Vec<_>>(),
        [
            "graph steps: 1 kernel, 2 channels",
            "  channel steps: Step, 6 bytes (n, path), room for 64",
            "  channel ends: (u32, u8), 5 bytes (0, 1), room for 32,768",
            "  kernel step: steps -> steps, ends",
            "call graph steps",
            "  buffer count: 1 x AtomicU64",
        ]
    );
    let mut endless = JOB.replace("\"step\": (consumes: \"steps\", produces: [\"steps\", \"ends\"], args: [\"&count\", \"100\"])", "\"forever\": (consumes: \"steps\", produces: [\"steps\"])");
    endless = endless
        .replace("element: \"Step\"", "element: \"u32\"")
        .replace(
            "[Step { n, path: [0; 2] }, Step { n: 1, path: [7, 0] }]",
            "[n]",
        );
    endless = endless.replace(
        "        \"ends\": (element: \"(u32, u8)\", output: true),\n",
        "",
    );
    endless = endless.replace(
        "    expect: ( buffers: { \"count\": Is(Values(values: [10])) } ),\n",
        "",
    );
    t.write("endless.ron", endless);
    let out = t.good(&["check", "endless.ron"]);
    assert!(
        out.contains(
            "warning: kernel `forever` feeds itself without an end: it always emits again"
        ),
        "{out}"
    );
}

#[test]
fn a_graph_that_is_saved_is_the_same_graph() {
    let t = folder();
    t.write("job.ron", JOB);
    t.good(&["lower", "job.ron", "--emit", "graph", "-o", "saved.ron"]);
    t.good(&["lower", "saved.ron", "--emit", "graph", "-o", "again.ron"]);
    assert_eq!(t.read("saved.ron"), t.read("again.ron"));
    for emit in ["dot", "svg", "mermaid", "cuda", "lowered"] {
        let of = |file: &str| t.good(&["lower", file, "--emit", emit]);
        assert_eq!(of("job.ron"), of("saved.ron"), "{emit}");
    }
    let mermaid = t.good(&["lower", "saved.ron", "--emit", "mermaid"]);
    assert_eq!(
        mermaid,
        "flowchart TD
    n0[\"host\"]
    n1[\"ring steps (6 B \u{d7} 64)<br>Step: n: u32, path: 2 bytes<br>when ready\"]:::channel
    n2[\"kernel step\"]
    n3[\"ring ends (5 B \u{d7} 32768)<br>(u32, u8): 0: u32, 1: u8\"]:::channel
    n1 --> n2
    n2 -->|\"emit\"| n1
    n2 -->|\"emit\"| n3
    n0 -->|\"send\"| n1
    n3 -->|\"receive\"| n0
    classDef channel stroke-dasharray: 6 4
"
    );
}

#[test]
fn a_lowered_program_is_saved_as_a_graph_loads_and_runs() {
    let t = folder();
    t.good(&["lower", "fib.rs", "--emit", "graph", "-o", "fib.ron"]);
    assert_eq!(
        t.good(&["run", "-q", "fib.ron", "--entry", "fib(20)"]),
        "6765\n"
    );
    t.good(&["lower", "fib.ron", "--emit", "graph", "-o", "again.ron"]);
    assert_eq!(t.read("fib.ron"), t.read("again.ron"));
    t.good(&["lower", "sort.rs", "--emit", "graph", "-o", "saved.ron"]);
    let sort = |file: &str| {
        let data = [
            "--entry",
            "sort(&mut data, &mut tmp)",
            "--buffer",
            "data=random:1000:3",
            "--buffer",
            "tmp=like:data",
        ];
        t.good(
            &[
                &["run", "-q", file, "--output", "data=sorted.npy"],
                &data[..],
            ]
            .concat(),
        );
        t.read("sorted.npy")
    };
    assert_eq!(sort("sort.rs"), sort("saved.ron"));
    // A wrong segment is found by the verifier, with its kernel.
    let text = String::from_utf8(t.read("fib.ron")).unwrap();
    t.write(
        "bad.ron",
        text.replacen("= lt %0, 2u32", "= lt %0, 2u64", 3),
    );
    t.bad(1, &["check", "bad.ron"], &["u64"]);
    t.write(
        "bad.ron",
        text.replace("frames: \"fib.frame\"", "frames: \"fib.farme\""),
    );
    t.bad(
        1,
        &["check", "bad.ron"],
        &[
            "task `fib`: there is no channel `fib.farme`",
            "did you mean `fib.frame`?",
        ],
    );
}

/// The paper's Figure 11, written by hand: a stack of calls, one of frames, and one of continuations.
#[test]
fn a_graph_of_channel_stacks_is_built_by_hand() {
    let t = folder();
    t.write(
        "figure_11.ron",
        r##"Graph(
    ir: r#"
program figure_11 in "figure_11.ron"
// What spawns name: the parameters and the result. Its code is in the segments.
task fib(n: u32) -> u64 takes %0 { let %0 n: u32 b0: return 0u64 }

segment call() -> u64 takes %0, %1 {
    let %0 n: u32, %1 return: ptr, %2: bool, %3: u64, %4: u32, %5: u32, %6: ptr, %7: ptr
b0: %2 = lt %0, 2u32
    branch %2 b1 b2
b1: %3 = cast u64 %0
    return %3
b2: frame_alloc
    store %1 -> .2
    %4 = sub %0, 1u32
    %6 = addr .0
    spawn @fib(%4) -> %6 store
    %5 = sub %0, 2u32
    %7 = addr .1
    spawn @fib(%5) -> %7 store
    continue s1
}

segment sum() -> u64 {
    let %0: u64, %1: u64, %2: u64, %3 return: ptr
b0: %3 = load .2
    %0 = load .0
    %1 = load .1
    %2 = add %0, %1
    return %2
}
"#,
    channels: {
        "calls": (fields: { "n": "u32", "return": "ptr" }, protocol: Stack),
        "frames": (fields: { "x": "u64", "y": "u64", "return": "ptr" }, protocol: Stack),
        "sums": (fields: { "frame": "u32" }, protocol: Stack),
    },
    kernels: {
        "fib": (segment: "call", returns: 1, consumes: "calls", produces: ["calls", "frames", "sums"], most: [2, 1, 1]),
        "sum": (segment: "sum", returns: 3, consumes: "sums"),
    },
    tasks: { "fib": (calls: "calls", frames: "frames", segments: ["fib", "sum"]) },
    entry: "fib(n)",
    params: { "n": 20 },
    expect: ( result: 6765 ),
)
"##,
    );
    assert_eq!(t.good(&["run", "-q", "figure_11.ron"]), "6765\n");
    let dot = t.good(&["lower", "figure_11.ron", "--emit", "dot"]);
    for line in [
        "stack calls (12 B)",
        "stack sums (4 B)\\nframe: u32\\nframe (24 B): x: u64, y: u64, return: ptr",
        "kernel sum",
        "spawn ×2",
        "return",
    ] {
        assert!(dot.contains(line), "{line} is not in {dot}");
    }
}

#[test]
fn unknown_names_have_a_place_and_a_guess() {
    job_with(
        "consumes: \"steps\"",
        "consumes: \"step\"",
        &[
            "job.ron:10:29",
            "kernel `step`: there is no channel `step`",
            "did you mean `steps`?",
        ],
    );
    job_with(
        "\"step\": (",
        "\"stp\": (",
        &[
            "job.ron:10:10",
            "kernel `stp`: the program has no kernel `stp`",
            "did you mean `step`?",
        ],
    );
    job_with(
        "element: \"Step\"",
        "element: \"Stp\"",
        &[
            "job.ron:6:29",
            "channel `steps`: the program has no type `Stp`",
            "did you mean `Step`?",
        ],
    );
    job_with(
        "Own(\"ready\")",
        "Own(\"redy\")",
        &[
            "job.ron:6:10",
            "the program has no helper `redy` to be its predicate",
            "did you mean `ready`?",
        ],
    );
    job_with(
        "send: { \"steps\"",
        "send: { \"stepss\"",
        &["there is no channel `stepss`", "did you mean `steps`?"],
    );
    job_with(
        "\"&count\"",
        "\"&cuont\"",
        &[
            "job.ron:10:75",
            "there is no buffer `cuont`, which argument `count` of `step` takes",
            "did you mean `count`?",
        ],
    );
    job_with(
        "channels:",
        "chanels:",
        &[
            "job.ron:5:5",
            "there is no field `chanels` in `Graph`",
            "did you mean `channels`?",
        ],
    );
    job_with(
        "width: 64",
        "widht: 64",
        &[
            "there is no field `widht` in `Channel`",
            "did you mean `width`?",
        ],
    );
}

#[test]
fn wrong_graphs_have_a_place() {
    job_with(
        "width: 64",
        "width: 0",
        &[
            "job.ron:6:10",
            "channel `steps` has width 0: no element has room in it",
        ],
    );
    job_with(
        "Own(\"ready\")",
        "AtLeast(65)",
        &[
            "job.ron:6:10",
            "the predicate of channel `steps` can never be true: it waits for 65 elements, and there is room for 64",
        ],
    );
    job_with(
        "element: \"(u32, u8)\"",
        "element: \"(u32, u16)\"",
        &[
            "job.ron:10:58",
            "kernel `step` emits `(u32, u8)` by its port `ends`, but channel `ends` holds `(u32, u16)`",
        ],
    );
    job_with(
        "element: \"Step\"",
        "element: \"Step\", fields: { \"n\": \"u64\", \"path\": \"2 align 1\" }",
        &[
            "job.ron:6:29",
            "a `Step` of the source has the fields `n: u32, path: 2 align 1`, and not `n: u64, path: 2 align 1`",
        ],
    );
    job_with(
        ", \"100\"",
        "",
        &[
            "job.ron:10:10",
            "kernel `step`: its parameter `most` (`u32`) is given nothing",
        ],
    );
    job_with(
        "\"100\"",
        "\"100\", \"7\"",
        &[
            "job.ron:10:91",
            "kernel `step` has 2 parameters besides its element and ports, and is given 3 arguments",
        ],
    );
    job_with(
        "\"100\"",
        "\"true\"",
        &[
            "job.ron:10:84",
            "argument `most` of `step`",
            "expected `u32`",
        ],
    );
    job_with(
        ", output: true",
        "",
        &[
            "job.ron:7:10",
            "nothing consumes channel `ends`",
            "make it an output, or let a node consume it",
        ],
    );
    job_with(
        "    kernels: {\n",
        "    kernels: {\n        \"again\": (runs: \"step\", consumes: \"steps\", produces: [\"steps\", \"ends\"], args: [\"&count\", \"1\"]),\n",
        &["channel `steps` is consumed by `again` and `step`, but a channel has one consumer"],
    );
    job_with(
        "    kernels: {\n",
        "    kernels: {\n        \"step\": (consumes: \"ends\", produces: []),\n",
        &["two kernels are called `step`"],
    );
    job_with(
        "    kernels: {\n",
        "    kernels: {\n        \"sink\": (host: true, consumes: \"ends\"),\n",
        &[
            "host node `sink` is a closure, which no file has",
            "let the channel be an output, or build the graph in Rust",
        ],
    );
    job_with(
        "send:",
        "entry: \"sum(1)\", send:",
        &[
            "a graph has no entry call",
            "elements are put into its channels",
        ],
    );
    job_with(
        "Graph(",
        "Program(",
        &[
            "this is of a graph",
            "a run of a graph is written `Graph(source: .., ..)`",
        ],
    );
    job_with(
        "    source: \"steps.rs\",\n",
        "",
        &["the field `source` is missing"],
    );
    job_with("Step { n, path: [0; 2] }", "Step { n }", &["path"]);
    job_with(
        "\"count\": Zeros(len: 1)",
        "\"count\": Zeros(len: 1), \"ends\": Zeros(ty: \"u8\", len: 1)",
        &["a buffer is called `ends`, as an output is"],
    );
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let t = folder();
    t.write(
        "job.ron",
        JOB.replace("width: 64", "width: 0")
            .replace("\"&count\", ", "")
            .replace(
                "\"step\": (consumes",
                "\"step\": (runs: \"stepp\", consumes",
            )
            .replace("(u32, u8)", "(u32, x)"),
    );
    t.bad(
        1,
        &["check", "job.ron"],
        &[
            "has width 0",
            "the program has no kernel `stepp`",
            "the program has no type `(u32, x)`",
        ],
    );
}

#[test]
fn an_error_in_a_kernel_names_node_and_line() {
    let t = folder();
    let job = JOB
        .replace(", output: true", "")
        .replace(
            "    kernels: {\n",
            "    kernels: {\n        \"check\": (consumes: \"ends\", args: [\"&[1, 2]\"]),\n",
        )
        .replace("path: [7, 0]", "path: [1, 0]");
    t.write("job.ron", job);
    t.bad(1, &["run", "job.ron"], &["node `check`", "steps.rs:24"]);
}

#[test]
fn a_buffer_that_is_used_first_has_the_size_of_one_that_is_used_later() {
    let t = folder();
    t.write(
        "fill.rs",
        "#[millstream::program] mod fill {
            #[task] pub fn fill(a: &mut [u32]) { for i in 0..a.len() { a[i] = 10 * i as u32; } }
            #[kernel] pub fn pass(x: u32, out: Channel<u32>, a: &[u32], b: &[u32]) { out.emit(a[x as usize] + b[x as usize]); }
        }",
    );
    let with = |buffers: &str| {
        format!(
            r#"Graph(source: "fill.rs", buffers: {{ {buffers} }}, params: {{ "n": "b.len()" }}, first: ["fill(&mut a)"],
            channels: {{ "in": (element: "u32"), "out": (element: "u32", output: true) }},
            kernels: {{ "pass": (consumes: "in", produces: ["out"], args: ["&a", "&b"]) }}, send: {{ "in": "b" }})"#
        )
    };
    t.write(
        "sizes.ron",
        with(r#""b": Iota(len: 5), "a": Zeros(len: "n")"#),
    );
    let out = t.good(&["run", "sizes.ron"]);
    assert!(out.contains("[0, 11, 22, 33, 44]"), "{out}");
    t.write(
        "circle.ron",
        with(r#""b": Iota(len: "a.len()"), "a": Zeros(len: "n")"#),
    );
    t.bad(
        1,
        &["run", "circle.ron"],
        &["there is no buffer `a` to ask for its size"],
    );
}

#[test]
fn an_input_that_nothing_is_sent_to_is_said() {
    let t = folder();
    t.write(
        "next.rs",
        "#[millstream::program] mod next { #[kernel] pub fn next(x: u32, out: Channel<u32>) { out.emit(x + 1); } }",
    );
    let with = |send: &str| {
        format!(
            r#"Graph(source: "next.rs", channels: {{ "in": (element: "u32", input: true), "out": (element: "u32", output: true) }},
            kernels: {{ "next": (consumes: "in", produces: ["out"]) }}, {send})"#
        )
    };
    let said = "nothing is sent to channel `in`";
    t.write("none.ron", with(""));
    let out = t.run(&["run", "none.ron"]);
    assert!(out.err.contains(said), "{}", out.err);
    t.write("some.ron", with(r#"send: { "in": "[1]" }"#));
    let out = t.run(&["run", "some.ron"]);
    assert!(!out.err.contains(said), "{}", out.err);
}

#[test]
fn what_is_dropped_is_said() {
    let t = folder();
    t.write(
        "next.rs",
        "#[millstream::program] mod next { #[kernel] pub fn next(x: u32, out: Channel<u32>) { out.emit(x + 1); } }",
    );
    t.write(
        "drops.ron",
        r#"Graph(source: "next.rs",
            channels: { "in": (element: "u32", width: 8, full: DropOldest), "out": (element: "u32", output: true) },
            kernels: { "next": (consumes: "in", produces: ["out"]) }, send: { "in": "[1; 100]" })"#,
    );
    let out = t.good(&["run", "drops.ron", "-t", "1", "--stats"]);
    assert!(
        out.contains("8 elements, 1 dispatch, 92 dropped from `in`"),
        "{out}"
    );
    assert!(
        out.contains("`in` 100 elements, of which 92 were dropped, in 1 full and 0 smaller wavefronts, 8.0 each;"),
        "{out}"
    );
    assert!(out.contains("`out` 8 elements; 0 yields"), "{out}");
}

#[test]
fn kernels_alone_have_no_text_for_a_gpu() {
    let t = Folder::new();
    t.write(
        "alone.rs",
        "#[millstream::program] mod alone { #[kernel] pub fn next(x: u32, out: Channel<u32>) { out.emit(x + 1); } }",
    );
    t.bad(
        1,
        &["lower", "alone.rs", "--emit", "cuda"],
        &["the program `alone` has no task", "name its RON file"],
    );
}

/// A kernel that spawns and syncs: the stacks of its tasks and of its continuation are part of what runs.
#[test]
fn the_tasks_of_kernels_are_drawn() {
    let t = folder();
    t.write(
        "sums.rs",
        "#[millstream::program]
mod sums {
    #[task]
    pub fn sum(n: u32, mut low: u32) -> u64 {
        if n - low < 2 { return low as u64; }
        let a = spawn!(sum(low + (n - low) / 2, low));
        let b = spawn!(sum(n, low + (n - low) / 2));
        sync!();
        a * 2 + b
    }
    #[kernel]
    pub fn up_to(n: u32, out: Channel<(u32, u64)>) {
        let s = spawn!(sum(n, 0));
        sync!();
        out.emit((n, s));
    }
}
",
    );
    t.write(
        "sums.ron",
        r#"Graph(
    source: "sums.rs",
    channels: { "in": (element: "u32"), "out": (element: "(u32, u64)", output: true) },
    kernels: { "up_to": (consumes: "in", produces: ["out"]) },
    send: { "in": "[1, 2]" },
    expect: (buffers: { "out": Is(Values(values: "[(1, 0), (2, 1)]")) }),
)"#,
    );
    t.good(&["run", "sums.ron"]);
    let dot = t.good(&["lower", "sums.ron", "--emit", "dot"]);
    for line in [
        "ring in (4 B × 32768)",
        "kernel up_to\"",
        "kernel up_to.1",
        "stack up_to.1 (4 B)",
        "stack sum (16 B)",
        "kernel sum",
        "label=\"spawn\"",
        "label=\"continue\"",
        "label=\"emit\"",
        "label=\"receive\"",
    ] {
        assert!(dot.contains(line), "{line} is not in {dot}");
    }
    assert!(!dot.contains("frame\""), "{dot}");
}

/// The page's own file and graphs, in a new folder, as it says.
#[test]
fn the_page_about_graphs_can_be_followed() {
    let page = include_str!("../../docs/graph.md");
    let blocks = |kind: &str| -> Vec<String> {
        let fence = format!("```{kind}\n");
        let blocks = page.split(&fence).skip(1);
        blocks
            .map(|b| b.split("```").next().unwrap().to_owned())
            .collect()
    };
    let t = Folder::new();
    let program = &blocks("rust")[0];
    t.write(
        "sieve.rs",
        program.split("use millstream::{Device").next().unwrap(),
    );
    let [graph, whole] = &blocks("ron")[..] else {
        panic!("two graphs")
    };
    t.write("primes.ron", graph);
    let out = t.good(&["run", "primes.ron"]);
    let console = blocks("console");
    let shown: Vec<&str> = console[0].lines().skip(1).collect();
    // The graph goes by its program's name.
    assert_eq!(
        out.lines().skip(1).take(2).collect::<Vec<_>>(),
        shown[1..],
        "{out}"
    );
    assert_eq!(out.lines().next(), Some(shown[0]));
    assert!(
        t.good(&["check", "primes.ron"])
            .contains("kernel test: numbers -> primes")
    );
    t.write("whole.ron", whole);
    t.good(&["run", "whole.ron", "--threads", "1"]);
    assert!(t.files().contains(&"kept.npy".to_owned()));
}
