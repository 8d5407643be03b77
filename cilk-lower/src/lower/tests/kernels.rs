//! Graphs of kernels: what `instantiate` makes runs as the kernels do.

use super::*;
use crate::{
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

/// A graph of channels with their elements' types, and of nodes: name, kernel, what it consumes, what it produces into, and for each of
/// its parameters a name.
fn graph(
    channels: &[(&str, &str)],
    nodes: &[(&str, &str, &str, &[&str], &[&str])],
) -> (Graph, Vec<ChannelKey>, Vec<KernelKey>) {
    let mut graph = Graph::new("test");
    let channels: Vec<ChannelKey> = channels
        .iter()
        .map(|(name, element)| {
            let mut channel = Channel::new(*name, *element);
            channel.input = true;
            channel.output = nodes.iter().all(|n| n.2 != *name);
            graph.add_channel(channel)
        })
        .collect();
    let find = |graph: &Graph, name: &str| graph.find_channel(name).unwrap();
    let nodes = nodes
        .iter()
        .map(|(name, function, consumes, produces, args)| {
            let kernel = Kernel {
                name: (*name).to_owned(),
                consumes: Some(find(&graph, consumes)),
                produces: produces.iter().map(|c| find(&graph, c)).collect(),
                args: args.iter().map(|a| (*a).to_owned()).collect(),
                ..Kernel::device(*function)
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
        &[("fib", "fib", "calls", &["calls"], &["&result"])],
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
    let calls = StackRef::Channel(ChannelId(0));
    let pushes = &instance.program[instance.kernels[0].1].segments[0].pushes;
    assert_eq!(pushes[0].stack, calls);
    assert_eq!(pushes[0].max, Some(2));
    assert_eq!(instance.program.name(calls), "calls");

    let simulation = Simulation::new(&instance.program);
    let mut machine = simulation.machine();
    let result = machine.alloc(vec![0; 8], 8);
    machine.set_uniforms(vec![result]);
    simulate(&instance, &graph, &mut machine, vec![(channels[0], first)]);
    assert_eq!(number(machine.read(result)), 144);
    assert_eq!(machine.stats().tasks, 465);
}
