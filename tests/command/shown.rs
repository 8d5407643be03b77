//! What a run shows: of the buffers that it wrote to, and where there was nothing to run.

use crate::support::Folder;

#[test]
fn buffers_are_shown_in_the_order_of_the_call_by_name_or_parameter() {
    let t = Folder::new();
    t.write(
        "order.rs",
        "#[millstream::program] mod order {
         #[task] pub fn f(zeta: &mut [u32], alpha: &mut [u32], one: &mut u32) { zeta[0] = 1; alpha[0] = 2; *one = 3; } }",
    );
    let shown = |entry: &str, more: &[&str]| {
        let args = ["run", "order.rs", "--entry", entry];
        let out = t.good(&[&args[..], more].concat());
        let is_buffer = |line: &&str| line.contains(" = ") && !line.starts_with("f(");
        let lines: Vec<&str> = out.lines().filter(is_buffer).collect();
        lines.join("\n")
    };
    assert_eq!(
        shown("f(&mut [0; 2], &mut [5; 2], &mut 0)", &[]),
        "zeta = [1, 0]  (2 x u32)\nalpha = [2, 5]  (2 x u32)\none = [3]  (1 x u32)"
    );
    assert_eq!(
        shown(
            "f(&mut tmp, &mut [5; 2], &mut data)",
            &["--buffer", "tmp=zeros:2", "--buffer", "data=zeros:1"]
        ),
        "tmp = [1, 0]  (2 x u32)\nalpha = [2, 5]  (2 x u32)\ndata = [3]  (1 x u32)"
    );
    // A buffer of the job may have the name of another parameter.
    assert_eq!(
        shown(
            "f(&mut [0; 2], &mut zeta, &mut 0)",
            &["--buffer", "zeta=zeros:1"]
        ),
        "argument `zeta` of `f` = [1, 0]  (2 x u32)\nzeta = [2]  (1 x u32)\none = [3]  (1 x u32)"
    );
}

/// Where nothing was sent nobody worked, and nothing took any time.
#[test]
fn a_graph_without_elements_says_no_time_of_one() {
    let t = Folder::new();
    t.write(
        "none.rs",
        "#[millstream::program] mod none {
         use std::sync::atomic::{AtomicU64, Ordering};
         #[kernel] pub fn add(x: u32, sum: &AtomicU64) { sum.fetch_add(x as u64, Ordering::Relaxed); } }",
    );
    t.write(
        "none.ron",
        r#"Graph(
            source: "none.rs",
            buffers: { "sum": Zeros(len: 1) },
            channels: { "c": (element: "u32", width: 1) },
            kernels: { "add": (consumes: "c", args: ["&sum"]) },
            send: { "c": "[]" },
        )"#,
    );
    let out = t.good(&["run", "none.ron", "--device", "cpu"]);
    assert!(out.contains("0 elements, 0 dispatches"), "{out}");
    let last = out.lines().last().unwrap();
    // Whether a thread was asked before the end is chance.
    assert!(
        last.contains(" on cpu") && !last.contains("(0 threads)"),
        "{out}"
    );
    assert!(
        last.contains("; compiled in ") && !last.contains("an element"),
        "{out}"
    );
}
