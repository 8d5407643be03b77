//! The CUDA device without a GPU: a program's CUDA text compiled for this computer, and run by the loop that drives a GPU.
//!
//! [`Emulator`] is a [`Launcher`] as the driver is one. The text is compiled with `emulate.h`, where a CUDA thread is a fiber and who goes on is
//! drawn by lot; warps have 4 lanes and blocks 8 threads, so that tiles are small and every rare way is taken often. Every run keeps record of its
//! decisions, which the loop compares with the policy's.
//!
//! Now and then a thread is left behind for long: by lot alone all go on at about one speed, and what happens while one stands between two of its steps is
//! seen in none of a thousand seeds.
//!
//! Threads go on so from one meeting point or atomic operation to the next, which hides what lanes do to each other in between. [`Emulator::watched`]
//! has the compiler call `watch.h` at each access of memory that threads share: there another thread may go on, and two accesses that nothing orders
//! are a race, which ends the run with the lines of both. What that says, and what not:
//!
//! - Each race is found that two accesses of a run make, whether they fell together or not, within a warp, a block or between blocks: nobody has to be
//!   lucky with a seed, only to come by both lines. A missing `__syncwarp`, a fence that was forgotten and a relaxed operation for an acquiring one
//!   are races. What no run comes by is not seen.
//! - Two that write the same value to the same place are no race here. An atomic operation beside a plain write is one; beside a plain read, if it is
//!   the last one there.
//! - Orders are those of C++; scopes are taken for the widest, atomic operations happen one after the other, and loads see the newest value.
//! - Votes, shuffles and matches bring lanes together and order no memory: CUDA promises that of `__syncwarp` alone.
//! - Only what the text itself reads and writes is seen: not copies of the host, nor its mapped memory.

mod flow;
mod library;
mod rings;

pub use flow::FlowEmulator;
pub use rings::{Measured, Passing, RingEmulator};

use library::{Accesses, Library, compiler};
use millstream_aggregator::{
    Aggregator, ErasedCall, Live, Policy, RunError, RunReport,
    cuda::{
        Form, Forms, Kernels, Kind, Launcher, Machine, Rows, SHARED_WORDS, Settings, Shape, Turn,
        WATCHED, is_worth_another, run,
    },
};
use millstream_channels_kernel::cuda::{Options, Plan, generate, plan::Source};
use millstream_graph::{ir::TaskId, levelized::Levelized};
use std::{
    cell::Cell,
    ffi::c_void,
    process::Command,
    sync::atomic::AtomicU32,
    time::{Duration, Instant},
};

/// Threads, as in `emulate.h`.
const SHAPE: Shape = Shape { block: 8, warp: 4 };
/// Decisions that are compared at most.
const RECORDS: u32 = 1 << 14;
/// Of what walks through slices: one of a block's two warps has its room in the stage, the other beside it.
const FAR: Form = Form {
    blocks: 1,
    shared: 1024,
};
/// Narrow return addresses are planned for runs of up to so many bytes, as on a GPU.
const MOST_MEMORY: u64 = 1 << 30;
/// How long one dispatch may take, if a run does not say.
const WATCHDOG: Duration = Duration::from_secs(20);

type SetChannels = unsafe extern "C" fn(*const u8, usize);
type StartPersistent = unsafe extern "C" fn(*mut u8, *mut u8, u32, u32, u32) -> u32;
type StartDispatch = unsafe extern "C" fn(u32, *const u32, u32, u32) -> u32;
type StartWorkers = unsafe extern "C" fn(*mut u8, u32) -> u32;
type SetLots = unsafe extern "C" fn(u64, u32);

/// Kernels on this computer, and the memory that they run in.
#[derive(Debug)]
pub struct Emulated<K> {
    kernels: K,
    library: Library,
    /// The text of subtree dispatches, compiled when one is asked for; none of a graph.
    workers: Option<Workers>,
    /// The program with restart points wherever it spawns in a loop, and that compiled: for runs that find no room without.
    restarting: Option<(Levelized, Option<Box<Emulated<Kernels>>>)>,
    /// Of a graph: its kernels that spawn.
    tasks: Option<Box<Emulated<Kernels>>>,
    channels: Vec<u128>,
    copies: Vec<u128>,
    shared: Vec<AtomicU32>,
    begun: Cell<Instant>,
    ended: Cell<Instant>,
    live: Live,
    policy: Policy,
    /// Blocks of the persistent kernel.
    blocks: u32,
    /// How often the persistent kernel is still asked for in vain.
    late: Cell<u32>,
    /// For so long a kernel is not said to have ended, though it has, and whether its memory can be read meanwhile.
    stays: Cell<(Duration, bool)>,
    ran: Cell<Instant>,
}

