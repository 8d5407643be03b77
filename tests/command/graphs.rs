//! Graphs in compressed rows as buffers: edge lists, random ones, streets.

use crate::support::Folder;

const REACH: &str = "#[millstream::program]
mod reach {
    #[task]
    pub fn sum(offsets: &[u32], targets: &[u32], lengths: &[u32]) -> (usize, u64, u64) {
        let (mut to, mut length) = (0u64, 0u64);
        for e in 0..targets.len() {
            to += targets[e] as u64;
            length += lengths[e] as u64;
        }
        assert_eq!(offsets[offsets.len() - 1] as usize, targets.len());
        (offsets.len(), to, length)
    }
}
";

/// The job on a graph of those edges.
fn job(edges: &str) -> String {
    let buffer = |part: &str| format!("\"{}\": {part}({edges}),", part.to_lowercase());
    format!(
        "Program(source: \"reach.rs\", params: {{ \"k\": 4 }}, entry: \"sum(&offsets, &targets, &lengths)\", buffers: {{\n{}{}{}\n}})",
        buffer("Offsets"),
        buffer("Targets"),
        buffer("Lengths"),
    )
}

fn folder() -> Folder {
    let t = Folder::new();
    t.write("reach.rs", REACH);
    t.write("roads.edges", "# four streets\n0 1 5\n1 2\n\n2 0 7\n4 1\n");
    t
}

#[test]
fn a_graph_comes_from_an_edge_list_or_is_random() {
    let t = folder();
    t.write("list.ron", job("List(\"roads.edges\")"));
    assert_eq!(t.good(&["run", "-q", "list.ron"]), "(6, 4, 14)\n");
    let of = |part: &str| format!("{part}={part}:roads.edges");
    let args = ["offsets", "targets", "lengths"].map(of);
    let mut by_command = vec![
        "run",
        "-q",
        "reach.rs",
        "--entry",
        "sum(&offsets, &targets, &lengths)",
    ];
    by_command.extend(args.iter().flat_map(|a| ["--buffer", a]));
    assert_eq!(t.good(&by_command), "(6, 4, 14)\n");

    t.write(
        "rmat.ron",
        job("Rmat(scale: k, degree: \"2 * k\", seed: 3)"),
    );
    assert!(t.good(&["run", "-q", "rmat.ron"]).starts_with("(17, "));
    t.write("grid.ron", job("Grid(width: k, height: 3)"));
    assert!(t.good(&["run", "-q", "grid.ron"]).starts_with("(13, "));
}

#[test]
fn a_bad_line_is_shown_in_its_file() {
    let t = folder();
    let bad = |edges: &str, says: &[&str]| {
        t.write("job.ron", job(edges));
        t.bad(1, &["run", "job.ron"], says);
    };
    t.write("bad.edges", "0 1\n1 two 3\n");
    let says = [
        "bad.edges:2:3",
        "`two` is no vertex: a number up to 4294967294",
    ];
    bad("List(\"bad.edges\")", &says);
    t.write("words.edges", "0 1\nthis is no edge\n");
    bad(
        "List(\"words.edges\")",
        &[
            "words.edges:2:1",
            "`this is no edge` is no edge: FROM TO, or FROM TO LENGTH",
        ],
    );
    t.write("bytes.edges", [b'0', b' ', 0xff]);
    bad(
        "List(\"bytes.edges\")",
        &[
            "cannot read",
            "bytes.edges",
            "it is no text, but an edge list was expected",
        ],
    );
    bad("List(\"none.edges\")", &["job.ron:2:26", "none.edges"]);
    bad(
        "Rmat(scale: 40, degree: 1)",
        &["buffer `offsets`: there is no room for 2^40 vertices"],
    );
    bad(
        "Grid(width: 70_000, height: 70_000)",
        &["there is no room for 70000 x 70000 vertices"],
    );
    bad(
        "Rmat(scale: \"1 << 40\", degree: 1)",
        &["scale of buffer `offsets`: 1099511627776 is too large"],
    );
    bad("Tree(3)", &["there is no `Tree`"]);
}

const SUMS: &str = "#[millstream::program]
mod sums {
    use std::sync::atomic::{AtomicU64, Ordering};
    #[task]
    pub fn squares(out: &mut [u32]) {
        for i in 0..out.len() { out[i] = (i * i) as u32; }
    }
    #[kernel]
    pub fn add(i: u32, data: &[u32], total: &AtomicU64) {
        total.fetch_add(data[i as usize] as u64, Ordering::Relaxed);
    }
    #[task]
    pub fn total_and(total: &AtomicU64, more: u64) -> u64 { total.load(Ordering::Relaxed) + more }
}
";

