//! Code that is compiled quickly and runs first, and the full code that takes its place: for which programs that is, what compiling takes in both ways, and on a
//! GPU that they come to the same.

use millstream::{
    CudaOptions, Device,
    csr::Csr,
    job::{Job, Outcome, Settings},
};
use millstream_aggregator::{
    Aggregator, ErasedArg, GraphCall, GraphProgram, LoadedGraph, MemoryArg,
};
use millstream_channels_kernel::cuda::{
    Options, Plan, Written,
    flow::{self, FlowPlan, Spawning},
    generate,
    nvrtc::{self, How},
};
use millstream_graph::levelized::Levelized;
use millstream_tests::{cubins::arch, none_wrong, root};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread::sleep,
    time::{Duration, Instant},
};

/// Channel memory that kernels are generated for.
const MEMORY: u64 = 1 << 30;

/// The full code is there after so long, or it does not come.
const PATIENCE: Duration = Duration::from_secs(100);

/// A text that there has to be before a first run.
struct Text {
    source: String,
    how: How,
    written: Written,
}

impl Text {
    fn takes_long(&self) -> bool {
        self.written.takes_long(self.source.len())
    }
}

/// Those of a program by the default aggregator.
fn program(levelized: &Levelized) -> Vec<Text> {
    if levelized.is_empty() {
        return Vec::new();
    }
    let plan = Plan::new(levelized, MEMORY);
    let text = generate(&plan, Options::default());
    let of = |part| Text {
        source: text.part(&part),
        how: How {
            fast_math: levelized.program.options.fast_math,
            ..How::default()
        },
        written: Written::of(&plan, &part),
    };
    text.dispatches().into_iter().map(of).collect()
}

/// Those of a job: of a graph, its own, those of its kernels that spawn, and those of the tasks beside it.
fn texts(job: &Job) -> Vec<Text> {
    let mut out = Vec::new();
    if let Some(of) = job.flow() {
        let plan = FlowPlan::of(&of.graph, &of.levelized, &of.kernels).unwrap();
        out.push(Text {
            source: flow::generate(&plan, Options::default()).source,
            how: How {
                fast_math: of.source.options.fast_math,
                ..How::default()
            },
            written: Written::Graph,
        });
        let spawning = Spawning::of(&of.graph, &of.levelized, &of.kernels);
        out.extend(spawning.iter().flat_map(|s| program(&s.program)));
    }
    out.extend(program(job.lowered()));
    out
}

fn open(file: &Path, settings: &Settings) -> Job {
    Job::open(file, settings).unwrap_or_else(|e| panic!("{}: {e:?}", file.display()))
}

/// The jobs of `examples/` with their names.
fn jobs() -> Vec<(String, Job)> {
    let files = std::fs::read_dir(root().join("examples")).unwrap();
    let mut files: Vec<PathBuf> = files.map(|f| f.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "ron"));
    files.sort();
    let name = |file: &Path| file.file_stem().unwrap().to_string_lossy().into_owned();
    let jobs = files
        .iter()
        .map(|file| (name(file), open(file, &Settings::default())));
    jobs.collect()
}

#[test]
fn programs_of_many_shared_loops_and_graphs_of_many_ports_take_long() {
    let jobs = jobs();
    let long = jobs.iter().filter_map(|(name, job)| {
        let long = texts(job).iter().filter(|text| text.takes_long()).count();
        (long > 0).then_some((name.as_str(), long))
    });
    let expected = [
        "backprop",
        "floyd",
        "kmeans",
        "mandelbrot",
        "shortest",
        "tracer",
        "words",
    ];
    assert_eq!(
        long.collect::<Vec<_>>(),
        expected.map(|name| (name, 1)),
        "one text each"
    );
}

/// What is compiled quickly on a GPU compiles quickly.
#[test]
fn what_takes_long_is_taken_in_a_shorter_way() {
    let nvrtc = match nvrtc::find() {
        Ok(found) => found,
        Err(why) => return eprintln!("SKIPPED: {why}"),
    };
    let mut wrong = Vec::new();
    // All of them where architectures are named: `MILLSTREAM_ARCHS=sm_80,sm_90,sm_120`.
    let archs = std::env::var("MILLSTREAM_ARCHS");
    let few = archs.is_err();
    for (name, job) in jobs() {
        if few && name != "words" {
            continue;
        }
        for text in texts(&job).iter().filter(|text| text.takes_long()) {
            for sm in archs.as_deref().unwrap_or("sm_90").split(',') {
                let how = How {
                    quick: true,
                    ..text.how
                };
                if let Err(error) = nvrtc.compile(&text.source, arch(sm), how) {
                    wrong.push(format!("{name} for {sm}: {error}"));
                }
            }
        }
    }
    none_wrong(&wrong);
}

