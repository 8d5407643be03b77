//! A program on a GPU: modules of its kernels, and which of them are there.

use super::{
    compile::{Compiler, Text, refused},
    device::{Inner, arch_for},
    driver::{Kernel, Module},
    forms::{Form, Forms, far_bytes},
    inside::Inside,
    launcher::{Kernels, Kind},
    tier::Tier,
    timeline::node_name,
};
use crate::{
    error::RunError,
    gpus::{Aggregator, CudaOptions, Policy},
    policy::Bytes,
    report::KernelReport,
    sync::Mutex,
};
use millstream_channels_kernel::cuda::{
    Image, Options, Part, Plan, Recursion, Written,
    abi::{MOST_BLOCKS, kernel},
    generate,
    nvrtc::{self, Arch, Compiled, How, Later, NvrtcError},
    plan::Source,
};
use millstream_graph::levelized::Levelized;
use std::{
    sync::{Arc, OnceLock, Weak},
    time::{Duration, Instant},
};

/// With more segments than this the kernel that decides about narrow levels, which has all their bodies, takes half a minute and more to compile.
/// [`Aggregator::Auto`] does without.
const MOST_SOURCES: usize = 64;

/// A program on a device, compiled.
#[derive(Debug)]
pub struct CudaLoaded {
    program: Arc<Levelized>,
    /// Its form with restart points, if a run wanted that.
    restarting: OnceLock<Option<Arc<Levelized>>>,
    /// What its helpers want of a thread's stack, if one calls itself.
    pub(super) recursion: Option<Recursion>,
    pub(super) kernels: Kernels,
    /// The host thread's kernels, by number, each with the module that it is in; none if another decides.
    dispatches: Vec<(usize, Kernel)>,
    modules: Vec<LoadedModule>,
    persistent: Coming,
    workers: Coming,
    /// How the kernels were compiled that there had to be at first.
    pub(super) tier: Tier,
    /// What the global of every module is to hold.
    table: Mutex<Vec<u8>>,
    source: String,
    log: String,
    arch: Arch,
    owner: Weak<Inner>,
}

/// Kernels whose blocks run any segment: they may come when the program runs already.
#[derive(Debug, Default)]
struct Coming {
    there: OnceLock<Deciding>,
    /// While their parts are being compiled.
    later: Mutex<Option<Vec<Later>>>,
}

/// A kernel whose blocks decide by themselves.
#[derive(Debug)]
pub(super) struct Deciding {
    pub(super) module: LoadedModule,
    pub(super) kernel: Kernel,
    /// How many blocks of it fit the GPU.
    pub(super) blocks: u32,
    /// Beside the kernel of workers: that of those with levels, where the program has any.
    framed: Option<(Kernel, u32)>,
}

/// A module of a program.
#[derive(Debug)]
pub(super) struct LoadedModule {
    /// The global that says where channels lie: its address and its size.
    global: (u64, usize),
    /// What it holds.
    holds: Mutex<Vec<u8>>,
    module: Module,
}

