//! The CPU as a device: programs as machine code of this computer, run by a crew of threads.

use crate::{
    args::{self, CPU, ErasedCall},
    batch::Batch,
    crew::Crew,
    dump::Sight,
    error::RunError,
    flow::Kept,
    live::{Board, Live},
    native::Native,
    plan::{Code, Plan},
    policy,
    report::{RunReport, WorkerReport},
    run::{CANCELLED, Run, Stash},
    share::Shared,
    sync::{Guard, Mutex},
    timeline::{self, Host, Observe, What},
    watch::Watched,
};
use millstream_graph::{ir::TaskId, levelized::Levelized};
use std::{
    fmt,
    num::NonZeroUsize,
    sync::{
        Arc, Weak,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Programs that a device keeps loaded, the last used ones.
const KEPT_PROGRAMS: usize = 32;

/// How a CPU device works.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CpuOptions {
    /// Threads that run tasks, the one that calls included; as many as the machine runs at once if none is given.
    pub threads: Option<u32>,
    /// Bytes that a run's channels may take; see [`default_memory`](crate::default_memory) if none is given.
    pub memory: Option<u64>,
    /// Elements of a wavefront; found from the cache's size if none is given. 1 is exact; more is what a wavefront takes if as much again is
    /// left. For tests.
    pub width: Option<u64>,
    /// Whether a run's report has every decision of its workers. For tests.
    #[doc(hidden)]
    pub decisions: bool,
    /// What a run's report says beside what is counted anyway.
    pub observe: Observe,
}

/// The CPU. A clone is the same device.
#[derive(Clone)]
pub(crate) struct CpuDevice {
    inner: Arc<Inner>,
}

struct Inner {
    threads: u32,
    memory: u64,
    width: Option<u64>,
    watched: Watched,
    common: Arc<Common>,
    /// One run at a time: who launches holds it.
    turn: Mutex<()>,
    loaded: Mutex<Vec<Arc<CpuLoaded>>>,
    /// The channels of the graph that ran last, if nothing else ran since.
    kept: Mutex<Kept>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.common.crew.close();
    }
}

/// What a device has in common with its runs. They may outlive it: a thread of the crew that leaves a run may be the last to hold it, and would wait for
/// itself if it held the device.
#[derive(Debug)]
pub(crate) struct Common {
    /// Where workers say how far they are.
    pub(crate) board: Arc<Board>,
    pub(crate) crew: Arc<Crew>,
    /// Not 0 when the run in progress is to end.
    pub(crate) stop: Arc<AtomicU32>,
}

/// A program on a device, compiled.
#[derive(Debug)]
pub(crate) struct CpuLoaded {
    program: Arc<Levelized>,
    pub(crate) code: Arc<dyn Code>,
    pub(crate) plan: Plan,
    /// Stacks of workers that wait for the next run.
    pub(crate) stash: Stash,
    compiled: Instant,
    compiling: Duration,
}

impl CpuLoaded {
    pub(crate) const fn program(&self) -> &Arc<Levelized> {
        &self.program
    }

    pub(crate) const fn compiling(&self) -> Duration {
        self.compiling
    }
}

