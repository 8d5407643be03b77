//! How far a run is, for who watches it from another thread: each worker says after a dispatch what it has done so far, and before one what it is
//! about to do. Of a run that ends before its work is done a dump stays.

use crate::{
    dump::{Doing, Dump, Event, Sight},
    error::RunError,
    sync::Mutex,
};
use std::{
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// What one worker says, on cache lines that no other writes to.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Slot {
    tasks: AtomicU64,
    levels: AtomicU64,
    bytes: AtomicU64,
    /// One more than what is said, if that is.
    alive: AtomicU64,
    dispatches: AtomicU64,
    /// The last event: what, at which node, with how many elements; then its number and level.
    what: AtomicU64,
    whereabouts: AtomicU64,
}

/// Bits of an event's word for elements, and for its node above them.
const ELEMENTS: u32 = 40;
const NODES: u32 = 20;

/// The last that a worker did, as it writes it down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Step {
    pub(crate) doing: Doing,
    /// The node whose elements it runs, or the channel that it waits for.
    pub(crate) at: usize,
    pub(crate) level: u64,
    pub(crate) elements: u64,
    /// Counts steps, so that two that are alike are told apart.
    pub(crate) number: u32,
}

impl Step {
    fn words(self) -> (u64, u64) {
        let most = |value: u64, bits: u32| value.min((1 << bits) - 1);
        let what = (self.doing as u64) << (ELEMENTS + NODES)
            | most(self.at as u64, NODES) << ELEMENTS
            | most(self.elements, ELEMENTS);
        (what, u64::from(self.number) << 32 | most(self.level, 32))
    }

    fn of((what, whereabouts): (u64, u64)) -> Self {
        let low = |value: u64, bits: u32| value & ((1 << bits) - 1);
        let doing = Doing::ALL.get((what >> (ELEMENTS + NODES)) as usize);
        Self {
            doing: doing.copied().unwrap_or_default(),
            at: low(what >> ELEMENTS, NODES) as usize,
            level: low(whereabouts, 32),
            elements: low(what, ELEMENTS),
            number: (whereabouts >> 32) as u32,
        }
    }

    /// The same for readers, where nodes have these names.
    pub(crate) fn event(self, names: &[String], ago: Option<Duration>) -> Event {
        let runs = self.doing == Doing::Runs;
        let node = names.get(self.at).filter(|_| runs).cloned();
        Event {
            doing: self.doing,
            level: (runs && node.is_some()).then_some(self.level),
            at: node,
            elements: (self.elements > 0).then_some(self.elements),
            ago_ns: ago.map(|a| a.as_nanos() as u64),
        }
    }
}

/// What somebody who looked saw of a worker last, and when that was first so.
#[derive(Clone, Copy, Debug)]
struct Glimpse {
    words: (u64, u64),
    since: Instant,
}

/// The run in progress, or what the last one left.
#[derive(Default)]
struct Last {
    run: Option<Weak<dyn Sight>>,
    left: Option<Dump>,
}

impl fmt::Debug for Last {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Last")
            .field("left", &self.left.is_some())
            .finish_non_exhaustive()
    }
}

/// What all workers of a device say.
#[derive(Debug)]
pub(crate) struct Board {
    slots: Vec<Slot>,
    glimpses: Mutex<Vec<Option<Glimpse>>>,
    last: Mutex<Last>,
}

impl Board {
    pub(crate) fn new(workers: u32) -> Arc<Self> {
        let slots = (0..workers).map(|_| Slot::default());
        Arc::new(Self {
            slots: slots.collect(),
            glimpses: Mutex::new(vec![None; workers as usize]),
            last: Mutex::new(Last::default()),
        })
    }

    /// A run begins: nothing is done yet.
    pub(crate) fn clear(&self) {
        for (worker, slot) in self.slots.iter().enumerate() {
            self.publish(worker, SoFar::default());
            self.step(worker, Step::default());
            slot.alive.store(0, Ordering::Relaxed);
            slot.dispatches.store(0, Ordering::Relaxed);
        }
        self.glimpses.lock().fill(None);
        *self.last.lock() = Last::default();
    }

    /// The run that is in progress from now on.
    pub(crate) fn begins(&self, run: Weak<dyn Sight>) {
        self.last.lock().run = Some(run);
    }

    /// It is over. If it is one of which a dump is wanted, `sight` is what can be seen of it.
    pub(crate) fn ends(&self, error: Option<&RunError>, sight: impl FnOnce() -> Dump) {
        let error = error.filter(|e| e.leaves_dump());
        let left = error.map(|e| Dump {
            why: Some(e.to_string()),
            ..sight()
        });
        *self.last.lock() = Last { run: None, left };
    }

