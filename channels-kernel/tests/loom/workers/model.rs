//! `src/cuda/device/workers.cu` in Rust, function by function under the same names, and `ends` for the host. A block is a thread of loom, the words that
//! blocks share are atomics with the orders that the text has, and whatever else lies in the run's memory are cells, of which loom finds each access that
//! nothing orders.
//!
//! What a block does by itself is as little as shows the protocol: a dispatch runs a tile from the top of a stack, children come to lie on top of theirs,
//! and `NEIGHBOURS` is 1. Not here are threads of a block, which barriers order; faults, cancelling and the watchdog; who looks for a gift looks at one after
//! the other.

use super::{Bug, Event, Loads, Scene, Seen};
use loom::{
    cell::UnsafeCell,
    sync::atomic::{AtomicU32, Ordering::Relaxed, fence},
    thread,
};
use std::sync::{
    Mutex,
    atomic::{
        AtomicU32 as Plain,
        Ordering::{AcqRel, Acquire},
    },
};

/// Stacks of a run. The roots lie in the first.
const STACKS: usize = 2;
/// So many elements are copied at a time, in no order.
const BLOCK: u32 = 2;
/// What lies where nothing was written.
const NOTHING: u32 = u32::MAX;
/// Who has looked so often for something to do goes on looking, but loom tries no other ways from there on: what comes then comes after fewer looks, too.
const LOOKS: u32 = 3;

const NONE: u32 = 0;
const OFFERED: u32 = 1;
const TAKEN: u32 = 2;

/// An access that depends on all others of its kind, for loom, and orders nothing: an exchange that fails, of a word that nobody writes.
struct Turn(AtomicU32);

impl Turn {
    fn take(&self) {
        let never = self.0.compare_exchange(1, 1, Relaxed, Relaxed);
        assert_eq!(never, Err(0));
    }
}

/// A word that blocks share. Every access is relaxed, as in the text.
///
/// Loom remembers of an object who came to it last, so that it does not see that a write depends on another's load if its own thread's load lies between.
/// So each access takes a turn, or, where loads give what was written last, a load is an exchange that fails.
struct Word {
    value: AtomicU32,
    turn: Turn,
    loads: Loads,
}

impl Word {
    fn new(value: u32, loads: Loads) -> Self {
        Self {
            value: AtomicU32::new(value),
            turn: Turn(AtomicU32::new(0)),
            loads,
        }
    }

    fn value(&self) -> &AtomicU32 {
        if self.loads == Loads::Any {
            self.turn.take();
        }
        &self.value
    }

    fn load(&self) -> u32 {
        let never = u32::MAX / 2;
        let value = self.value();
        match self.loads {
            Loads::Any => value.load(Relaxed),
            Loads::Newest => match value.compare_exchange(never, never, Relaxed, Relaxed) {
                Ok(value) | Err(value) => value,
            },
        }
    }

    fn store(&self, to: u32) {
        self.value().store(to, Relaxed);
    }

    fn fetch_add(&self, n: u32) -> u32 {
        self.value().fetch_add(n, Relaxed)
    }

    fn fetch_sub(&self, n: u32) -> u32 {
        self.value().fetch_sub(n, Relaxed)
    }

    fn exchange(&self, from: u32, to: u32) -> bool {
        let value = self.value();
        value.compare_exchange(from, to, Relaxed, Relaxed).is_ok()
    }
}

/// What a worker offers: stack, the first element, and how many.
struct Gift {
    state: Word,
    what: UnsafeCell<(usize, u32, u32)>,
}

/// What workers share.
pub(super) struct Crew {
    scene: Scene,
    memory: [Vec<UnsafeCell<u32>>; STACKS],
    gifts: Vec<Gift>,
    ticket: Word,
    alive: Word,
    hungry: Word,
    offered: Word,
    recall: Word,
    /// Nobody's words: which nodes ran, and how many there are that have not.
    ran: Mutex<Vec<bool>>,
    in_flight: Plain,
    /// Who leaves looks at that, and who runs something changes it.
    leaves_or_runs: Turn,
}

