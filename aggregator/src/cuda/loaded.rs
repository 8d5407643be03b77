//! A program on a GPU: its parts, each a module of its own, and which of its kernels are there.

use super::{
    compile::{Compiler, refused},
    device::{Inner, arch_for},
    driver::{Kernel, Module},
    launcher::Kernels,
    subtrees,
    timeline::node_name,
};
use crate::{
    error::RunError,
    gpus::{Aggregator, Policy},
    policy::Bytes,
    sync::Mutex,
};
use millstream_channels_kernel::cuda::{
    Generated, Options, Part, Plan,
    abi::{MOST_BLOCKS, kernel},
    generate,
    nvrtc::{self, Compiled, How, Later},
};
use millstream_graph::levelized::Levelized;
use std::{
    sync::{Arc, OnceLock, Weak},
    time::{Duration, Instant},
};

/// With more segments than this the persistent kernel, which has all their bodies, takes minutes to compile. [`Aggregator::Auto`] does without.
const MOST_SOURCES: usize = 64;

/// A program on a device, compiled.
#[derive(Debug)]
pub struct CudaLoaded {
    program: Arc<Levelized>,
    pub(super) kernels: Kernels,
    /// The host thread's kernels, by number, each with the part that it is in; none if another decides.
    dispatches: Vec<(usize, Kernel)>,
    parts: Vec<LoadedPart>,
    persistent: Whole,
    workers: Whole,
    /// What the global of every part is to hold.
    table: Mutex<Vec<u8>>,
    source: String,
    log: String,
    owner: Weak<Inner>,
}

/// A kernel that has the bodies of all segments: it may come when the program runs already.
#[derive(Debug)]
struct Whole {
    there: OnceLock<Deciding>,
    /// While it is being compiled.
    later: Mutex<Option<Later>>,
}

/// A kernel whose blocks decide by themselves.
#[derive(Debug)]
pub(super) struct Deciding {
    pub(super) part: LoadedPart,
    pub(super) kernel: Kernel,
    /// How many blocks of it fit the GPU.
    pub(super) blocks: u32,
}

/// A module of a program.
#[derive(Debug)]
pub(super) struct LoadedPart {
    /// The global that says where channels lie: its address and its size.
    global: (u64, usize),
    /// What it holds.
    holds: Mutex<Vec<u8>>,
    module: Module,
}

impl LoadedPart {
    fn new(inner: &Inner, compiled: &Compiled) -> Result<Self, RunError> {
        let module = Module::new(&inner.context, &compiled.cubin)?;
        Ok(Self {
            global: module.global(kernel::CHANNELS)?,
            holds: Mutex::new(Vec::new()),
            module,
        })
    }

    /// One of its kernels.
    pub(super) fn kernel(&self, name: &str) -> Result<Kernel, RunError> {
        self.module.kernel(name)
    }

    /// Has `fill` write the program's table to the global, unless that is what it holds.
    pub(super) fn fill(
        &self,
        of: &CudaLoaded,
        fill: impl FnOnce((u64, usize), &[u8]) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let (table, mut holds) = (of.table.lock(), self.holds.lock());
        if *holds != *table {
            fill(self.global, &table)?;
            holds.clone_from(&table);
        }
        Ok(())
    }
}

impl Deciding {
    fn new(inner: &Inner, compiled: &Compiled, name: &'static str) -> Result<Self, RunError> {
        let part = LoadedPart::new(inner, compiled)?;
        let kernel = part.module.kernel(name)?;
        let blocks = fitting(inner, &kernel)?;
        Ok(Self {
            part,
            kernel,
            blocks: blocks.min(MOST_BLOCKS),
        })
    }
}

impl Whole {
    const fn new() -> Self {
        Self {
            there: OnceLock::new(),
            later: Mutex::new(None),
        }
    }

