//! What graphs are made of, and what runs them.

use millstream_aggregator::{
    Aggregator, CudaOptions, Device, ErasedArg, GraphCall, GraphProgram, HostFn, LoadedGraph,
    MemoryArg, RunError, RunReport, Running,
    cuda::flow::{FlowSettings, run_graph},
};
use millstream_channels_kernel::cuda::{
    self, Options, Plan,
    flow::{FlowPlan, Spawning, generate},
    nvrtc::{self, Arch, How},
};
use millstream_cilk_lower::{instantiate::instantiate, parse_file};
use millstream_graph::{
    graph::{Channel, ChannelKey, Graph, Kernel},
    ty::Type,
};
use millstream_tests::emulator::{self, FlowEmulator};
use std::{sync::Arc, time::Duration};

/// How a run goes: every third one by the host thread.
pub(crate) const fn settings(seed: u64, memory: u64) -> FlowSettings {
    FlowSettings {
        memory,
        watchdog: Duration::from_secs(20),
        host_thread: seed.is_multiple_of(3),
        timeline: Some(1 << 12),
    }
}

/// A graph: channels by name, element and width, nodes by kernel, channel and ports. Kernels that the source does not have are host nodes. What a
/// channel gets from outside it may be sent; what nobody consumes is received.
pub(crate) fn made(
    source: &str,
    channels: &[(&str, &str, u32)],
    nodes: &[(&str, &str, &[&str])],
    change: impl FnOnce(&mut Graph),
) -> GraphProgram {
    let source = format!("#[millstream::program] mod flow {{\n{source}\n}}");
    let program = parse_file(&source, "flow.rs", None).unwrap_or_else(|e| panic!("{e}"));
    let mut graph = Graph::new("flow");
    for (name, element, width) in channels {
        let mut channel = Channel::new(*name, *element);
        channel.width = *width;
        channel.input = true;
        channel.output = nodes.iter().all(|n| n.1 != *name);
        graph.add_channel(channel);
    }
    for (name, consumes, produces) in nodes {
        let mut kernel = Kernel::host(*name);
        if let Some(function) = program.find(name) {
            kernel = Kernel::device(*name);
            let bound = program[function].params[1..].iter();
            let bound = bound.filter(|p| !matches!(p.ty, Type::Channel(_)));
            kernel.args = bound.map(|p| p.name.clone()).collect();
        }
        kernel.consumes = graph.find_channel(consumes);
        kernel.produces = produces
            .iter()
            .map(|c| graph.find_channel(c).unwrap())
            .collect();
        graph.add_kernel(kernel);
    }
    change(&mut graph);
    let made = instantiate(&program, &graph).unwrap_or_else(|e| panic!("{e}"));
    GraphProgram {
        graph,
        source: Arc::new(program),
        levelized: Arc::new(made.program),
        kernels: made.kernels,
    }
}

/// Memory that kernels reach, atomics for them.
pub(crate) fn lent<T>(words: &mut [T]) -> Vec<ErasedArg<'_>> {
    let (at, bytes) = (words.as_mut_ptr().cast(), size_of_val(words));
    // SAFETY: borrowed for as long, and nobody else looks.
    vec![ErasedArg::Memory(unsafe {
        MemoryArg::raw(at, bytes, true)
    })]
}

/// The same of a slice.
pub(crate) fn slice<T>(words: &mut [T]) -> Vec<ErasedArg<'_>> {
    let len = words.len() as u64;
    let mut out = lent(words);
    out.push(ErasedArg::Scalar(len));
    out
}