/// A text of its own.
struct Workers {
    text: String,
    accesses: Accesses,
    library: std::cell::OnceCell<Result<Library, String>>,
}

impl Workers {
    fn get(&self) -> Result<&Library, &String> {
        self.library
            .get_or_init(|| Library::new(&self.text, self.accesses))
            .as_ref()
    }
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Workers").field(&self.library.get()).finish()
    }
}

/// A program of tasks.
pub type Emulator = Emulated<Kernels>;

/// How a run is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct How {
    /// Who decides.
    pub aggregator: Aggregator,
    /// On which tier.
    pub policy: Policy,
    /// Blocks of the persistent kernel, of a dispatch, and workers of a subtree dispatch, at most.
    pub blocks: u32,
    /// Bytes of channels.
    pub memory: u64,
    /// Who goes on when.
    pub seed: u64,
    /// An atomic operation is where another thread goes on once in so many times; 0: never.
    pub switches: u32,
    /// The same of an access of memory, where these are watched.
    pub steps: u32,
    /// How long one dispatch may take.
    pub watchdog: Duration,
    /// The persistent kernel is there when it has been asked for so many times.
    pub late: u32,
    /// Whether spans are kept of the decisions.
    pub timeline: bool,
}

impl How {
    /// A run by this aggregator with so many blocks and bytes.
    #[must_use]
    pub const fn new(aggregator: Aggregator, blocks: u32, memory: u64) -> Self {
        Self {
            aggregator,
            policy: Policy::Device,
            blocks,
            memory,
            seed: 1,
            switches: 8,
            steps: 4,
            watchdog: WATCHDOG,
            late: 0,
            timeline: true,
        }
    }

    /// The same in an interleaving of that number: who goes on when, and how often another does.
    #[must_use]
    pub const fn interleaved(self, seed: u64) -> Self {
        Self {
            seed,
            switches: [2, 8, 64][seed as usize % 3],
            steps: [2, 0, 5, 30][seed as usize % 4],
            ..self
        }
    }
}

/// Whether there is a C++ compiler; said aloud if not.
#[must_use]
pub fn is_there() -> bool {
    let found = Command::new(compiler()).arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: there is no C++ compiler (`c++`, or CXX)");
    }
    found
}

/// What stands behind the text: a door to each kernel.
fn doors(plan: &Plan) -> String {
    let cases: String = (0..plan.kernels())
        .map(|i| format!("    case {i}: return launch(blocks, [&] {{ dispatch_{i}(d); }});\n"))
        .collect();
    format!(
        r#"
extern "C" void set_lots(uint64_t seed, unsigned one_in) {{ lots = seed * 0x9e3779b97f4a7c15ull | 1; switches = one_in; }}
extern "C" void set_channels(const char* channels, size_t size) {{ memcpy((void*)&device_channels, channels, size); }}
extern "C" unsigned start_persistent(char* dispatch, char* standing, unsigned blocks, unsigned limit, unsigned began) {{
  dynamic_of_launch = 0;
  return launch(blocks, [=] {{ persistent((Dispatch*)dispatch, (Standing*)standing, limit, began); }});
}}
extern "C" unsigned start_dispatch_of(unsigned source, const unsigned* dispatch, unsigned blocks, unsigned dynamic) {{
  const Dispatch d = *(const Dispatch*)dispatch;
  dynamic_of_launch = dynamic;
  switch (source) {{
{cases}  }}
  return 0;
}}
"#
    )
}

/// The same behind the text of subtree dispatches.
fn workers_doors(plan: &Plan) -> String {
    let framed = match plan.has_framed() {
        true => "framed((Crew*)crew);",
        false => "",
    };
    format!(
        r#"{WORKERS_DOORS}
extern "C" unsigned start_framed(char* crew, unsigned blocks) {{
  return launch(blocks, [=] {{ {framed} }});
}}
"#
    )
}

const WORKERS_DOORS: &str = r#"
extern "C" void set_lots(uint64_t seed, unsigned one_in) { lots = seed * 0x9e3779b97f4a7c15ull | 1; switches = one_in; }
extern "C" void set_channels(const char* channels, size_t size) { memcpy((void*)&device_channels, channels, size); }
extern "C" unsigned start_workers(char* crew, unsigned blocks) {
  return launch(blocks, [=] { workers((Crew*)crew); });
}
extern "C" unsigned start_gather(char* crew, unsigned workers) {
  return launch(1, [=] { gather((Crew*)crew, workers); });
}
"#;