    /// Whether it is there. If it has been compiled meanwhile it is loaded.
    fn is_ready(
        &self,
        inner: &Inner,
        of: &CudaLoaded,
        name: &'static str,
    ) -> Result<bool, RunError> {
        if self.there.get().is_some() {
            return Ok(true);
        }
        let done = self.later.lock().take_if(|later| later.is_done());
        let Some(done) = done else {
            return Ok(false);
        };
        let loaded = done
            .result()
            .map_err(refused)
            .and_then(|compiled| Deciding::new(inner, &compiled, name))
            .and_then(|loaded| Ok((loaded.kernel.describe(name.into(), loaded.blocks)?, loaded)));
        let program = &of.program.program.name;
        match loaded {
            Ok((described, loaded)) => {
                of.kernels.described.lock().insert(0, described);
                tracing::info!(program, kernel = name, "a kernel is there");
                Ok(self.there.set(loaded).is_ok())
            }
            Err(lost @ RunError::Lost(_)) => Err(lost),
            // The host thread goes on as it began.
            Err(error) => {
                tracing::error!(program, kernel = name, %error, "a kernel will not be there");
                Ok(false)
            }
        }
    }
}

/// How many blocks of a kernel the GPU runs at once, or those that were asked for if they are fewer.
fn fitting(inner: &Inner, kernel: &Kernel) -> Result<u32, RunError> {
    match kernel.occupancy(kernel::BLOCK)? * inner.info.multiprocessors {
        0 => Err(RunError::Compile(format!(
            "no block of the program fits a multiprocessor of {}",
            inner.info.name
        ))),
        room => Ok(inner.options.blocks_of(room)),
    }
}

impl CudaLoaded {
    /// The program.
    #[must_use]
    pub const fn program(&self) -> &Arc<Levelized> {
        &self.program
    }

    /// Its text in CUDA C++.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What the compiler said of registers and memory; empty if the program came from the cache.
    #[must_use]
    pub fn log(&self) -> &str {
        &self.log
    }

    /// How long it took to compile what runs need to begin.
    #[must_use]
    pub const fn compiling(&self) -> Duration {
        self.kernels.compiling
    }

    pub(super) fn is_of(&self, inner: &Arc<Inner>) -> bool {
        std::ptr::eq(self.owner.as_ptr(), Arc::as_ptr(inner))
    }

    /// What the globals are to hold from now on.
    pub(super) fn set_table(&self, bytes: &[u8]) {
        let mut table = self.table.lock();
        table.clear();
        table.extend_from_slice(bytes);
    }

    /// A kernel of the host thread, and the part that it is in.
    pub(super) fn dispatch(&self, number: usize) -> (&LoadedPart, Kernel) {
        let (part, kernel) = self.dispatches[number];
        (&self.parts[part], kernel)
    }

    pub(super) fn persistent(&self) -> Option<&Deciding> {
        self.persistent.there.get()
    }

    /// Whether the persistent kernel is there.
    pub(super) fn is_ready(&self, inner: &Inner) -> Result<bool, RunError> {
        self.persistent.is_ready(inner, self, kernel::PERSISTENT)
    }

    /// The kernel of subtree dispatches.
    pub(super) fn workers(&self) -> Option<&Deciding> {
        self.workers.there.get()
    }

    /// How many workers such a dispatch may have; 0 if its kernel is not there, or not yet.
    pub(super) fn most_workers(&self, inner: &Inner) -> Result<u32, RunError> {
        self.workers.is_ready(inner, self, kernel::WORKERS)?;
        Ok(self.workers().map_or(0, |whole| whole.blocks))
    }

