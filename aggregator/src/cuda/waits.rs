//! How the host waits for a run's kernels. Every wait has a bound: a kernel ends itself when a dispatch takes longer than the watchdog allows, and one that
//! does not even look at it is given up.

use super::{
    launcher::{Launcher, MAILBOX, Machine},
    run::{RUNNING, Run},
};
use crate::error::RunError;
use millstream_channels_kernel::cuda::abi::{Control, Mailbox};
use std::{
    mem::offset_of,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

/// Beyond what the watchdog allows: for the launch, and for what a kernel does after it has seen it.
const GRACE: Duration = Duration::from_secs(1);
/// A kernel that takes longer is asked for by naps, so that the host's thread does not burn for it.
const SHORT: Duration = Duration::from_millis(10);
/// How long such a nap is.
const NAP: Duration = Duration::from_micros(50);

/// So long at most the host waits for a kernel that shows no sign of life: kernels end themselves when a dispatch takes longer than the watchdog
/// allows, those that look at it.
fn patience(watchdog: Duration) -> Duration {
    2 * watchdog + GRACE
}

/// Gives up a kernel that neither ends nor looks at the watchdog.
fn given_up(machine: &impl Machine, watchdog: Duration) -> RunError {
    machine.give_up();
    RunError::Lost(format!(
        "a kernel did not end and did not look at the watchdog for {:?}; it was given up",
        patience(watchdog)
    ))
}

/// A kernel that goes on by itself until a run, or a part of it, is over.
pub(super) struct Awaited<'a, M> {
    pub(super) machine: &'a M,
    /// What it does, for errors.
    pub(super) what: &'static str,
    pub(super) watchdog: Duration,
}

impl<M: Machine> Awaited<'_, M> {
    /// Waits for it, for as long as its `sign` of life changes. `meanwhile` is called at each look with how long it has been running, and whether that is
    /// long enough for more than a load or a store; `hung` before it is given up.
    pub(super) fn wait(
        &self,
        sign: impl Fn() -> Result<Option<u32>, RunError>,
        meanwhile: impl Fn(Duration, bool),
        hung: impl FnOnce(),
    ) -> Result<(), RunError> {
        let start = Instant::now();
        let (mut since, mut last) = (start, None);
        while !self.machine.is_done(self.what)? {
            if since.elapsed() > patience(self.watchdog) {
                let now = sign()?;
                if now.is_none() || now == last {
                    hung();
                    return Err(given_up(self.machine, self.watchdog));
                }
                (since, last) = (Instant::now(), now);
            }
            let running = start.elapsed();
            meanwhile(running, running > SHORT);
            if running > SHORT {
                std::thread::sleep(NAP);
            } else {
                std::hint::spin_loop();
            }
        }
        self.machine.wait(self.what)
    }
}

impl<L: Launcher> Run<'_, L> {
    /// Waits for the persistent kernel, for as long as it begins new dispatches.
    pub(super) fn await_kernel(&self) -> Result<(), RunError> {
        let kernel = Awaited {
            machine: &*self.launcher,
            what: RUNNING,
            watchdog: self.settings.watchdog,
        };
        let glance = |_, long: bool| {
            if long {
                self.glance();
            }
        };
        kernel.wait(|| self.signs(), glance, || self.look_at_hung(true))
    }

    /// What changes with each dispatch and each region.
    fn signs(&self) -> Result<Option<u32>, RunError> {
        let control = self.arena.tables.control;
        let dispatches = self.peek(control + offset_of!(Control, beat) as u64)?;
        let regions = self.peek(control + offset_of!(Control, regions_begun) as u64)?;
        Ok(dispatches.zip(regions).map(|(d, r)| d.wrapping_add(r)))
    }

    /// A word of the run's memory while a kernel runs, if the device says it in time.
    pub(super) fn peek(&self, at: u64) -> Result<Option<u32>, RunError> {
        assert!(at + 4 <= self.arena.tables.size);
        // SAFETY: inside the device memory; records lie aligned.
        unsafe { self.launcher.peek(self.base + at) }
    }

    /// Waits for the mailbox. The kernel ends itself if it takes too long, but for one whose regions follow each other; a lost context is seen by asking
    /// the launcher.
    pub(super) fn await_dispatch(&self, number: u32) -> Result<(), RunError> {
        let done = MAILBOX + Mailbox::new(self.plan()).number.at();
        let answered =
            // Acquire: pairs with the release of the kernel's last block.
            || self.launcher.shared_word(done).load(Ordering::Acquire) == number;
        let start = Instant::now();
        let (mut since, mut last) = (start, None);
        for spins in 1u64.. {
            if answered() {
                break;
            }
            if spins % 4096 == 0 && self.launcher.is_done(RUNNING)? && !answered() {
                return Err(RunError::Stuck {
                    state: format!("dispatch {number} ended without a word"),
                });
            }
            if spins % 4096 == 0 && since.elapsed() > patience(self.settings.watchdog) {
                let now = self.signs()?;
                if now.is_none() || now == last {
                    self.look_at_hung(false);
                    return Err(given_up(&*self.launcher, self.settings.watchdog));
                }
                (since, last) = (Instant::now(), now);
            }
            if spins % 4096 == 0 && start.elapsed() > SHORT {
                std::thread::sleep(NAP);
            }
            std::hint::spin_loop();
        }
        Ok(())
    }
}
