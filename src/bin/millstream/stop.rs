//! What Ctrl-C does to a run, and the dump of one that is stopped or stuck.

use crate::{cuda, inspect, report::tell};
use millstream::{Device, dump::DumpFile, job::write_file};
use std::{
    path::{Path, PathBuf},
    process,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// The exit code of a command that Ctrl-C ended, as shells have it.
const INTERRUPTED: i32 = 130;
/// A run that was told to end and has not for so long leaves a dump of what can be seen of it.
const PATIENCE: Duration = Duration::from_secs(2);

/// What stops a run, and what it leaves then. A clone is the same.
#[derive(Clone)]
pub(crate) struct Stop(Arc<Inner>);

struct Inner {
    device: Device,
    /// What run it is.
    of: DumpFile,
    file: PathBuf,
    quiet: bool,
    /// Nothing is left to cancel: the run is over, or was asked to end before.
    asked: AtomicBool,
    /// Whether the run is over. Who writes a dump holds it.
    over: Mutex<bool>,
    ended: Condvar,
}

/// Where a dump goes if nobody said: beside those of other runs, and in nobody's way.
fn default_file() -> PathBuf {
    std::env::temp_dir().join(format!("millstream-{}.dump.json", process::id()))
}

impl Stop {
    /// Of a run on a device, whose dump goes to a file.
    pub(crate) fn new(device: &Device, of: DumpFile, file: Option<&Path>, quiet: bool) -> Self {
        Self(Arc::new(Inner {
            device: device.clone(),
            of,
            file: file.map_or_else(default_file, Path::to_path_buf),
            quiet,
            asked: AtomicBool::new(false),
            over: Mutex::new(false),
            ended: Condvar::new(),
        }))
    }

    /// Has Ctrl-C end the run, and a second one the process.
    pub(crate) fn on_interrupt(&self) {
        let (this, cancel) = (self.clone(), self.0.device.cancel_handle());
        let handler = move || {
            // Relaxed: it says nothing of other memory.
            if this.0.asked.swap(true, Ordering::Relaxed) {
                cuda::leave(INTERRUPTED);
            }
            cancel.cancel();
            let this = this.clone();
            // Without a thread for it there is no dump of a run that does not end, no more.
            let _ = thread::Builder::new().spawn(move || this.watch());
        };
        if let Err(error) = ctrlc::set_handler(handler) {
            tracing::warn!(%error, "Ctrl-C will end the command without a word");
        }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.0.over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the run that was asked to end, but not for ever.
    fn watch(&self) {
        let wait = self
            .0
            .ended
            .wait_timeout_while(self.lock(), PATIENCE, |over| !*over);
        let (over, _) = wait.unwrap_or_else(PoisonError::into_inner);
        if !*over {
            self.write();
            tell("the run has not ended yet; another Ctrl-C ends the command\n");
        }
    }

    /// The run is over. If it was stopped or could not go on, it leaves a dump.
    pub(crate) fn over(&self, failed: bool) {
        // Relaxed: as above.
        self.0.asked.store(true, Ordering::Relaxed);
        let mut over = self.lock();
        *over = true;
        self.0.ended.notify_all();
        if failed {
            self.write();
        }
    }

    /// Writes what the device has, and says so: whole or not at all.
    fn write(&self) {
        let Inner {
            device,
            of,
            file,
            quiet,
            ..
        } = &*self.0;
        let Some(dump) = device.dump() else {
            return;
        };
        let dump = DumpFile { dump, ..of.clone() };
        let mut said = match quiet {
            true => String::new(),
            false => inspect::short(&dump),
        };
        match write_file(file, dump.json().as_bytes()) {
            Ok(()) => said += &format!("wrote {}: `millstream inspect` reads it\n", file.display()),
            Err(error) => said += &format!("cannot write the dump `{}`: {error}\n", file.display()),
        }
        tell(&said);
    }
}
