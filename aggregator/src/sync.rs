//! The one door to atomics, mutexes and condition variables of [`share`](crate::share).
//!
//! `tests/loom.rs` compiles the same `share.rs` with a twin of this module made of loom's types.

pub(crate) use std::sync::atomic::{AtomicU32, Ordering};

use std::sync::{self, PoisonError};

/// A mutex whose holder's panic does not poison it: a panic in a worker ends the run by itself.
#[derive(Debug)]
pub(crate) struct Mutex<T>(sync::Mutex<T>);

/// Access to what a [`Mutex`] holds.
pub(crate) type Guard<'a, T> = sync::MutexGuard<'a, T>;

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> Guard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition variable.
#[derive(Debug, Default)]
pub(crate) struct Condvar(sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Waits for a notification. May return without one.
    pub(crate) fn wait<'a, T>(&self, guard: Guard<'a, T>) -> Guard<'a, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}
