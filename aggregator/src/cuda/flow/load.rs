//! A graph on a GPU: compiled, loaded, and run by the driver.

use super::{
    launcher::{FlowKernels, FlowLauncher},
    run::FlowSettings,
    serve::{Job, drive, serve},
};
use crate::{
    cuda::{
        batch::{Batch, Ran, most_roots, run_batch},
        compile::{Compiler, Text},
        device::{CudaDevice, Inner, arch_for},
        driver::{Kernel, Module},
        forms::Form,
        gpu::Driver,
        loaded::CudaLoaded,
        run::Settings,
        sight::WATCHED,
        tier::Tier,
        workspace::Workspace,
    },
    error::RunError,
    flow::{GraphCall, GraphProgram, Running},
    gpus::{Aggregator, CudaOptions, Policy},
    live::Live,
    report::RunReport,
    sync::Mutex,
    timeline::Observe,
};
use millstream_channels_kernel::cuda::{
    Options, Written,
    abi::{flow::how, kernel},
    flow::{FlowPlan, Spawning, generate},
    nvrtc::{self, How},
};
use millstream_graph::ir::TaskId;
use std::{
    sync::{Arc, OnceLock, Weak},
    time::{Duration, Instant},
};

/// A graph on a GPU, compiled.
#[derive(Debug)]
pub(crate) struct CudaGraph {
    program: Arc<GraphProgram>,
    kernels: FlowKernels,
    kernel: Kernel,
    /// The kernels that spawn, as a program of tasks.
    tasks: Option<Tasks>,
    /// The global that says where channels lie: its address and its size.
    global: (u64, usize),
    _module: Module,
    /// How its kernels were compiled.
    tier: Tier,
    /// The same in full, if that came later.
    full: OnceLock<Arc<Self>>,
    owner: Weak<Inner>,
}

/// A program of tasks beside a graph, and what its runs have for themselves.
#[derive(Debug)]
struct Tasks {
    loaded: CudaLoaded,
    workspace: Mutex<Workspace>,
    live: Live,
}

impl CudaGraph {
    pub(crate) const fn program(&self) -> &Arc<GraphProgram> {
        &self.program
    }

    pub(crate) const fn compiling(&self) -> Duration {
        self.kernels.compiling
    }

    fn new(inner: &Arc<Inner>, program: &Arc<GraphProgram>) -> Result<Self, RunError> {
        let start = Instant::now();
        let plan = FlowPlan::of(&program.graph, &program.levelized, &program.kernels)
            .map_err(|e| RunError::Graph(e.to_string()))?;
        let waves = inner.options.timeline().unwrap_or(0);
        let options = Options {
            min_blocks: inner.options.min_blocks,
            records: waves > 0,
            ..Options::default()
        };
        let text = generate(&plan, options);
        let nvrtc = nvrtc::find().map_err(|e| RunError::Device(e.to_string()))?;
        let how = How {
            fast_math: program.source.options.fast_math,
            check: false,
            ..How::default()
        };
        let compiler = Compiler {
            nvrtc,
            arch: arch_for(nvrtc, inner.info.arch)?,
            name: &program.graph.name,
            waits: OnceLock::new(),
        };
        let own = Text {
            source: text.source,
            how,
            written: Written::Graph,
        };
        let (compiled, rest) = compiler.first(vec![own], inner.options.may_be_quick())?;
        let module = Module::new(&inner.context, &compiled[0].cubin)?;
        let kernel = module.kernel(kernel::FLOW)?;
        let blocks = kernel.occupancy(kernel::BLOCK, 0)? * inner.info.multiprocessors;
        if blocks == 0 {
            return Err(RunError::Compile(format!(
                "no block of the graph fits a multiprocessor of {}",
                inner.info.name
            )));
        }
        // What host nodes have seen of a graph's run cannot be taken back, so it is never begun again.
        let recursion = text.recursion.as_ref();
        inner.deepen(u64::MAX, recursion, &plan.plan, None)?;
        let max_depth = inner.depth_of(recursion, &plan.plan, None)?;
        let spawning = Spawning::of(&program.graph, &program.levelized, &program.kernels);
        // Sinks are the host thread's.
        let asked = CudaOptions {
            aggregator: Aggregator::HostThread,
            policy: Policy::Device,
            records: 0,
            observe: Observe::default(),
            ..inner.options
        };
        let tasks = spawning.as_ref().map(|spawning| {
            Ok::<_, RunError>(Tasks {
                loaded: CudaLoaded::new(inner, &Arc::new(spawning.program.clone()), &asked)?,
                workspace: Mutex::default(),
                live: Live::new(WATCHED),
            })
        });
        let tasks = tasks.transpose()?;
        let mut tier = rest.begin(&compiler);
        if let Some(tasks) = &tasks {
            tier = tier.with(&tasks.loaded.tier);
        }
        Ok(Self {
            program: program.clone(),
            tasks,
            kernels: FlowKernels {
                plan,
                spawning,
                sites: text.sites,
                max_depth,
                blocks,
                waves,
                compiled: start,
                compiling: start.elapsed(),
            },
            kernel,
            global: module.global(kernel::GRAPH)?,
            _module: module,
            tier,
            full: OnceLock::new(),
            owner: Arc::downgrade(inner),
        })
    }
}

