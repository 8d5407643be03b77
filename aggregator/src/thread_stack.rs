//! How far a recursive helper may go on this thread's stack.

use std::cell::Cell;

/// What is left for everything that is not a helper: the library functions that helpers call.
const RESERVE: u64 = 128 << 10;
/// Where the system does not say where the stack ends, helpers may use this much.
const GUESS: u64 = 256 << 10;

thread_local! {
    static LIMIT: Cell<u64> = const { Cell::new(0) };
}

/// The lowest address that a helper may use on this thread's stack.
pub(crate) fn limit() -> u64 {
    LIMIT.with(|limit| {
        if limit.get() == 0 {
            let local = 0u8;
            let here = &raw const local as u64;
            limit.set(lowest().map_or(here.saturating_sub(GUESS), |low| low + RESERVE));
        }
        limit.get()
    })
}

/// The lowest address of this thread's stack.
#[cfg(target_os = "linux")]
fn lowest() -> Option<u64> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: `pthread_getattr_np` initialises the attributes of the calling thread if it returns 0; they are read, then destroyed once.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let (mut address, mut size) = (std::ptr::null_mut(), 0);
        let found =
            libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut address, &raw mut size) == 0;
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        found.then_some(address as u64)
    }
}

/// The lowest address of this thread's stack: not known here.
#[cfg(not(target_os = "linux"))]
fn lowest() -> Option<u64> {
    None
}
