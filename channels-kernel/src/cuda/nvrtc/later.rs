//! Compilations that nobody waits for, until their result is asked for.
//!
//! A process does not end in the middle of one: what takes it down would take away what the compiler works with. So its end waits for them, a minute at
//! most, and their results are in the cache for the next process. Who can begin another process for them [hands them over](super::hand_over) instead, and
//! ends [at once](leave).
//!
//! Processes that want the same text at once do not all compile it: the others wait until it is in the cache.
//!
//! What is registered last is called first at the end, and the library registers what it does at its end while it compiles: it then tears down what it works
//! with, and crashes or never comes to an end. So the wait has to come before all that anybody registered. The C library first ends what belongs to the thread
//! that ends the process, mostly the main one: a value of that thread's waits ([`AtTheEnd`]). Where another thread has it compile, the wait is registered
//! as others are, behind the compilation of an empty kernel, which has made the library register most of what it does.

use super::{Arch, Compiled, How, Nvrtc, NvrtcError, cache::Cache};
use std::{
    collections::VecDeque,
    ffi::c_int,
    io::IsTerminal,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, Once, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, available_parallelism},
    time::{Duration, Instant},
};

/// After so long a process that ends says what it waits for.
const PATIENCE: Duration = Duration::from_secs(1);
/// And after so long it ends without them.
const MOST: Duration = Duration::from_secs(60);

/// How many of them are at work.
static AT_WORK: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// One that is at work.
struct Turn;

impl Turn {
    /// Waits until it may be: one a core, of which one is left to what runs meanwhile, if anything does.
    fn take(all_cores: bool) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        let most = if all_cores { cores } else { cores.max(2) - 1 };
        let at_work = AT_WORK.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = AT_WORK.1.wait_while(at_work, |n| *n >= most);
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *AT_WORK.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        // Not each who waits may have as many beside it.
        AT_WORK.1.notify_all();
    }
}

/// A text that is to be compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Text {
    pub(super) source: String,
    pub(super) arch: Arch,
    pub(super) how: How,
}

/// Why a text is compiled in a thread of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Why {
    /// A later run wants it.
    Later,
    /// Nothing runs until it is there, for a while at least.
    Awaited,
    /// A run wanted it of a process that has ended.
    TakenOver,
}

/// One that is under way in another thread.
#[derive(Debug)]
struct Work {
    text: Text,
    why: Why,
    /// Whether another process is at it, which this one waits for.
    elsewhere: AtomicBool,
}

/// Compilations under way in other threads.
static UNDER_WAY: (Mutex<Vec<Arc<Work>>>, Condvar) = (Mutex::new(Vec::new()), Condvar::new());

fn under_way() -> MutexGuard<'static, Vec<Arc<Work>>> {
    UNDER_WAY.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is under way, but for what another process does.
pub(super) fn of_this_process() -> Vec<Text> {
    let under_way = under_way();
    // Relaxed: where it was just found to be elsewhere, it is done twice at worst.
    let ours = under_way
        .iter()
        .filter(|w| !w.elsewhere.load(Ordering::Relaxed));
    ours.map(|w| w.text.clone()).collect()
}

/// Whether anything is under way.
pub(super) fn is_any() -> bool {
    !under_way().is_empty()
}

/// Waits for what is under way at the end, for a minute at most, however often it is asked. False if that was not enough.
fn wait_for_all() -> bool {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    wait_until(MOST.saturating_sub(BEGUN.get_or_init(Instant::now).elapsed()))
}

/// Waits for so long at most until nothing is under way. False if that was not enough.
pub(super) fn wait_until(most: Duration) -> bool {
    let busy = |works: &mut Vec<Arc<Work>>| !works.is_empty();
    let wait = |guard, most| {
        let waited = UNDER_WAY.1.wait_timeout_while(guard, most, busy);
        waited.unwrap_or_else(PoisonError::into_inner)
    };
    let (guard, waited) = wait(under_way(), PATIENCE.min(most));
    if !waited.timed_out() {
        return true;
    }
    if std::io::stderr().is_terminal() {
        eprintln!(
            "millstream: a kernel is still being compiled, for the runs to come; Ctrl-C leaves it out"
        );
    }
    !wait(guard, most).1.timed_out()
}