impl<K> Emulated<K> {
    fn with(kernels: K, library: Library) -> Self {
        Self {
            kernels,
            library,
            workers: None,
            restarting: None,
            tasks: None,
            channels: Vec::new(),
            copies: Vec::new(),
            shared: (0..SHARED_WORDS).map(|_| AtomicU32::new(0)).collect(),
            begun: Cell::new(Instant::now()),
            ended: Cell::new(Instant::now()),
            live: Live::new(WATCHED),
            policy: Policy::Device,
            blocks: 1,
            late: Cell::new(0),
            stays: Cell::new((Duration::ZERO, true)),
            ran: Cell::new(Instant::now()),
        }
    }

    /// Watches what threads do there, if accesses are watched.
    fn watch(&self, number: u32, at: u64, bytes: u64) {
        let workers = self
            .workers
            .as_ref()
            .filter(|_| self.policy != Policy::Device);
        let workers = workers.and_then(|workers| workers.get().ok());
        for library in [Some(&self.library), workers].into_iter().flatten() {
            library.watch_memory(number, at as *const c_void, bytes as usize);
        }
    }

    /// From now on kernels seem to run for so long when they have run, while their memory can be read or not.
    pub fn stay(&self, long: Duration, readable: bool) {
        self.stays.set((long, readable));
    }

    fn door<T, R>(&self, name: &[u8], call: impl FnOnce(libloading::Symbol<'_, T>) -> R) -> R {
        self.library.door(name, call)
    }
}

impl Emulator {
    /// Compiles a program.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn new(program: &Levelized) -> Result<Self, String> {
        let mut emulator = Self::with_text(program, |text| text)?;
        emulator.restarting = program.restarting().map(|form| (form, None));
        Ok(emulator)
    }

