//! What a program can run on. A new device runs the whole corpus by one more entry in [`devices`].

use crate::{
    Outcome,
    emulator::{Emulator, How},
    value::{Argument, Piece, argument, show, show_lent},
};
use millstream_aggregator::{
    Aggregator, CpuOptions, CudaOptions, Device, ErasedArg, ErasedCall, Loaded, MemoryArg, Policy,
    RunError, RunReport,
};
use millstream_cilk_lower::{SourceError, lower::lower, parse_file};
use millstream_graph::{
    fault::Fault,
    interp::{ArgValue, Interp, InterpError, Limits},
    ir::{FuncId, Program, TaskId},
    levelized::Levelized,
};
use std::{
    sync::{Arc, Once, OnceLock},
    time::Duration,
};

/// A program, read and lowered.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// As the front end wrote it.
    pub program: Program,
    /// As devices run it.
    pub levelized: Arc<Levelized>,
    /// What the first device that ran it compiled: others of its kind run the same code, each in channels of its own.
    loaded: OnceLock<Loaded>,
}

impl Prepared {
    /// The program as some device has compiled it: as this one does, if none has.
    ///
    /// # Errors
    /// If it cannot be compiled.
    pub fn loaded(&self, device: &Device) -> Result<&Loaded, RunError> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded);
        }
        let loaded = device.load(&self.levelized)?;
        Ok(self.loaded.get_or_init(|| loaded))
    }

    fn task(&self, name: &str) -> TaskId {
        self.levelized
            .find(name)
            .unwrap_or_else(|| panic!("there is no task `{name}`"))
    }
}

/// Why a program did not run.
#[derive(Debug)]
pub enum Failure {
    /// On the interpreter.
    Interp(InterpError),
    /// On a device.
    Device(RunError),
}

impl Failure {
    /// The check that failed, if that is why.
    #[must_use]
    pub const fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Interp(InterpError::Fault(fault)) | Self::Device(RunError::Fault(fault)) => {
                Some(fault)
            }
            _ => None,
        }
    }

    /// Whether there was not enough channel memory, in whatever way a device says it.
    #[must_use]
    pub const fn is_memory(&self) -> bool {
        matches!(self, Self::Device(e) if is_memory(e))
    }
}

/// Whether there was not enough channel memory.
#[must_use]
pub const fn is_memory(error: &RunError) -> bool {
    matches!(
        error,
        RunError::OutOfMemory { .. }
            | RunError::ChannelFull { .. }
            | RunError::TooManyLevels { .. }
    )
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Interp(e) => e.fmt(f),
            // How deep a run comes before its memory is full differs from run to run.
            Self::Device(RunError::OutOfMemory { task, .. }) => {
                write!(f, "out of channel memory: task `{task}`")
            }
            Self::Device(RunError::ChannelFull { task, channel, .. }) => {
                write!(f, "task `{task}` filled the channel `{channel}`")
            }
            Self::Device(e) => e.fmt(f),
        }
    }
}

/// Reads and lowers a file's program.
///
/// # Errors
/// What the front end refuses.
pub fn prepare(source: &str, file: &str) -> Result<Prepared, SourceError> {
    let program = parse_file(source, file, None)?;
    let levelized = lower(&program).map_err(|e| SourceError::Internal(e.to_string()))?;
    Ok(Prepared {
        program,
        levelized: Arc::new(levelized),
        loaded: OnceLock::new(),
    })
}

/// An engine.
#[derive(Clone, Debug)]
pub enum Engine {
    /// The reference interpreter, on the IR before the lowering.
    Interp,
    /// A device and its name.
    Device(String, Device),
}

/// Every engine there is here: the interpreter and [`devices`].
#[must_use]
pub fn all(memory: Option<u64>) -> Vec<Engine> {
    let devices = devices(memory)
        .into_iter()
        .map(|(name, device)| Engine::Device(name, device));
    std::iter::once(Engine::Interp).chain(devices).collect()
}

/// What runs of a CPU device may take where a test does not say: the same on every machine.
const MEMORY: u64 = 4 << 30;

/// Every device and its name: the CPU with several numbers of threads, some of them with stacks of one wavefront of one element, and
/// [`gpus`]. `memory` is what a device's channels may take.
#[must_use]
pub fn devices(memory: Option<u64>) -> Vec<(String, Device)> {
    let cpu = |threads, width| {
        Device::cpu_with(CpuOptions {
            threads: Some(threads),
            memory: Some(memory.unwrap_or(MEMORY)),
            width,
            ..CpuOptions::default()
        })
        .unwrap()
    };
    let wide =
        [1, 2, 4, 16].map(|threads| (format!("cpu with {threads} threads"), cpu(threads, None)));
    let narrow = [1, 16].map(|threads| {
        (
            format!("cpu with {threads} threads, one element a wavefront"),
            cpu(threads, Some(1)),
        )
    });
    wide.into_iter().chain(narrow).chain(gpus(memory)).collect()
}

/// Channel memory of GPUs, if a test does not say: a process for each core has all engines on one GPU.
const GPU_MEMORY: u64 = 1 << 30;