/// Ends the process at once, without a wait for what is under way and whatever else is to be done at its end: what Ctrl-C asks for. What was printed
/// before has to be flushed.
pub fn leave(status: i32) -> ! {
    unsafe extern "C" {
        safe fn _exit(status: c_int) -> !;
    }
    _exit(status)
}

/// Has the process wait before it ends. It fails only where there is no memory left for it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn wait_at_the_end() {
    use std::ffi::c_void;
    unsafe extern "C" {
        safe fn on_exit(call: extern "C" fn(c_int, *mut c_void), with: *mut c_void) -> c_int;
    }
    extern "C" fn end(status: c_int, _: *mut c_void) {
        if !wait_for_all() {
            // A compiler that is still at work would not outlive what else ends here.
            leave(status);
        }
    }
    let _ = on_exit(end, std::ptr::null_mut());
}

/// The same by what every C library has.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn wait_at_the_end() {
    unsafe extern "C" {
        safe fn atexit(call: extern "C" fn()) -> c_int;
    }
    extern "C" fn end() {
        wait_for_all();
    }
    let _ = atexit(end);
}

/// A value that waits when its thread ends.
struct AtTheEnd;

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        wait_for_all();
    }
}

thread_local! {
    static AT_THE_END: AtTheEnd = const { AtTheEnd };
}

/// Counts as one of those under way.
struct Working(Arc<Work>);

impl Working {
    fn begin(nvrtc: &Nvrtc, text: Text, why: Why) -> Self {
        static COMPILES: Once = Once::new();
        // Others than the main thread end when they like, and wait for nothing then.
        if thread::current().name() == Some("main") {
            AT_THE_END.with(|_| ());
        } else {
            // The same way through the compiler as what follows goes. What it says of an empty kernel, it says of the others too.
            COMPILES.call_once(|| {
                let Text { arch, how, .. } = text;
                _ = nvrtc.compile("extern \"C\" __global__ void none() {}", arch, how);
            });
        }
        // Each time anew, so that it is called before what the library registered meanwhile.
        wait_at_the_end();
        let work = Arc::new(Work {
            text,
            why,
            elsewhere: AtomicBool::new(false),
        });
        under_way().push(work.clone());
        Self(work)
    }

    /// Compiles it, through the cache, and says whether that has it now. Where another process does the same, it is waited for.
    fn compile(&self, nvrtc: &Nvrtc, key: u128) -> Result<(Compiled, bool), NvrtcError> {
        let work = &*self.0;
        // Relaxed: pairs with the load in `of_this_process`, which says what comes of one that is missed.
        let set = |is: bool| work.elsewhere.store(is, Ordering::Relaxed);
        let _mine =
            Cache::of_user().and_then(|cache| cache.claim(key, work.why == Why::TakenOver, set));
        let _turn = Turn::take(work.why == Why::Awaited);
        let text = &work.text;
        nvrtc.compile_and_put(&text.source, text.arch, text.how)
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        under_way().retain(|work| !Arc::ptr_eq(work, &self.0));
        UNDER_WAY.1.notify_all();
    }
}

type Made = Result<Compiled, NvrtcError>;

/// Machine code that is on its way; a clone is the same. Dropping it stops nothing: the code comes into the cache, and an error is said by `tracing`.
#[derive(Clone, Debug)]
pub struct Later(Arc<OnceLock<Made>>);