    /// A worker has come so far.
    #[inline]
    pub(crate) fn publish(&self, worker: usize, so_far: SoFar) {
        let Some(slot) = self.slots.get(worker) else {
            return;
        };
        // Relaxed: the numbers are shown, each by itself, and nothing else is read because of them.
        slot.tasks.store(so_far.tasks, Ordering::Relaxed);
        slot.levels.store(so_far.levels, Ordering::Relaxed);
        slot.bytes.store(so_far.bytes, Ordering::Relaxed);
        for (word, said) in [
            (&slot.alive, so_far.alive),
            (&slot.dispatches, so_far.dispatches),
        ] {
            if let Some(said) = said {
                word.store(said + 1, Ordering::Relaxed);
            }
        }
    }

    /// A worker does that from now on.
    #[inline]
    pub(crate) fn step(&self, worker: usize, step: Step) {
        let Some(slot) = self.slots.get(worker) else {
            return;
        };
        let (what, whereabouts) = step.words();
        // Relaxed: as in `publish`. Both words are of one step nearly always, and who reads them for a dump reads what stands still.
        slot.what.store(what, Ordering::Relaxed);
        slot.whereabouts.store(whereabouts, Ordering::Relaxed);
    }

    fn words(&self, worker: usize) -> (u64, u64) {
        self.slots.get(worker).map_or((0, 0), |slot| {
            // Relaxed: as in `step`.
            let (what, whereabouts) = (&slot.what, &slot.whereabouts);
            (
                what.load(Ordering::Relaxed),
                whereabouts.load(Ordering::Relaxed),
            )
        })
    }

    /// The last that a worker did.
    pub(crate) fn last_step(&self, worker: usize) -> Step {
        Step::of(self.words(worker))
    }

    /// How long it has done that at least, if somebody looked before.
    pub(crate) fn since(&self, worker: usize) -> Option<Duration> {
        let words = self.words(worker);
        let glimpse = self.glimpses.lock().get(worker).copied().flatten();
        glimpse
            .filter(|g| g.words == words)
            .map(|g| g.since.elapsed())
    }

    /// What one worker says.
    pub(crate) fn so_far_of(&self, worker: usize) -> SoFar {
        self.slots
            .get(worker)
            .map_or_else(SoFar::default, Slot::so_far)
    }

    /// Notes what each does, for who asks later how long it has.
    fn look(&self) {
        for (worker, glimpse) in self.glimpses.lock().iter_mut().enumerate() {
            let words = self.words(worker);
            if glimpse.is_none_or(|g| g.words != words) {
                let since = Instant::now();
                *glimpse = Some(Glimpse { words, since });
            }
        }
    }

    fn dump(&self) -> Option<Dump> {
        let run = {
            let last = self.last.lock();
            if last.left.is_some() {
                return last.left.clone();
            }
            last.run.as_ref().and_then(Weak::upgrade)
        };
        run.map(|run| run.sight())
    }
}

impl Slot {
    fn so_far(&self) -> SoFar {
        // Relaxed: see `publish`.
        SoFar {
            tasks: self.tasks.load(Ordering::Relaxed),
            levels: self.levels.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            alive: self.alive.load(Ordering::Relaxed).checked_sub(1),
            dispatches: self.dispatches.load(Ordering::Relaxed).checked_sub(1),
        }
    }
}

/// What is known of both.
fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
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
    /// Elements that wait or are being run now, where somebody counts them: a GPU's host does.
    pub alive: Option<u64>,
    /// Wavefronts, where somebody counts them: as for `alive`.
    pub dispatches: Option<u64>,
}

/// Watches the runs of a device, from any thread. A clone watches the same.
#[derive(Clone, Debug)]
pub struct Live(pub(crate) Arc<Board>);

impl Live {
    /// For a device on which so many work, or decide.
    #[doc(hidden)]
    #[must_use]
    pub fn new(workers: u32) -> Self {
        Self(Board::new(workers))
    }

    /// How far the run in progress is, or how far the last one came.
    #[must_use]
    pub fn so_far(&self) -> SoFar {
        self.0.look();
        let mut out = SoFar::default();
        for slot in &self.0.slots {
            let one = slot.so_far();
            out.tasks += one.tasks;
            out.levels = out.levels.max(one.levels);
            out.bytes += one.bytes;
            out.alive = sum(out.alive, one.alive);
            out.dispatches = sum(out.dispatches, one.dispatches);
        }
        out
    }

    /// What the last run was at, if it was stopped or could not go on; else what can be seen from outside of the one in progress, if there is one. How
    /// long a worker has done what it does is known the better the more often [`so_far`](Self::so_far) was asked before.
    #[must_use]
    pub fn dump(&self) -> Option<Dump> {
        self.0.dump()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_comes_back_from_its_words() {
        for (doing, number) in Doing::ALL.into_iter().zip(1..) {
            let step = Step {
                doing,
                at: 77,
                level: 1 << 31,
                elements: (1 << 40) - 1,
                number,
            };
            assert_eq!(Step::of(step.words()), step);
        }
        let much = Step {
            elements: u64::MAX,
            level: u64::MAX,
            ..Step::default()
        };
        assert_eq!(Step::of(much.words()).elements, (1 << 40) - 1);
        assert_eq!(Step::of(much.words()).level, u64::from(u32::MAX));
    }
}
