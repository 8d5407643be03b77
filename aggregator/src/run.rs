//! One run: what its workers share, and how it begins and ends.

use crate::{
    batch::Batch,
    budget::Pool,
    cpu::{Common, CpuLoaded},
    crew::Job,
    dispatch,
    error::RunError,
    leaving::Left,
    live::Board,
    report::WorkerReport,
    share::{Shared, WorkerId},
    stacks::Stacks,
    sync::Mutex,
    thread_stack,
    watch::Watched,
    worker::{Stop, Worker},
};
use millstream_channels_kernel::cpu::abi::{WorkerContext, status};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
    sync::{
        Arc, Weak,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// How long a worker that waits for memory sleeps before it looks again.
const LULL: Duration = Duration::from_micros(50);
/// Bit of the stop word: the user cancelled.
pub(crate) const CANCELLED: u32 = 1;
/// Bit of the stop word: a worker failed.
const FAILED: u32 = 2;

/// Stacks of workers that wait for the next run of a program.
pub(crate) type Stash = Mutex<Vec<Box<Stacks>>>;

/// A run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) loaded: Arc<CpuLoaded>,
    common: Arc<Common>,
    /// What its stacks may take.
    pub(crate) pool: Pool,
    /// That, and what the channels of a graph take of the device's memory: the budget as it was asked for.
    pub(crate) granted: u64,
    pub(crate) shared: Shared<Batch>,
    /// Workers that may take part.
    pub(crate) workers: u32,
    /// Whether they tell what they did,
    pub(crate) told: bool,
    /// and what of each dispatch.
    pub(crate) watched: Watched,
    error: Mutex<Option<RunError>>,
    reports: Mutex<Vec<WorkerReport>>,
    /// What workers left of their state, if the run was stopped.
    pub(crate) left: Mutex<Vec<Left>>,
    pub(crate) begun: Instant,
    this: Weak<Run>,
}

impl Run {
    pub(crate) fn new(
        common: &Arc<Common>,
        loaded: &Arc<CpuLoaded>,
        (granted, taken): (u64, u64),
        threads: u32,
        (told, watched): (bool, Watched),
        shared: fn(u32) -> Shared<Batch>,
    ) -> Arc<Self> {
        let budget = granted - taken;
        let workers = Pool::workers(budget, threads);
        Arc::new_cyclic(|this| Self {
            loaded: loaded.clone(),
            common: common.clone(),
            pool: Pool::new(budget, workers),
            granted,
            shared: shared(workers),
            workers,
            told,
            watched,
            error: Mutex::new(None),
            reports: Mutex::new(Vec::new()),
            left: Mutex::new(Vec::new()),
            begun: Instant::now(),
            this: this.clone(),
        })
    }

    /// Not 0 when the run is to end. Compiled code reads it too.
    #[inline]
    fn stop(&self) -> &AtomicU32 {
        &self.common.stop
    }

    /// Where its workers say how far they are.
    #[inline]
    pub(crate) fn board(&self) -> &Board {
        &self.common.board
    }

