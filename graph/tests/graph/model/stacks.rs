//! Graphs of stacks that are none: all that is wrong is said, whatever is, and nothing panics.

use crate::graph::FIB;
use millstream_graph::{
    graph::{Graph, Written},
    ir::{Combine, FuncId, Function, Program, TaskId},
    levelized::{Levelized, LoweredSegment, LoweredTask, StackRole, Tasks},
    text::parse_program,
    ty::Type,
};

const GRAPH: &str = r#"(
    channels: {
        "sums": (fields: { "frame": "u32" }, protocol: Stack),
        "frames": (fields: { "x": "u64", "y": "u64", "return": "ptr" }, protocol: Stack),
        "calls": (fields: { "n": "u32", "return": "ptr" }, protocol: Stack),
    },
    kernels: {
        "second": (segment: Some("join"), returns: Some(2), consumes: Some("sums")),
        "first": (segment: Some("entry"), returns: Some(1), consumes: Some("calls"), produces: ["calls", "frames", "sums"], most: [Some(2), Some(1), Some(1)]),
    },
    tasks: { "fib": (calls: "calls", frames: Some("frames"), segments: ["first", "second"]) },
)"#;

fn program() -> Program {
    parse_program(&format!("program p in \"p.rs\"{FIB}")).unwrap_or_else(|e| panic!("{e}"))
}

