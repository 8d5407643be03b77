//! Jobs: runs that a file describes, a `.rs` file with a program or a RON file that names one.
//!
//! [`Job::open`] reads the file, compiles the program to levelized form and puts the command's [`Settings`] over what the file says;
//! [`Job::prepare`] makes the buffers and checks the arguments against the task; [`Prepared::run`] runs it on a device, checks what was
//! expected and writes the outputs, whole or not at all. Whatever is wrong is a [`JobError`] with its places in the user's texts.
//!
//! - `spec`, `file`: what a job says, from the command's arguments and from RON
//! - `source`: the program; `call`: the entry call; `graph`: a graph of kernels in place of it; `eval`, `value`, `types`: values, from text and in memory
//! - `choices`: what a run was done with, and why
//! - `borrows`: the program's borrows, checked by rustc
//! - `data`, `npy`, `output`: buffers and their files; `making`: the buffers of a job; `run`: from the one to the other, `profile` in the interpreter; `write`: a graph as a file

mod borrows;
mod byte_texts;
mod call;
mod choices;
mod data;
mod error;
mod eval;
mod file;
mod graph;
mod making;
mod npy;
mod numbers;
mod output;
mod profile;
mod run;
#[allow(unsafe_code, reason = "words are seen as atomics")]
mod shared;
mod source;
mod spec;
mod types;
mod unparsed;
mod value;
mod write;

pub use borrows::Borrows;
pub use choices::Choice;
pub use error::{JobError, Problem};
pub use output::{check_place, write_file, write_file_by};
pub use profile::Profiled;
pub use run::{Outcome, Prepared};
pub use source::Modes;
pub use spec::{MOST_THREADS, Settings};

use millstream_aggregator::{CpuOptions, CudaOptions, Device, GraphProgram};
use millstream_graph::{
    graph::{Drawing, Graph},
    ir::Program,
    levelized::Levelized,
};
use source::Loaded;
use spec::{Place, Spec};
use std::{path::Path, sync::Arc};

/// A run that a file describes, its program compiled to levelized form.
#[derive(Clone, Debug)]
pub struct Job {
    spec: Spec,
    loaded: Loaded,
    described: bool,
}

impl Job {
    /// Reads a `.rs` or a `.ron` file.
    ///
    /// # Errors
    /// If the file cannot be read, says what cannot be, or its program is wrong.
    pub fn open(path: &Path, settings: &Settings) -> std::result::Result<Self, JobError> {
        let _span = tracing::debug_span!("read and lower").entered();
        deeply(|| {
            let spec = Spec::read(path, settings)?;
            let loaded = source::load(&spec)?;
            let described =
                path.extension().is_some_and(|e| e == "ron") || settings.entry.is_some();
            Ok(Self {
                spec,
                loaded,
                described,
            })
        })
    }

    /// Whether it says how to call the program: a RON file does, a source file with an entry too.
    #[must_use]
    pub const fn is_described(&self) -> bool {
        self.described
    }

    /// The program as it was written.
    #[must_use]
    pub const fn program(&self) -> &Program {
        &self.loaded.program
    }

    /// The graph that runs.
    #[must_use]
    pub fn graph(&self) -> Graph {
        let loaded = &self.loaded;
        let graph = loaded.graph.as_ref();
        graph.unwrap_or(loaded.lowered.graph()).clone()
    }

    /// What devices make of its graph, if that is one of kernels rather than of tasks.
    #[must_use]
    pub fn flow(&self) -> Option<&GraphProgram> {
        self.loaded.placed.as_ref().map(|placed| &*placed.program)
    }

    /// A drawing of the graph that runs.
    #[must_use]
    pub fn drawing(&self) -> Drawing {
        match self.flow() {
            Some(flow) => {
                let whole = flow.graph.with_tasks(&flow.levelized, &flow.kernels);
                Drawing::new(&whole, &flow.levelized.program)
            }
            None => Drawing::new(&self.graph(), &self.lowered().program),
        }
    }

    /// The graph that runs as a file that can be run, which is to lie in that folder.
    ///
    /// # Errors
    /// If it cannot be written; no graph is known that cannot.
    pub fn graph_file(&self, folder: Option<&Path>) -> std::result::Result<String, JobError> {
        write::graph(&self.graph(), &self.spec, &self.loaded, folder)
    }