/// What a worker leaves of each stack: where it begins in the worker's range, and how many.
pub(super) type Rests = [(u32, u32); STACKS];

/// What is to be copied, and whose gift it is.
struct Found {
    stack: usize,
    first: u32,
    count: u32,
    of: Option<usize>,
}

/// What `flat_choose` finds.
enum Next {
    Run(usize, u32),
    NoMore,
    NoRoom,
}

impl Crew {
    pub(super) fn new(scene: Scene) -> Self {
        let word = |value| Word::new(value, scene.loads);
        let cells = |stack: usize| {
            let root = |i| {
                if stack == 0 && i < scene.roots {
                    i
                } else {
                    NOTHING
                }
            };
            let end = scene.base(stack) + scene.workers * scene.share;
            (0..end).map(|i| UnsafeCell::new(root(i))).collect()
        };
        let gift = |_| Gift {
            state: word(NONE),
            what: UnsafeCell::new((0, 0, 0)),
        };
        Self {
            scene,
            memory: [cells(0), cells(1)],
            gifts: (0..scene.workers).map(gift).collect(),
            ticket: word(0),
            alive: word(scene.batches()),
            hungry: word(0),
            offered: word(0),
            recall: word(0),
            ran: Mutex::new(vec![false; scene.tree.len()]),
            in_flight: Plain::new(scene.roots),
            leaves_or_runs: Turn(AtomicU32::new(0)),
        }
    }

    fn has(&self, bug: Bug) -> bool {
        self.scene.bug == Some(bug)
    }

    /// `__nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, ..)`.
    fn fence_unless(&self, bug: Bug) {
        if !self.has(bug) {
            fence(AcqRel);
        }
    }

    fn read(&self, stack: usize, at: u32) -> u32 {
        // SAFETY: loom checks that nobody writes it meanwhile.
        let node = self.memory[stack][at as usize].with(|p| unsafe { *p });
        assert_ne!(node, NOTHING, "an element is read where none was written");
        node
    }

    fn write(&self, stack: usize, at: u32, node: u32) {
        // SAFETY: loom checks that nobody looks at it meanwhile.
        self.memory[stack][at as usize].with_mut(|p| unsafe { *p = node });
    }

    /// A thread an element, all at the same time.
    fn copy_entries(&self, stack: usize, to: u32, from: u32, count: u32) {
        let apart = to + count <= from || from + count <= to;
        assert!(apart || count == 0, "a copy writes what is not read yet");
        for i in 0..count {
            self.write(stack, to + i, self.read(stack, from + i));
        }
    }

    fn done(&self) {
        let counted = self.alive.fetch_sub(1);
        assert!(counted > 0, "more is done than was counted");
    }

