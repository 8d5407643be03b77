//! A GPU that programs are loaded on and launched.

use super::{
    again::{is_worth_another, leaves_nothing},
    driver::{self, Context, Module},
    forms::Form,
    gpu::Driver,
    inside::Inside,
    launcher::{Kind, SHARED_WORDS},
    loaded::CudaLoaded,
    memory::{Mapped, Memory},
    run::{Settings, run},
    sight::WATCHED,
    workspace::Workspace,
};
use crate::{
    args::ErasedCall,
    error::RunError,
    gpus::{Aggregator, CudaOptions, DeviceInfo, MIN_BLOCKS, Policy},
    live::Live,
    report::RunReport,
    sync::Mutex,
    timeline::{self, Observe},
};
use millstream_channels_kernel::cuda::{
    Options, Plan, Recursion,
    nvrtc::{self, Arch, How, Nvrtc},
};
use millstream_graph::{ir::TaskId, levelized::Levelized};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

/// The default of [`CudaOptions::memory`] is half of what is free, but no more than this: beyond it nothing is gained.
const MOST_MEMORY: u64 = 16 << 30;
/// And no more than this for what runs inside the blocks on private stacks: that takes as long in half of it as in any more.
const ENOUGH_INSIDE: u64 = 256 << 20;
/// What is free of the GPU's memory, over what the stacks of all threads take at most where helpers call themselves.
const STACK_SHARE: u64 = 4;
/// Bytes that a thread's stack has for such calls at least: where a run needs more, it is [begun again](super::again) with more.
const LEAST_STACK: u64 = 4 << 10;
/// And at most: what it has stays for all later runs.
const MOST_STACK: u64 = 64 << 10;
/// How many times as much it has each time.
const STACK_GROWTH: u64 = 4;
/// Stacks are given out by so many bytes.
const STACK_UNIT: u64 = 1 << 10;
/// Threads that a multiprocessor runs at once, at most: the driver keeps a stack for each.
const RESIDENT_THREADS: u64 = 2048;
/// Programs that a device keeps loaded, the last used ones.
const KEPT_PROGRAMS: usize = 32;

// The settings are there without the generator of code, whose default this is.
const _: () = assert!(MIN_BLOCKS == Options::MIN_BLOCKS);

/// A program that is kept loaded, or is being loaded.
#[derive(Debug)]
struct Place {
    program: Arc<Levelized>,
    there: Mutex<Option<Arc<CudaLoaded>>>,
}

impl CudaOptions {
    /// Blocks that run at one time where the GPU has room for so many.
    pub(super) fn blocks_of(&self, room: u32) -> u32 {
        self.blocks.map_or(room, |asked| room.min(asked.max(1)))
    }

    /// How many spans each who decides keeps, if a timeline is.
    pub(super) const fn timeline(&self) -> Option<u32> {
        match self.observe {
            Observe::Timeline(spans) => Some(spans),
            Observe::Counts | Observe::Times => None,
        }
    }
}

/// A GPU. A clone is the same device.
#[derive(Clone, Debug)]
pub struct CudaDevice {
    slot: Arc<Slot>,
}

/// What a device is, whatever becomes of its context.
#[derive(Debug)]
struct Slot {
    name: String,
    options: CudaOptions,
    info: DeviceInfo,
    memory: u64,
    live: Live,
    /// None only while the next one is made.
    alive: Mutex<Option<Arc<Inner>>>,
}

/// What a device has in its context.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) options: CudaOptions,
    pub(super) info: DeviceInfo,
    pub(super) memory: u64,
    pub(super) shared: Mapped,
    pub(super) live: Live,
    /// One run at a time: who launches holds it.
    pub(super) workspace: Mutex<Workspace>,
    loaded: Mutex<Vec<Arc<Place>>>,
    pub(super) context: Context,
}

/// Stops runs of a device from another thread.
#[derive(Clone, Debug)]
pub struct CudaCancel {
    slot: Arc<Slot>,
}

impl CudaCancel {
    /// Ends the run in progress, or the next one if there is none, with [`RunError::Cancelled`].
    pub fn cancel(&self) {
        let alive = self.slot.alive.lock().clone();
        // In a context that is lost there is nothing to end.
        if let Some(inner) = alive
            && let Some(_using) = inner.context.shared.enter_to_free()
        {
            // Relaxed: pairs with the loads of the kernels; it only hastens the end.
            inner.shared_word(0).store(1, Ordering::Relaxed);
        }
    }
}