    /// What the user of its graph should know.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.loaded.warnings
    }

    /// From now on its program is what a GPU runs, if that is another than what a CPU does: for those who look at it.
    pub fn show_wide(&mut self) {
        if let Some(wide) = &self.loaded.lowered.wide {
            self.loaded.lowered = Arc::clone(wide);
        }
    }

    /// The program as devices run it.
    #[must_use]
    pub const fn lowered(&self) -> &Arc<Levelized> {
        &self.loaded.lowered
    }

    /// Has rustc check the program's borrows, and so that it has no data race, if there is a rustc: the one that the environment
    /// names by `MILLSTREAM_RUSTC` or `RUSTC`, or the one on the path. No other check of this crate's finds races.
    ///
    /// # Errors
    /// What rustc refuses.
    pub fn check_borrows(&self) -> std::result::Result<Borrows, JobError> {
        deeply(|| borrows::check(&self.loaded))
    }

    /// Whether its tasks pass references on, so that there are borrows to check.
    #[must_use]
    pub fn borrows(&self) -> bool {
        let structs = &self.program().structs;
        let mut params = self.program().callable().flat_map(|(_, f)| &f.params);
        params.any(|p| p.ty.has_addresses(structs))
    }

    /// The declaration of a function: `fib(n: u32) -> u64`.
    #[must_use]
    pub fn signature(&self, function: &str) -> Option<String> {
        let program = self.program();
        let found = program.find(function)?;
        Some(call::signature(&program[found], &program.structs))
    }

    /// A line of the program's source, if it has one.
    #[must_use]
    pub fn source_line(&self, line: u32) -> Option<&str> {
        let (source, program) = (&self.loaded.source, &self.loaded.program);
        let index = (line as usize).checked_sub(1)?;
        let own = source.name() == program.file;
        own.then(|| source.text().lines().nth(index))?
    }

    /// The device that it asks for.
    ///
    /// # Errors
    /// If there is no such device here, or the settings make no sense.
    pub fn device(&self) -> std::result::Result<Device, JobError> {
        let Spec {
            threads,
            memory,
            aggregator,
            policy,
            ..
        } = &self.spec;
        let cpu = CpuOptions {
            threads: threads.as_ref().map(|t| t.0),
            memory: *memory,
            observe: self.spec.observe,
            ..CpuOptions::default()
        };
        let cuda = CudaOptions {
            memory: *memory,
            aggregator: aggregator.unwrap_or_default(),
            policy: policy.unwrap_or_default(),
            observe: self.spec.observe,
            ..CudaOptions::default()
        };
        let device = match self.spec.device {
            // Who asks for threads wants what has them.
            Place::Auto if threads.is_some() => Device::cpu_with(cpu),
            Place::Auto => Device::auto_with(cpu, cuda),
            Place::Cpu => Device::cpu_with(cpu),
            Place::Cuda(ordinal) => {
                return Device::cuda_with(CudaOptions { ordinal, ..cuda }).map_err(|e| {
                    let problem = Problem::new(format!("cannot run on `cuda:{ordinal}`: {e}"));
                    problem
                        .help("use `--device cpu`; `millstream doctor` says what was found")
                        .into()
                });
            }
        };
        device.map_err(|e| match threads {
            Some((0, Some(text))) => text.problem(e.to_string(), "here").into(),
            _ => Problem::new(e.to_string()).into(),
        })
    }

    /// Makes the buffers and checks the arguments.
    ///
    /// # Errors
    /// If a buffer cannot be made, a file not be read, or an argument does not fit.
    pub fn prepare(&self) -> std::result::Result<Prepared, JobError> {
        let _span = tracing::debug_span!("make the buffers").entered();
        deeply(|| run::prepare(&self.spec, &self.loaded))
    }
}

/// Stack for reading texts: what is nested as deep as can be takes 5 MiB of it, unoptimised, which a thread need not have.
const DEEP: usize = 16 << 20;

/// Runs something that recurses as deep as the user's text does.
fn deeply<T: Send>(work: impl Fn() -> T + Sync) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(DEEP)
            .spawn_scoped(scope, &work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(done)) => done,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            // Without such a thread this one has to do.
            Err(_) => work(),
        }
    })
}