/// The first GPU by each aggregator, and with workers from the first element on, if `MILLSTREAM_TEST_DEVICE` is `cuda`; else nothing, which is
/// said once. `MILLSTREAM_TEST_ENGINES=host,inside` tries those alone whose names have one of these parts: the persistent kernels take longest to compile.
///
/// # Panics
/// If a GPU is asked for and there is none that works.
#[must_use]
pub fn gpus(memory: Option<u64>) -> Vec<(String, Device)> {
    static SAID: Once = Once::new();
    // Keeps the context from one test to the next.
    static KEPT: OnceLock<Device> = OnceLock::new();
    match std::env::var("MILLSTREAM_TEST_DEVICE").as_deref() {
        Ok("cuda") => {}
        Ok(other) if other.starts_with("sm_") => {
            SAID.call_once(|| {
                eprintln!("SKIPPED: no GPU is tried; what it would run is compiled for {other}")
            });
            return Vec::new();
        }
        Ok(other) if !other.is_empty() => panic!(
            "MILLSTREAM_TEST_DEVICE={other} is no device that tests know: it may be cuda, or sm_90"
        ),
        _ => {
            SAID.call_once(|| {
                eprintln!("SKIPPED: no GPU is tried; MILLSTREAM_TEST_DEVICE=cuda asks for one")
            });
            return Vec::new();
        }
    }
    let make = |aggregator, policy| {
        let memory = Some(memory.unwrap_or(GPU_MEMORY));
        let options = CudaOptions {
            memory,
            aggregator,
            policy,
            watchdog: Duration::from_secs(5),
            early: false,
            ..CudaOptions::default()
        };
        Device::cuda_with(options).unwrap_or_else(|e| panic!("MILLSTREAM_TEST_DEVICE=cuda: {e}"))
    };
    KEPT.get_or_init(|| make(Aggregator::HostThread, Policy::Device));
    let asked = std::env::var("MILLSTREAM_TEST_ENGINES").unwrap_or_default();
    let asked: Vec<&str> = asked.split(',').filter(|a| !a.is_empty()).collect();
    [
        ("cuda, persistent", Aggregator::Persistent, Policy::Device),
        ("cuda, host thread", Aggregator::HostThread, Policy::Device),
        ("cuda, auto", Aggregator::Auto, Policy::Auto),
        (
            "cuda, inside the blocks",
            Aggregator::HostThread,
            Policy::Block,
        ),
    ]
    .into_iter()
    .filter(|(name, ..)| asked.is_empty() || asked.iter().any(|a| name.contains(a)))
    .map(|(name, aggregator, policy)| (name.to_owned(), make(aggregator, policy)))
    .collect()
}

impl Engine {
    /// What it is called in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Interp => "interpreter",
            Self::Device(name, _) => name,
        }
    }

    /// Whether it is a GPU.
    #[must_use]
    pub fn is_gpu(&self) -> bool {
        matches!(self, Self::Device(_, device) if device.gpu().is_some())
    }

    /// Calls a task with arguments given as `Debug` text.
    ///
    /// # Errors
    /// Why the run ended without a result.
    pub fn call(
        &self,
        prepared: &Prepared,
        task: &str,
        args: &[String],
    ) -> Result<Outcome, Failure> {
        Ok(self.call_and_report(prepared, task, args)?.0)
    }

    /// The same; a device says too what the run did.
    ///
    /// # Errors
    /// Why the run ended without a result.
    pub fn call_and_report(
        &self,
        prepared: &Prepared,
        task: &str,
        args: &[String],
    ) -> Result<(Outcome, Option<RunReport>), Failure> {
        let program = &prepared.program;
        match self {
            Self::Interp => {
                let (func, arguments, pieces) = read(program, task, args);
                let (images, _) = interpret(program, func, pieces).map_err(Failure::Interp)?;
                Ok((outcome(program, func, &arguments, args, images), None))
            }
            Self::Device(_, device) => {
                let loaded = prepared.loaded(device).map_err(Failure::Device)?;
                let (outcome, report) =
                    call_loaded(device, loaded, prepared, task, args).map_err(Failure::Device)?;
                Ok((outcome, Some(report)))
            }
        }
    }
}

