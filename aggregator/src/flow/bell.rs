//! How a graph's workers and host nodes sleep and wake, and how its end is found: one count of what is alive, one mutex for those who sleep.
//!
//! Who works looks at two words and takes no lock. `README.md` beside this file has the protocol and why it neither hangs nor ends early;
//! `tests/loom_flow.rs` goes through its interleavings.

use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Condvar, Guard, Mutex, Ordering, fence};
use std::time::Duration;

/// One who may still feed the graph, in the count of what is alive.
const FEEDER: u64 = 1 << 48;

/// A worker or a host node: workers first.
pub(crate) type Seat = usize;

/// What became of one who wanted to sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Slept {
    /// Something was found, or happened: look again.
    Again,
    /// Something was found by one who is alone awake.
    Alone,
    /// Nobody can go on, and elements are left.
    Stuck,
    /// The graph is over.
    Over,
}

/// What one who wants to sleep sees at the last look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    Nothing,
    /// There is something to do for who looks.
    Work,
    /// There is for host nodes that sleep.
    ForHosts,
}

#[derive(Debug)]
struct State {
    /// Who sleeps: nobody called them since.
    asleep: Vec<bool>,
    /// Which workers found nothing, everybody else sleeping, since something happened.
    asked: Vec<bool>,
    /// Workers, and host nodes, that do not sleep.
    workers: u32,
    hosts: u32,
    /// Whether the caller may still send, receive or close.
    outside: bool,
    /// Nobody inside can go on: only the caller could help.
    stalled: bool,
    /// Counts what those outside may wait for.
    news: u64,
}

/// The count of what is alive, and the beds.
#[derive(Debug)]
pub(crate) struct Bell {
    /// Elements that were not consumed or delivered to the caller, and [`FEEDER`] for each who may still feed the graph.
    alive: AtomicU64,
    over: AtomicBool,
    /// How many workers sleep, and how many others. Stored under the mutex before its owner looks for the last time; loaded by who changed
    /// something.
    idle: AtomicU32,
    guests: AtomicU32,
    state: Mutex<State>,
    wake: Vec<Condvar>,
    outside: Condvar,
    /// Seats of workers.
    seats: usize,
}

/// Who sleeps, as far as one knows who has just changed something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sleepers {
    /// Some worker does.
    pub(crate) idle: bool,
    /// A host node or the caller does.
    pub(crate) guests: bool,
}

impl Bell {
    /// A bell for so many workers and host nodes, and so many who feed the graph.
    pub(crate) fn new(workers: u32, hosts: u32, feeders: u64) -> Self {
        let seats = (workers + hosts) as usize;
        let state = State {
            asleep: vec![false; seats],
            asked: vec![false; workers as usize],
            workers,
            hosts,
            outside: true,
            stalled: false,
            news: 0,
        };
        Self {
            alive: AtomicU64::new(feeders * FEEDER),
            over: AtomicBool::new(false),
            idle: AtomicU32::new(0),
            guests: AtomicU32::new(0),
            state: Mutex::new(state),
            wake: (0..seats).map(|_| Condvar::new()).collect(),
            outside: Condvar::new(),
            seats: workers as usize,
        }
    }

    /// Whether the graph is over, for whatever reason.
    pub(crate) fn over(&self) -> bool {
        // Acquire: pairs with the store in `end`, so that what was done before the end is seen after it.
        self.over.load(Ordering::Acquire)
    }

    /// One who fed the graph will no more.
    pub(crate) fn fed_up(&self) {
        self.settle(0, FEEDER);
    }

    /// Elements came to life, of which others may already see some when this is counted by who holds another one.
    pub(crate) fn born(&self, count: u64) {
        // Relaxed: whoever calls holds something alive, so the count is not 0 and nobody acts on it.
        self.alive.fetch_add(count, Ordering::Relaxed);
    }

    /// `gone` are consumed and `born` came of them, before anybody else can see those. Ends the graph with the last.
    pub(crate) fn settle(&self, born: u64, gone: u64) {
        if born >= gone {
            self.born(born - gone);
            return;
        }
        // AcqRel: whoever takes the last one sees all that those before did.
        if self.alive.fetch_sub(gone - born, Ordering::AcqRel) == gone - born {
            self.end();
        }
    }