impl CudaDevice {
    /// Compiles a graph for this device. Its machine code is kept on disk for the next process.
    pub(crate) fn load_graph(
        &self,
        program: &Arc<GraphProgram>,
    ) -> Result<Arc<CudaGraph>, RunError> {
        let inner = self.alive()?;
        let _using = inner.context.enter()?;
        inner
            .context
            .note(CudaGraph::new(&inner, program))
            .map(Arc::new)
    }

    /// Runs a graph while `with` feeds and drains it; waits until it is done.
    pub(crate) fn run_graph<R>(
        &self,
        loaded: &CudaGraph,
        call: GraphCall<'_>,
        with: impl FnOnce(&Running<'_>) -> Result<R, RunError>,
    ) -> Result<(R, RunReport), RunError> {
        let full = || {
            let mut full = self.load_graph(&loaded.program)?;
            // A first run may have waited for the quick one and begin with this one.
            if let Some(full) = Arc::get_mut(&mut full) {
                full.kernels.compiling += loaded.kernels.compiling;
            }
            Ok(full)
        };
        if loaded.full.get().is_none()
            && let Some(full) = loaded.tier.renewed(&loaded.program.graph.name, full)?
        {
            let _ = loaded.full.set(full);
        }
        let loaded = loaded.full.get().map_or(loaded, |full| &**full);
        let inner = self.alive()?;
        if !std::ptr::eq(loaded.owner.as_ptr(), Arc::as_ptr(&inner)) {
            let here = self.load_graph(&loaded.program)?;
            return self.run_graph(&here, call, with);
        }
        let settings = FlowSettings {
            memory: inner.memory,
            watchdog: inner.options.watchdog,
            host_thread: inner.options.aggregator == Aggregator::HostThread
                || !inner.info.cooperative,
            timeline: inner.options.timeline(),
        };
        let device = |job: Job<'_, '_>| {
            let _using = inner.context.enter()?;
            let mut workspace = inner.workspace.lock();
            let _turn = inner.context.shared.turn.lock();
            let report = Driver::new(&inner, loaded, &mut workspace, &inner.live)
                .and_then(|mut driver| drive(&mut driver, settings, &job));
            workspace.shrink();
            inner.context.note(report)
        };
        let (result, mut report) = serve(&inner.live, &loaded.program, call, device, with)?;
        report.quick = loaded.tier.is_quick();
        Ok((result, report))
    }
}

impl FlowLauncher for Driver<'_, CudaGraph> {
    fn flow(&self) -> &FlowKernels {
        &self.loaded.kernels
    }

    fn set_graph(&self, bytes: &[u8]) -> Result<(), RunError> {
        // SAFETY: a global of the module.
        unsafe { self.fill(self.loaded.global, bytes) }
    }

    fn most_roots(&self, memory: u64, task: TaskId, most: u32) -> u32 {
        let tasks = self.loaded.tasks.as_ref();
        tasks.map_or(0, |tasks| {
            most_roots(&tasks.loaded.kernels, memory, task, most)
        })
    }

    fn run_batch(&mut self, settings: Settings, batch: Batch<'_>) -> Result<Ran, RunError> {
        let Some(tasks) = &self.loaded.tasks else {
            return Err(RunError::Graph("no kernel of the graph spawns".to_owned()));
        };
        let mut workspace = tasks.workspace.lock();
        let mut driver = Driver::new(self.inner, &tasks.loaded, &mut workspace, &tasks.live)?;
        run_batch(&mut driver, settings, batch)
    }

    unsafe fn start(&self, how: u32) -> Result<(), RunError> {
        let (function, form) = (self.loaded.kernel.0, Form::near(self.loaded.kernels.blocks));
        let (mut how, cooperative) = (how, how == how::PERSISTENT);
        let mut params = [(&raw mut how).cast()];
        // SAFETY: the kernel takes a word; the rest is the caller's promise.
        unsafe {
            self.inner
                .context
                .launch(function, form, kernel::BLOCK, cooperative, &mut params)
        }
    }
}
