//! The texts of what can be wrong with a graph.

use millstream_graph::{
    graph::{Channel, ChannelKey, Element, Graph, Kernel, Predicate, WhenFull, Written},
    ir::Program,
    text::parse_program,
    ty::{Field, PieceKind, Scalar},
};

/// `fib` may end, `again` and `back` never do, `split` has two ports and two parameters.
fn program() -> Program {
    parse_program(
        r#"program test in "test.rs"
        struct FibObj { n: u32 }
        struct Held { p: &u32 }
        struct Empty { }
        fn ready(waiting: u32, width: u32, more: bool) -> bool takes %0, %1, %2 {
            let %0: u32, %1: u32, %2: bool
        b0: return true }
        fn odd(waiting: u32) -> bool takes %0 { let %0: u32 b0: return true }
        task sum(n: u32) takes %0 { let %0: u32 b0: return }
        kernel fib(src: FibObj, next: Channel<FibObj>, result: &AtomicU64) takes %0, %1 {
            let %0: u32, %1: ptr, %2: bool
        b0: %2 = lt %0, 2u32 branch %2 b1 b2
        b1: return
        b2: emit c0(%0) return }
        kernel again(src: FibObj, next: Channel<FibObj>) takes %0 {
            let %0: u32, %1: bool
        b0: %1 = lt %0, 2u32 branch %1 b1 b2
        b1: emit c0(%0) return
        b2: emit c0(%0) return }
        kernel split(src: FibObj, odd: Channel<FibObj>, even: Channel<u32>, data: &[u32], n: u32) takes %0, %1, %2, %3 {
            let %0: u32, %1: ptr, %2: usize, %3: u32
        b0: return }
        kernel last(n: u32) takes %0 { let %0: u32 b0: return }
        "#,
    )
    .unwrap()
}

fn said(graph: &Graph) -> Vec<String> {
    graph
        .validate(&program())
        .iter()
        .map(|p| format!("{}{p}", if p.warning { "warning: " } else { "" }))
        .collect()
}

fn input(graph: &mut Graph, name: &str, element: &str) -> ChannelKey {
    graph.add_channel(Channel {
        input: true,
        ..Channel::new(name, element)
    })
}

/// `fib` on one channel, which this makes different.
fn fib(change: impl FnOnce(&mut Channel, &mut Kernel)) -> Vec<String> {
    let mut graph = super::fib();
    let (channel, kernel) = (graph.find_channel("calls"), graph.find_kernel("fib"));
    let (mut c, mut k) = (
        graph.channel(channel.unwrap()).unwrap().clone(),
        graph.kernel(kernel.unwrap()).unwrap().clone(),
    );
    change(&mut c, &mut k);
    *graph.channel_mut(channel.unwrap()).unwrap() = c;
    *graph.kernel_mut(kernel.unwrap()).unwrap() = k;
    said(&graph)
}

#[test]
fn figure_6_is_right() {
    assert_eq!(said(&super::fib()), [""; 0]);
    let checked = super::fib().checked(&program());
    assert_eq!(checked, Ok(Vec::new()));
}

#[test]
fn channels_are_wrong() {
    let width = |n| fib(|c, _| c.width = n);
    assert_eq!(
        width(0),
        ["channel `calls` has width 0: no element has room in it"]
    );
    assert_eq!(
        width(u32::MAX),
        ["channel `calls` has width 4294967295: 1073741824 is the most"]
    );
    for group in [0, 65] {
        assert_eq!(
            fib(|c, _| c.group = group),
            [format!(
                "channel `calls` has done counts for groups of {group} elements: 1 to 64 share one"
            )]
        );
    }
    let element = |ty: &str| fib(|c, _| c.element = Element::Type(ty.to_owned()));
    assert_eq!(
        element("FibObi"),
        ["channel `calls`: the program has no type `FibObi` (did you mean `FibObj`?)"]
    );
    assert_eq!(
        element("Held"),
        [
            "channel `calls`: a `Held` is no element (elements are values without references and atomics)"
        ]
    );
    let field = |name: &str, ty| Field {
        name: name.to_owned(),
        kind: PieceKind::Scalar(ty),
    };
    let layout = |fields: Vec<Field>| fib(|c, _| c.layout = Some(fields));
    assert_eq!(layout(vec![field("n", Scalar::U32)]), [""; 0]);
    assert_eq!(
        layout(vec![field("n", Scalar::U64), field("m", Scalar::F32)]),
        [
            "channel `calls`: a `FibObj` of the source has the fields `n: u32`, and not `n: u64, m: f32`"
        ]
    );
    assert_eq!(
        element("Empty"),
        ["channel `calls`: a `Empty` holds nothing"]
    );
}