impl Inner {
    /// A program's place among those that are kept, the last used one from now on.
    fn place_of(&self, program: &Arc<Levelized>) -> Arc<Place> {
        let mut kept = self.loaded.lock();
        let found = kept.iter().position(|p| Arc::ptr_eq(&p.program, program));
        let place = match found {
            Some(at) => kept.remove(at),
            None => Arc::new(Place {
                program: program.clone(),
                there: Mutex::new(None),
            }),
        };
        if kept.len() >= KEPT_PROGRAMS {
            kept.remove(0);
        }
        kept.push(place.clone());
        place
    }

    fn new(options: CudaOptions, info: DeviceInfo, live: Live) -> Result<Self, RunError> {
        let context = Context::new(options.ordinal)?;
        let (memory, shared) = {
            let _using = context.enter()?;
            let memory = match options.memory {
                Some(bytes) => bytes,
                None => (context.free_memory()? / 2).min(MOST_MEMORY),
            };
            (memory, Mapped::new(&context, SHARED_WORDS)?)
        };
        Ok(Self {
            options,
            info,
            memory,
            shared,
            live,
            workspace: Mutex::new(Workspace::default()),
            loaded: Mutex::new(Vec::new()),
            context,
        })
    }

    /// How deep helpers may recurse in a run that begins with this task, or in any, by the stacks that threads have; tasks recurse without them.
    pub(super) fn depth_of(
        &self,
        wanted: Option<&Recursion>,
        plan: &Plan,
        entry: Option<TaskId>,
    ) -> Result<u32, RunError> {
        let Some(recursion) = wanted else {
            return Ok(0);
        };
        let (base, least) = stacks(recursion, plan, entry);
        let stack = self.context.stack(least, least)?;
        Ok(((stack - base) / recursion.call) as u32)
    }

    /// Whether a run needs little memory, whatever there is: its one call goes inside the blocks, and may be begun again if that was wrong.
    fn is_modest(
        &self,
        loaded: &CudaLoaded,
        task: TaskId,
        calls: &[ErasedCall<'_>],
    ) -> Result<bool, RunError> {
        let options = &self.options;
        let inside = options.policy != Policy::Device
            && options.aggregator != Aggregator::Persistent
            && loaded.most_workers(self, Kind::Flat)? > 0;
        let plan = &loaded.kernels.plan;
        Ok(options.memory.is_none()
            && calls.len() == 1
            && inside
            && leaves_nothing(calls)
            && Inside::of(plan).is_all_private(plan, task))
    }

    /// Gives threads stacks for `times` as many calls as they have, if there is memory for it. Whether helpers may recurse deeper now.
    pub(super) fn deepen(
        &self,
        times: u64,
        wanted: Option<&Recursion>,
        plan: &Plan,
        entry: Option<TaskId>,
    ) -> Result<bool, RunError> {
        let Some(recursion) = wanted else {
            return Ok(false);
        };
        let (base, least) = stacks(recursion, plan, entry);
        let had = self.context.stack(least, least)?;
        let threads = u64::from(self.info.multiprocessors) * RESIDENT_THREADS;
        let most = (self.context.free_memory()? / threads + had) / STACK_SHARE;
        let most = most.min(MOST_STACK);
        let more = (had - base).saturating_mul(times).min(most);
        let wanted = (base + more).next_multiple_of(STACK_UNIT);
        Ok(wanted > had && self.context.stack(wanted, had)? > had)
    }

    /// A word that host and device share.
    pub(super) fn shared_word(&self, at: usize) -> &AtomicU32 {
        assert!(at < SHARED_WORDS, "a word of the shared memory");
        // SAFETY: inside the memory, aligned, and touched by atomics only, on both sides.
        unsafe { AtomicU32::from_ptr(self.shared.host().add(at)) }
    }
}

/// Of a thread's stack: the bytes beside calls of helpers that call themselves, and how many it has at least with them.
fn stacks(recursion: &Recursion, plan: &Plan, entry: Option<TaskId>) -> (u64, u64) {
    let base = recursion.base(plan, entry);
    let least = base + LEAST_STACK.max(recursion.call);
    (base, least.next_multiple_of(STACK_UNIT))
}

impl CudaDevice {
    /// The first GPU, by default settings.
    ///
    /// # Errors
    /// If there is no driver, no NVRTC or no GPU.
    pub fn new() -> Result<Self, RunError> {
        Self::with(CudaOptions::default())
    }

