//! Kernels made ahead, on all cores, through the cache on disk: before a GPU runs them, or for a GPU that is elsewhere.

use crate::{engine, none_wrong, on_all_cores, part};
use millstream_channels_kernel::cuda::{
    Image, Options, Part, Plan, generate,
    nvrtc::{self, Arch, How},
};
use millstream_graph::levelized::Levelized;
use std::{
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::channel,
    },
    thread,
    time::{Duration, Instant},
};

/// Channel memory that kernels are generated for; they are the same for all that tests use.
const MEMORY: u64 = 1 << 30;

/// Programs of so many segments are checked as one text. Of larger ones the host thread's kernels are, which have each segment once: a kernel whose
/// blocks run any segment has all of them again, and nothing besides that it has not in a small program.
const MOST_AT_ONCE: usize = 16;

/// The architecture of the GPU that is elsewhere, if `MILLSTREAM_TEST_DEVICE` names one instead of a device: `sm_90`. Tests then compile what
/// they would run there.
///
/// # Panics
/// If it names something else.
#[must_use]
pub fn elsewhere() -> Option<Arch> {
    let name = std::env::var("MILLSTREAM_TEST_DEVICE").ok()?;
    name.starts_with("sm_").then(|| arch(&name))
}

/// The architecture that is called so: `sm_90`.
///
/// # Panics
/// If none is.
#[must_use]
pub fn arch(name: &str) -> Arch {
    let number = name.strip_prefix("sm_").and_then(|n| n.parse().ok());
    Arch(number.unwrap_or_else(|| panic!("{name} is no architecture; `sm_90` is one")))
}

/// Compiles a program, warnings as errors, to be run or to `check` it: how many bytes of machine code there are.
///
/// # Errors
/// What the compiler says.
pub fn compile(program: &Levelized, arch: Arch, check: bool) -> Result<usize, String> {
    compile_with(program, Options::default(), arch, check)
}

/// The same by other options.
///
/// # Errors
/// What the compiler says.
pub fn compile_with(
    program: &Levelized,
    options: Options,
    arch: Arch,
    check: bool,
) -> Result<usize, String> {
    // Of kernels alone a GPU compiles the graphs that they are part of.
    if program.is_empty() {
        return Ok(0);
    }
    let plan = Plan::new(program, MEMORY);
    let segments = plan.kernels();
    let text = generate(&plan, options);
    let nvrtc = nvrtc::find().map_err(|e| e.to_string())?;
    let code = |source: &str, linked: bool| {
        let how = How {
            fast_math: program.program.options.fast_math,
            check,
            linked: linked.then(|| options.registers()),
            ..How::default()
        };
        let compiled = nvrtc.compile_cached(source, arch, how);
        compiled
            .map(|c| c.cubin.len())
            .map_err(|e| format!("{arch}: {e}"))
    };
    if check && segments <= MOST_AT_ONCE {
        return code(&text.source, false);
    }
    // In parts, as a device does.
    let images: &[Image] = match check {
        true => &[],
        false => &[Image::Persistent, Image::Workers],
    };
    let linked = images.iter().flat_map(|image| text.linked(*image));
    let mut parts = text.dispatches().into_iter().chain(linked);
    parts.try_fold(0, |sum, part| {
        Ok(sum + code(&text.part(&part), part.is_linked())?)
    })
}

/// What the compiler says of a program's whole text, warnings as errors, without machine code.
///
/// # Errors
/// What the compiler says.
pub fn read(program: &Levelized, options: Options, arch: Arch) -> Result<(), String> {
    let plan = Plan::new(program, MEMORY);
    let text = generate(&plan, options);
    let nvrtc = nvrtc::find().map_err(|e| e.to_string())?;
    let how = How {
        fast_math: program.program.options.fast_math,
        ..How::default()
    };
    // Workers with levels share most of what a block has.
    let framed = plan.has_framed();
    let framed = framed.then(|| text.part(&Part::Kernels(Image::Workers)));
    let mut texts = [Some(text.source), framed].into_iter().flatten();
    let read = texts.try_for_each(|text| nvrtc.read(&text, arch, how));
    read.map_err(|e| format!("{arch}: {e}"))
}