#[test]
fn predicates_are_wrong() {
    let with = |predicate| fib(|c, _| c.predicate = predicate);
    assert_eq!(
        with(Predicate::AtLeast(0)),
        ["channel `calls` waits for at least 0 elements (say `Any` to run whatever there is)"]
    );
    assert_eq!(
        with(Predicate::AtLeast(1_001)),
        [
            "the predicate of channel `calls` can never be true: it waits for 1001 elements, and there is room for 1000"
        ]
    );
    assert_eq!(with(Predicate::AtLeast(1_000)), [""; 0]);
    let grows = fib(|c, _| {
        c.predicate = Predicate::AtLeast(1_001);
        c.full = WhenFull::Grow;
    });
    assert_eq!(grows, [""; 0]);
    assert_eq!(with(Predicate::Own("ready".into())), [""; 0]);
    assert_eq!(
        with(Predicate::Own("raedy".into())),
        [
            "channel `calls`: the program has no helper `raedy` to be its predicate (did you mean `ready`?)"
        ]
    );
    assert_eq!(
        with(Predicate::Own("odd".into())),
        [
            "channel `calls`: `odd` is no predicate (it is written `fn ready(waiting: u32, width: u32, more: bool) -> bool`)"
        ]
    );
}

#[test]
fn kernels_are_wrong() {
    let runs = |name: &str| fib(|_, k| k.body = millstream_graph::graph::Body::Device(name.into()));
    assert_eq!(
        runs("fibb"),
        ["kernel `fib`: the program has no kernel `fibb` (did you mean `fib`?)"]
    );
    assert_eq!(
        runs("sum"),
        ["kernel `fib`: `sum` is a task, not a kernel (put `#[kernel]` in front of it)"]
    );
    assert_eq!(
        runs("ready"),
        ["kernel `fib`: `ready` is a helper, not a kernel (put `#[kernel]` in front of it)"]
    );
    assert_eq!(
        fib(|_, k| k.args.clear()),
        ["kernel `fib`: its parameter `result` (`&AtomicU64`) is given nothing"]
    );
    assert_eq!(
        fib(|_, k| k.args.push("7".into())),
        [
            "kernel `fib` has 1 parameter besides its element and ports, and is given 2 arguments (its parameters are `result`)"
        ]
    );
    assert_eq!(
        fib(|_, k| k.produces.push(k.produces[0])),
        ["kernel `fib` has 1 port, and is given 2 channels (its ports are `next`)"]
    );
    assert_eq!(
        fib(|_, k| k.produces.clear()),
        ["kernel `fib`: its port `next` (`Channel<FibObj>`) is connected to no channel"]
    );
    assert_eq!(
        fib(|_, k| k.consumes = None),
        [
            "kernel `fib` consumes no channel",
            "nothing consumes channel `calls` (make it an output, or let a node consume it)"
        ]
    );
}

#[test]
fn elements_disagree() {
    let mut graph = Graph::new("g");
    let calls = input(&mut graph, "calls", "u32");
    let odd = graph.add_channel(Channel::new("odd", "(FibObj,)"));
    let even = graph.add_channel(Channel::new("even", "FibObj"));
    for channel in [odd, even] {
        graph.channel_mut(channel).unwrap().output = true;
    }
    graph.add_kernel(Kernel {
        consumes: Some(calls),
        produces: vec![odd, even],
        args: vec!["data".into(), "1".into()],
        ..Kernel::device("split")
    });
    assert_eq!(
        said(&graph),
        [
            "kernel `split` takes `FibObj`, but channel `calls` holds `u32`",
            "kernel `split` emits `FibObj` by its port `odd`, but channel `odd` holds `(FibObj,)`",
            "kernel `split` emits `u32` by its port `even`, but channel `even` holds `FibObj`",
        ]
    );
}