    /// Compiles a program whose accesses of memory are watched.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn watched(program: &Levelized) -> Result<Self, String> {
        Self::compiled(program, Accesses::Watched, |text| text)
    }

    /// Compiles a program with a bug: `wrong` stands in its text where `right` does.
    ///
    /// # Panics
    /// If nothing of the kind stands there, or if the compiler refuses it.
    #[must_use]
    pub fn with_bug(program: &Levelized, right: &str, wrong: &str) -> Self {
        Self::planted(program, Accesses::Unseen, right, wrong)
    }

    /// The same with a program whose accesses are watched.
    ///
    /// # Panics
    /// As above.
    #[must_use]
    pub fn watched_with_bug(program: &Levelized, right: &str, wrong: &str) -> Self {
        Self::planted(program, Accesses::Watched, right, wrong)
    }

    fn planted(program: &Levelized, accesses: Accesses, right: &str, wrong: &str) -> Self {
        let mut is_there = false;
        let made = Self::compiled(program, accesses, |text| {
            is_there |= text.contains(right);
            text.replace(right, wrong)
        });
        assert!(is_there, "the text has no `{right}`");
        made.unwrap_or_else(|why| panic!("`{wrong}`: {why}"))
    }

    /// Compiles a program with a change of its text.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn with_text(
        program: &Levelized,
        change: impl FnMut(String) -> String,
    ) -> Result<Self, String> {
        Self::compiled(program, Accesses::Unseen, change)
    }

    fn compiled(
        program: &Levelized,
        accesses: Accesses,
        mut change: impl FnMut(String) -> String,
    ) -> Result<Self, String> {
        let plan = Plan::new(program, MOST_MEMORY);
        let options = Options {
            lines: false,
            records: true,
            ..Options::default()
        };
        let generated = generate(&plan, options);
        let workers = change(generated.workers());
        let text = change(generated.source);
        let library = Library::new(&format!("{text}{}", doors(&plan)), accesses)?;
        let (dispatches, doors) = (plan.kernels(), workers_doors(&plan));
        let forms = (0..dispatches).map(|number| {
            let walks = plan.sources.get(number).is_some_and(Source::walks);
            Forms::new(1, walks.then_some(FAR))
        });
        let forms = forms.collect();
        let mut kernels = Kernels::new(plan, generated.sites, forms);
        kernels.shape = SHAPE;
        kernels.records = RECORDS;
        let mut emulator = Self::with(kernels, library);
        emulator.workers = Some(Workers {
            text: format!("{workers}{doors}"),
            accesses,
            library: std::cell::OnceCell::new(),
        });
        Ok(emulator)
    }

    /// Whether a run was begun again because a worker with levels found no room.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.kernels.is_crowded()
    }

    /// Forgets what runs taught.
    pub fn forget(&self) {
        self.kernels.forget();
    }

    /// The library of subtree dispatches, if the run's policy has any.
    fn workers_library(&self) -> Result<Option<&Library>, RunError> {
        let Some(workers) = self
            .workers
            .as_ref()
            .filter(|_| self.policy != Policy::Device)
        else {
            return Ok(None);
        };
        let compiled = workers.get();
        compiled.map(Some).map_err(|e| RunError::Compile(e.clone()))
    }

    /// Compiles the text of subtree dispatches, which waits for a run that has some otherwise.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn compile_workers(&self) -> Result<(), String> {
        let compiled = self.workers.as_ref().map(Workers::get).transpose();
        compiled.map(|_| ()).map_err(Clone::clone)
    }

    /// What the program's channels are.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.kernels.plan
    }

    /// Runs calls of a task, as a device does.
    ///
    /// # Errors
    /// As a device does.
    ///
    /// # Panics
    /// If the compiler refuses the form with restart points.
    pub fn launch(
        &mut self,
        how: How,
        task: TaskId,
        calls: &mut [ErasedCall<'_>],
    ) -> Result<RunReport, RunError> {
        let ended = self.launch_once(how, task, calls);
        match (&ended, &mut self.restarting) {
            (Err(error), Some((form, compiled))) if is_worth_another(error, calls) => {
                let emulator = compiled.get_or_insert_with(|| Box::new(Self::new(form).unwrap()));
                emulator.launch_once(how, task, calls)
            }
            _ => ended,
        }
    }

    fn launch_once(
        &mut self,
        how: How,
        task: TaskId,
        calls: &mut [ErasedCall<'_>],
    ) -> Result<RunReport, RunError> {
        self.blocks = how.blocks;
        self.late.set(how.late);
        for forms in &mut self.kernels.forms {
            forms.limit(how.blocks);
        }
        let settings = Settings {
            memory: how.memory,
            aggregator: how.aggregator,
            policy: how.policy,
            watchdog: how.watchdog,
            compare: true,
            timeline: how.timeline.then_some(RECORDS),
        };
        self.policy = how.policy;
        for library in [Some(&self.library), self.workers_library()?]
            .into_iter()
            .flatten()
        {
            library.door::<SetLots, _>(b"set_lots", |set| {
                // SAFETY: the text defines it so.
                unsafe { set(how.seed, how.switches) }
            });
            library.set_steps(how.steps);
        }
        run(self, settings, task, calls)
    }
}

/// Aligned memory that holds anything: its address.
fn anything(memory: &mut Vec<u128>, bytes: u64) -> u64 {
    let words = (bytes as usize).div_ceil(16) + 16;
    memory.clear();
    memory.reserve(words);
    // SAFETY: so much was reserved, and any bytes are words. One by one they would take a debug build longer than the run.
    unsafe {
        memory.as_mut_ptr().write_bytes(0xa5, words);
        memory.set_len(words);
    }
    (memory.as_mut_ptr() as u64).next_multiple_of(256)
}

impl<K> Machine for Emulated<K> {
    fn home(&self) -> u64 {
        u64::MAX
    }

    fn channels(&mut self, bytes: u64) -> Result<u64, RunError> {
        let at = anything(&mut self.channels, bytes);
        self.watch(1, at, bytes);
        Ok(at)
    }

    fn copies(&mut self, bytes: u64) -> Result<u64, RunError> {
        let at = anything(&mut self.copies, bytes);
        self.watch(2, at, bytes);
        Ok(at)
    }

    unsafe fn copy_in(&self, to: u64, from: *const u8, bytes: usize) -> Result<(), RunError> {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, to as *mut u8, bytes) };
        Ok(())
    }

    unsafe fn copy_out(&self, to: *mut u8, from: u64, bytes: usize) -> Result<(), RunError> {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to, bytes) };
        Ok(())
    }

    unsafe fn copy_rows(
        &self,
        host: *mut u8,
        device: u64,
        rows: Rows,
        out: bool,
    ) -> Result<(), RunError> {
        for row in 0..rows.count {
            let at = row * rows.distance;
            // SAFETY: the caller's promise.
            unsafe {
                let (host, device) = (host.add(at), (device as *mut u8).add(at));
                let (from, to) = if out { (device, host) } else { (host, device) };
                std::ptr::copy_nonoverlapping(from, to, rows.bytes);
            }
        }
        Ok(())
    }

    unsafe fn zero(&self, at: u64, bytes: u64) -> Result<(), RunError> {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::write_bytes(at as *mut u8, 0, bytes as usize) };
        Ok(())
    }

    fn wait(&self, _what: &str) -> Result<(), RunError> {
        Ok(())
    }

    fn is_done(&self, _what: &str) -> Result<bool, RunError> {
        Ok(self.ran.get().elapsed() >= self.stays.get().0)
    }

    unsafe fn peek(&self, at: u64) -> Result<Option<u32>, RunError> {
        // SAFETY: the caller's promise; no kernel runs while somebody asks.
        Ok((self.stays.get().1).then(|| unsafe { (at as *const u32).read() }))
    }

    fn give_up(&self) {}

    fn shared_word(&self, at: usize) -> &AtomicU32 {
        &self.shared[at]
    }

    fn shared_address(&self) -> u64 {
        self.shared.as_ptr() as u64
    }

    fn live(&self) -> &Live {
        &self.live
    }

    fn mark(&self, end: bool) -> Result<(), RunError> {
        if end { &self.ended } else { &self.begun }.set(Instant::now());
        Ok(())
    }

    fn elapsed(&self) -> Result<Duration, RunError> {
        Ok(self.ended.get().duration_since(self.begun.get()))
    }
}