    /// Runs a node: what it pushes.
    fn body(&self, node: u32) -> &'static [u32] {
        let children = self.scene.tree[node as usize];
        self.leaves_or_runs.take();
        let twice = std::mem::replace(&mut self.ran.lock().unwrap()[node as usize], true);
        assert!(!twice, "an element runs twice");
        self.in_flight.fetch_add(children.len() as u32, AcqRel);
        self.in_flight.fetch_sub(1, AcqRel);
        children
    }

    /// How many elements of a stack are left.
    fn gather(&self, s: usize, rests: &[Rests]) -> u32 {
        let begin = if self.has(Bug::GatheredElsewhere) {
            self.scene.base(s)
        } else {
            self.scene.end(s)
        };
        let mut end = begin;
        let mut order: Vec<usize> = (0..rests.len()).collect();
        if self.has(Bug::GatheredDownwards) {
            order.reverse();
        }
        for w in order {
            let (rest, count) = rests[w][s];
            let first = self.scene.base(s) + w as u32 * self.scene.share + rest;
            let mut step = BLOCK.min(first.wrapping_sub(end));
            if self.has(Bug::GatheredTooMuch) {
                step = BLOCK;
            }
            let mut i = 0;
            while i < count && step > 0 {
                self.copy_entries(s, end + i, first + i, step.min(count - i));
                i += step;
            }
            end += count;
        }
        end - begin
    }

    /// The host, when the workers have ended: nothing is left, or what is left runs across the device.
    pub(super) fn ends(&self, rests: &[Rests], seen: &Seen) {
        let scene = &self.scene;
        if self.recall.load() != 0 {
            seen.saw(Event::Recalled);
            let mut left: Vec<u32> = Vec::new();
            for s in 0..STACKS {
                let first = scene.end(s);
                let count = self.gather(s, rests);
                left.extend((first..first + count).map(|at| self.read(s, at)));
            }
            seen.add(Event::Gathered, left.len());
            let taken = self.ticket.load().min(scene.batches()) * scene.batch;
            let roots = taken.min(scene.roots)..scene.roots;
            seen.add(Event::RootsLeft, roots.len());
            if !self.has(Bug::RootsForgotten) {
                left.extend(roots.map(|at| self.read(0, at)));
            }
            while let Some(node) = left.pop() {
                left.extend(self.body(node));
            }
        } else {
            let nothing = rests.iter().flatten().all(|(_, count)| *count == 0);
            assert!(nothing, "elements are left without a recall");
            assert_eq!(self.alive.load(), 0, "all that is counted is done");
        }
        let ran = self.ran.lock().unwrap();
        assert!(ran.iter().all(|ran| *ran), "each element once: {ran:?}");
        assert_eq!(self.offered.load(), 0, "nobody offers any more");
    }
}

/// A block, and what it knows of its ranges.
pub(super) struct Worker<'a> {
    crew: &'a Crew,
    seen: &'a Seen,
    me: usize,
    at: [u32; STACKS],
    bottom: [u32; STACKS],
    top: [u32; STACKS],
    hungry: u32,
    offers: bool,
}

impl<'a> Worker<'a> {
    pub(super) fn new(crew: &'a Crew, seen: &'a Seen, me: usize) -> Self {
        let at = |s| crew.scene.base(s) + me as u32 * crew.scene.share;
        Self {
            crew,
            seen,
            me,
            at: [at(0), at(1)],
            bottom: [0; STACKS],
            top: [0; STACKS],
            hungry: 0,
            offers: false,
        }
    }

