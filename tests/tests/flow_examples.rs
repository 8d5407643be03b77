//! The examples that are graphs as a GPU runs them, without one: their texts compile, and on fibers come to what the CPU comes to.
//!
//! Needs NVRTC for the first and a C++ compiler, `c++` or `CXX`, for the others; without them nothing of these runs.

use millstream::{
    Device,
    job::{Job, Settings},
};
use millstream_aggregator::{
    ErasedArg, ErasedCall, GraphCall, GraphProgram, MemoryArg,
    cuda::flow::{FlowSettings, run_graph},
};
use millstream_channels_kernel::cuda::{
    Options, Plan,
    flow::{FlowPlan, generate},
    nvrtc::{self, Arch, How},
};
use millstream_graph::ty::{Structs, Type};
use millstream_tests::emulator::{self, FlowEmulator};
use std::{cell::RefCell, collections::BTreeMap, time::Duration};

const GRAPHS: [&str; 6] = [
    "bfs",
    "fib_channel",
    "mandelbrot",
    "shortest",
    "tracer",
    "words",
];

fn open(name: &str) -> Job {
    let file = millstream_tests::root().join(format!("examples/{name}.ron"));
    Job::open(&file, &Settings::default()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn every_graph_compiles_for_a_gpu() {
    let nvrtc = match nvrtc::find() {
        Ok(found) => found,
        Err(why) => return eprintln!("SKIPPED: {why}"),
    };
    for name in GRAPHS {
        let job = open(name);
        let flow = job.flow().unwrap();
        let plan = FlowPlan::of(&flow.graph, &flow.levelized, &flow.kernels).unwrap();
        let text = generate(&plan, Options::default()).source;
        let how = How {
            check: true,
            ..How::default()
        };
        let compiled = nvrtc.compile(&text, Arch(90), how);
        let compiled = compiled.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(compiled.cubin.starts_with(b"\x7fELF"), "{name}");
    }
}

/// What is called before a graph and after it is a program of tasks.
#[test]
fn tasks_beside_a_graph_need_no_channels() {
    for name in GRAPHS {
        let plan = Plan::new(open(name).lowered(), 256 << 20);
        let tasks = open(name).program().tasks().count();
        assert_eq!(plan.kernels() > 0, tasks > 0, "{name}");
    }
}

/// What arguments name: buffers, whose words all kernels share, and values by their bits.
#[derive(Default)]
struct Given {
    buffers: BTreeMap<&'static str, RefCell<Vec<u32>>>,
    values: BTreeMap<&'static str, Vec<u64>>,
}

impl Given {
    fn buffer(mut self, name: &'static str, words: Vec<u32>) -> Self {
        self.buffers.insert(name, RefCell::new(words));
        self
    }

    fn value(mut self, name: &'static str, bits: &[u64]) -> Self {
        self.values.insert(name, bits.to_vec());
        self
    }

    fn words(&self, name: &str) -> Vec<u32> {
        self.buffers[name].borrow().clone()
    }

    /// The pieces of an argument for a parameter of this type.
    fn pieces(&self, arg: &str, ty: &Type, structs: &Structs) -> Vec<ErasedArg<'_>> {
        let Some(name) = arg.strip_prefix('&') else {
            let bits = self.values.get(arg).cloned();
            let bits = bits.unwrap_or_else(|| vec![arg.parse().unwrap()]);
            return bits.into_iter().map(ErasedArg::Scalar).collect();
        };
        let mut words = self.buffers[name.trim_start_matches("mut ")].borrow_mut();
        let bytes = 4 * words.len();
        // SAFETY: it lives as long as `self`, where nobody looks while a run is under way, but kernels by atomics.
        let memory = unsafe { MemoryArg::raw(words.as_mut_ptr().cast(), bytes, true) };
        let mut out = vec![ErasedArg::Memory(memory)];
        if let Type::Slice { elem, .. } = ty {
            out.push(ErasedArg::Scalar(bytes as u64 / elem.layout(structs).size));
        }
        out
    }

    /// Calls a task of the program on the CPU.
    fn call(&self, job: &Job, task: &str, args: &[&str]) {
        let (lowered, device) = (job.lowered(), Device::cpu().unwrap());
        let loaded = device.load(lowered).unwrap();
        let id = lowered.find(task).unwrap();
        let program = &lowered.program;
        let params = program[lowered.func(id)].params.iter();
        let pieces = params
            .zip(args)
            .flat_map(|(p, arg)| self.pieces(arg, &p.ty, &program.structs));
        let mut call = [ErasedCall::new(pieces.collect())];
        device.launch(&loaded, id, &mut call).unwrap();
    }

    /// Runs a graph on fibers, in an interleaving drawn from the seed.
    fn run(
        &self,
        emulator: &mut FlowEmulator,
        flow: &GraphProgram,
        seed: u64,
        sent: (&str, &[u32]),
    ) {
        let GraphProgram { graph, source, .. } = flow;
        let args = graph.kernels().map(|(key, kernel)| {
            let function = source.find(kernel.function().unwrap()).unwrap();
            let params = source[function].params[1..].iter();
            let bound = params.filter(|p| !matches!(p.ty, Type::Channel(_)));
            let pieces = bound
                .zip(&kernel.args)
                .flat_map(|(p, arg)| self.pieces(arg, &p.ty, &source.structs));
            (key, pieces.collect())
        });
        let call = GraphCall {
            args: args.collect(),
            patience: Duration::from_secs(5),
            ..GraphCall::default()
        };
        let settings = FlowSettings {
            memory: 1 << 30,
            host_thread: seed.is_multiple_of(2),
            watchdog: Duration::from_secs(60),
            timeline: None,
        };
        let bytes: Vec<u8> = sent.1.iter().flat_map(|w| w.to_le_bytes()).collect();
        let channel = graph.find_channel(sent.0).unwrap();
        emulator.draw(seed, 8);
        run_graph(emulator, settings, flow, call, |run| {
            run.send(channel, &bytes)
        })
        .unwrap();
    }
}

/// Runs an example from three seeds, with what a function makes for each, and hands it what came of it.
fn emulate(
    name: &str,
    sent: (&str, &[u32]),
    make: impl Fn(&Job) -> Given,
    check: impl Fn(&Job, &Given),
) {
    if !emulator::is_there() {
        return eprintln!("SKIPPED: no C++ compiler");
    }
    let job = open(name);
    let flow = job.flow().unwrap();
    let emulator = FlowEmulator::of_graph(flow, 2, 4096);
    let mut emulator = emulator.unwrap_or_else(|e| panic!("{name}: {e}"));
    for seed in 1..=3 {
        let given = make(&job);
        given.run(&mut emulator, flow, seed, sent);
        check(&job, &given);
    }
}

/// A small graph: a hub with more edges than an element follows, and a way beside it.
fn hub() -> millstream::csr::Csr {
    let spokes = (1..=80).map(|v| (0, v, 2 + v % 3));
    let ring = (1..80).map(|v| (v, v + 1, 1));
    let edges: Vec<_> = spokes
        .chain(ring)
        .chain([(80, 0, 1), (40, 81, 9)])
        .collect();
    millstream::csr::Csr::from_edges(83, || edges.iter().copied()).unwrap()
}

#[test]
fn searches_of_a_gpu_find_what_one_thread_finds() {
    let csr = hub();
    let make = |ways: &'static str| {
        let given = Given::default()
            .buffer("offsets", csr.offsets.clone())
            .buffer("targets", csr.targets.clone())
            .buffer("lengths", csr.lengths.clone());
        given.buffer(ways, vec![u32::MAX; 83]).value("delta", &[3])
    };
    let steps = |words: &[u32]| (words[0], words[80], words[81], words[82]);
    emulate(
        "bfs",
        ("begins", &[0]),
        |_| make("steps"),
        |_, given| {
            assert_eq!(steps(&given.words("steps")), (0, 1, 2, u32::MAX));
        },
    );
    // 40 is two away, the others as far as their spoke, or one that is shorter and the rim.
    emulate(
        "shortest",
        ("near", &[0, 0]),
        |_| make("ways"),
        |_, given| {
            assert_eq!(steps(&given.words("ways")), (0, 4, 12, u32::MAX));
        },
    );
}

