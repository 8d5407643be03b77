//! Texts become machine code, several at the same time, and whoever waits for more than a moment is told.

use crate::error::RunError;
use millstream_channels_kernel::cuda::nvrtc::{Arch, Compiled, How, Later, Nvrtc, NvrtcError};
use std::{
    io::{IsTerminal, Write},
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Who waits longer is told what is being compiled.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it is looked whether there is something new to tell.
const LOOK: Duration = Duration::from_millis(100);

/// What compiles a program's texts.
pub(super) struct Compiler<'a> {
    pub(super) nvrtc: &'static Nvrtc,
    pub(super) arch: Arch,
    pub(super) how: How,
    /// The program's name, to be told.
    pub(super) name: &'a str,
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
    pub(super) fn all(&self, texts: &[String]) -> Result<Vec<Compiled>, RunError> {
        let found = texts
            .iter()
            .map(|text| self.nvrtc.cached(text, self.arch, self.how));
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
                let compiled = self.nvrtc.compile_cached(&texts[i], self.arch, self.how);
                let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
                made.push((i, compiled));
            }
        };
        thread::scope(|scope| {
            let cores = thread::available_parallelism().map_or(1, usize::from);
            for _ in 0..cores.min(missing.len()) {
                scope.spawn(work);
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

    /// Compiles a text in the background.
    ///
    /// # Errors
    /// If there is no thread to be had.
    pub(super) fn later(&self, text: String) -> Result<Later, RunError> {
        tracing::info!(
            program = self.name,
            "the persistent kernel is compiled in the background; until it is there, the host thread decides"
        );
        self.nvrtc
            .compile_later(text, self.arch, self.how)
            .map_err(|e| RunError::Device(format!("no thread to compile in: {e}")))
    }

    /// Waits until all texts are done, and says so from time to time: on a terminal, else by `tracing`.
    fn tell(&self, progress: &Progress, all: usize) {
        let (start, terminal, mut told) = (Instant::now(), std::io::stderr().is_terminal(), None);
        let mut done = progress.done.lock().unwrap_or_else(PoisonError::into_inner);
        while *done < all {
            done = progress
                .changed
                .wait_timeout(done, LOOK)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            if start.elapsed() < PATIENCE || told == Some(*done) || *done == all {
                continue;
            }
            told = Some(*done);
            let (name, arch) = (self.name, self.arch);
            if terminal {
                eprint!("\r\x1b[Kcompiling {name} for {arch}: {} of {all}", *done);
                // A terminal that is gone needs to be told nothing.
                let _ = std::io::stderr().flush();
            } else {
                tracing::info!(program = name, %arch, done = *done, all, "compiling");
            }
        }
        if terminal && told.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

pub(super) fn refused(error: NvrtcError) -> RunError {
    RunError::Compile(error.to_string())
}
