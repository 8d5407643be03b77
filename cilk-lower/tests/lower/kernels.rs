//! Graphs of kernels: what `instantiate` makes runs as the kernels do.

use super::*;
use millstream_cilk_lower::{
    instantiate::{Instance, InstantiateError, instantiate},
    parse_file,
};
use millstream_graph::{
    graph::{Channel, ChannelKey, Graph, Kernel, KernelKey},
    interp::SerialGraph,
    ir::ChannelId,
};
use std::collections::VecDeque;

fn program(source: &str) -> Program {
    parse_file(source, "test.rs", None).unwrap_or_else(|e| panic!("{e}"))
}

/// A node of a graph.
struct Spec<'a> {
    name: &'a str,
    kernel: &'a str,
    consumes: &'a str,
    produces: &'a [&'a str],
    args: usize,
}

/// A graph of channels, with their elements' types, and of nodes.
fn graph(
    channels: &[(&str, &str)],
    nodes: &[Spec<'_>],
) -> (Graph, Vec<ChannelKey>, Vec<KernelKey>) {
    let mut graph = Graph::new("test");
    let add = |(name, element): &(&str, &str)| {
        let mut channel = Channel::new(*name, *element);
        channel.input = true;
        channel.output = nodes.iter().all(|n| n.consumes != *name);
        graph.add_channel(channel)
    };
    let channels: Vec<ChannelKey> = channels.iter().map(add).collect();
    let find = |graph: &Graph, name: &str| graph.find_channel(name).unwrap();
    let nodes = nodes.iter().map(|node| {
        let kernel = Kernel {
            name: node.name.to_owned(),
            consumes: Some(find(&graph, node.consumes)),
            produces: node.produces.iter().map(|c| find(&graph, c)).collect(),
            args: (0..node.args).map(|i| format!("arg{i}")).collect(),
            ..Kernel::device(node.kernel)
        };
        graph.add_kernel(kernel)
    });
    let nodes = nodes.collect();
    (graph, channels, nodes)
}

/// Runs a graph in the simulator, each element as a call of its node's task, first in, first out. Gives what is left in each channel.
fn simulate(
    instance: &Instance,
    graph: &Graph,
    machine: &mut simulate::Machine<'_>,
    first: Vec<(ChannelKey, Vec<ArgValue>)>,
) -> Vec<Vec<Vec<ArgValue>>> {
    let mut waiting = vec![VecDeque::new(); instance.channels.len()];
    for (channel, element) in first {
        waiting[instance.channel(channel).unwrap().index()].push_back(element);
    }
    let consumed = |id: usize| {
        let mut kernels = instance.kernels.iter();
        let of = |k: &KernelKey| graph.kernel(*k).unwrap().consumes;
        kernels.find(|(k, _)| of(k) == Some(instance.channels[id]))
    };
    while let Some((id, task)) = (0..waiting.len())
        .filter(|id| !waiting[*id].is_empty())
        .find_map(|id| Some((id, consumed(id)?.1)))
    {
        let element: Vec<ArgValue> = waiting[id].pop_front().unwrap();
        machine
            .call(&instance.program[task].name, &element)
            .unwrap();
        for emitted in machine.take_emitted() {
            waiting[emitted.channel.index()].push_back(emitted.element);
        }
    }
    waiting.into_iter().map(Vec::from).collect()
}

const FIB: &str = "
    #[millstream::program]
    mod fib {
        pub struct FibObj { pub n: u32 }

        #[kernel]
        pub fn fib(src: FibObj, next: Channel<FibObj>, result: &AtomicU64) {
            if src.n < 2 {
                result.fetch_add(src.n as u64, Ordering::Relaxed);
                return;
            }
            next.emit(FibObj { n: src.n - 1 });
            next.emit(FibObj { n: src.n - 2 });
        }
    }";

#[test]
fn figure_6() {
    let program = program(FIB);
    let (graph, channels, nodes) = graph(
        &[("calls", "FibObj")],
        &[Spec {
            name: "fib",
            kernel: "fib",
            consumes: "calls",
            produces: &["calls"],
            args: 1,
        }],
    );
    let first = vec![ArgValue::Scalar(12)];

    let mut serial = SerialGraph::new(&program, &graph);
    let result = serial.interp.alloc(vec![0; 8], 8);
    serial.bind(nodes[0], vec![ArgValue::Scalar(result)]);
    serial.send(channels[0], first.clone());
    assert_eq!(serial.run().unwrap(), 465);
    assert_eq!(number(serial.interp.read(result)), 144);

    let instance = instantiate(&program, &graph).unwrap();
    insta::assert_snapshot!(print_levelized(&instance.program));
    let mut pushes = instance.program.entry(instance.kernels[0].1).pushes();
    let push = pushes.next().unwrap();
    let role = instance.program.role(push.stack);
    assert_eq!(role, StackRole::Channel(ChannelId(0)));
    assert_eq!(push.max, Some(2));
    assert_eq!(instance.program.name(push.stack), "calls");

    let simulation = Simulation::new(&instance.program);
    let mut machine = simulation.machine();
    let result = machine.alloc(vec![0; 8], 8);
    machine.set_uniforms(vec![result]);
    simulate(&instance, &graph, &mut machine, vec![(channels[0], first)]);
    assert_eq!(number(machine.read(result)), 144);
    assert_eq!(machine.stats().tasks, 465);
}

/// Kernels that call a helper, spawn tasks, sync in a loop and emit into several channels, elements with arrays, a node twice.
const WORK: &str = "
    #[millstream::program]
    mod work {
        #[derive(Clone, Copy)]
        pub struct Item { pub n: u32, pub path: [u8; 4] }

        fn weight(path: [u8; 4]) -> u64 {
            path[0] as u64 + path[1] as u64 + path[2] as u64 + path[3] as u64
        }

        #[task]
        pub fn split(n: u64) -> u64 {
            if n < 3 { return n; }
            let a = spawn!(split(n / 2));
            let b = spawn!(split(n - n / 2));
            sync!();
            a + b
        }

        #[kernel]
        pub fn spread(item: Item, depth: u8, deeper: Channel<Item>, found: Channel<(u64, u32)>, sums: &[AtomicU64]) {
            let mut total = 0u64;
            // Nothing but an emit behind all syncs reads it.
            let mut kept = item.path;
            kept[3] = depth + 7;
            for i in 0..item.n {
                let part = spawn!(split(i as u64 + weight(item.path)));
                if i % 2 == 0 { found.emit((i as u64, item.n)); }
                sync!();
                total += part;
                let mut path = item.path;
                path[(i % 4) as usize] = i as u8;
                if depth > 0 && i > 1 { deeper.emit(Item { n: i, path }); }
            }
            found.emit((total, 0));
            if depth > 0 { deeper.emit(Item { n: 1, path: kept }); }
            sums[(total % 4) as usize].fetch_add(total, Ordering::Relaxed);
        }

        #[kernel]
        pub fn gather(found: Element<(u64, u32)>, sums: &[AtomicU64]) {
            let (value, n) = found.deq();
            sums[0].fetch_add(value * n as u64, Ordering::Relaxed);
        }
    }";

#[test]
fn kernels_that_spawn_and_nodes_of_one_kernel() {
    let program = program(WORK);
    let spread = |name, consumes, produces| Spec {
        name,
        kernel: "spread",
        consumes,
        produces,
        args: 2,
    };
    let (graph, channels, nodes) = graph(
        &[
            ("one", "Item"),
            ("two", "Item"),
            ("found", "(u64, u32)"),
            ("rest", "(u64, u32)"),
        ],
        &[
            spread("spread", "one", &["two", "found"]),
            // A task has that name.
            spread("split", "two", &["two", "rest"]),
            Spec {
                name: "gather",
                kernel: "gather",
                consumes: "found",
                produces: &[],
                args: 1,
            },
        ],
    );
    let first = vec![ArgValue::Scalar(7), ArgValue::Blob(vec![1, 2, 3, 4])];

    let mut serial = SerialGraph::new(&program, &graph);
    let sums = serial.interp.alloc(vec![0; 32], 8);
    let slice = |at: u64| [ArgValue::Scalar(at), ArgValue::Scalar(4)];
    let with = |depth, at| [vec![ArgValue::Scalar(depth)], slice(at).to_vec()].concat();
    serial.bind(nodes[0], with(1, sums));
    serial.bind(nodes[1], with(0, sums));
    serial.bind(nodes[2], slice(sums).to_vec());
    serial.send(channels[0], first.clone());
    serial.run().unwrap();
    let (expected, rest) = (serial.interp.read(sums).to_vec(), serial.take(channels[3]));
    assert!(expected.iter().any(|b| *b != 0));
    assert_eq!(rest.len(), 2 + 3 + 3 + 4 + 4 + 2);

    let instance = instantiate(&program, &graph).unwrap();
    let names: Vec<&str> = instance
        .kernels
        .iter()
        .map(|(_, task)| instance.program[*task].name.as_str())
        .collect();
    assert_eq!(names, ["spread", "split.node", "gather"]);
    let uniforms: Vec<&str> = instance
        .program
        .program
        .uniforms
        .iter()
        .map(|u| u.name.as_str())
        .collect();
    assert_eq!(
        uniforms,
        [
            "spread.depth",
            "spread.sums",
            "spread.sums.len",
            "split.depth",
            "split.sums",
            "split.sums.len",
            "gather.sums",
            "gather.sums.len"
        ]
    );
    // What is bound is read anew behind a sync: no frame keeps it.
    let task = instance.kernels[0].1;
    assert!(instance.program.segments(task).len() > 1);
    let frame = instance.program.frame(task);
    let kept: Vec<&str> = frame.iter().map(|f| f.name.as_str()).collect();
    assert!(
        !kept.contains(&"sums") && !kept.contains(&"depth"),
        "{kept:?}"
    );

    let simulation = Simulation::new(&instance.program);
    let mut machine = simulation.machine();
    let sums = machine.alloc(vec![0; 32], 8);
    machine.set_uniforms(vec![1, sums, 4, 0, sums, 4, sums, 4]);
    let left = simulate(&instance, &graph, &mut machine, vec![(channels[0], first)]);
    assert_eq!(machine.read(sums), expected);
    let sorted = |mut elements: Vec<Vec<ArgValue>>| {
        elements.sort_by_key(|e| format!("{e:?}"));
        elements
    };
    assert_eq!(sorted(left[3].clone()), sorted(rest));
}

#[test]
fn a_wrong_graph_is_not_instantiated() {
    let program = program(FIB);
    let node = Spec {
        name: "fib",
        kernel: "fob",
        consumes: "calls",
        produces: &["calls"],
        args: 1,
    };
    let (graph, ..) = graph(&[("calls", "FibObj")], &[node]);
    let error = instantiate(&program, &graph).unwrap_err();
    assert!(matches!(error, InstantiateError::Graph(_)), "{error}");
    assert!(
        error
            .to_string()
            .contains("the program has no kernel `fob`"),
        "{error}"
    );
}