/// Calls a task of a program that is loaded already, by this device or by one like it.
///
/// # Errors
/// Why the run ended without a result.
pub fn call_loaded(
    device: &Device,
    loaded: &Loaded,
    prepared: &Prepared,
    task: &str,
    args: &[String],
) -> Result<(Outcome, RunReport), RunError> {
    let program = &prepared.program;
    let (func, arguments, pieces) = read(program, task, args);
    let run = |calls: &mut [ErasedCall<'_>]| device.launch(loaded, prepared.task(task), calls);
    let (images, report) = launch(pieces, run)?;
    Ok((outcome(program, func, &arguments, args, images), report))
}

/// Calls a task with arguments given as `Debug` text, on an emulated GPU.
///
/// # Errors
/// Why the run ended without a result.
pub fn emulate(
    emulator: &mut Emulator,
    how: How,
    prepared: &Prepared,
    task: &str,
    args: &[String],
) -> Result<(Outcome, RunReport), RunError> {
    let (func, arguments, pieces) = read(&prepared.program, task, args);
    let (images, report) = launch(pieces, |calls| {
        emulator.launch(how, prepared.task(task), calls)
    })?;
    let outcome = outcome(&prepared.program, func, &arguments, args, images);
    Ok((outcome, report))
}

/// Arguments that are given as `Debug` text.
fn read(program: &Program, task: &str, args: &[String]) -> (FuncId, Vec<Argument>, Vec<Piece>) {
    let func = program
        .find(task)
        .unwrap_or_else(|| panic!("there is no task `{task}`"));
    let function = &program[func];
    assert_eq!(args.len(), function.params.len(), "arguments of `{task}`");
    let read = |(text, param): (&String, &millstream_graph::ir::Param)| {
        argument(text, &param.ty, &program.structs)
    };
    let arguments: Vec<Argument> = args.iter().zip(&function.params).map(read).collect();
    let pieces: Vec<Piece> = arguments.iter().flat_map(|a| a.pieces.clone()).collect();
    (func, arguments, pieces)
}

/// What a call came to, as `Debug` text.
fn outcome(
    program: &Program,
    func: FuncId,
    arguments: &[Argument],
    args: &[String],
    (bytes, memory): Images,
) -> Outcome {
    let mut memory = memory.into_iter();
    let after = arguments
        .iter()
        .zip(args)
        .map(|(argument, text)| match &argument.memory {
            Some(lent) => show_lent(&memory.next().unwrap(), lent, &program.structs),
            None => text.clone(),
        });
    let after = after.collect();
    Outcome {
        result: show(&bytes, &program[func].ret, &program.structs),
        after,
    }
}

/// The bytes of the result, and of each piece of memory afterwards.
pub type Images = (Vec<u8>, Vec<Vec<u8>>);

fn interpret(
    program: &Program,
    func: FuncId,
    pieces: Vec<Piece>,
) -> Result<(Images, u64), InterpError> {
    let limits = Limits {
        steps: 2_000_000_000,
        ..Limits::default()
    };
    let mut interp = Interp::new(program).with_limits(limits);
    let mut memory = Vec::new();
    let args: Vec<ArgValue> = pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Scalar(bits) => ArgValue::Scalar(bits),
            Piece::Blob(bytes) => ArgValue::Blob(bytes),
            Piece::Memory(bytes) => {
                let len = bytes.len();
                let address = interp.alloc(bytes, 8);
                memory.push((address, len));
                ArgValue::Scalar(address)
            }
        })
        .collect();
    let result = interp.call(func, &args)?;
    let memory = memory
        .into_iter()
        .map(|(address, len)| interp.read(address)[..len].to_vec());
    Ok(((result, memory.collect()), interp.stats().tasks))
}

/// How many tasks run where each child runs before what follows its spawn.
///
/// # Panics
/// If the program does not end well.
#[must_use]
pub fn serial_tasks(prepared: &Prepared, task: &str, args: &[String]) -> u64 {
    let program = &prepared.program;
    let func = program.find(task).unwrap();
    let arguments = args.iter().zip(&program[func].params);
    let pieces = arguments.flat_map(|(a, p)| argument(a, &p.ty, &program.structs).pieces);
    interpret(program, func, pieces.collect()).unwrap().1
}

/// Runs a call of these pieces.
///
/// # Errors
/// As `run` does.
pub fn launch(
    pieces: Vec<Piece>,
    run: impl FnOnce(&mut [ErasedCall<'_>]) -> Result<RunReport, RunError>,
) -> Result<(Images, RunReport), RunError> {
    // Words, so that the memory is aligned for every scalar.
    let words = |bytes: &Vec<u8>| {
        let word = |c: &[u8]| c.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
        bytes.chunks(8).map(word).collect::<Vec<u64>>()
    };
    let lens: Vec<usize> = pieces
        .iter()
        .filter_map(|p| {
            if let Piece::Memory(b) = p {
                Some(b.len())
            } else {
                None
            }
        })
        .collect();
    let mut memory: Vec<Vec<u64>> = pieces
        .iter()
        .filter_map(|p| {
            if let Piece::Memory(b) = p {
                Some(words(b))
            } else {
                None
            }
        })
        .collect();
    let mut lent = memory.iter_mut();
    let args = pieces.into_iter().map(|piece| match piece {
        Piece::Scalar(bits) => ErasedArg::Scalar(bits),
        Piece::Blob(bytes) => ErasedArg::Blob(bytes),
        Piece::Memory(_) => ErasedArg::Memory(MemoryArg::exclusive(lent.next().unwrap())),
    });
    let mut calls = [ErasedCall::new(args.collect())];
    let report = run(&mut calls)?;
    let [call] = calls;
    let result = call.result;
    let image = |(words, len): (Vec<u64>, usize)| {
        words
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .take(len)
            .collect()
    };
    Ok((
        (result, memory.into_iter().zip(lens).map(image).collect()),
        report,
    ))
}