impl LoadedModule {
    fn new(module: Module) -> Result<Self, RunError> {
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
    /// Links what was compiled of a program.
    fn new(
        inner: &Inner,
        plan: &Plan,
        (arch, compiled): (Arch, &[Compiled]),
        name: &'static str,
    ) -> Result<Self, RunError> {
        let parts: Vec<&[u8]> = compiled.iter().map(|part| &*part.cubin).collect();
        let module = LoadedModule::new(Module::linked(&inner.context, arch.0, &parts)?)?;
        let sized =
            |kernel: Kernel| Ok::<_, RunError>((kernel, fitting(inner, &kernel)?.min(MOST_BLOCKS)));
        let (kernel, blocks) = sized(module.kernel(name)?)?;
        // Most programs have none, and runs do without.
        let framed = (name == kernel::WORKERS && plan.has_framed()).then_some(kernel::FRAMED);
        let framed = framed.and_then(|name| module.kernel(name).and_then(sized).ok());
        Ok(Self {
            module,
            kernel,
            blocks,
            framed,
        })
    }

    /// Its kernels, to be told of.
    fn describe(&self, name: &'static str) -> Result<Vec<KernelReport>, RunError> {
        let framed = self
            .framed
            .map(|(kernel, blocks)| (kernel, kernel::FRAMED, blocks));
        let all = [Some((self.kernel, name, self.blocks)), framed];
        let all = all.into_iter().flatten();
        all.map(|(kernel, name, blocks)| kernel.describe(name.into(), Form::near(blocks)))
            .collect()
    }

    /// The kernel of a kind of workers, and how many blocks of it fit the GPU.
    pub(super) fn of(&self, kind: Kind) -> Option<(Kernel, u32)> {
        match kind {
            Kind::Flat => Some((self.kernel, self.blocks)),
            Kind::Framed => self.framed,
        }
    }
}

impl Coming {
    /// Has its parts compiled in the background.
    fn begin(
        &self,
        compiler: &Compiler<'_>,
        name: &'static str,
        parts: impl Iterator<Item = Text>,
    ) {
        let later = parts.map(|text| compiler.later((text.source, text.how)));
        match later.collect::<Result<Vec<_>, RunError>>() {
            Ok(parts) => {
                tracing::info!(
                    program = compiler.name,
                    kernel = name,
                    "compiled in the background; until it is there, runs do without"
                );
                *self.later.lock() = Some(parts);
            }
            // Runs do without, as they begin without.
            Err(error) => {
                tracing::error!(program = compiler.name, kernel = name, %error, "a kernel will not be there");
            }
        }
    }