    fn gift(&self) -> &'a Gift {
        &self.crew.gifts[self.me]
    }

    fn have(&self, stack: usize) -> u32 {
        self.top[stack] - self.bottom[stack]
    }

    /// The source that has most that can run: what any of its elements may push has to find room.
    fn flat_choose(&self) -> Next {
        let scene = &self.crew.scene;
        let room = (0..STACKS).map(|s| scene.share - self.top[s]).min();
        let most = scene.tile.min(room.unwrap() / scene.most_children());
        let runs = (0..STACKS).map(|s| (self.have(s).min(most), s));
        match runs.max() {
            Some((count, stack)) if count > 0 => Next::Run(stack, count),
            _ if (0..STACKS).any(|s| self.have(s) > 0) => Next::NoRoom,
            _ => Next::NoMore,
        }
    }

    /// With `flat_take`.
    fn run_source(&mut self, stack: usize, count: u32) {
        let (crew, at) = (self.crew, self.at);
        let first = self.top[stack] - count;
        let run = first..self.top[stack];
        let run: Vec<u32> = run.map(|i| crew.read(stack, at[stack] + i)).collect();
        self.top[stack] = first;
        for child in run.into_iter().flat_map(|node| crew.body(node)) {
            let s = crew.scene.stack_of(*child);
            crew.write(s, at[s] + self.top[s], *child);
            self.top[s] += 1;
        }
    }

    fn donate(&mut self) {
        let (crew, gift) = (self.crew, self.gift());
        let halves = (0..STACKS).map(|s| (self.have(s) / 2, s));
        let (count, stack) = halves.max().unwrap();
        if count == 0 {
            return;
        }
        let what = (stack, self.at[stack] + self.bottom[stack], count);
        // SAFETY: loom checks that nobody looks at it meanwhile.
        gift.what.with_mut(|p| unsafe { *p = what });
        self.bottom[stack] += count;
        self.offers = true;
        if !crew.has(Bug::CountedLate) && !crew.has(Bug::NotCounted) {
            crew.alive.fetch_add(1);
        }
        crew.fence_unless(Bug::OfferedUnfenced);
        gift.state.store(OFFERED);
        crew.offered.fetch_add(1);
        if crew.has(Bug::CountedLate) {
            crew.alive.fetch_add(1);
        }
        self.seen.saw(Event::Offered);
    }

    /// A compare-exchange of a gift's state, or what is not one.
    fn exchange(&self, gift: &Gift, to: u32, without: Bug) -> bool {
        if !self.crew.has(without) {
            return gift.state.exchange(OFFERED, to);
        }
        let mine = gift.state.load() == OFFERED;
        if mine {
            gift.state.store(to);
        }
        mine
    }

    fn take_back(&mut self) -> bool {
        let (crew, gift) = (self.crew, self.gift());
        if !self.offers {
            return false;
        }
        self.offers = false;
        if self.exchange(gift, NONE, Bug::TakenBackUnasked) {
            crew.offered.fetch_sub(1);
            // SAFETY: loom checks that nobody writes it meanwhile.
            let (stack, _, count) = gift.what.with(|p| unsafe { *p });
            if !crew.has(Bug::TakenBackForgotten) {
                self.bottom[stack] -= count;
            }
            return true;
        }
        while !crew.has(Bug::NotWaited) && gift.state.load() != NONE {
            thread::yield_now();
        }
        crew.fence_unless(Bug::WaitedUnfenced);
        false
    }

    fn settle(&mut self) -> bool {
        let crew = self.crew;
        if self.take_back() {
            self.seen.saw(Event::Settled);
            if !crew.has(Bug::CountedStill) {
                crew.done();
            }
        }
        let mut moved = false;
        for s in 0..STACKS {
            let (bottom, all) = (self.bottom[s], self.have(s));
            if bottom == 0 {
                continue;
            }
            moved = true;
            let mut step = BLOCK.min(bottom);
            if crew.has(Bug::SettledTooMuch) {
                step = BLOCK;
            }
            for i in (0..all).step_by(step as usize) {
                let to = self.at[s] + i;
                crew.copy_entries(s, to, to + bottom, step.min(all - i));
            }
            self.bottom[s] = 0;
            self.top[s] = all;
        }
        moved
    }

    fn next_roots(&self) -> Option<Found> {
        let (crew, scene) = (self.crew, &self.crew.scene);
        let seen = crew.ticket.load();
        if seen >= scene.batches() {
            return None;
        }
        let mut ticket = seen;
        if crew.has(Bug::TicketTwice) {
            crew.ticket.store(seen + 1);
        } else {
            ticket = crew.ticket.fetch_add(1);
        }
        if ticket >= scene.batches() {
            return None;
        }
        let first = ticket * scene.batch;
        Some(Found {
            stack: 0,
            first,
            count: scene.batch.min(scene.roots - first),
            of: None,
        })
    }

    fn next_gift(&self) -> Option<Found> {
        let crew = self.crew;
        if crew.offered.load() == 0 {
            return None;
        }
        let workers = crew.gifts.len();
        for who in (1..=workers).map(|i| (self.me + i) % workers) {
            let gift = &crew.gifts[who];
            if gift.state.load() != OFFERED {
                continue;
            }
            let mine = self.exchange(gift, TAKEN, Bug::TakenUnasked);
            crew.fence_unless(Bug::TakenUnfenced);
            if mine {
                crew.offered.fetch_sub(1);
                // SAFETY: loom checks that nobody writes it meanwhile.
                let (stack, first, count) = gift.what.with(|p| unsafe { *p });
                self.seen.saw(Event::Taken);
                return Some(Found {
                    stack,
                    first,
                    count,
                    of: Some(who),
                });
            }
        }
        None
    }

    /// Whether all is done, as far as he sees, and then it is.
    fn all_done(&self) -> bool {
        let crew = self.crew;
        let done = match crew.scene.bug {
            Some(Bug::NothingToTake) => crew.offered.load() == 0,
            Some(Bug::AllAreHungry) => crew.hungry.load() == crew.scene.workers,
            _ => crew.alive.load() == 0,
        };
        if done {
            crew.leaves_or_runs.take();
            let left = crew.in_flight.load(Acquire);
            assert_eq!(left, 0, "somebody leaves before all is done");
        }
        done
    }

    fn acquire(&mut self) -> bool {
        let crew = self.crew;
        if self.take_back() {
            self.seen.saw(Event::TakenBack);
            if crew.has(Bug::CountedNoMore) {
                crew.done();
            }
            return true;
        }
        self.bottom = [0; STACKS];
        self.top = [0; STACKS];
        let (mut found, mut waits) = (None, false);
        for looks in 0.. {
            if looks == LOOKS {
                loom::skip_branch();
            }
            found = self.next_roots();
            if found.is_some() || self.all_done() || crew.recall.load() != 0 {
                break;
            }
            found = self.next_gift();
            if found.is_some() {
                break;
            }
            if !waits {
                crew.hungry.fetch_add(1);
            }
            waits = true;
            thread::yield_now();
        }
        if waits {
            crew.hungry.fetch_sub(1);
        }
        let Some(take) = found else { return false };
        let early = crew.has(Bug::NoneTooEarly);
        if let Some(of) = take.of.filter(|_| early) {
            crew.gifts[of].state.store(NONE);
        }
        crew.copy_entries(take.stack, self.at[take.stack], take.first, take.count);
        self.top[take.stack] = take.count;
        if let Some(of) = take.of.filter(|_| !early) {
            crew.fence_unless(Bug::NoneUnfenced);
            crew.gifts[of].state.store(NONE);
        }
        true
    }

    pub(super) fn workers(mut self) -> Rests {
        let (crew, gift) = (self.crew, self.gift());
        let mut stops = false;
        while !stops && self.acquire() {
            let mut no_room = false;
            loop {
                if self.hungry != 0 && !self.offers {
                    self.donate();
                }
                let (stack, count) = match self.flat_choose() {
                    Next::Run(stack, count) => (stack, count),
                    Next::NoRoom if self.settle() => continue,
                    Next::NoRoom => {
                        no_room = true;
                        break;
                    }
                    Next::NoMore => break,
                };
                let offers = self.offers && gift.state.load() != NONE;
                let hungry = crew.hungry.load();
                let recall = crew.recall.load();
                self.run_source(stack, count);
                self.hungry = hungry;
                if self.offers && !offers {
                    self.seen.saw(Event::SeenGone);
                    crew.fence_unless(Bug::GoneUnfenced);
                }
                self.offers = offers;
                stops = recall != 0;
                if stops {
                    break;
                }
            }
            if no_room {
                if !crew.has(Bug::RecallUntold) {
                    crew.recall.store(1);
                }
            } else if !stops && !crew.has(Bug::NeverDone) {
                crew.done();
            }
            stops |= no_room;
        }
        if stops && !crew.has(Bug::RecallForgets) {
            self.take_back();
        }
        [0, 1].map(|s| (self.bottom[s], self.have(s)))
    }
}