impl Launcher for Emulator {
    // It is slow at everything.
    const SHORT: Duration = Duration::MAX;

    fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    fn is_ready(&self) -> Result<bool, RunError> {
        let late = self.late.get();
        self.late.set(late.saturating_sub(1));
        Ok(late == 0)
    }

    fn set_channels(&self, bytes: &[u8]) -> Result<(), RunError> {
        for library in [Some(&self.library), self.workers_library()?]
            .into_iter()
            .flatten()
        {
            library.door::<SetChannels, _>(b"set_channels", |set| {
                // SAFETY: the table is as long as that.
                unsafe { set(bytes.as_ptr(), bytes.len()) }
            });
        }
        Ok(())
    }

    fn workers(&self, _: Kind) -> Result<u32, RunError> {
        Ok(self.workers_library()?.map_or(0, |_| self.blocks))
    }

    unsafe fn subtrees(&self, kind: Kind, crew: u64, workers: u32) -> Result<(), RunError> {
        let Some(library) = self.workers_library()? else {
            return Err(RunError::Device("there are no workers".into()));
        };
        let name: &[u8] = match kind {
            Kind::Flat => b"start_workers",
            Kind::Framed => b"start_framed",
        };
        let ran = library.door::<StartWorkers, _>(name, |start| {
            // SAFETY: the caller's promise.
            unsafe { start(crew as *mut u8, workers) }
        });
        self.ran.set(Instant::now());
        library.ended(ran)
    }

    unsafe fn gather(&self, crew: u64, workers: u32) -> Result<(), RunError> {
        let Some(library) = self.workers_library()? else {
            return Err(RunError::Device("there are no workers".into()));
        };
        library.ended(library.door::<StartWorkers, _>(b"start_gather", |start| {
            // SAFETY: the caller's promise.
            unsafe { start(crew as *mut u8, workers) }
        }))
    }

    fn max_depth(&self, _: TaskId) -> Result<u32, RunError> {
        Ok(1000)
    }

    fn blocks(&self) -> u32 {
        self.blocks
    }

    unsafe fn persistent(&self, addresses: [u64; 2], turn: Turn) -> Result<(), RunError> {
        let blocks = if turn.all { self.blocks } else { 1 };
        let ([published, standing], [limit, began]) =
            (addresses.map(|at| at as *mut u8), turn.words());
        let ran = self.door::<StartPersistent, _>(b"start_persistent", |start| {
            // SAFETY: the caller's promise.
            unsafe { start(published, standing, blocks, limit, began) }
        });
        self.ran.set(Instant::now());
        self.library.ended(ran)
    }

    unsafe fn dispatch(
        &self,
        kernel: usize,
        form: Form,
        words: &mut [u32],
    ) -> Result<(), RunError> {
        self.library.ended(
            self.door::<StartDispatch, _>(b"start_dispatch_of", |start| {
                // SAFETY: the caller's promise.
                unsafe { start(kernel as u32, words.as_ptr(), form.blocks, form.shared) }
            }),
        )
    }
}
