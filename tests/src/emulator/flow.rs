//! Graphs of ring channels without a GPU.

use super::{
    Emulated, Emulator, SetChannels, SetLots,
    library::{Accesses, Library},
};
use millstream_aggregator::{
    GraphProgram, RunError,
    cuda::{
        Batch, Launcher, Ran, Settings,
        flow::{FlowKernels, FlowLauncher},
        most_roots, run_batch,
    },
};
use millstream_channels_kernel::cuda::{
    Options,
    flow::{FlowPlan, Spawning, generate},
};
use millstream_graph::ir::TaskId;
use std::time::{Duration, Instant};

/// A graph's kernels on this computer.
pub type FlowEmulator = Emulated<FlowKernels>;

/// Wavefronts that are written down at most.
const WAVES: u32 = 1 << 12;

/// An access is where another thread goes on once in so many times, where accesses are watched.
const STEPS: u32 = 64;

type StartFlow = unsafe extern "C" fn(u32, u32) -> u32;

/// What stands behind the text: a door to the kernel.
const DOORS: &str = r#"
extern "C" void set_lots(uint64_t seed, unsigned one_in) { lots = seed * 0x9e3779b97f4a7c15ull | 1; switches = one_in; }
extern "C" void set_channels(const char* graph, size_t size) { memcpy((void*)&device_flow, graph, size); }
extern "C" unsigned start_flow(unsigned blocks, unsigned how) {
  return launch(blocks, [=] { run_graph(how); });
}
"#;

impl FlowEmulator {
    /// Compiles a graph for so many blocks, with a stage of so many bytes: the smaller, the more often it is full. With `MILLSTREAM_WATCH=1` accesses of
    /// memory are watched.
    ///
    /// # Errors
    /// What a GPU cannot do, or what the compiler says.
    pub fn of_graph(program: &GraphProgram, blocks: u32, stage: u32) -> Result<Self, String> {
        let accesses = match std::env::var_os("MILLSTREAM_WATCH") {
            Some(_) => Accesses::Watched,
            None => Accesses::Unseen,
        };
        Self::compiled(program, (blocks, stage), accesses, |text| text)
    }

    /// The same with a change of its text, such as a planted bug.
    ///
    /// # Errors
    /// As above.
    pub fn with_change(
        program: &GraphProgram,
        size: (u32, u32),
        change: impl FnOnce(String) -> String,
    ) -> Result<Self, String> {
        Self::compiled(program, size, Accesses::Unseen, change)
    }

    /// The same, and accesses of memory are watched.
    ///
    /// # Errors
    /// As above.
    pub fn watched(
        program: &GraphProgram,
        size: (u32, u32),
        change: impl FnOnce(String) -> String,
    ) -> Result<Self, String> {
        Self::compiled(program, size, Accesses::Watched, change)
    }

    fn compiled(
        program: &GraphProgram,
        (blocks, stage): (u32, u32),
        accesses: Accesses,
        change: impl FnOnce(String) -> String,
    ) -> Result<Self, String> {
        let plan = FlowPlan::of(&program.graph, &program.levelized, &program.kernels)
            .map_err(|e| e.to_string())?;
        let options = Options {
            lines: false,
            records: true,
            ..Options::default()
        };
        let generated = generate(&plan, options);
        let text = change(generated.source);
        let text = format!("#define FLOW_STAGE {stage}u\n{text}{DOORS}");
        let library = Library::new(&text, accesses)?;
        library.set_steps(STEPS);
        let spawning = Spawning::of(&program.graph, &program.levelized, &program.kernels);
        let tasks = spawning.as_ref().map(|s| Emulator::new(&s.program));
        let kernels = FlowKernels {
            plan,
            spawning,
            sites: generated.sites,
            max_depth: 1000,
            blocks,
            waves: WAVES,
            compiled: Instant::now(),
            compiling: Duration::ZERO,
        };
        let mut emulator = Self::with(kernels, library);
        emulator.tasks = tasks.transpose()?.map(Box::new);
        if let Some(tasks) = &mut emulator.tasks {
            tasks.blocks = blocks;
            for forms in &mut tasks.kernels.forms {
                forms.limit(blocks);
            }
        }
        Ok(emulator)
    }

    /// Who goes on when: a seed, and how often an atomic operation is where another does.
    pub fn draw(&self, seed: u64, switches: u32) {
        if let Some(tasks) = &self.tasks {
            tasks.draw_lots(seed, switches);
        }
        self.draw_lots(seed, switches);
    }
}

impl<K> Emulated<K> {
    fn draw_lots(&self, seed: u64, switches: u32) {
        self.door::<SetLots, _>(b"set_lots", |set| {
            // SAFETY: the text defines it so.
            unsafe { set(seed, switches) }
        });
    }
}

impl FlowLauncher for FlowEmulator {
    fn flow(&self) -> &FlowKernels {
        &self.kernels
    }

    fn set_graph(&self, bytes: &[u8]) -> Result<(), RunError> {
        self.door::<SetChannels, _>(b"set_channels", |set| {
            // SAFETY: the table is as long as that.
            unsafe { set(bytes.as_ptr(), bytes.len()) }
        });
        Ok(())
    }

    fn most_roots(&self, memory: u64, task: TaskId, most: u32) -> u32 {
        let tasks = self.tasks.as_ref();
        tasks.map_or(0, |tasks| most_roots(tasks.kernels(), memory, task, most))
    }

    fn run_batch(&mut self, settings: Settings, batch: Batch<'_>) -> Result<Ran, RunError> {
        let Some(tasks) = &mut self.tasks else {
            return Err(RunError::Graph("no kernel of the graph spawns".to_owned()));
        };
        run_batch(&mut **tasks, settings, batch)
    }

    unsafe fn start(&self, how: u32) -> Result<(), RunError> {
        let ran = self.door::<StartFlow, _>(b"start_flow", |start| {
            // SAFETY: the caller's promise.
            unsafe { start(self.kernels.blocks, how) }
        });
        self.ran.set(Instant::now());
        self.library.ended(ran)
    }
}
