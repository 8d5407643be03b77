//! Graphs of ring channels on the CUDA device without a GPU: the generated text on fibers, in interleavings drawn by lot, with blocks of 8 threads,
//! stages of a few elements and channels of a few more, so that every rare way is taken.
//!
//! Needs a C++ compiler, `c++` or `CXX`; without one nothing of it runs.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

use millstream_aggregator::{
    ErasedArg, MemoryArg, RunError,
    cuda::flow::{Ended, FlowRun, FlowSettings, GraphArgs},
};
use millstream_cilk_lower::{
    instantiate::{Instance, instantiate},
    parse_file,
};
use millstream_graph::{
    graph::{Channel, Graph, Kernel, KernelKey},
    ir::Program,
};
use millstream_tests::emulator::{self, FlowEmulator};
use std::time::Duration;

const FIB: &str = "
#[derive(Clone, Copy)]
pub struct FibObj { pub n: u32 }
#[kernel]
pub fn fib(src: FibObj, next: Channel<FibObj>, result: &AtomicU64) {
    if src.n < 2 { result.fetch_add(src.n as u64, Ordering::Relaxed); return; }
    next.emit(FibObj { n: src.n - 1 });
    next.emit(FibObj { n: src.n - 2 });
}";

/// A graph and its program.
struct Made {
    program: Program,
    graph: Graph,
    instance: Instance,
    kernels: Vec<KernelKey>,
}

/// Channels by name, element and width; kernels by name, channel and ports. A kernel's arguments are its parameters' names.
fn made(
    source: &str,
    channels: &[(&str, &str, u32)],
    nodes: &[(&str, &str, &[&str])],
    change: impl FnOnce(&mut Graph),
) -> Made {
    let source = format!("#[millstream::program] mod flow {{ {source} }}");
    let program = parse_file(&source, "flow.rs", None).unwrap_or_else(|e| panic!("{e}"));
    let mut graph = Graph::new("flow");
    for (name, element, width) in channels {
        let mut channel = Channel::new(*name, *element);
        channel.width = *width;
        channel.input = true;
        channel.output = nodes.iter().all(|n| n.1 != *name);
        graph.add_channel(channel);
    }
    let mut kernels = Vec::new();
    for (name, consumes, produces) in nodes {
        let function = &program[program.find(name).unwrap()];
        let bound = function.params[1..].iter().filter(|p| {
            !matches!(p.ty, millstream_graph::ty::Type::Channel(_))
        });
        let mut kernel = Kernel::device(*name);
        kernel.consumes = graph.find_channel(consumes);
        kernel.produces = produces.iter().map(|c| graph.find_channel(c).unwrap()).collect();
        kernel.args = bound.map(|p| p.name.clone()).collect();
        kernels.push(graph.add_kernel(kernel));
    }
    change(&mut graph);
    let instance = instantiate(&program, &graph).unwrap_or_else(|e| panic!("{e}"));
    Made {
        program,
        graph,
        instance,
        kernels,
    }
}

const SETTINGS: FlowSettings = FlowSettings {
    memory: 1 << 28,
    watchdog: Duration::from_secs(20),
};

/// An atomic word, or many, that kernels reach.
fn atomic<T>(words: &mut [T]) -> ErasedArg<'_> {
    // SAFETY: borrowed for as long, and nobody else looks.
    ErasedArg::Memory(unsafe {
        MemoryArg::raw(words.as_mut_ptr().cast(), size_of_val(words), true)
    })
}

/// Feeds a channel of one `u32` field, runs the graph until it is done, and gives what each output received.
fn drive(
    made: &Made,
    emulator: &mut FlowEmulator,
    args: &GraphArgs<'_>,
    mut input: Vec<(usize, Vec<u32>)>,
) -> Result<(Vec<Vec<u32>>, Vec<u64>), RunError> {
    let mut run = FlowRun::new(emulator, SETTINGS, (&made.program, &made.graph), args)?;
    let channels = made.instance.channels.len();
    let mut out = vec![Vec::new(); channels];
    loop {
        let mut moved = 0;
        for (channel, values) in &mut input {
            let fields = vec![values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>()];
            let sent = run.send(*channel, &fields, 0, values.len() as u32)?;
            values.drain(..sent as usize);
            moved += sent;
        }
        let ended = run.go()?;
        for (channel, out) in out.iter_mut().enumerate() {
            if made.graph.channel(made.instance.channels[channel]).unwrap().output {
                let (fields, count) = run.receive(channel, u32::MAX)?;
                moved += count;
                if count > 0 {
                    let values = fields[0].chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap()));
                    out.extend(values);
                }
            }
        }
        let left = input.iter().any(|i| !i.1.is_empty());
        let kept = run.kept()?.iter().sum::<u64>();
        if ended == Ended::Done && !left && kept == 0 {
            break;
        }
        if moved == 0 && !run.went_on() {
            return Err(run.stalled());
        }
    }
    Ok((out, run.finish()?))
}

#[test]
fn figure_6_of_the_paper_counts_fib() {
    if !emulator::is_there() {
        return;
    }
    let made = made(FIB, &[("calls", "FibObj", 4096)], &[("fib", "calls", &["calls"])], |_| {});
    for (blocks, stage) in [(1, 4096), (2, 256), (3, 512)] {
        let mut emulator = FlowEmulator::of_graph(&made.graph, &made.instance, blocks, stage).unwrap();
        for seed in 1..=6 {
            emulator.draw(seed, 8);
            let mut result = [0u64];
            let args = GraphArgs::from([(made.kernels[0], vec![atomic(&mut result)])]);
            let (_, ran) = drive(&made, &mut emulator, &args, vec![(0, vec![15])]).unwrap();
            drop(args);
            assert_eq!(result, [610], "{blocks} blocks, stage {stage}, seed {seed}");
            assert_eq!(ran, [1973], "elements");
        }
    }
}
