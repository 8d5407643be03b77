//! What a run asks of the machine that its kernels run on: the seam between the loop that drives a run ([`run`](super::run)) and what starts
//! kernels and copies memory. The driver of a GPU is one launcher ([`gpu`](super::gpu)); the emulator of the tests, which runs the same text
//! on this computer, is another. So the loop that is tested without a GPU is the one that ships.

use super::forms::{Form, Forms};
use crate::{error::RunError, live::Live, report::KernelReport, sync::Mutex};
use millstream_channels_kernel::cuda::{Plan, Site, plan::Shape};
use millstream_graph::ir::TaskId;
use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::{Duration, Instant},
};

/// Words of memory that host and device share; the first is the cancel flag, the mailbox begins at [`MAILBOX`].
pub const SHARED_WORDS: usize = 16 << 10;
/// The mailbox's first word.
pub(super) const MAILBOX: usize = 64;

/// What workers run in a subtree dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Tasks without frames: their elements wait for nobody.
    Flat,
    /// Any, level by level.
    Framed,
}

/// A program as its kernels were made: what a run has to know of it.
#[derive(Debug)]
pub struct Kernels {
    /// Its channels and segments.
    pub plan: Plan,
    /// Its checks, by number.
    pub sites: Vec<Site>,
    /// Their threads.
    pub shape: Shape,
    /// How dispatches are launched, by the number of their kernels.
    pub forms: Vec<Forms>,
    /// Dispatches that a run keeps record of ([`Records`](super::records::Records)), if the kernels were made to.
    pub records: u32,
    /// What they take of the machine, if it says so: those that are there.
    pub(super) described: Mutex<Vec<KernelReport>>,
    /// When they began to be made,
    pub compiled: Instant,
    /// and how long that took.
    pub compiling: Duration,
    expected: AtomicU32,
    crowded: AtomicBool,
}

impl Kernels {
    /// A program whose dispatches are launched so.
    #[must_use]
    pub fn new(plan: Plan, sites: Vec<Site>, forms: Vec<Forms>) -> Self {
        Self {
            plan,
            sites,
            shape: Shape::default(),
            forms,
            records: 0,
            described: Mutex::new(Vec::new()),
            compiled: Instant::now(),
            compiling: Duration::ZERO,
            expected: AtomicU32::new(0),
            crowded: AtomicBool::new(false),
        }
    }

    /// How many levels the last run reached: what the next one expects. 0 before the first.
    pub(super) fn expected(&self) -> u32 {
        // Relaxed: a guess. Pairs with the store in `expect`.
        self.expected.load(Ordering::Relaxed)
    }

    /// Whether a worker with levels found no room in a run of the program. There are none of them from then on.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        // Relaxed: a hint. Pairs with the store in `crowd`.
        self.crowded.load(Ordering::Relaxed)
    }

    pub(super) fn crowd(&self) {
        // Relaxed: pairs with the load in `is_crowded`.
        self.crowded.store(true, Ordering::Relaxed);
    }

    /// Forgets what runs taught: for tests, of which each is the first.
    #[doc(hidden)]
    pub fn forget(&self) {
        self.expect(0);
        self.forms.iter().for_each(Forms::forget);
        // Relaxed: as in `crowd`.
        self.crowded.store(false, Ordering::Relaxed);
    }

    pub(super) fn expect(&self, levels: u32) {
        // Relaxed: pairs with the load in `expected`.
        self.expected.store(levels, Ordering::Relaxed);
    }
}

/// Rows of a matrix in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rows {
    /// How many.
    pub count: usize,
    /// Bytes of one.
    pub bytes: usize,
    /// Bytes from one to the next.
    pub distance: usize,
}

/// Where kernels run. What is copied, cleared and launched is done in the order in which it was asked for; [`wait`](Self::wait) waits for all of it.
///
/// Every method may fail as the machine does: [`RunError::Lost`] where nothing more can be done there, [`RunError::Device`] otherwise.
pub trait Machine {
    /// Which memory of buffers is at home here.
    fn home(&self) -> u64;

    /// Memory of so many bytes for channels: its address on the device.
    ///
    /// # Errors
    /// If there is not so much.
    fn channels(&mut self, bytes: u64) -> Result<u64, RunError>;

    /// Memory of so many bytes for copies of the host's: its address on the device.
    ///
    /// # Errors
    /// If there is not so much.
    fn copies(&mut self, bytes: u64) -> Result<u64, RunError>;

    /// Copies to the device.
    ///
    /// # Errors
    /// As the machine does.
    ///
    /// # Safety
    /// `from` is valid for reads of `bytes` until it is waited for, `to` is device memory of that size.
    unsafe fn copy_in(&self, to: u64, from: *const u8, bytes: usize) -> Result<(), RunError>;

    /// Copies from the device.
    ///
    /// # Errors
    /// As the machine does.
    ///
    /// # Safety
    /// `to` is valid for writes of `bytes` until it is waited for, `from` is device memory of that size.
    unsafe fn copy_out(&self, to: *mut u8, from: u64, bytes: usize) -> Result<(), RunError>;

