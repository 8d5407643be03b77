//! How the host waits for a run's kernels. Every wait has a bound: a kernel ends itself when a dispatch takes longer than the watchdog allows, and one that
//! does not even look at it is given up.

use super::{
    launcher::{Launcher, MAILBOX},
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

impl<L: Launcher> Run<'_, L> {
    /// So long at most the host waits for a kernel that shows no sign of life: kernels end themselves when a dispatch takes longer than the watchdog
    /// allows, those that look at it.
    fn patience(&self) -> Duration {
        2 * self.settings.watchdog + GRACE
    }

    /// Gives up a kernel that neither ends nor looks at the watchdog: the one that decides by itself, or a dispatch.
    fn hung(&self, decides: bool) -> RunError {
        self.look_at_hung(decides);
        self.launcher.give_up();
        RunError::Lost(format!(
            "a kernel did not end and did not look at the watchdog for {:?}; it was given up",
            self.patience()
        ))
    }

    /// Waits for the persistent kernel, for as long as it begins new dispatches.
    pub(super) fn await_kernel(&self) -> Result<(), RunError> {
        let (start, patience) = (Instant::now(), self.patience());
        let (mut since, mut last) = (start, None);
        while !self.launcher.is_done(RUNNING)? {
            if since.elapsed() > patience {
                let beat =
                    self.peek(self.arena.tables.control + offset_of!(Control, beat) as u64)?;
                if beat.is_none() || beat == last {
                    return Err(self.hung(true));
                }
                (since, last) = (Instant::now(), beat);
            }
            if start.elapsed() > SHORT {
                self.glance();
                std::thread::sleep(NAP);
            } else {
                std::hint::spin_loop();
            }
        }
        self.launcher.wait(RUNNING)
    }

    /// A word of the run's memory while a kernel runs, if the device says it in time.
    pub(super) fn peek(&self, at: u64) -> Result<Option<u32>, RunError> {
        assert!(at + 4 <= self.arena.tables.size);
        // SAFETY: inside the device memory; records lie aligned.
        unsafe { self.launcher.peek(self.base + at) }
    }

    /// Waits for the mailbox. The kernel ends itself if it takes too long; a lost context is seen by asking the launcher.
    pub(super) fn await_dispatch(&self, number: u32) -> Result<(), RunError> {
        let done = MAILBOX + Mailbox::new(self.plan()).number.at();
        let answered =
            // Acquire: pairs with the release of the kernel's last block.
            || self.launcher.shared_word(done).load(Ordering::Acquire) == number;
        let start = Instant::now();
        for spins in 1u64.. {
            if answered() {
                break;
            }
            if spins % 4096 == 0 && self.launcher.is_done(RUNNING)? && !answered() {
                return Err(RunError::Stuck {
                    state: format!("dispatch {number} ended without a word"),
                });
            }
            if spins % 4096 == 0 && start.elapsed() > self.patience() {
                return Err(self.hung(false));
            }
            std::hint::spin_loop();
        }
        Ok(())
    }
}