#[test]
fn words_of_a_gpu_are_counted() {
    let text = "It is what it is, and that is that: a word is a word is a word. ".repeat(20);
    let make = |_: &Job| {
        let mut bytes = text.clone().into_bytes();
        bytes.resize(bytes.len().next_multiple_of(4), b' ');
        let words = bytes
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let zeros = |given: Given, name, len| given.buffer(name, vec![0; len]);
        let given = Given::default().buffer("text", words.collect());
        let given = zeros(
            zeros(zeros(given, "hashes", 128), "counts", 64),
            "places",
            64,
        );
        zeros(zeros(given, "words", 1), "longest", 1)
    };
    let len = text.len().next_multiple_of(4) as u32;
    emulate("words", ("parts", &[0, len]), make, |_, given| {
        assert_eq!(
            (given.words("words"), given.words("longest")),
            (vec![7], vec![4])
        );
        let mut counts = given.words("counts");
        counts.retain(|c| *c > 0);
        counts.sort_unstable();
        // and, what; it, that; word, a; is.
        assert_eq!(counts, [20, 20, 40, 40, 60, 60, 100]);
    });
}

#[test]
fn pictures_of_a_gpu_are_those_of_the_cpu() {
    let view = [
        (-0.1731f64).to_bits(),
        1.0486875f64.to_bits(),
        (0.0262f64 / 64.0).to_bits(),
        64,
        40,
        200,
    ];
    let make = |_: &Job| {
        Given::default()
            .buffer("steps", vec![0; 64 * 40])
            .value("view", &view)
    };
    let seen = RefCell::new(BTreeMap::new());
    emulate("mandelbrot", ("tiles", &[0, 1, 2, 3]), make, |_, given| {
        let steps = given.words("steps");
        assert!(steps.iter().all(|s| (1..=201).contains(s)) && steps.contains(&201));
        let first = seen.borrow_mut().entry(0).or_insert(steps.clone()).clone();
        assert!(first == steps, "another interleaving, another picture");
    });

    let (width, height) = (12, 8);
    let pixels = (width * height) as usize;
    let make = |job: &Job| {
        let zeros = |len| vec![0u32; len];
        let given = Given::default()
            .buffer("scene", zeros(9 * 60))
            .buffer("nodes", zeros(8 * 119))
            .buffer("sums", zeros(3 * pixels))
            .buffer("open", zeros(pixels))
            .buffer("pixels", zeros(pixels))
            .value("view", &[width, height, 2]);
        given.call(job, "scene", &["&scene"]);
        given.call(job, "boxes", &["&scene", "&nodes", "0", "0"]);
        given
    };
    let rows: Vec<u32> = (0..height as u32).collect();
    emulate("tracer", ("rows", &rows), make, |job, given| {
        let traced = given.words("pixels");
        let direct = make(job);
        let end = pixels.to_string();
        let args = ["0", &end, "view", "&scene", "&nodes", "&sums", "&pixels"];
        direct.call(job, "paint", &args);
        assert!(traced == direct.words("pixels"));
        assert!(traced.iter().any(|p| *p != traced[0]));
    });
}