    /// What there is of it, to be told of.
    fn describe(&self, name: &'static str) -> Result<Vec<KernelReport>, RunError> {
        let there = self.there.get();
        there.map_or_else(|| Ok(Vec::new()), |there| there.describe(name))
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
        let all = |parts: &mut Vec<Later>| parts.iter().all(Later::is_done);
        let Some(done) = self.later.lock().take_if(all) else {
            return Ok(false);
        };
        let compiled: Result<Vec<_>, NvrtcError> = done.into_iter().map(Later::result).collect();
        let loaded = compiled
            .map_err(refused)
            .and_then(|compiled| Deciding::new(inner, &of.kernels.plan, (of.arch, &compiled), name))
            .and_then(|loaded| Ok((loaded.describe(name)?, loaded)));
        let program = &of.program.program.name;
        match loaded {
            Ok((described, loaded)) => {
                of.kernels.described.lock().splice(0..0, described);
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
    fitting_with(inner, kernel, 0)
}

/// The same of one whose blocks have so much shared memory beside what it declares.
fn fitting_with(inner: &Inner, kernel: &Kernel, shared: u32) -> Result<u32, RunError> {
    match kernel.occupancy(kernel::BLOCK, shared)? * inner.info.multiprocessors {
        0 => Err(RunError::Compile(format!(
            "no block of the program fits a multiprocessor of {}",
            inner.info.name
        ))),
        room => Ok(inner.options.blocks_of(room)),
    }
}

/// How a kernel may be launched whose elements walk through slices, or others.
fn forms(inner: &Inner, plan: &Plan, number: usize, kernel: &Kernel) -> Result<Forms, RunError> {
    let walks = plan.sources.get(number).is_some_and(Source::walks);
    let bytes = match walks {
        true => far_bytes(kernel, plan.stage_bytes() as u32)?,
        false => None,
    };
    let far = bytes
        .map(|shared| fitting_with(inner, kernel, shared).map(|blocks| Form { blocks, shared }));
    Ok(Forms::new(fitting(inner, kernel)?, far.transpose()?))
}

/// The modules of the host thread's kernels, and these by number, each with the module that it is in.
#[expect(clippy::type_complexity, reason = "two fields of what is loaded")]
fn dispatches(
    inner: &Inner,
    kernels: usize,
    parts: &[Part],
    compiled: &[Compiled],
) -> Result<(Vec<LoadedModule>, Vec<(usize, Kernel)>), RunError> {
    let (mut modules, mut dispatches) = (Vec::new(), vec![None; kernels]);
    for (part, compiled) in parts.iter().zip(compiled) {
        let Part::Dispatches(numbers) = part else {
            continue;
        };
        let module = LoadedModule::new(Module::new(&inner.context, &compiled.cubin)?)?;
        for &number in numbers {
            dispatches[number] = Some((modules.len(), module.kernel(&kernel::dispatch(number))?));
        }
        modules.push(module);
    }
    Ok((modules, dispatches.into_iter().flatten().collect()))
}

impl CudaLoaded {
    /// The program.
    #[must_use]
    pub const fn program(&self) -> &Arc<Levelized> {
        &self.program
    }

    /// Its form for runs that find no room without restart points, if that is another.
    pub(super) fn restarting(&self) -> Option<&Arc<Levelized>> {
        let make = || self.program.restarting().map(Arc::new);
        self.restarting.get_or_init(make).as_ref()
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

    /// Whether kernels of it were compiled quickly and are slower, as the full code was not there.
    #[must_use]
    pub const fn is_quick(&self) -> bool {
        self.tier.is_quick()
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

    /// A kernel of the host thread, and the module that it is in; where the host thread decides.
    pub(super) fn dispatch(&self, number: usize) -> Option<(&LoadedModule, Kernel)> {
        let (module, kernel) = self.dispatches.get(number)?;
        Some((&self.modules[*module], *kernel))
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
    pub(super) fn most_workers(&self, inner: &Inner, kind: Kind) -> Result<u32, RunError> {
        self.workers.is_ready(inner, self, kernel::WORKERS)?;
        let whole = self.workers().and_then(|workers| workers.of(kind));
        Ok(whole.map_or(0, |(_, blocks)| blocks))
    }

    /// Takes the place of what was loaded of the same program.
    pub(super) fn taking_over(mut self, old: &Self) -> Self {
        // A first run may have waited for the old one and begin with this one.
        self.kernels.compiled = old.kernels.compiled;
        self.kernels.compiling += old.kernels.compiling;
        if old.kernels.is_crowded() {
            self.kernels.crowd();
        }
        // It is a program of its own, with a place of its own.
        if let Some(restarting) = old.restarting.get() {
            let _ = self.restarting.set(restarting.clone());
        }
        self
    }

    /// Compiles what the aggregator needs, or takes it from the cache, and loads it. The context is entered.
    /// A program compiled as these options say.
    pub(super) fn new(
        inner: &Arc<Inner>,
        program: &Arc<Levelized>,
        asked: &CudaOptions,
    ) -> Result<Self, RunError> {
        let start = Instant::now();
        let plan = Plan::new(program, inner.memory);
        let spans = asked.timeline().unwrap_or(0);
        let records = asked.records.max(spans);
        let options = Options {
            min_blocks: asked.min_blocks,
            records: records > 0,
            ..Options::default()
        };
        let text = generate(&plan, options);
        let nvrtc = nvrtc::find().map_err(|e| RunError::Device(e.to_string()))?;
        let compiler = Compiler {
            nvrtc,
            arch: arch_for(nvrtc, inner.info.arch)?,
            name: &program.program.name,
            waits: OnceLock::new(),
        };
        let arch = compiler.arch;
        let written = |part: &Part| {
            let how = How {
                fast_math: program.program.options.fast_math,
                linked: part.is_linked().then(|| options.registers()),
                ..How::default()
            };
            Text {
                source: text.part(part),
                how,
                written: Written::of(&plan, part),
            }
        };
        let cached = |image: Image| {
            let parts = text.linked(image).into_iter().map(|part| {
                let text = written(&part);
                compiler.there(&text.source, text.how)
            });
            parts.collect::<Option<Vec<Compiled>>>()
        };
        let wanted = Wanted::new(asked, &plan, &program.program.name, cached);
        let own = if wanted.dispatches {
            text.dispatches()
        } else {
            Vec::new()
        };
        let images: Vec<Vec<Part>> = wanted.now.iter().map(|image| text.linked(*image)).collect();
        let all = own.iter().chain(images.iter().flatten());
        let (compiled, rest) = compiler.first(all.map(written).collect(), asked.may_be_quick())?;
        let tier = rest.begin(&compiler);
        let (persistent, workers) = (Coming::default(), Coming::default());
        let coming = |image: Image| match image {
            Image::Persistent => (&persistent, kernel::PERSISTENT),
            Image::Workers => (&workers, kernel::WORKERS),
        };
        for &image in &wanted.later {
            let parts = text.linked(image);
            let (whose, name) = coming(image);
            whose.begin(&compiler, name, parts.iter().map(written));
        }
        for (image, parts) in &wanted.found {
            let (whose, name) = coming(*image);
            match Deciding::new(inner, &plan, (arch, parts), name) {
                Ok(there) => _ = whose.there.set(there),
                Err(lost @ RunError::Lost(_)) => return Err(lost),
                // As where it comes later: an old driver may not know how to link.
                Err(error) => {
                    tracing::error!(program = compiler.name, kernel = name, %error, "a kernel will not be there");
                }
            }
        }
        let (own_compiled, mut linked) = compiled.split_at(own.len());
        for (&image, parts) in wanted.now.iter().zip(&images) {
            let (whose, name) = coming(image);
            let there = Deciding::new(inner, &plan, (arch, &linked[..parts.len()]), name)?;
            linked = &linked[parts.len()..];
            let _ = whose.there.set(there);
        }
        let (modules, dispatches) = dispatches(inner, plan.kernels(), &own, own_compiled)?;
        let forms = (dispatches.iter().enumerate())
            .map(|(number, (_, kernel))| forms(inner, &plan, number, kernel))
            .collect::<Result<Vec<_>, RunError>>()?;
        tracing::debug!(program = program.program.name, parts = compiled.len(), multiprocessors = inner.info.multiprocessors, memory = %Bytes(inner.memory), "loaded");
        let mut described = Vec::new();
        for (coming, name) in [
            (&persistent, kernel::PERSISTENT),
            (&workers, kernel::WORKERS),
        ] {
            described.extend(coming.describe(name)?);
        }
        for (number, ((_, kernel), forms)) in dispatches.iter().zip(&forms).enumerate() {
            let source = plan.sources.get(number);
            let name = source.map_or("move", |source| node_name(&plan, source));
            described.push(kernel.describe(name.to_owned(), forms.of(u32::MAX))?);
        }
        let mut kernels = Kernels::new(plan, text.sites, forms);
        *kernels.described.lock() = described;
        kernels.compiled = start;
        kernels.records = records;
        kernels.compiling = start.elapsed();
        let logs: Vec<String> = compiled.into_iter().map(|c| c.log).collect();
        Ok(Self {
            program: program.clone(),
            restarting: OnceLock::new(),
            recursion: text.recursion,
            kernels,
            arch,
            dispatches,
            modules,
            persistent,
            workers,
            tier,
            table: Mutex::new(Vec::new()),
            source: text.source,
            log: logs.join("\n").trim().to_owned(),
            owner: Arc::downgrade(inner),
        })
    }
}

/// Which kernels of a program there have to be before it runs, and which come later.
#[derive(Default)]
struct Wanted {
    /// Those of the host thread.
    dispatches: bool,
    now: Vec<Image>,
    /// What runs can do without, but is in the cache.
    found: Vec<(Image, Vec<Compiled>)>,
    /// And what is not.
    later: Vec<Image>,
}

impl Wanted {
    fn new(
        options: &CudaOptions,
        plan: &Plan,
        name: &str,
        cached: impl Fn(Image) -> Option<Vec<Compiled>>,
    ) -> Self {
        let aggregator = options.aggregator;
        let mut out = Self {
            dispatches: aggregator != Aggregator::Persistent,
            ..Self::default()
        };
        let sources = plan.sources.len();
        let large = sources > MOST_SOURCES;
        if large && aggregator == Aggregator::Auto {
            tracing::info!(
                program = name,
                sources,
                "too large for kernels that decide by themselves: the host thread decides everything"
            );
        }
        let mut want = |image: Image, may_wait: bool| {
            if !may_wait || !options.early {
                return out.now.push(image);
            }
            match cached(image) {
                Some(parts) => out.found.push((image, parts)),
                None => out.later.push(image),
            }
        };
        match aggregator {
            Aggregator::Persistent => want(Image::Persistent, false),
            Aggregator::Auto if !large => want(Image::Persistent, true),
            Aggregator::Auto | Aggregator::HostThread => {}
        }
        let inside = Inside::of(plan).has_some();
        if aggregator != Aggregator::Persistent && !large && inside {
            match options.policy {
                Policy::Device => {}
                Policy::Auto => want(Image::Workers, aggregator == Aggregator::Auto),
                Policy::Block => want(Image::Workers, false),
            }
        }
        out
    }
}
