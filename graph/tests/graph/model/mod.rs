mod stacks;
mod validate;
mod written;

use millstream_graph::graph::*;

pub(super) fn fib() -> Graph {
    let mut graph = Graph::new("fib");
    let calls = graph.add_channel(Channel {
        width: 1_000,
        input: true,
        ..Channel::new("calls", "FibObj")
    });
    graph.add_kernel(Kernel {
        consumes: Some(calls),
        produces: vec![calls],
        args: vec!["&result".into()],
        ..Kernel::device("fib")
    });
    graph
}

#[test]
fn a_graph_is_written_with_names_and_read_again() {
    let graph = fib();
    let pretty = ron::ser::PrettyConfig::default().depth_limit(3);
    let text = ron::ser::to_string_pretty(&graph, pretty).unwrap();
    assert_eq!(
        text,
        r#"(
    name: Some("fib"),
    channels: {
        "calls": (
            element: Some("FibObj"),
            width: 1000,
            input: true,
        ),
    },
    kernels: {
        "fib": (
            consumes: Some("calls"),
            produces: ["calls"],
            args: ["&result"],
        ),
    },
)"#
    );
    let back: Graph = ron::from_str(&text).unwrap();
    assert_eq!(back, graph);
    assert_eq!(back.drawn().edge_count(), 2);
}

#[test]
fn an_unknown_channel_is_said_with_the_nearest_name() {
    let text = r#"(channels: {"calls": (element: "u32")}, kernels: {"fib": (consumes: "cals", produces: ["results"])})"#;
    let options =
        ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let written: Written = options.from_str(text).unwrap();
    let said: Vec<String> = written
        .resolve("g")
        .problems
        .iter()
        .map(Problem::to_string)
        .collect();
    assert_eq!(
        said,
        [
            "kernel `fib`: there is no channel `cals` (did you mean `calls`?)",
            "kernel `fib`: there is no channel `results` (there is `calls`)"
        ]
    );
    assert!(options.from_str::<Graph>(text).is_err());
}
