//! Memory that kernels share.

use std::sync::atomic::AtomicU64;

/// The words as atomics.
pub(super) const fn atomics(words: &mut [u64]) -> &[AtomicU64] {
    // SAFETY: an atomic has the size of its integer, and its alignment, as is asserted below. For the lifetime of the borrow nobody else
    // has the words, so that all who do reach them as atomics.
    unsafe { &*(std::ptr::from_mut(words) as *const [AtomicU64]) }
}

const _: () = assert!(align_of::<AtomicU64>() == align_of::<u64>());