/// Compiles what each example's first run needs in both ways, one text after another, and prints a table: `MILLSTREAM_COMPILING=sm_90` asks for it.
#[test]
fn what_compiling_takes() {
    let Ok(sm) = std::env::var("MILLSTREAM_COMPILING") else {
        return eprintln!("SKIPPED: MILLSTREAM_COMPILING=sm_90 asks for it");
    };
    let nvrtc = nvrtc::find().unwrap();
    println!(
        "| example | texts, KiB | estimate | all | quick | longest | quick | quick at first |\n|---|---|---|---|---|---|---|---|"
    );
    let mut wrong = Vec::new();
    for (name, job) in jobs() {
        let (texts, mut times) = (texts(&job), Vec::new());
        for text in &texts {
            let took = [false, true].map(|quick| {
                let (start, how) = (Instant::now(), How { quick, ..text.how });
                let made = nvrtc.compile(&text.source, arch(&sm), how);
                made.unwrap_or_else(|e| panic!("{name}, quick {quick}: {e}"));
                start.elapsed().as_secs_f64()
            });
            times.push(took);
        }
        let effort = |text: &Text| text.written.effort(text.source.len()).as_secs_f64();
        let sum = |way: usize| times.iter().map(|t| t[way]).sum::<f64>();
        let most = |way: usize| times.iter().map(|t| t[way]).fold(0., f64::max);
        let long = texts.iter().filter(|t| t.takes_long()).count();
        println!(
            "| {name} | {}, {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {} |",
            texts.len(),
            texts.iter().map(|t| t.source.len()).sum::<usize>() >> 10,
            texts.iter().map(effort).fold(0., f64::max),
            sum(0),
            sum(1),
            most(0),
            most(1),
            if long > 0 { "yes" } else { "" }
        );
        for (text, [full, quick]) in texts.iter().zip(&times) {
            // What is not gained so would not be worth it; the bound leaves room for a machine that others use too.
            if text.takes_long() && *quick > 0.8 * full {
                wrong.push(format!("{name}: {full:.2} s, quickly {quick:.2}"));
            }
        }
    }
    none_wrong(&wrong);
}

/// A program whose loops are shared out, and a graph, with smaller sizes.
const RUN: [(&str, &[&str]); 2] = [
    ("floyd", &["n=40"]),
    ("mandelbrot", &["width=64", "step=0.0004"]),
];

/// An example at a path that no cache on disk has seen: its source's path stands in the kernels' text.
fn new_job(folder: &Path, name: &str, set: &[&str]) -> Job {
    for end in ["ron", "rs"] {
        let file = format!("{name}.{end}");
        std::fs::copy(root().join("examples").join(&file), folder.join(&file)).unwrap();
    }
    let settings = Settings {
        params: set.iter().map(ToString::to_string).collect(),
        ..Settings::default()
    };
    let job = open(&folder.join(format!("{name}.ron")), &settings);
    let path = folder.to_str().unwrap();
    let is_new = |text: &Text| text.takes_long() && text.source.contains(path);
    assert!(
        texts(&job).iter().any(is_new),
        "{name} takes long and is new"
    );
    job
}

fn run(job: &Job, device: &Device) -> Outcome {
    let outcome = job.prepare().unwrap().run(device);
    outcome.unwrap_or_else(|e| panic!("{}: {e:?}", device.name()))
}

/// What came out, and whether by quick code.
fn seen(outcome: &Outcome) -> (Option<&str>, &[String], bool) {
    let (result, buffers) = (outcome.result(), outcome.buffers());
    (result, buffers, outcome.report().quick)
}

/// A GPU, if tests are to run on one: by these options, else by the default ones.
fn gpu(early: bool, aggregator: Aggregator) -> Option<Device> {
    if !std::env::var("MILLSTREAM_TEST_DEVICE").is_ok_and(|d| d == "cuda") {
        eprintln!("SKIPPED: no GPU is tried; MILLSTREAM_TEST_DEVICE=cuda asks for one");
        return None;
    }
    let options = CudaOptions {
        memory: Some(256 << 20),
        early,
        aggregator,
        ..CudaOptions::default()
    };
    Some(Device::cuda_with(options).unwrap())
}

/// Runs something until it says that the code is full.
fn until_full(what: &str, mut is_full: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_full() {
        let waited = start.elapsed();
        assert!(waited < PATIENCE, "{what}: after {waited:.0?} still quick");
        sleep(Duration::from_millis(100));
    }
    println!("{what}: the full code ran after {:.1?}", start.elapsed());
}