    /// Ends the graph for everybody.
    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        // Release: pairs with the load in `over`. Stored under the mutex, so that who is about to sleep sees it.
        self.over.store(true, Ordering::Release);
        self.call_all(&mut state);
    }

    /// Between a change that others may wait for and the question whether anybody sleeps.
    pub(crate) fn changed(&self) -> Sleepers {
        // Pairs with the fence in `sleep`: either they see the change or they are seen here.
        fence(Ordering::SeqCst);
        self.sleepers()
    }

    /// Who sleeps, more or less.
    pub(crate) fn sleepers(&self) -> Sleepers {
        // Relaxed: a hint, or ordered by the fence in `changed`.
        Sleepers {
            idle: self.idle.load(Ordering::Relaxed) > 0,
            guests: self.guests.load(Ordering::Relaxed) > 0,
        }
    }

    /// Wakes one worker.
    pub(crate) fn call_one(&self) {
        self.recall(&mut self.state.lock());
    }

    /// Lets a worker look at what is true now.
    fn recall(&self, state: &mut Guard<'_, State>) {
        state.asked.fill(false);
        if let Some(worker) = (0..self.seats).find(|&s| state.asleep[s]) {
            self.call(state, worker);
        }
    }

    /// Wakes all workers.
    pub(crate) fn call_workers(&self) {
        let mut state = self.state.lock();
        state.asked.fill(false);
        for seat in 0..self.seats {
            self.call(&mut state, seat);
        }
    }

    /// Wakes the host nodes and the caller.
    pub(crate) fn call_guests(&self) {
        let mut state = self.state.lock();
        for seat in self.seats..self.wake.len() {
            self.call(&mut state, seat);
        }
        self.tell_outside(&mut state);
    }

    fn call_all(&self, state: &mut Guard<'_, State>) {
        for seat in 0..self.wake.len() {
            self.call(state, seat);
        }
        self.tell_outside(state);
    }

    fn tell_outside(&self, state: &mut Guard<'_, State>) {
        state.news += 1;
        self.outside.notify_all();
    }

    /// Wakes a sleeper, who counts as awake from here on, so that nobody who goes to sleep meanwhile takes the graph for stuck.
    fn call(&self, state: &mut Guard<'_, State>, seat: Seat) {
        if std::mem::take(&mut state.asleep[seat]) {
            state.stalled = false;
            if seat < self.seats {
                state.workers += 1;
            } else {
                state.hosts += 1;
            }
            self.wake[seat].notify_one();
        }
    }

    /// Sleeps unless `look` finds something; it is told whether everybody else sleeps. If a worker finds nothing then, the others are asked one by
    /// one: they may be able to do what this one is not. When none of them is, nobody inside can go on.
    pub(crate) fn sleep(&self, seat: Seat, look: impl FnOnce(bool) -> Found) -> Slept {
        let mut state = self.state.lock();
        let worker = seat < self.seats;
        let count = if worker { &self.idle } else { &self.guests };
        // Relaxed: ordered by the fence, which pairs with the one in `changed`.
        count.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        // Relaxed: stored under the mutex.
        let over = self.over.load(Ordering::Relaxed);
        let last = state.workers == u32::from(worker) && state.hosts == u32::from(!worker);
        let found = if over { Found::Work } else { look(last) };
        let slept = match found {
            Found::Work if over => Slept::Over,
            Found::Work => {
                state.asked.fill(false);
                if last { Slept::Alone } else { Slept::Again }
            }
            _ if worker && self.is_stuck(&mut state, seat, last, found) && !state.outside => {
                Slept::Stuck
            }
            found => {
                self.lie_down(&mut state, seat, found);
                while state.asleep[seat] {
                    state = self.wake[seat].wait(state);
                }
                Slept::Again
            }
        };
        // Relaxed: one who is missed here is awake.
        count.fetch_sub(1, Ordering::Relaxed);
        slept
    }

    /// Whether nobody inside can go on, now that this worker cannot.
    fn is_stuck(&self, state: &mut State, seat: Seat, last: bool, found: Found) -> bool {
        if !last || found != Found::Nothing {
            return false;
        }
        state.asked[seat] = true;
        state.stalled = state.asked.iter().all(|&asked| asked);
        state.stalled
    }

    fn lie_down(&self, state: &mut Guard<'_, State>, seat: Seat, found: Found) {
        state.asleep[seat] = true;
        if seat >= self.seats {
            state.hosts -= 1;
            // What a host node could have added it will not: a worker that sleeps may go on without, or find that nobody can.
            self.recall(state);
            return;
        }
        state.workers -= 1;
        if found == Found::ForHosts {
            for host in self.seats..self.wake.len() {
                self.call(state, host);
            }
        } else if state.stalled {
            self.tell_outside(state);
        } else if state.asked[seat]
            && let Some(other) = (0..self.seats).find(|&s| !state.asked[s])
        {
            self.call(state, other);
        }
    }

    /// A host node is no more.
    pub(crate) fn leave(&self) {
        let mut state = self.state.lock();
        state.hosts -= 1;
        self.recall(&mut state);
    }

    /// The caller neither sends nor receives from now on.
    pub(crate) fn close_outside(&self) {
        let mut state = self.state.lock();
        state.outside = false;
        self.recall(&mut state);
    }

    /// One who is no worker and no host node waits, until something happens or a time has passed, unless `look` finds something. If nobody inside
    /// can go on then, says which news that was.
    pub(crate) fn wait_outside(&self, most: Duration, look: impl FnOnce() -> bool) -> Option<u64> {
        // Relaxed: as in `sleep`.
        self.guests.fetch_add(1, Ordering::Relaxed);
        let news = self.wait_for_end(most, look);
        // Relaxed: as in `sleep`.
        self.guests.fetch_sub(1, Ordering::Relaxed);
        news
    }

    /// The same for one whom only the end concerns, or that nobody can go on: nobody else tells it anything.
    pub(crate) fn wait_for_end(&self, most: Duration, look: impl FnOnce() -> bool) -> Option<u64> {
        let mut state = self.state.lock();
        fence(Ordering::SeqCst);
        // Relaxed: stored under the mutex.
        if !look() && !self.over.load(Ordering::Relaxed) {
            state = self.outside.wait_for(state, most);
        }
        self.news_of_stall(&state)
    }

    /// If nobody inside can go on, which news that was.
    pub(crate) fn stalled(&self) -> Option<u64> {
        self.news_of_stall(&self.state.lock())
    }

    fn news_of_stall(&self, state: &State) -> Option<u64> {
        // Relaxed: nobody inside changes it while nobody can go on. Without elements the graph is idle, no more.
        let elements = self.alive.load(Ordering::Relaxed) % FEEDER;
        (state.stalled && elements > 0).then_some(state.news)
    }

    /// Whether no worker is awake.
    pub(crate) fn all_workers_sleep(&self) -> bool {
        self.state.lock().workers == 0
    }
}
