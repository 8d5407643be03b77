//! Texts become machine code, several at the same time, and whoever waits for more than a moment is told.

use crate::error::RunError;
use millstream_channels_kernel::cuda::{
    Written,
    nvrtc::{self, Arch, Compiled, How, Later, Nvrtc, NvrtcError},
};
use std::{
    io::{IsTerminal, Write},
    sync::{
        Condvar, Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Who waits longer is told what is being compiled.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it is looked whether there is something new to tell.
const LOOK: Duration = Duration::from_millis(100);
/// So long a run waits at most for what another process compiles that took it over from an earlier run.
const TAKEN_OVER: Duration = Duration::from_secs(20);

/// What compiles a program's texts.
pub(super) struct Compiler<'a> {
    pub(super) nvrtc: &'static Nvrtc,
    pub(super) arch: Arch,
    /// The program's name, to be told.
    pub(super) name: &'a str,
    /// Since when it waits for another process, if it did.
    pub(super) waits: OnceLock<Instant>,
}

/// A text that is to be compiled.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) source: String,
    pub(super) how: How,
    pub(super) written: Written,
}

/// How many texts are done.
#[derive(Default)]
struct Progress {
    done: Mutex<usize>,
    changed: Condvar,
}

/// Counts a text as done, however its thread leaves it.
struct Counted<'a>(&'a Progress);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        *self.0.done.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.changed.notify_all();
    }
}

impl Compiler<'_> {
    /// Compiles texts on all cores, those that are not in the cache.
    ///
    /// # Errors
    /// The first of them that is refused.
    pub(super) fn all(&self, texts: &[(String, How)]) -> Result<Vec<Compiled>, RunError> {
        let found = texts
            .iter()
            .map(|(text, how)| self.nvrtc.cached(text, self.arch, *how));
        let mut found: Vec<Option<Compiled>> = found.collect();
        let missing: Vec<usize> = (0..texts.len()).filter(|i| found[*i].is_none()).collect();
        let (next, progress, made) = (
            AtomicUsize::new(0),
            Progress::default(),
            Mutex::new(Vec::new()),
        );
        let work = || {
            // Relaxed: each number is taken once, and that is all.
            while let Some(&i) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                let _counted = Counted(&progress);
                let (text, how) = &texts[i];
                let compiled = self.nvrtc.compile_cached(text, self.arch, *how);
                let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
                made.push((i, compiled));
            }
        };
        thread::scope(|scope| {
            let cores = thread::available_parallelism().map_or(1, usize::from);
            for number in 0..cores.min(missing.len()) {
                if nvrtc::thread().spawn_scoped(scope, work).is_err() {
                    // The system gives no more: those that there are do it all, and this one if there are none.
                    if number == 0 {
                        work();
                    }
                    break;
                }
            }
            self.tell(&progress, missing.len());
        });
        let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        made.sort_by_key(|(i, _)| *i);
        for (i, compiled) in made {
            found[i] = Some(compiled.map_err(refused)?);
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// What there is of a text. What another process compiles that took it over from an earlier run is waited for, so that the second run of a program has all of
    /// its code.
    pub(super) fn there(&self, source: &str, how: How) -> Option<Compiled> {
        let cached = || self.nvrtc.cached(source, self.arch, how);
        if let Some(there) = cached() {
            return Some(there);
        }
        let mut told = false;
        while self.nvrtc.is_taken_over(source, self.arch, how) {
            let waited = self.waits.get_or_init(Instant::now).elapsed();
            if waited > TAKEN_OVER {
                break;
            }
            if waited > PATIENCE && !told {
                told = true;
                self.show("what an earlier run left, by another process");
            }
            thread::sleep(LOOK / 4);
        }
        self.hide(told);
        cached()
    }

    /// Compiles a text in the background.
    ///
    /// # Errors
    /// If there is no thread to be had.
    pub(super) fn later(&self, (text, how): (String, How)) -> Result<Later, RunError> {
        self.nvrtc
            .compile_later(text, self.arch, how)
            .map_err(|e| RunError::Device(format!("no thread to compile in: {e}")))
    }

    /// The same with all cores, to be waited for.
    ///
    /// # Errors
    /// The same.
    pub(super) fn soon(&self, text: &Text) -> Result<Later, RunError> {
        self.nvrtc
            .compile_soon(text.source.clone(), self.arch, text.how)
            .map_err(|e| RunError::Device(format!("no thread to compile in: {e}")))
    }

    /// Waits for so long at most until these texts are done, and tells how many are.
    pub(super) fn wait(&self, these: &[Later], most: Duration) {
        let (start, mut told) = (Instant::now(), None);
        let done = || these.iter().filter(|later| later.is_done()).count();
        while done() < these.len() && start.elapsed() < most {
            if start.elapsed() >= PATIENCE && told != Some(done()) {
                told = Some(done());
                self.show(&format!("{} of {} parts", done(), these.len()));
            }
            Later::wait_for_all(these, LOOK.min(most));
        }
        self.hide(told.is_some());
    }

    /// Waits until all texts are done, and tells how many are.
    fn tell(&self, progress: &Progress, all: usize) {
        let told = progress.wait(all, PATIENCE, |done| {
            self.show(&format!("{done} of {all} parts"));
        });
        self.hide(told);
    }

    /// Tells what is done: on a terminal, else by `tracing`.
    fn show(&self, done: &str) {
        let (name, arch) = (self.name, self.arch);
        if std::io::stderr().is_terminal() {
            eprint!("\r\x1b[Kcompiling {name} for {arch}: {done}");
            // A terminal that is gone needs to be told nothing.
            let _ = std::io::stderr().flush();
        } else {
            tracing::info!(program = name, %arch, done, "compiling");
        }
    }

    /// Takes back what a terminal was told, if it was.
    fn hide(&self, told: bool) {
        if told && std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K");
        }
    }
}

impl Progress {
    /// Waits until so many are done. After a while it tells how many are, and again whenever there are more; whether it did.
    fn wait(&self, all: usize, patience: Duration, mut tell: impl FnMut(usize)) -> bool {
        let (start, mut told) = (Instant::now(), None);
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        while *done < all {
            if start.elapsed() >= patience && told != Some(*done) {
                told = Some(*done);
                tell(*done);
            }
            let waited = self.changed.wait_timeout(done, LOOK);
            done = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        told.is_some()
    }
}

pub(super) fn refused(error: NvrtcError) -> RunError {
    RunError::Compile(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_long_is_told_how_much_is_done() {
        let (progress, mut told) = (Progress::default(), Vec::new());
        let short = progress.wait(0, Duration::ZERO, |done| told.push(done));
        assert!(!short && told.is_empty(), "there is nothing to wait for");
        let (go, next) = std::sync::mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(|| {
                // One after another is done when it has been told how many were before.
                for () in next {
                    drop(Counted(&progress));
                }
            });
            let told_any = progress.wait(3, Duration::from_millis(50), |done| {
                told.push(done);
                let _ = go.send(());
            });
            assert!(told_any);
            drop(go);
        });
        assert_eq!(told, [0, 1, 2]);
        assert!(!progress.wait(3, Duration::ZERO, |_| ()), "all are done");
    }

    #[test]
    fn who_waits_shortly_is_told_nothing() {
        let progress = Progress::default();
        thread::scope(|scope| {
            scope.spawn(|| drop(Counted(&progress)));
            assert!(!progress.wait(1, Duration::from_secs(60), |_| ()));
        });
    }
}