    /// Compiles what the aggregator needs, or takes it from the cache, and loads it. The context is entered.
    pub(super) fn new(inner: &Arc<Inner>, program: &Arc<Levelized>) -> Result<Self, RunError> {
        let start = Instant::now();
        let plan = Plan::new(program, inner.memory);
        let spans = inner.options.timeline().unwrap_or(0);
        let records = inner.options.records.max(spans);
        let options = Options {
            min_blocks: inner.options.min_blocks,
            records: records > 0,
            ..Options::default()
        };
        let text = generate(&plan, options);
        let nvrtc = nvrtc::find().map_err(|e| RunError::Device(e.to_string()))?;
        let compiler = Compiler {
            nvrtc,
            arch: arch_for(nvrtc, inner.info.arch)?,
            how: How {
                fast_math: program.program.options.fast_math,
                check: false,
            },
            name: &program.program.name,
        };
        let wanted = Wanted::new(inner, &text, &compiler, &plan);
        let texts: Vec<String> = wanted.now.iter().map(|part| text.part(part)).collect();
        let compiled = compiler.all(&texts)?;
        let mut parts = Vec::new();
        let (persistent, workers) = (Whole::new(), Whole::new());
        for part in &wanted.later {
            let whole = match part {
                Part::Workers => &workers,
                _ => &persistent,
            };
            *whole.later.lock() = Some(compiler.later(text.part(part))?);
        }
        let mut dispatches = vec![None; plan.kernels()];
        for (part, compiled) in wanted.now.iter().zip(&compiled) {
            let kernels = match part {
                Part::Dispatches(kernels) => kernels,
                Part::Persistent => {
                    let there = Deciding::new(inner, compiled, kernel::PERSISTENT)?;
                    let _ = persistent.there.set(there);
                    continue;
                }
                Part::Workers => {
                    let there = Deciding::new(inner, compiled, kernel::WORKERS)?;
                    let _ = workers.there.set(there);
                    continue;
                }
            };
            let loaded = LoadedPart::new(inner, compiled)?;
            for &number in kernels {
                let kernel = loaded.module.kernel(&kernel::dispatch(number))?;
                dispatches[number] = Some((parts.len(), kernel));
            }
            parts.push(loaded);
        }
        let dispatches: Vec<(usize, Kernel)> = dispatches.into_iter().flatten().collect();
        let blocks = dispatches.iter().map(|(_, kernel)| fitting(inner, kernel));
        let blocks = blocks.collect::<Result<Vec<_>, RunError>>()?;
        tracing::debug!(program = program.program.name, parts = compiled.len(), multiprocessors = inner.info.multiprocessors, memory = %Bytes(inner.memory), "loaded");
        let mut described = Vec::new();
        for (whole, name) in [
            (&persistent, kernel::PERSISTENT),
            (&workers, kernel::WORKERS),
        ] {
            if let Some(there) = whole.there.get() {
                described.push(there.kernel.describe(name.into(), there.blocks)?);
            }
        }
        for (number, ((_, kernel), blocks)) in dispatches.iter().zip(&blocks).enumerate() {
            let source = plan.sources.get(number);
            let name = source.map_or("move", |source| node_name(&plan, source));
            described.push(kernel.describe(name.to_owned(), *blocks)?);
        }
        let mut kernels = Kernels::new(plan, text.sites, blocks);
        *kernels.described.lock() = described;
        kernels.compiled = start;
        kernels.max_depth = inner.depth_of(text.helper_frame)?;
        kernels.records = records;
        kernels.compiling = start.elapsed();
        let logs: Vec<String> = compiled.into_iter().map(|c| c.log).collect();
        Ok(Self {
            program: program.clone(),
            kernels,
            dispatches,
            parts,
            persistent,
            workers,
            table: Mutex::new(Vec::new()),
            source: text.source,
            log: logs.join("\n").trim().to_owned(),
            owner: Arc::downgrade(inner),
        })
    }
}

/// Which parts of a program there have to be before it runs, and which come later.
struct Wanted {
    now: Vec<Part>,
    later: Vec<Part>,
}

impl Wanted {
    fn new(inner: &Inner, text: &Generated, compiler: &Compiler<'_>, plan: &Plan) -> Self {
        let sources = plan.sources.len();
        let (mut now, mut later) = (Vec::new(), Vec::new());
        let options = &inner.options;
        let aggregator = options.aggregator;
        if aggregator != Aggregator::Persistent {
            now = text.dispatches();
        }
        let large = sources > MOST_SOURCES;
        if large && aggregator == Aggregator::Auto {
            tracing::info!(
                program = compiler.name,
                sources,
                "too large for kernels that decide by themselves: the host thread decides everything"
            );
        }
        let cached = |part: &Part| {
            let text = text.part(part);
            let found = compiler.nvrtc.cached(&text, compiler.arch, compiler.how);
            found.is_some()
        };
        let mut want = |part: Part, may_wait: bool| {
            let waits = may_wait && options.early && !cached(&part);
            if waits { &mut later } else { &mut now }.push(part);
        };
        match aggregator {
            Aggregator::Persistent => want(Part::Persistent, false),
            Aggregator::Auto if !large => want(Part::Persistent, true),
            Aggregator::Auto | Aggregator::HostThread => {}
        }
        let flat = subtrees::flat(plan).contains(&true);
        if aggregator != Aggregator::Persistent && !large && flat {
            match options.policy {
                Policy::Device => {}
                Policy::Auto => want(Part::Workers, aggregator == Aggregator::Auto),
                Policy::Block => want(Part::Workers, false),
            }
        }
        Self { now, later }
    }
}