#[test]
fn one_consumer_a_channel() {
    let mut graph = Graph::new("g");
    let numbers = input(&mut graph, "numbers", "u32");
    for name in ["a", "b"] {
        graph.add_kernel(Kernel {
            name: name.into(),
            consumes: Some(numbers),
            ..Kernel::device("last")
        });
    }
    assert_eq!(
        said(&graph),
        ["channel `numbers` is consumed by `a` and `b`, but a channel has one consumer"]
    );
    let mut graph = Graph::new("g");
    let numbers = input(&mut graph, "numbers", "u32");
    graph.channel_mut(numbers).unwrap().output = true;
    for _ in 0..2 {
        graph.add_kernel(Kernel {
            consumes: Some(numbers),
            ..Kernel::device("last")
        });
        graph.add_channel(Channel {
            input: true,
            output: true,
            ..Channel::new("numbers", "u32")
        });
    }
    assert_eq!(
        said(&graph),
        [
            "two channels are called `numbers`",
            "two channels are called `numbers`",
            "two kernels are called `last` (to use `last` twice, give one of the nodes another name)",
            "channel `numbers` is consumed by `last` and `last`, but a channel has one consumer",
        ]
    );
    graph = Graph::new("g");
    let numbers = input(&mut graph, "numbers", "u32");
    graph.channel_mut(numbers).unwrap().output = true;
    graph.add_kernel(Kernel {
        consumes: Some(numbers),
        ..Kernel::device("last")
    });
    assert_eq!(
        said(&graph),
        ["channel `numbers` is an output, but `last` consumes it"]
    );
}

#[test]
fn every_node_is_reached() {
    let mut graph = Graph::new("g");
    let a = graph.add_channel(Channel::new("a", "FibObj"));
    let b = graph.add_channel(Channel::new("b", "FibObj"));
    let c = graph.add_channel(Channel::new("c", "u32"));
    let node = |name: &str, from, to| Kernel {
        name: name.into(),
        consumes: Some(from),
        produces: vec![to],
        ..Kernel::device("again")
    };
    graph.add_kernel(node("x", a, b));
    graph.add_kernel(node("y", b, a));
    graph.add_kernel(Kernel {
        consumes: Some(c),
        ..Kernel::device("last")
    });
    assert_eq!(
        said(&graph),
        [
            "nothing comes into channel `c` (send elements to it (an input), or let a node produce into it)",
            "no element can reach channel `a`: it is fed by `y` alone, which no element reaches (send elements to one of the channels before it)",
            "no element can reach channel `b`: it is fed by `x` alone, which no element reaches (send elements to one of the channels before it)",
            "warning: kernels `x`, `y` feed each other without an end: each always emits again (the run ends only if it is cancelled)",
        ]
    );
}

#[test]
fn a_cycle_without_an_exit_is_warned_of() {
    let again = fib(|_, k| {
        *k = Kernel {
            consumes: k.consumes,
            produces: k.produces.clone(),
            ..Kernel::device("again")
        }
    });
    assert_eq!(
        again,
        [
            "warning: kernel `again` feeds itself without an end: it always emits again (the run ends only if it is cancelled)"
        ]
    );
}

#[test]
fn host_nodes_are_wrong() {
    let mut graph = Graph::new("g");
    graph.add_kernel(Kernel::host("alone"));
    let numbers = graph.add_channel(Channel::new("numbers", "u32"));
    graph.add_kernel(Kernel {
        produces: vec![numbers],
        ..Kernel::host("source")
    });
    graph.add_kernel(Kernel {
        consumes: Some(numbers),
        args: vec!["1".into()],
        ..Kernel::host("sink")
    });
    assert_eq!(
        said(&graph),
        [
            "host node `alone` is connected to no channel",
            "host node `sink` has no parameters to be given",
        ]
    );
}

#[test]
fn all_is_said_at_once_and_unknown_names_hide_what_follows_from_them() {
    let text = r#"(
        channels: { "calls": (element: Some("FibOb"), width: 0) },
        kernels: { "fib": (consumes: Some("call"), produces: ["calls"]) },
    )"#;
    let written: Written = ron::from_str(text).unwrap();
    let problems = written.resolve("g").validate(&program());
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "kernel `fib`: there is no channel `call` (did you mean `calls`?)",
            "channel `calls`: the program has no type `FibOb` (did you mean `FibObj`?)",
            "channel `calls` has width 0: no element has room in it",
            "kernel `fib`: its parameter `result` (`&AtomicU64`) is given nothing",
        ]
    );
    let error = written.resolve("g").graph.checked(&program()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the graph `g` cannot be run\n  channel `calls`: ")
    );
}