    /// Whether the run is to end before its work is done.
    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        // Relaxed: pairs with the stores in `fail` and `Cancel::cancel`; it only hastens the end.
        self.stop().load(Ordering::Relaxed) != 0
    }

    /// Runs the calls on this thread, with others if it takes long.
    pub(crate) fn execute(&self, calls: &Batch) -> Result<Vec<WorkerReport>, RunError> {
        self.work(WorkerId(0), |worker| worker.run_batch(calls));
        self.close()
    }

    /// Ends the run, waits until every worker has left it, and says what they did, if that is told.
    pub(crate) fn close(&self) -> Result<Vec<WorkerReport>, RunError> {
        self.shared.close();
        self.common.crew.dismiss();
        // Relaxed: every worker has left, under the lock of `shared`.
        let stop = self.stop().swap(0, Ordering::Relaxed);
        if let Some(error) = self.error.lock().take() {
            return Err(error);
        }
        if stop & CANCELLED != 0 {
            return Err(RunError::Cancelled);
        }
        Ok(std::mem::take(&mut self.reports.lock()))
    }

    /// Takes memory that several workers share: `missing` bytes or more. Where others have it, waits until they give some back, unless all
    /// of them wait too.
    pub(crate) fn take_or_wait(&self, missing: u64) -> Option<u64> {
        if let Some(taken) = self.pool.take_piece(missing) {
            return Some(taken);
        }
        // Relaxed: the count is only compared, again and again; the memory itself is behind its own counter.
        self.pool.waiting().fetch_add(1, Ordering::Relaxed);
        let taken = loop {
            let taken = self.pool.take_piece(missing);
            let alone = self.pool.waiting().load(Ordering::Relaxed) >= self.shared.awake();
            if taken.is_some() || self.stopped() || alone {
                break taken;
            }
            thread::sleep(LULL);
        };
        // Relaxed: as above.
        self.pool.waiting().fetch_sub(1, Ordering::Relaxed);
        taken
    }

    /// Calls the other workers.
    pub(crate) fn call_others(&self) {
        if let Some(run) = self.this.upgrade() {
            // Whoever is missing: the caller can do all work alone.
            self.common.crew.call(run, self.workers - 1);
        }
    }

    /// What a worker does in the run, from its first stack to its report.
    pub(crate) fn work<'r>(
        &'r self,
        id: WorkerId,
        work: impl FnOnce(&mut Worker<'r>) -> Result<(), Stop>,
    ) {
        let done = catch_unwind(AssertUnwindSafe(|| {
            let stacks = match self.stacks() {
                Ok(stacks) => stacks,
                Err(error) if id == WorkerId(0) => return self.fail(error),
                Err(error) => return tracing::warn!(%error, "a worker takes no part"),
            };
            let mut worker = Worker::new(self, id, stacks, self.context());
            match work(&mut worker) {
                Ok(()) => {}
                Err(Stop::Over) => self.shared.end(),
                Err(Stop::Failed(error)) => self.fail(*error),
            }
            if self.why().is_some_and(|error| error.leaves_dump()) {
                self.left.lock().push(worker.leave());
            }
            let (stacks, report) = worker.finish();
            self.reports.lock().extend(report);
            self.loaded.stash.lock().push(stacks);
        }));
        if let Err(panic) = done {
            self.fail(RunError::Panicked {
                message: message(&*panic),
            });
        }
    }

    fn stacks(&self) -> Result<Box<Stacks>, RunError> {
        if let Some(stacks) = self.loaded.stash.lock().pop() {
            return Ok(stacks);
        }
        let budget = self.pool.budget();
        let stacks = Stacks::new(&self.loaded.plan, budget);
        stacks
            .map(Box::new)
            .map_err(|e| RunError::Device(format!("no address space for channel stacks: {e}")))
    }

    fn context(&self) -> WorkerContext {
        WorkerContext {
            status: status::OK,
            site: 0,
            values: [0; 2],
            stack_limit: thread_stack::limit(),
            stacks: ptr::null_mut(),
            fields: ptr::null(),
            cancel: self.stop().as_ptr(),
            uniforms: ptr::null(),
            more: dispatch::more,
            growing: 0,
            granted: 0,
            owner: ptr::null_mut(),
        }
    }

    /// Why the run ends, if it does before its work is done.
    pub(crate) fn why(&self) -> Option<RunError> {
        if let Some(error) = &*self.error.lock() {
            return Some(error.clone());
        }
        // Relaxed: as in `stopped`.
        (self.stop().load(Ordering::Relaxed) & CANCELLED != 0).then_some(RunError::Cancelled)
    }

    /// Ends the run with an error, unless it already has one.
    pub(crate) fn fail(&self, error: RunError) {
        self.error.lock().get_or_insert(error);
        // Relaxed: pairs with the load in `stopped`; the error itself is under its lock.
        self.stop().fetch_or(FAILED, Ordering::Relaxed);
        self.shared.end();
    }
}

impl Job for Run {
    fn serve(&self, id: WorkerId) {
        if id.0 >= self.workers || !self.shared.enter() {
            return;
        }
        self.work(id, |worker| worker.serve());
        self.shared.leave();
    }
}

/// What a panic said.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".into())
}