    /// A GPU by these settings.
    ///
    /// # Errors
    /// If there is no driver, no NVRTC or no such GPU, or if it cannot run the aggregator.
    pub fn with(options: CudaOptions) -> Result<Self, RunError> {
        let info = driver::info(options.ordinal)?;
        let nvrtc = nvrtc::find().map_err(|e| RunError::Device(e.to_string()))?;
        if options.aggregator == Aggregator::Persistent && !info.cooperative {
            return Err(RunError::Device(format!(
                "{} cannot launch cooperative kernels: use the host-thread aggregator",
                info.name
            )));
        }
        arch_for(nvrtc, info.arch)?;
        // Times are counted from here on.
        timeline::start();
        let live = Live::new(WATCHED);
        let inner = Arc::new(Inner::new(options, info.clone(), live.clone())?);
        let (name, memory) = (format!("cuda:{}", info.ordinal), inner.memory);
        let options = CudaOptions {
            memory: Some(memory),
            ..options
        };
        Ok(Self {
            slot: Arc::new(Slot {
                name,
                options,
                info,
                memory,
                live,
                alive: Mutex::new(Some(inner)),
            }),
        })
    }

    /// The device's context and what it has there: a new one if the last was lost.
    pub(super) fn alive(&self) -> Result<Arc<Inner>, RunError> {
        let mut alive = self.slot.alive.lock();
        if let Some(inner) = alive
            .as_ref()
            .filter(|inner| !inner.context.shared.is_lost())
        {
            return Ok(inner.clone());
        }
        tracing::warn!(
            device = self.slot.name,
            "the context was lost; the device takes a new one"
        );
        // The old one goes first, so that its memory is free.
        if let Some(old) = alive.take() {
            old.context.shared.end();
        }
        Ok(alive
            .insert(Arc::new(Inner::new(
                self.slot.options,
                self.slot.info.clone(),
                self.slot.live.clone(),
            )?))
            .clone())
    }

    /// Its name: `cuda:0`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.slot.name
    }

