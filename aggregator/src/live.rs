//! How far a run is, for who watches it from another thread: each worker says after a dispatch what it has done so far.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// What one worker says, on cache lines that no other writes to.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Slot {
    tasks: AtomicU64,
    levels: AtomicU64,
    bytes: AtomicU64,
}

/// What all workers of a device say.
#[derive(Debug)]
pub(crate) struct Board(Vec<Slot>);

impl Board {
    pub(crate) fn new(workers: u32) -> Arc<Self> {
        let slots = (0..workers).map(|_| Slot::default());
        Arc::new(Self(slots.collect()))
    }

    /// A run begins: nothing is done yet.
    pub(crate) fn clear(&self) {
        for worker in 0..self.0.len() {
            self.publish(worker, SoFar::default());
        }
    }

    /// A worker has come so far.
    pub(crate) fn publish(&self, worker: usize, so_far: SoFar) {
        let Some(slot) = self.0.get(worker) else {
            return;
        };
        // Relaxed: the numbers are shown, each by itself, and nothing else is read because of them.
        slot.tasks.store(so_far.tasks, Ordering::Relaxed);
        slot.levels.store(so_far.levels, Ordering::Relaxed);
        slot.bytes.store(so_far.bytes, Ordering::Relaxed);
    }
}

/// How far a run had come a short time ago.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SoFar {
    /// Tasks that have run, or elements of a graph's channels.
    pub tasks: u64,
    /// How deep it has been, in levels.
    pub levels: u64,
    /// Bytes that elements and frames of workers take now.
    pub bytes: u64,
}

/// Watches the runs of a device, from any thread. A clone watches the same.
#[derive(Clone, Debug)]
pub struct Live(pub(crate) Arc<Board>);

impl Live {
    /// How far the run in progress is, or how far the last one came.
    #[must_use]
    pub fn so_far(&self) -> SoFar {
        let mut out = SoFar::default();
        for slot in &self.0.0 {
            // Relaxed: see `publish`.
            out.tasks += slot.tasks.load(Ordering::Relaxed);
            out.levels = out.levels.max(slot.levels.load(Ordering::Relaxed));
            out.bytes += slot.bytes.load(Ordering::Relaxed);
        }
        out
    }
}