fn graph(text: &str) -> Graph {
    let written: Written = ron::from_str(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let resolved = written.resolve("g");
    assert_eq!(resolved.problems, []);
    resolved.graph
}

/// Stacks go by tasks, whatever the order of channels and kernels in the graph.
#[test]
fn names_and_order_are_those_of_who_made_the_graph() {
    let made = Levelized::new(program(), graph(GRAPH)).unwrap();
    let names: Vec<&str> = made.stacks().iter().map(|s| made.name(*s)).collect();
    assert_eq!(names, ["calls", "frames", "sums"]);
    let [task] = made.tasks().map(|t| t.0).collect::<Vec<_>>()[..] else {
        panic!("one task")
    };
    assert_eq!(made.func(task), FuncId(0));
    assert_eq!(made.stack(StackRole::Frame(task)), Some(made.stacks()[1]));
    let segments: Vec<_> = made.segments(task).collect();
    assert_eq!(segments[1].body.name, "join");
    let pushes: Vec<_> = segments[0]
        .pushes()
        .map(|p| (made.name(p.stack), p.max))
        .collect();
    assert_eq!(
        pushes,
        [("calls", Some(2)), ("frames", Some(1)), ("sums", Some(1))]
    );
}

#[test]
fn all_that_is_wrong_with_a_graph_of_stacks_is_said() {
    for (from, to, said) in [
        (
            "segments: [\"first\", \"second\"]",
            "segments: []",
            "task `fib` has no segment",
        ),
        (
            "frames: Some(\"frames\")",
            "frames: None",
            "task `fib` goes on after its first segment, and has no `frames`",
        ),
        (
            "frames: Some(\"frames\")",
            "frames: Some(\"calls\")",
            "task `fib`: channel `calls` is a stack of something else already",
        ),
        (
            "consumes: Some(\"sums\")",
            "consumes: None",
            "kernel `second`: it consumes nothing",
        ),
        (
            "consumes: Some(\"calls\")",
            "consumes: None",
            "kernel `first`: it consumes nothing",
        ),
        (
            "consumes: Some(\"calls\")",
            "consumes: Some(\"frames\")",
            "kernel `first`: it is its task's first segment and consumes `frames`, not the `calls`, `calls`",
        ),
        (
            "\"first\", \"second\"]",
            "\"first\", \"second\", \"second\"]",
            "kernel `second`: it is a segment twice",
        ),
        (
            "segment: Some(\"join\")",
            "segment: Some(\"joyn\")",
            "kernel `second`: the program has no segment `joyn` (did you mean `join`?)",
        ),
        (
            "segment: Some(\"join\")",
            "segment: Some(\"fib\")",
            "kernel `second`: the program has no segment `fib`",
        ),
        (
            "segment: Some(\"join\")",
            "segment: Some(\"segment sum() { b0: return }\")",
            "kernel `second`: it says its code, and not the name of a segment (let the code stand in `ir`, and say its name here: docs/graph.md)",
        ),
        (
            "segment: Some(\"join\")",
            "runs: Some(\"join\")",
            "kernel `second`: it is no segment, but a part of a task",
        ),
        (
            "[\"calls\", \"frames\", \"sums\"]",
            "[\"calls\", \"frames\", \"calls\"]",
            "kernel `first`: it pushes to `calls` by two ports",
        ),
        (
            "\"frame\": \"u32\" }, protocol: Stack",
            "\"frame\": \"u32\" }, protocol: Ring, element: Some(\"u32\")",
            "task `fib`: channel `sums` is a ring, and no stack (`protocol: Stack`)",
        ),
        (
            "(fields: { \"frame\": \"u32\" }",
            "(element: Some(\"u32\")",
            "task `fib`: channel `sums` has elements of a type, and no `fields`",
        ),
        (
            "\"frame\": \"u32\"",
            "\"frame\": \"u64\"",
            "task `fib`: channel `sums` holds continuations: an element is one `u32`, the number of a frame",
        ),
        (
            "tasks: { \"fib\":",
            "tasks: { \"fob\":",
            "task `fob`: the program has no function of that name",
        ),
        (
            "\"x\": \"u64\", \"y\": \"u64\", \"return\"",
            "\"x\": \"u64\", \"return\"",
            "the frame has no field .2",
        ),
        (
            "most: [Some(2), Some(1), Some(1)]",
            "most: [Some(0)]",
            "Entry(TaskId(0)) is not in the list of pushes",
        ),
        (
            "segment: Some(\"join\")",
            "segment: Some(\"entry\")",
            "kernel `second`: segment `entry` is another kernel's",
        ),
        (
            "\"y\": \"u64\"",
            "\"y\": \"8 align 0\"",
            "task `fib`: channel `frames` has a field without a layout",
        ),
        (
            "kernels: {",
            "kernels: { \"third\": (segment: Some(\"join\")),",
            "kernel `third`: it is a segment of no task",
        ),
        (
            ", segments: [\"first\", \"second\"]) }",
            ", segments: [\"first\"]) }",
            "kernel `second`: it is a segment of no task",
        ),
    ] {
        assert!(GRAPH.contains(from), "{from}");
        let problems = Levelized::new(program(), graph(&GRAPH.replace(from, to)));
        let problems = problems.expect_err(to);
        let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(all.iter().any(|p| p.contains(said)), "{to}: {all:#?}");
    }
}

/// Segments are functions of the program, whatever that calls its functions.
#[test]
fn names_of_segments_are_free() {
    let made = Levelized::new(program(), graph(GRAPH)).unwrap();
    let task = |name: &str, func| LoweredTask {
        func: FuncId(func),
        name: name.into(),
        combine: Combine::Store,
        element: Vec::new(),
        frame: Vec::new(),
        segments: vec![LoweredSegment {
            body: Function {
                params: Vec::new(),
                args: Vec::new(),
                ret: Type::unit(),
                ..made.entry(TaskId(0)).body.clone()
            },
            ret: None,
            pushes: Vec::new(),
        }],
    };
    let function = |name: &str| Function {
        name: name.into(),
        ..made.program[FuncId(0)].clone()
    };
    let tasks = Tasks {
        program: Program {
            functions: ["a", "a/0", "a/0/0"].map(function).to_vec(),
            ..Program::default()
        },
        tasks: vec![task("a", 0), task("a/0", 1)],
    };
    let made = tasks.levelized();
    let names: Vec<&str> = made
        .all_segments()
        .map(|(_, s)| s.body.name.as_str())
        .collect();
    assert_eq!(names, ["a/0'", "a/0/0'"]);
    let kernels: Vec<&str> = made
        .all_segments()
        .map(|(_, s)| s.kernel.name.as_str())
        .collect();
    assert_eq!(kernels, ["a", "a/0"]);
}