    /// The GPU.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        &self.slot.info
    }

    /// Bytes that a run's channels may take.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.slot.memory
    }

    /// Watches its runs.
    pub(crate) fn live(&self) -> Live {
        self.slot.live.clone()
    }

    /// A handle that ends runs of this device.
    #[must_use]
    pub fn cancel_handle(&self) -> CudaCancel {
        CudaCancel {
            slot: self.slot.clone(),
        }
    }

    /// Compiles a program for this device, unless it is loaded already. Its machine code is kept on disk for the next process. What was compiled quickly
    /// is loaded once more when its full code is there.
    ///
    /// # Errors
    /// If it cannot be compiled or loaded.
    pub fn load(&self, program: &Arc<Levelized>) -> Result<Arc<CudaLoaded>, RunError> {
        let inner = self.alive()?;
        let _using = inner.context.enter()?;
        let place = inner.place_of(program);
        // Who wants the same program waits here, and others do not.
        let mut there = place.there.lock();
        let make = || {
            let new = CudaLoaded::new(&inner, program, &inner.options);
            inner.context.note(new)
        };
        if let Some(loaded) = &mut *there {
            let full = || make().map(|new| new.taking_over(loaded));
            if let Some(full) = loaded.tier.renewed(&program.program.name, full)? {
                *loaded = Arc::new(full);
            }
            return Ok(loaded.clone());
        }
        let new = make();
        let new = Arc::new(new.inspect_err(|_| {
            // What cannot be loaded takes nobody's place.
            inner
                .loaded
                .lock()
                .retain(|kept| !Arc::ptr_eq(kept, &place));
        })?);
        *there = Some(new.clone());
        Ok(new)
    }

    /// Runs calls of a task, all in one run, and waits for it. The results are in the calls afterwards. A program that was loaded on another
    /// device, or before the context was lost, is loaded here first. A run that finds no room is [begun again](super::again) with restart points.
    ///
    /// # Errors
    /// If the arguments do not fit the task, or the run ends without a result.
    pub fn launch(
        &self,
        loaded: &CudaLoaded,
        task: TaskId,
        calls: &mut [ErasedCall<'_>],
    ) -> Result<RunReport, RunError> {
        let full;
        let loaded = match loaded.tier.is_outdone() {
            true => {
                full = self.load(loaded.program())?;
                &*full
            }
            false => loaded,
        };
        let inner = self.alive()?;
        if !loaded.is_of(&inner) {
            let here = self.load(loaded.program())?;
            return self.launch(&here, task, calls);
        }
        let ended = self.run_deep(&inner, loaded, task, calls);
        let Some(restarting) = (ended.as_ref().err())
            .filter(|error| is_worth_another(error, calls))
            .and_then(|_| loaded.restarting())
        else {
            return ended;
        };
        tracing::info!(
            program = loaded.program().program.name,
            "found no room; it is run again with restart points"
        );
        let loaded = self.load(restarting)?;
        self.run_deep(&inner, &loaded, task, calls)
    }

    /// With stacks that are as large as the helpers want which call themselves; where a run cannot be begun again, as large as they can be.
    fn run_deep(
        &self,
        inner: &Inner,
        loaded: &CudaLoaded,
        task: TaskId,
        calls: &mut [ErasedCall<'_>],
    ) -> Result<RunReport, RunError> {
        let deepen = |times| {
            let _using = inner.context.enter()?;
            // Stacks are changed between runs, as they are those of all.
            let _turn = inner.context.shared.turn.lock();
            let plan = &loaded.kernels.plan;
            let deeper = inner.deepen(times, loaded.recursion.as_ref(), plan, Some(task));
            inner.context.note(deeper)
        };
        let is_lasting = !leaves_nothing(calls);
        if is_lasting {
            deepen(u64::MAX)?;
        }
        loop {
            let ended = self.run_once(inner, loaded, task, calls);
            let is_too_deep = matches!(ended, Err(RunError::StackOverflow { .. }));
            if !is_too_deep || is_lasting || !deepen(STACK_GROWTH)? {
                return ended;
            }
            tracing::info!(
                program = loaded.program().program.name,
                "helpers want larger stacks; it is run again with them"
            );
        }
    }

    /// In little memory where nobody said how much and it is enough; if it was not, in all.
    fn run_once(
        &self,
        inner: &Inner,
        loaded: &CudaLoaded,
        task: TaskId,
        calls: &mut [ErasedCall<'_>],
    ) -> Result<RunReport, RunError> {
        let is_modest = {
            let _using = inner.context.enter()?;
            inner.is_modest(loaded, task, calls)?
        };
        if !is_modest {
            return self.run_in(inner, loaded, task, calls, inner.memory);
        }
        let ended = self.run_in(inner, loaded, task, calls, ENOUGH_INSIDE);
        match ended {
            Err(RunError::ChannelFull { .. } | RunError::OutOfMemory { .. }) => {
                let program = &loaded.program().program.name;
                tracing::info!(program, memory = %crate::Bytes(ENOUGH_INSIDE), "found no room; it is run again in all memory that it may take");
                self.run_in(inner, loaded, task, calls, inner.memory)
            }
            ended => ended,
        }
    }

    /// In so much memory at most, if nobody said how much.
    fn run_in(
        &self,
        inner: &Inner,
        loaded: &CudaLoaded,
        task: TaskId,
        calls: &mut [ErasedCall<'_>],
        most: u64,
    ) -> Result<RunReport, RunError> {
        let most = most.min(inner.memory);
        let _using = inner.context.enter()?;
        let mut workspace = inner.workspace.lock();
        let _turn = inner.context.shared.turn.lock();
        let memory = match inner.options.memory {
            Some(_) => inner.memory,
            None => inner
                .context
                .note(workspace.take_channels(&inner.context, most))?,
        };
        let settings = Settings {
            memory,
            aggregator: inner.options.aggregator,
            policy: inner.options.policy,
            watchdog: inner.options.watchdog,
            compare: inner.options.records > 0,
            timeline: inner.options.timeline(),
        };
        let mut report = Driver::new(inner, loaded, &mut workspace, &inner.live)
            .and_then(|mut driver| run(&mut driver, settings, task, calls));
        if let Ok(report) = &mut report {
            report.quick = loaded.tier.is_quick();
            report.modest = most < inner.memory;
        }
        workspace.shrink();
        inner.context.note(report)
    }

    /// Compiles a kernel without parameters and runs one thread of it, with the waits of a run: for tests of what becomes of a device whose kernel
    /// does wrong.
    ///
    /// # Errors
    /// If it cannot be compiled, or as it ends.
    #[doc(hidden)]
    pub fn run_text(&self, text: &str, kernel: &str) -> Result<(), RunError> {
        let inner = self.alive()?;
        let _using = inner.context.enter()?;
        let nvrtc = nvrtc::find().map_err(|e| RunError::Device(e.to_string()))?;
        let arch = arch_for(nvrtc, inner.info.arch)?;
        let how = How {
            fast_math: false,
            check: false,
            ..How::default()
        };
        let compiled = nvrtc
            .compile_cached(text, arch, how)
            .map_err(|e| RunError::Compile(e.to_string()))?;
        let _turn = inner.context.shared.turn.lock();
        let run = || {
            let module = Module::new(&inner.context, &compiled.cubin)?;
            let kernel = module.kernel(kernel)?;
            // SAFETY: it takes no parameters; what it does is what the test is for.
            unsafe {
                inner
                    .context
                    .launch(kernel.0, Form::near(1), 1, false, &mut [])
            }?;
            let start = Instant::now();
            while !inner.context.is_done("running a test kernel")? {
                if start.elapsed() > 2 * inner.options.watchdog {
                    inner.context.shared.give_up();
                    // Unloading it would wait for its kernel.
                    std::mem::forget(module);
                    return Err(RunError::Lost("a test kernel did not end".into()));
                }
            }
            Ok(())
        };
        inner.context.note(run())
    }

    /// Zeros on the device.
    pub(crate) fn zeros(&self, bytes: u64) -> Result<CudaBuffer, RunError> {
        let inner = self.alive()?;
        let using = inner.context.enter()?;
        let make = || {
            let memory = Memory::new(&inner.context, bytes)?;
            // SAFETY: memory of that size, just taken.
            unsafe { inner.context.zero(memory.address(), memory.bytes()) }?;
            inner.context.wait("clearing a buffer")?;
            Ok(memory)
        };
        let memory = inner.context.note(make())?;
        drop(using);
        Ok(CudaBuffer { memory, inner })
    }
}

/// Memory that stays on a GPU. Runs and copies of one device do not overlap in time.
#[derive(Debug)]
pub(crate) struct CudaBuffer {
    // First, for it is in the context of the other.
    memory: Memory,
    inner: Arc<Inner>,
}

impl CudaBuffer {
    pub(crate) const fn address(&self) -> u64 {
        self.memory.address()
    }

    /// The context that it lies in.
    pub(crate) fn home(&self) -> u64 {
        self.inner.context.shared.id
    }

    /// Copies all of it to memory of the host.
    ///
    /// # Safety
    /// `to` is valid for writes of as many bytes as were asked for.
    pub(crate) unsafe fn read(&self, to: *mut u8, bytes: usize) -> Result<(), RunError> {
        let context = &self.inner.context;
        let _using = context.enter()?;
        let copy = || {
            // SAFETY: the caller's promise; it is waited for.
            unsafe { context.copy_out(to, self.address(), bytes) }?;
            context.wait("reading a buffer")
        };
        let _turn = self.inner.workspace.lock();
        context.note(copy())
    }

    /// Copies from memory of the host.
    ///
    /// # Safety
    /// `from` is valid for reads of as many bytes as were asked for.
    pub(crate) unsafe fn write(&mut self, from: *const u8, bytes: usize) -> Result<(), RunError> {
        let context = &self.inner.context;
        let _using = context.enter()?;
        let copy = || {
            // SAFETY: the caller's promise; it is waited for.
            unsafe { context.copy_in(self.address(), from, bytes) }?;
            context.wait("writing a buffer")
        };
        let _turn = self.inner.workspace.lock();
        context.note(copy())
    }
}

/// What to compile for: the GPU's own architecture, or the nearest before it whose machine code it runs.
pub(super) fn arch_for(nvrtc: &Nvrtc, arch: u32) -> Result<Arch, RunError> {
    let known = nvrtc.archs();
    let same = known
        .iter()
        .filter(|a| a.0 / 10 == arch / 10 && a.0 <= arch)
        .max();
    same.copied().ok_or_else(|| {
        let (major, minor) = nvrtc.version();
        let range = known
            .first()
            .zip(known.last())
            .map_or_else(String::new, |(a, b)| {
                format!(", which compiles for {a} to {b}")
            });
        RunError::Device(format!(
            "the GPU is of architecture sm_{arch}, unknown to NVRTC {major}.{minor}{range}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_blocks_run_as_are_asked_for_and_find_room() {
        let of = |blocks| CudaOptions {
            blocks,
            ..CudaOptions::default()
        };
        let cases = [None, Some(0), Some(1), Some(500), Some(9999)];
        let blocks = cases.map(|asked| of(asked).blocks_of(528));
        assert_eq!(blocks, [528, 1, 1, 500, 528]);
    }
}
