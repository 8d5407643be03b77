//! Whole runs of graphs.

use super::{GraphCall, GraphProgram};
use crate::{Arg, CpuOptions, Device, ErasedArg, LoadedGraph, RunError, RunReport};
use millstream_cilk_lower::{instantiate::instantiate, parse_file};
use millstream_graph::graph::{Channel, ChannelKey, Graph, Kernel, KernelKey};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

fn device(threads: u32) -> Device {
    Device::cpu_with(CpuOptions {
        threads: Some(threads),
        memory: Some(64 << 20),
        ..CpuOptions::default()
    })
    .unwrap()
}

fn load(device: &Device, source: &str, graph: &Graph) -> LoadedGraph {
    let program = parse_file(source, "graph.rs", None).unwrap();
    let made = instantiate(&program, graph).unwrap();
    let program = GraphProgram {
        graph: graph.clone(),
        source: Arc::new(program),
        levelized: Arc::new(made.program),
        kernels: made.kernels,
    };
    device.load_graph(&Arc::new(program)).unwrap()
}

fn atomic(value: &AtomicU64) -> Vec<ErasedArg<'_>> {
    let mut pieces = Vec::new();
    value.push(&mut pieces);
    pieces
}

const FIB: &str = r"
    #[millstream::program] mod fib {
    #[derive(Clone, Copy)]
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
    }
";

fn fib_graph(width: u32) -> (Graph, ChannelKey, KernelKey) {
    let mut graph = Graph::new("fib");
    let calls = graph.add_channel(Channel {
        width,
        input: true,
        ..Channel::new("calls", "FibObj")
    });
    let fib = graph.add_kernel(Kernel {
        consumes: Some(calls),
        produces: vec![calls],
        args: vec!["&result".into()],
        ..Kernel::device("fib")
    });
    (graph, calls, fib)
}

fn run_fib(threads: u32, width: u32, n: u32) -> Result<(u64, RunReport), RunError> {
    let device = device(threads);
    let (graph, calls, fib) = fib_graph(width);
    let loaded = load(&device, FIB, &graph);
    let result = AtomicU64::new(0);
    let call = GraphCall {
        args: [(fib, atomic(&result))].into(),
        ..GraphCall::default()
    };
    let report = loaded.run(call, |run| run.send(calls, &n.to_ne_bytes()))?.1;
    Ok((result.load(Ordering::Relaxed), report))
}

#[test]
fn figure_6_gives_fib() {
    for threads in [1, 2, 4] {
        let (result, report) = run_fib(threads, 32_768, 20).unwrap();
        assert_eq!(result, 6765, "{threads}");
        println!("{report}");
    }
}
