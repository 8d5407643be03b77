//! The stacks of loom's threads are kept. Loom maps one for each thread of each interleaving, and unmaps it at its end: that was more than half of the time of
//! a model, and models that ran side by side held each other up there.
//!
//! Loom has no setting for it, so these two stand in the test's binary before the C library's. What is no such stack is mapped and unmapped as ever.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use libc::{MAP_STACK, SYS_mmap, SYS_munmap, c_int, c_void, off_t, size_t, syscall};
use std::cell::Cell;

/// A stack that was mapped.
#[derive(Clone, Copy)]
struct Stack {
    at: usize,
    bytes: size_t,
    in_use: bool,
}

/// More than loom has threads.
const MOST: usize = 16;

thread_local! {
    /// Of the models that this thread runs. An empty place is of no bytes.
    static STACKS: [Cell<Stack>; MOST] = const {
        [const { Cell::new(Stack { at: 0, bytes: 0, in_use: false }) }; MOST]
    };
}

/// Uses or leaves the first stack of which this is true; puts it down as `then`.
fn change(which: impl Fn(Stack) -> bool, then: impl Fn(Stack) -> Stack) -> Option<Stack> {
    STACKS.with(|stacks| {
        let place = stacks.iter().find(|place| which(place.get()))?;
        place.set(then(place.get()));
        Some(place.get())
    })
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    at: *mut c_void,
    bytes: size_t,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: off_t,
) -> *mut c_void {
    let is_stack = at.is_null() && flags & MAP_STACK != 0;
    let idle = |stack: Stack| is_stack && stack.bytes == bytes && !stack.in_use;
    let used = |stack| Stack {
        in_use: true,
        ..stack
    };
    if let Some(stack) = change(idle, used) {
        return stack.at as *mut c_void;
    }
    // SAFETY: the caller's promise.
    let new = unsafe { syscall(SYS_mmap, at, bytes, access, flags, file, offset) } as *mut c_void;
    if is_stack && new != libc::MAP_FAILED {
        let in_use = true;
        let at = new as usize;
        change(|stack| stack.bytes == 0, |_| Stack { at, bytes, in_use });
    }
    new
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(at: *mut c_void, bytes: size_t) -> c_int {
    let this = |stack: Stack| stack.bytes == bytes && stack.at == at as usize;
    let idle = |stack| Stack {
        in_use: false,
        ..stack
    };
    if change(this, idle).is_some() {
        return 0;
    }
    // SAFETY: the caller's promise.
    unsafe { syscall(SYS_munmap, at, bytes) as c_int }
}
