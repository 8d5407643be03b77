//! What the protocol stands on: loom's tests have their own of it (`channels-kernel/tests/loom/ring.rs`).

use std::cell::UnsafeCell;
pub(crate) use std::sync::atomic::{AtomicU64, Ordering};

/// An entry of the control array: plain memory that one actor at a time has, by the protocol.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct Entry(UnsafeCell<u32>);

// SAFETY: whoever calls `get` and `set` says that nobody else touches it meanwhile.
unsafe impl Sync for Entry {}

impl Entry {
    /// Reads it.
    ///
    /// # Safety
    /// Nobody writes it meanwhile.
    #[inline]
    pub(crate) unsafe fn get(&self) -> u32 {
        // SAFETY: as above.
        unsafe { *self.0.get() }
    }

    /// Writes it.
    ///
    /// # Safety
    /// Nobody reads or writes it meanwhile.
    #[inline]
    pub(crate) unsafe fn set(&self, slot: u32) {
        // SAFETY: as above.
        unsafe { *self.0.get() = slot };
    }
}