#[test]
fn a_first_run_has_quick_code_and_later_ones_the_full_code() {
    for (name, set) in RUN {
        let folder = tempfile::tempdir().unwrap();
        let job = new_job(folder.path(), name, set);
        let on_cpu = run(&job, &Device::cpu().unwrap());
        assert!(on_cpu.result().is_some() && !on_cpu.report().quick);
        for aggregator in [Aggregator::Auto, Aggregator::HostThread] {
            let Some(device) = gpu(true, aggregator) else {
                continue;
            };
            let is_quick = nvrtc::find().unwrap().is_quick();
            // One path for each, as the last one's code is in the cache.
            let folder = tempfile::tempdir().unwrap();
            let job = new_job(folder.path(), name, set);
            let what = format!("{name} by {aggregator:?}");
            let first = run(&job, &device);
            let (result, buffers, quick) = seen(&first);
            assert_eq!((result, quick), (on_cpu.result(), is_quick), "{what}");
            until_full(&what, || {
                let next = run(&job, &device);
                let next = seen(&next);
                assert_eq!((next.0, next.1), (result, buffers), "{what}");
                !next.2
            });
            // Whoever comes later finds it in the cache, or in memory.
            let other = run(&job, &gpu(true, aggregator).unwrap());
            assert_eq!(seen(&other), (result, buffers, false), "{what}");
        }
    }
}

#[test]
fn who_waits_for_kernels_has_the_full_code_at_once() {
    for (name, set) in RUN {
        let Some(device) = gpu(false, Aggregator::HostThread) else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let outcome = run(&new_job(folder.path(), name, set), &device);
        assert!(!outcome.report().quick, "{name}");
    }
}

/// A graph that is loaded once and run again and again.
#[test]
fn what_is_loaded_is_renewed_where_a_run_begins() {
    let folder = tempfile::tempdir().unwrap();
    let program = graph_of(&new_job(folder.path(), "shortest", &[]));
    let csr = Csr::grid(40, 25, 5).unwrap();
    let on_cpu = Device::cpu().unwrap().load_graph(&program).unwrap();
    let expected = shortest(&on_cpu, &csr);
    assert!(!expected.1 && !expected.0.contains(&u32::MAX));
    let Some(device) = gpu(true, Aggregator::Auto) else {
        return;
    };
    let loaded = device.load_graph(&program).unwrap();
    let (ways, quick) = shortest(&loaded, &csr);
    assert!(ways == expected.0, "the ways are not those of a CPU");
    assert_eq!(quick, nvrtc::find().unwrap().is_quick());
    until_full("shortest", || {
        let (again, quick) = shortest(&loaded, &csr);
        assert!(again == ways, "the ways are not as they were");
        !quick
    });
}

fn graph_of(job: &Job) -> Arc<GraphProgram> {
    let flow = job.flow().unwrap();
    Arc::new(GraphProgram {
        graph: flow.graph.clone(),
        source: flow.source.clone(),
        levelized: flow.levelized.clone(),
        kernels: flow.kernels.clone(),
    })
}

/// The shortest ways by a graph that is loaded, and whether by quick code.
fn shortest(loaded: &LoadedGraph, csr: &Csr) -> (Vec<u32>, bool) {
    let mut ways = vec![u32::MAX; csr.offsets.len() - 1];
    let graph = &loaded.program().graph;
    let mut call = GraphCall::default();
    let lent = |at: *mut u32, words: usize, written: bool| {
        // SAFETY: it outlives the run, and nobody else looks at it meanwhile; what is written is so by atomics only.
        let memory = unsafe { MemoryArg::raw(at.cast(), 4 * words, written) };
        [ErasedArg::Memory(memory), ErasedArg::Scalar(words as u64)]
    };
    let (at, vertices) = (ways.as_mut_ptr(), ways.len());
    for (key, _) in graph.kernels() {
        let read = [&csr.offsets[..], &csr.targets, &csr.lengths];
        let read = read.map(|words| lent(words.as_ptr().cast_mut(), words.len(), false));
        let mut pieces: Vec<_> = read.into_iter().flatten().collect();
        pieces.extend(lent(at, vertices, true));
        pieces.push(ErasedArg::Scalar(1000));
        call.args.insert(key, pieces);
    }
    let near = graph.find_channel("near").unwrap();
    let start = [0u8; 8];
    let sent = loaded.run(call, |running| running.send(near, &start));
    let ((), report) = sent.unwrap();
    (ways, report.quick)
}