/// Compiles programs with their names on all cores, in the same way: how many bytes there are, and what went wrong.
#[must_use]
pub fn compile_all(
    programs: &[(String, Arc<Levelized>)],
    archs: &[Arch],
    check: bool,
) -> (usize, Vec<String>) {
    let all = on_all_cores(programs, |(name, program)| {
        let compiled = archs.iter().map(|&arch| compile(program, arch, check));
        let sum: Result<usize, String> = compiled.sum();
        sum.map_err(|error| format!("{name}: {error}"))
    });
    let bytes = all.iter().flatten().sum();
    (bytes, all.into_iter().filter_map(Result::err).collect())
}

/// NVRTC reads one text at a time in a process. So a test of this binary runs in as many processes as there are cores, and each does a part of its work: which,
/// and of how many, is given there. Where a test begins nothing is given: its processes have done all by then.
///
/// # Panics
/// If one of them fails.
#[must_use]
pub fn part_of_processes(test: &str) -> Option<(usize, usize)> {
    if let Some(part) = part() {
        return Some(part);
    }
    let parts = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(16);
    let begin = |part| {
        let mut process = Command::new(std::env::current_exe().unwrap());
        process.args([test, "--exact", "--nocapture"]);
        process.env("MILLSTREAM_PART", format!("{part}/{parts}"));
        process.stdout(Stdio::piped()).stderr(Stdio::piped());
        process.spawn().unwrap()
    };
    let all: Vec<_> = (1..=parts).map(begin).collect();
    let mut failed = 0;
    for process in all {
        let output = process.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{said}");
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        // Of a test that has another name none is run, which is no failure there.
        failed += usize::from(!output.status.success() || !said.contains(" 1 passed;"));
    }
    assert_eq!(failed, 0, "of {parts} processes");
    None
}

/// Makes so many things ready on all cores and runs each as soon as it is, by this thread; `MILLSTREAM_SECONDS` says after how long no other one is
/// begun. How many ran.
///
/// # Panics
/// If what makes them ready does.
pub fn as_ready(count: usize, ready: impl Fn(usize) + Sync, mut run: impl FnMut(usize)) -> usize {
    let limit = std::env::var("MILLSTREAM_SECONDS").map(|s| s.parse().unwrap());
    let (limit, start) = (
        Duration::from_secs(limit.unwrap_or(u64::MAX)),
        Instant::now(),
    );
    let (next, mut ran) = (AtomicUsize::new(0), 0);
    thread::scope(|scope| {
        let (send, receive) = channel();
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let (send, next, ready) = (send.clone(), &next, &ready);
            scope.spawn(move || {
                // Relaxed: each number is taken once, and that is all.
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count || start.elapsed() >= limit {
                        return;
                    }
                    ready(i);
                    // Nobody runs it any more where the time is over.
                    _ = send.send(i);
                }
            });
        }
        drop(send);
        for i in receive {
            if start.elapsed() >= limit {
                break;
            }
            run(i);
            ran += 1;
            if limit.as_secs() < u64::MAX {
                println!("{ran} ran by {:.0?}", start.elapsed());
            }
        }
    });
    ran
}

/// Compiles what a test is about to run, if it runs on a GPU or on one that is elsewhere: runs follow one another, compilations need not.
pub fn ahead(programs: &[(String, Arc<Levelized>)]) {
    let here = || {
        engine::gpus(None)
            .first()
            .and_then(|(_, device)| device.gpu().map(|gpu| Arch(gpu.arch)))
    };
    let Some(arch) = elsewhere().or_else(here) else {
        return;
    };
    let (bytes, wrong) = compile_all(programs, &[arch], false);
    println!(
        "{} programs compiled for {arch}: {} KiB",
        programs.len(),
        bytes >> 10
    );
    none_wrong(&wrong);
}