    /// Copies rows; their distance is the same on both sides.
    ///
    /// # Errors
    /// As the machine does.
    ///
    /// # Safety
    /// As for [`copy_in`](Self::copy_in) and [`copy_out`](Self::copy_out), for each of the rows.
    unsafe fn copy_rows(
        &self,
        host: *mut u8,
        device: u64,
        rows: Rows,
        out: bool,
    ) -> Result<(), RunError>;

    /// Clears memory.
    ///
    /// # Errors
    /// As the machine does.
    ///
    /// # Safety
    /// `at` is device memory of that size.
    unsafe fn zero(&self, at: u64, bytes: u64) -> Result<(), RunError>;

    /// Waits for all that was asked for.
    ///
    /// # Errors
    /// As the machine does, with `what` was waited for.
    fn wait(&self, what: &str) -> Result<(), RunError>;

    /// Whether all that was asked for is done.
    ///
    /// # Errors
    /// As the machine does, with `what` was waited for.
    fn is_done(&self, what: &str) -> Result<bool, RunError>;

    /// A word of the device's memory, while kernels run: what it holds, or none if the device does not say in time.
    ///
    /// # Errors
    /// As the machine does.
    ///
    /// # Safety
    /// `at` is device memory, aligned.
    unsafe fn peek(&self, at: u64) -> Result<Option<u32>, RunError>;

    /// Nothing is waited for any more: a kernel does not end. Who asks again has to go elsewhere.
    fn give_up(&self);

    /// A word that host and device share, less than [`SHARED_WORDS`].
    fn shared_word(&self, at: usize) -> &AtomicU32;

    /// Where the device finds the words that it shares with the host.
    fn shared_address(&self) -> u64;

    /// Where its runs say how far they are.
    fn live(&self) -> &Live;

    /// Marks the time when all that was asked for is done: first the beginning of the run, then its end, which may be marked again.
    ///
    /// # Errors
    /// As the machine does.
    fn mark(&self, end: bool) -> Result<(), RunError>;

    /// The time between the marks; both were waited for.
    ///
    /// # Errors
    /// As the machine does.
    fn elapsed(&self) -> Result<Duration, RunError>;
}

/// What the persistent kernel does before it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Whether it has all its blocks, or one.
    pub all: bool,
    /// It ends with the first run that is for the host, or the first after so many dispatches; otherwise when all is done.
    pub limit: Option<u32>,
    /// The dispatches that other blocks heard of in the run's turns before.
    pub began: u32,
}

impl Turn {
    /// The kernel's words: its limit, and where it began.
    #[must_use]
    pub fn words(self) -> [u32; 2] {
        [self.limit.unwrap_or(0), self.began]
    }
}

/// A machine that a program's kernels were made for.
pub trait Launcher: Machine {
    /// What a dispatch of the host's takes at most that the persistent kernel would do sooner: most of it is the launch.
    const SHORT: Duration = Duration::from_micros(50);

    /// The program.
    fn kernels(&self) -> &Kernels;

    /// Whether the persistent kernel can be started. It may be on its way still: who asks again may hear otherwise.
    ///
    /// # Errors
    /// As the machine does, or if it cannot be made.
    fn is_ready(&self) -> Result<bool, RunError>;

    /// How deep helpers may call themselves in a run that begins with this task.
    ///
    /// # Errors
    /// As the machine does, or if threads have no room for what else lies there.
    fn max_depth(&self, entry: TaskId) -> Result<u32, RunError>;

    /// What the program's global [`CHANNELS`](millstream_channels_kernel::cuda::abi::kernel::CHANNELS) is to hold when the run's kernels start.
    ///
    /// # Errors
    /// As the machine does, or if it is not as large.
    fn set_channels(&self, bytes: &[u8]) -> Result<(), RunError>;

    /// Blocks that the persistent kernel has where it has all; 0 if it is not there.
    fn blocks(&self) -> u32;

    /// Starts the persistent kernel.
    ///
    /// # Errors
    /// As the machine does.
    ///
    /// # Safety
    /// The device's memory is laid out as the kernels expect, the addresses are those of a dispatch record and of a standing in it.
    unsafe fn persistent(&self, addresses: [u64; 2], turn: Turn) -> Result<(), RunError>;

    /// How many workers a subtree dispatch of this kind may have; 0 if its kernel is not there, or not yet.
    ///
    /// # Errors
    /// As the machine does.
    fn workers(&self, kind: Kind) -> Result<u32, RunError>;

    /// Starts a subtree dispatch of this kind with so many workers.
    ///
    /// # Errors
    /// As the machine does.
    ///
    /// # Safety
    /// The device's memory is laid out as the kernels expect, `crew` is the address of a [`Crew`](millstream_channels_kernel::cuda::abi::Crew) record in it.
    unsafe fn subtrees(&self, kind: Kind, crew: u64, workers: u32) -> Result<(), RunError>;

    /// Brings together what so many workers left.
    ///
    /// # Errors
    /// As the machine does.
    ///
    /// # Safety
    /// As for [`subtrees`](Self::subtrees).
    unsafe fn gather(&self, crew: u64, workers: u32) -> Result<(), RunError>;

    /// Starts a dispatch.
    ///
    /// # Errors
    /// As the machine does.
    ///
    /// # Safety
    /// The device's memory is laid out as the kernels expect, and so are the words of the dispatch record.
    unsafe fn dispatch(&self, kernel: usize, form: Form, words: &mut [u32])
    -> Result<(), RunError>;
}