impl CpuDevice {
    /// The CPU, by these settings. Threads are made when a run first needs them.
    ///
    /// # Errors
    /// If they make no sense: no thread, no memory, wavefronts of no element.
    pub(crate) fn with(options: CpuOptions) -> Result<Self, RunError> {
        Native::built()?;
        let refuse = |what: &str| Err(RunError::Device(format!("a CPU device needs {what}")));
        let threads = options
            .threads
            .unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get) as u32);
        let memory = options.memory.unwrap_or_else(policy::default_memory);
        match (threads, memory, options.width) {
            (0, ..) => return refuse("at least 1 thread"),
            (_, 0, _) => return refuse("memory for its channels"),
            (.., Some(0)) => return refuse("wavefronts of at least 1 element"),
            _ => {}
        }
        // Times are counted from here on.
        timeline::start();
        let (turn, loaded, kept) = (Mutex::new(()), Mutex::new(Vec::new()), Mutex::new(None));
        Ok(Self {
            inner: Arc::new(Inner {
                threads,
                memory,
                width: options.width,
                watched: Watched {
                    decisions: options.decisions,
                    observe: options.observe,
                },
                common: Arc::new(Common {
                    board: Board::new(threads),
                    crew: Crew::new(),
                    stop: Arc::default(),
                }),
                turn,
                loaded,
                kept,
            }),
        })
    }

    pub(crate) fn threads(&self) -> u32 {
        self.inner.threads
    }

    pub(crate) fn memory(&self) -> u64 {
        self.inner.memory
    }

    /// The word that [`cancel`] sets.
    pub(crate) fn stop_word(&self) -> &Arc<AtomicU32> {
        &self.inner.common.stop
    }

    /// Watches its runs.
    pub(crate) fn live(&self) -> Live {
        Live(self.inner.common.board.clone())
    }

    /// Compiles a program for this device, unless it is loaded already.
    ///
    /// # Errors
    /// If the program cannot be compiled.
    pub(crate) fn load(&self, program: &Arc<Levelized>) -> Result<Arc<CpuLoaded>, RunError> {
        self.load_with(program, &[], || Ok(Arc::new(Native::compile(program)?)))
    }

    /// What another device has loaded, as this one runs it: by the same code, but with channels of its own.
    pub(crate) fn adopt(&self, loaded: &CpuLoaded) -> Result<Arc<CpuLoaded>, RunError> {
        self.load_with(&loaded.program, &[], || Ok(Arc::clone(&loaded.code)))
    }

    /// The same for a program of which the elements of some tasks lie in channels, by code that is made if it is needed.
    pub(crate) fn load_with(
        &self,
        program: &Arc<Levelized>,
        in_channels: &[TaskId],
        code: impl FnOnce() -> Result<Arc<dyn Code>, RunError>,
    ) -> Result<Arc<CpuLoaded>, RunError> {
        let mut loaded = self.inner.loaded.lock();
        if let Some(at) = loaded.iter().position(|l| Arc::ptr_eq(&l.program, program)) {
            let found = loaded.remove(at);
            loaded.push(found.clone());
            return Ok(found);
        }
        let start = Instant::now();
        let new = self.prepare(program, in_channels, code()?, start);
        if loaded.len() >= KEPT_PROGRAMS {
            loaded.remove(0);
        }
        loaded.push(new.clone());
        Ok(new)
    }

    /// A program whose segments are compiled.
    pub(crate) fn prepare(
        &self,
        program: &Arc<Levelized>,
        in_channels: &[TaskId],
        code: Arc<dyn Code>,
        start: Instant,
    ) -> Arc<CpuLoaded> {
        let plan = Plan::new(program, in_channels, &*code, self.inner.width);
        Arc::new(CpuLoaded {
            program: program.clone(),
            code,
            plan,
            stash: Mutex::new(Vec::new()),
            compiled: start,
            compiling: start.elapsed(),
        })
    }

    /// Runs calls of a task, all in one run, and waits for it. The results are in the calls afterwards. What the run did is found out if it is to be
    /// `told`: of a small one that is a good part.
    ///
    /// # Errors
    /// If the arguments do not fit the task, or the run ends without a result.
    pub(crate) fn launch(
        &self,
        loaded: &Arc<CpuLoaded>,
        task: TaskId,
        calls: &mut [ErasedCall<'_>],
        told: bool,
    ) -> Result<Option<RunReport>, RunError> {
        let told = told || tracing::enabled!(tracing::Level::DEBUG);
        let clock = || told.then(Instant::now);
        let _turn = self.turn();
        self.board().clear();
        // The budget is this run's.
        *self.kept_channels() = None;
        let start = clock();
        if loaded.program.get(task).is_none() {
            return Err(RunError::BadArguments(format!(
                "the program has no task {task}"
            )));
        }
        let function = &loaded.program.program[loaded.program.func(task)];
        let mut fields = vec![Vec::new(); loaded.program.element(task).len()];
        for call in calls.iter() {
            args::push(
                function,
                &loaded.program.program.structs,
                &call.args,
                CPU,
                &mut fields,
                None,
            )?;
        }
        let plan = &loaded.plan.tasks[task.index()];
        if plan.result.is_some() {
            // Nobody's: the results stay in the batch.
            fields
                .last_mut()
                .expect("the return address is a field")
                .resize(calls.len() * 8, 0);
        }
        let (task, count) = (task.index(), calls.len() as u64);
        let batch = Batch::new(&loaded.plan, task, count, fields, 0, (0, task));
        let mut host = Host::default();
        host.spent_since(What::Copy, start);
        let run = self.begin(loaded, 0, told, Shared::new);
        let start = clock();
        self.board().begins(weak(&run));
        let workers = run.execute(&batch);
        self.board().ends(workers.as_ref().err(), || run.sight());
        let workers = workers?;
        host.spent_since(What::Run, start);
        let start = clock();
        if let Some(result) = &plan.result {
            for (i, call) in (0..).zip(calls) {
                call.result.clear();
                call.result.extend_from_slice(batch.result(result, i));
            }
        }
        if !told {
            return Ok(None);
        }
        host.spent_since(What::Copy, start);
        let report = self.report(loaded, &run, workers, (host, batch.count));
        tracing::debug!(
            tasks = report.total,
            dispatches = report.dispatches,
            running = ?report.running,
            "run"
        );
        Ok(Some(report))
    }

    /// One run at a time: who holds this may begin one.
    pub(crate) fn turn(&self) -> Guard<'_, ()> {
        self.inner.turn.lock()
    }

    /// The channels of the graph that ran last.
    pub(crate) fn kept_channels(&self) -> Guard<'_, Kept> {
        self.inner.kept.lock()
    }

    /// Where its workers say how far they are.
    pub(crate) fn board(&self) -> &Board {
        &self.inner.common.board
    }

    pub(crate) fn crew(&self) -> &Arc<Crew> {
        &self.inner.common.crew
    }

    /// A run of a program, with the device's memory but for so many bytes.
    pub(crate) fn begin(
        &self,
        loaded: &Arc<CpuLoaded>,
        taken: u64,
        told: bool,
        shared: fn(u32) -> Shared<Batch>,
    ) -> Arc<Run> {
        let inner = &self.inner;
        Run::new(
            &inner.common,
            loaded,
            (inner.memory, taken),
            inner.threads,
            (told, inner.watched),
            shared,
        )
    }

    /// What a run did that began with so many elements, and for which the host did that.
    pub(crate) fn report(
        &self,
        loaded: &CpuLoaded,
        run: &Run,
        workers: Vec<WorkerReport>,
        (mut host, roots): (Host, u64),
    ) -> RunReport {
        let shared = run.pool.most_taken();
        let mut report = RunReport::sum(&loaded.plan, workers, shared, host.took(What::Run));
        (report.budget, report.compiling) = (self.inner.memory, loaded.compiling);
        report.copying = host.took(What::Copy);
        if matches!(self.inner.watched.observe, Observe::Timeline(_)) {
            host.add(What::Compile, loaded.compiled, loaded.compiling);
            report.keep_timeline(&loaded.plan, roots, host.track());
        }
        report.left_out = self.inner.threads - run.workers;
        report
    }
}

/// A run as something that can be seen from outside.
fn weak(run: &Arc<Run>) -> Weak<dyn Sight> {
    let run: Weak<Run> = Arc::downgrade(run);
    run
}

/// Ends the run in progress, or the next one, of the device with this word.
pub(crate) fn cancel(stop: &AtomicU32) {
    // Relaxed: pairs with the loads of workers and compiled code; it only hastens the end.
    stop.fetch_or(CANCELLED, Ordering::Relaxed);
}

impl fmt::Debug for CpuDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            threads, memory, ..
        } = &*self.inner;
        f.debug_struct("CpuDevice")
            .field("threads", threads)
            .field("memory", memory)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ByHand, program};

    /// Its threads would have the device's end to themselves, and it waits for them.
    #[test]
    fn a_run_that_somebody_holds_still_holds_no_device() {
        let device = CpuDevice::with(CpuOptions::default()).expect("there is a CPU");
        let loaded = device.prepare(&Arc::new(program()), &[], Arc::new(ByHand), Instant::now());
        let run = device.begin(&loaded, 0, true, Shared::new);
        let gone = Arc::downgrade(&device.inner);
        drop((device, loaded));
        assert!(gone.upgrade().is_none(), "{run:?}");
    }
}