const SUMS_JOB: &str = r#"Graph(
    source: "sums.rs",
    buffers: { "data": Zeros(len: 10), "total": Zeros(len: 1), "numbers": Iota(len: 10) },
    first: ["squares(&mut data)"],
    channels: { "in": (element: "u32") },
    kernels: { "add": (consumes: "in", args: ["&data", "&total"]) },
    send: { "in": "numbers" },
    then: "total_and(&total, 15)",
    expect: ( result: 300 ),
)
"#;

#[test]
fn tasks_are_called_before_a_graph_and_after_it() {
    let t = folder();
    t.write("sums.rs", SUMS);
    t.write("sums.ron", SUMS_JOB);
    assert_eq!(t.good(&["run", "-q", "sums.ron"]), "300\n");
    // What is sent is what the buffer holds when the graph begins: the squares, whose squares are added up.
    let both = "squares(&mut data)\", \"squares(&mut numbers)";
    let later = SUMS_JOB
        .replace("squares(&mut data)", both)
        .replace("Zeros(len: 10)", "Zeros(len: 82)")
        .replace("Iota(len: 10)", "Zeros(len: 10)")
        .replace("300", "15348");
    t.write("later.ron", later);
    assert_eq!(t.good(&["run", "-q", "later.ron"]), "15348\n");
    // What is written into one call is not what is written into another at the same place.
    let several = "squares(&mut [7; 3])\", \"squares(&mut [9; 2])";
    t.write(
        "several.ron",
        SUMS_JOB
            .replace("squares(&mut data)", several)
            .replace("300", "15"),
    );
    let out = t.good(&["run", "several.ron"]);
    let label = "argument `out` of `squares`";
    let both = format!("{label} = [0, 1, 4]  (3 x u32)\n{label} = [0, 1]  (2 x u32)\n");
    assert!(out.contains(&both), "{out}");

    let bad = |old: &str, new: &str, says: &[&str]| {
        assert!(SUMS_JOB.contains(old), "{old}");
        t.write("bad.ron", SUMS_JOB.replace(old, new));
        t.bad(1, &["run", "bad.ron"], says);
    };
    bad(
        "300",
        "301",
        &["total_and(&total, 15) is 300, but 301 was expected"],
    );
    bad(
        "squares(",
        "sqares(",
        &[
            "bad.ron:4:14",
            "has no task `sqares`",
            "did you mean `squares`?",
        ],
    );
    bad(
        "(&total, 15)",
        "(&totl, 15)",
        &["no buffer `totl`", "did you mean `total`?"],
    );
    let then = "then: \"total_and(&total, 15)\",";
    bad(
        then,
        "",
        &[
            "a graph returns nothing, so no result can be expected",
            "call a task when it has run",
        ],
    );
    let program = "Program(source: \"sums.rs\", then: \"total_and\")";
    bad(
        SUMS_JOB,
        program,
        &[
            "this is of a graph",
            "a run of a graph is written `Graph(source: .., ..)`",
        ],
    );
}

/// Nodes have the names that their user likes: what is made of them gets others.
#[test]
fn no_name_of_a_node_is_taken_for_what_is_made_of_another() {
    let t = Folder::new();
    t.write(
        "sums.rs",
        "#[millstream::program]
mod sums {
    #[task]
    pub fn sum(n: u32) -> u64 {
        let mut all = n as u64;
        if n > 0 { all += spawn!(sum(n - 1)); }
        sync!();
        all
    }
    #[kernel]
    pub fn up_to(n: u32, out: Channel<u64>) {
        let s = spawn!(sum(n));
        sync!();
        out.emit(s);
    }
    #[kernel]
    pub fn add(s: u64, total: &AtomicU64) { total.fetch_add(s, Ordering::Relaxed); }
}
",
    );
    for (first, second) in [
        ("emit.0", "emit.2"),
        ("sum", "sum+add"),
        ("sum/0", "sum+add/0"),
        ("up_to", "up_to/0"),
        ("up_to/1", "up_to"),
    ] {
        let graph = format!(
            r#"Graph(
    source: "sums.rs",
    channels: {{ "a": (element: "u32"), "b": (element: "u32"), "out": (element: "u64") }},
    kernels: {{
        "{first}": (runs: "up_to", consumes: "a", produces: ["out"]),
        "{second}": (runs: "up_to", consumes: "b", produces: ["out"]),
        "add": (consumes: "out", args: ["&total"]),
    }},
    buffers: {{ "total": Zeros(len: 1) }},
    send: {{ "a": "[3, 4]", "b": "[5]" }},
    expect: (buffers: {{ "total": Is(Values(values: [31])) }}),
)"#
        );
        t.write("sums.ron", graph);
        t.good(&["run", "sums.ron"]);
        // And for a GPU, where what is emitted is a task's.
        t.good(&["lower", "sums.ron", "--emit", "cuda"]);
    }
}
