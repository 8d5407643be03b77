//! The one door to atomics, mutexes and condition variables of [`share`](crate::share) and [`flow::bell`](crate::flow).
//!
//! The tests with loom compile the same `share.rs` and `bell.rs` with a twin of this module made of loom's types.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

use std::{
    sync::{self, PoisonError},
    time::Duration,
};

/// A mutex whose holder's panic does not poison it: a panic in a worker ends the run by itself.
#[derive(Debug, Default)]
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

    /// Waits for a notification, no longer than this. May return without one.
    pub(crate) fn wait_for<'a, T>(&self, guard: Guard<'a, T>, most: Duration) -> Guard<'a, T> {
        let waited = self.0.wait_timeout(guard, most);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}