pub(crate) fn bytes(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

/// What runs a graph: fibers of this computer, or the GPU that `MILLSTREAM_TEST_DEVICE=cuda` asks for.
pub(crate) struct Bench {
    pub(crate) program: Arc<GraphProgram>,
    pub(crate) on: On,
}

pub(crate) enum On {
    Fibers(Box<FlowEmulator>),
    /// By the persistent kernel, and by the host thread.
    Gpu([LoadedGraph; 2]),
}

impl Bench {
    /// None without a compiler.
    pub(crate) fn new(program: GraphProgram, blocks: u32, stage: u32) -> Option<Self> {
        let program = Arc::new(program);
        if std::env::var("MILLSTREAM_TEST_DEVICE").is_ok_and(|d| d == "cuda") {
            let load = |aggregator| {
                let options = CudaOptions {
                    memory: Some(1 << 28),
                    aggregator,
                    early: false,
                    ..CudaOptions::default()
                };
                let device = Device::cuda_with(options).unwrap();
                device.load_graph(&program).unwrap()
            };
            let on = On::Gpu([Aggregator::Persistent, Aggregator::HostThread].map(load));
            return Some(Self { program, on });
        }
        if !emulator::is_there() {
            return None;
        }
        let emulator = FlowEmulator::of_graph(&program, blocks, stage);
        let emulator = emulator.unwrap_or_else(|e| panic!("{e}"));
        let on = On::Fibers(Box::new(emulator));
        Some(Self { program, on })
    }

    pub(crate) fn channel(&self, name: &str) -> ChannelKey {
        self.program.graph.find_channel(name).unwrap()
    }

    /// Runs it once, its interleaving drawn from a seed.
    pub(crate) fn run<R>(
        &mut self,
        seed: u64,
        args: Vec<(&str, Vec<ErasedArg<'_>>)>,
        hosts: Vec<(&str, HostFn<'_>)>,
        with: impl FnOnce(&Running<'_>) -> Result<R, RunError>,
    ) -> Result<(R, RunReport), RunError> {
        self.run_in(1 << 24, seed, args, hosts, with)
    }

    /// The same in so many bytes, where that can be chosen.
    pub(crate) fn run_in<R>(
        &mut self,
        memory: u64,
        seed: u64,
        args: Vec<(&str, Vec<ErasedArg<'_>>)>,
        hosts: Vec<(&str, HostFn<'_>)>,
        with: impl FnOnce(&Running<'_>) -> Result<R, RunError>,
    ) -> Result<(R, RunReport), RunError> {
        let key = |name: &str| self.program.graph.find_kernel(name).unwrap();
        let call = GraphCall {
            args: args.into_iter().map(|(n, a)| (key(n), a)).collect(),
            hosts: hosts.into_iter().map(|(n, h)| (key(n), h)).collect(),
            patience: Duration::from_secs(5),
        };
        let settings = settings(seed, memory);
        match &mut self.on {
            On::Fibers(emulator) => {
                emulator.draw(seed, 8);
                run_graph(&mut **emulator, settings, &self.program, call, with)
            }
            On::Gpu(loaded) => loaded[usize::from(settings.host_thread)].run(call, with),
        }
    }
}

/// Receives all that comes out of a channel.
pub(crate) fn drain(run: &Running<'_>, channel: ChannelKey) -> Result<Vec<u32>, RunError> {
    run.close();
    let mut out = Vec::new();
    while let Some(elements) = run.receive(channel, 1000)? {
        out.extend(words(&elements));
    }
    Ok(out)
}

/// The text compiles for a GPU, warnings as errors.
pub(crate) fn compiles(program: &GraphProgram) {
    let nvrtc = match nvrtc::find() {
        Ok(found) => found,
        Err(why) => return eprintln!("SKIPPED: {why}"),
    };
    let plan = FlowPlan::of(&program.graph, &program.levelized, &program.kernels).unwrap();
    let how = How {
        check: true,
        ..How::default()
    };
    for records in [false, true] {
        let options = Options {
            records,
            ..Options::default()
        };
        let spawning = Spawning::of(&program.graph, &program.levelized, &program.kernels);
        let tasks = spawning.map(|s| cuda::generate(&Plan::new(&s.program, 1 << 28), options));
        let texts = [
            Some(generate(&plan, options).source),
            tasks.map(|t| t.source),
        ];
        for text in texts.into_iter().flatten() {
            match nvrtc.compile(&text, Arch(90), how) {
                Ok(compiled) => assert!(compiled.cubin.starts_with(b"\x7fELF")),
                Err(e) => {
                    let lines = text.lines().enumerate();
                    let text: String = lines.map(|(i, l)| format!("{:4} {l}\n", i + 1)).collect();
                    panic!("{e}\n{text}");
                }
            }
        }
    }
}