impl Later {
    /// Whether the result is there.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.0.get().is_some()
    }

    /// Whether it is there and is code.
    #[must_use]
    pub fn is_good(&self) -> bool {
        matches!(self.0.get(), Some(Ok(_)))
    }

    /// Waits for so long at most until all of these are done.
    pub fn wait_for_all(these: &[Self], most: Duration) {
        let busy = |_: &mut Vec<_>| !these.iter().all(Self::is_done);
        drop(UNDER_WAY.1.wait_timeout_while(under_way(), most, busy));
    }

    /// The result, which is waited for.
    ///
    /// # Errors
    /// If the compiler rejects the text.
    pub fn result(self) -> Result<Compiled, NvrtcError> {
        self.0.wait().clone()
    }
}

/// Says that the thread panicked if it leaves nothing.
struct Promised(Arc<OnceLock<Made>>);

impl Drop for Promised {
    fn drop(&mut self) {
        self.0.get_or_init(|| {
            Err(NvrtcError::Compile {
                message: "the thread that compiled panicked".into(),
                log: String::new(),
            })
        });
    }
}

/// Texts by their keys that are on their way, or are there and in somebody's hands: who asks for one of them gets the same, so that nothing is compiled twice
/// at a time.
static KNOWN: Mutex<Vec<(u128, Weak<OnceLock<Made>>)>> = Mutex::new(Vec::new());

/// What no cache on disk keeps, the last ones.
static KEPT: Mutex<VecDeque<Later>> = Mutex::new(VecDeque::new());

/// How many these are at most: more than the parts of a program.
const MOST_KEPT: usize = 64;

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn known(key: u128) -> Option<Later> {
    let known = lock(&KNOWN);
    let found = known.iter().find(|(k, _)| *k == key)?;
    found.1.upgrade().map(Later)
}

/// Code that was compiled in the background and is still in memory.
pub(super) fn in_memory(key: u128) -> Option<Compiled> {
    let made = known(key)?;
    made.0.get()?.as_ref().ok().cloned()
}

fn keep(made: Later) {
    let mut kept = lock(&KEPT);
    if kept.len() >= MOST_KEPT {
        kept.pop_front();
    }
    kept.push_back(made);
}

impl Nvrtc {
    /// Compiles in a thread of its own, through the cache. Where that cannot be written the code stays in memory, as long as there is not much of it.
    /// What is on its way already is not compiled once more.
    ///
    /// # Errors
    /// If there is no thread to be had.
    pub fn compile_later(
        &'static self,
        source: String,
        arch: Arch,
        how: How,
    ) -> std::io::Result<Later> {
        self.begin(Text { source, arch, how }, Why::Later)
    }

    /// The same by all cores, for who waits for it but may stop waiting.
    ///
    /// # Errors
    /// The same.
    pub fn compile_soon(
        &'static self,
        source: String,
        arch: Arch,
        how: How,
    ) -> std::io::Result<Later> {
        self.begin(Text { source, arch, how }, Why::Awaited)
    }

    pub(super) fn begin(&'static self, text: Text, why: Why) -> std::io::Result<Later> {
        // Two who ask for the same at once are one after the other.
        static ASKED: Mutex<()> = Mutex::new(());
        let _one = lock(&ASKED);
        let key = self.key(&text.source, text.arch, text.how);
        if let Some(later) = known(key) {
            return Ok(later);
        }
        let working = Working::begin(self, text, why);
        let made = Later(Arc::default());
        let (later, promised) = (made.clone(), Promised(made.0.clone()));
        let work = move || {
            let working = working;
            let result = working.compile(self, key);
            if let Err(error) = &result {
                tracing::error!(%error, "a kernel that was compiled for later runs is refused");
            }
            let on_disk = result.as_ref().is_ok_and(|(_, put)| *put);
            promised.0.get_or_init(|| result.map(|(code, _)| code));
            if !on_disk {
                keep(Later(promised.0.clone()));
            }
        };
        super::thread().spawn(work)?;
        let mut known = lock(&KNOWN);
        known.retain(|(_, made)| made.strong_count() > 0);
        known.push((key, Arc::downgrade(&later.0)));
        Ok(later)
    }
}
