//! The shared channel of donated batches: how workers give work to each other, sleep, wake and end.
//!
//! Private stacks are where the work is done; this channel is only for breadth and balance, so it is one mutex, one condition
//! variable a worker, and one atomic that busy workers read. `README.md` beside this file has the protocol and why it cannot hang.

use crate::sync::{AtomicU32, Condvar, Guard, Mutex, Ordering};
use std::collections::VecDeque;

/// A worker of a run: 0 is the thread that called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct WorkerId(pub(crate) u32);

impl WorkerId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A batch that somebody else runs now. It has to be given back with [`Shared::finish`], unless the run is over.
#[derive(Debug)]
#[must_use]
pub(crate) struct Loan<T> {
    /// Whose batch it is.
    pub(crate) owner: WorkerId,
    /// The batch.
    pub(crate) batch: T,
}

/// What a worker waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wants {
    /// Batches of its own that come back.
    pub(crate) returned: bool,
    /// Batches of others.
    pub(crate) work: bool,
}

/// What a worker got.
#[derive(Debug)]
#[must_use]
pub(crate) enum Next<T> {
    /// A batch of its own is done.
    Returned(T),
    /// A batch of its own that nobody acquired.
    Reclaimed(T),
    /// A batch to run and give back.
    Work(Loan<T>),
    /// The run is over.
    Over,
    /// Every worker waits and none will be woken. The proof says that this cannot be; so it is a bug, and is reported as one.
    Stuck,
}

#[derive(Debug)]
struct State<T> {
    queue: VecDeque<Loan<T>>,
    inbox: Vec<Vec<T>>,
    /// What each parked worker waits for; none where a notification is on its way or the worker is awake.
    parked: Vec<Option<Wants>>,
    /// Workers inside the run that are awake, or will be because a notification is on its way.
    awake: u32,
    /// Workers that were roused and are not here yet.
    coming: u32,
    /// Workers inside that wait elsewhere, and want work.
    resting: u32,
    /// Workers other than worker 0 inside the run.
    inside: u32,
    over: bool,
}

/// The channel.
#[derive(Debug)]
pub(crate) struct Shared<T> {
    state: Mutex<State<T>>,
    wake: Vec<Condvar>,
    left: Condvar,
    /// Workers that wait and want work beyond the batches that are queued. Written under the lock, read relaxed by [`Self::hungry`]: a hint
    /// only, since a donation takes the lock.
    hungry: AtomicU32,
    /// Workers that were roused, are not here yet, and will find no batch, as [`Self::hungry`] is known.
    coming: AtomicU32,
}

impl<T> Shared<T> {
    /// A channel for so many workers. Worker 0 is inside.
    pub(crate) fn new(workers: u32) -> Self {
        Self::with_awake(workers, 1)
    }

    /// A channel for so many workers, of whom nobody is inside.
    pub(crate) fn empty(workers: u32) -> Self {
        Self::with_awake(workers, 0)
    }

    fn with_awake(workers: u32, awake: u32) -> Self {
        let state = State {
            queue: VecDeque::new(),
            inbox: (0..workers).map(|_| Vec::new()).collect(),
            parked: (0..workers).map(|_| None).collect(),
            awake,
            coming: 0,
            resting: 0,
            inside: 0,
            over: false,
        };
        let wake = (0..workers).map(|_| Condvar::new()).collect();
        Self {
            state: Mutex::new(state),
            wake,
            left: Condvar::new(),
            hungry: AtomicU32::new(0),
            coming: AtomicU32::new(0),
        }
    }

    /// Whether a donation would be welcome. One relaxed load, for each dispatch.
    #[inline]
    pub(crate) fn hungry(&self) -> bool {
        // Relaxed: pairs with the store in `publish`; whoever acts on it takes the lock.
        self.hungry.load(Ordering::Relaxed) > 0
    }

    /// Whether somebody is on the way for whom there is nothing: what it was roused for is gone by now.
    #[inline]
    pub(crate) fn coming(&self) -> bool {
        // Relaxed: a hint, as in `hungry`.
        self.coming.load(Ordering::Relaxed) > 0
    }

    /// How many workers are not parked.
    pub(crate) fn awake(&self) -> u32 {
        self.state.lock().awake
    }

    /// A worker inside begins to wait for something that is no batch, or ends to. Batches are welcome to it, but who donates one has to tell it.
    pub(crate) fn rest(&self, resting: bool) {
        let mut state = self.state.lock();
        if resting {
            state.awake -= 1;
            state.resting += 1;
        } else {
            state.awake += 1;
            state.resting -= 1;
        }
        self.publish(&mut state);
    }

    /// Whether nobody has acquired some batch yet.
    pub(crate) fn has_work(&self) -> bool {
        !self.state.lock().queue.is_empty()
    }

    /// A batch to run and give back, if there is one.
    pub(crate) fn acquire(&self) -> Option<Loan<T>> {
        let mut state = self.state.lock();
        let loan = state.queue.pop_front();
        self.publish(&mut state);
        loan
    }

    /// A worker other than 0 comes into the run. False if the run is over.
    pub(crate) fn enter(&self) -> bool {
        let mut state = self.state.lock();
        if state.over {
            return false;
        }
        state.inside += 1;
        state.awake += 1;
        true
    }

    /// A worker that entered goes. It touches nothing of the run after.
    pub(crate) fn leave(&self) {
        let mut state = self.state.lock();
        state.inside -= 1;
        state.awake -= 1;
        self.left.notify_all();
    }

    /// Puts a batch where others can acquire it.
    pub(crate) fn donate(&self, owner: WorkerId, batch: T) {
        let mut state = self.state.lock();
        state.queue.push_back(Loan { owner, batch });
        self.publish(&mut state);
    }

    /// Gives a batch back to its owner, done.
    pub(crate) fn finish(&self, loan: Loan<T>) {
        let mut state = self.state.lock();
        let owner = loan.owner;
        state.inbox[owner.index()].push(loan.batch);
        if state.parked[owner.index()].is_some_and(|w| w.returned) {
            self.rouse(&mut state, owner);
        }
        self.publish(&mut state);
    }

    /// The next thing for a worker; parks until there is one. `mine` says which of its own batches it would take back.
    pub(crate) fn next(&self, me: WorkerId, wants: Wants, mine: impl Fn(&T) -> bool) -> Next<T> {
        let mut state = self.state.lock();
        loop {
            let found = Self::find(&mut state, me, wants, &mine);
            if let Some(found) = found {
                // What another waits for may be what woke this one.
                self.publish(&mut state);
                return found;
            }
            state.parked[me.index()] = Some(wants);
            state.awake -= 1;
            self.publish(&mut state);
            if state.awake == 0 {
                state.parked[me.index()] = None;
                state.awake += 1;
                return Next::Stuck;
            }
            while state.parked[me.index()].is_some() {
                state = self.wake[me.index()].wait(state);
            }
            state.coming -= 1;
        }
    }

    fn find(
        state: &mut State<T>,
        me: WorkerId,
        wants: Wants,
        mine: &impl Fn(&T) -> bool,
    ) -> Option<Next<T>> {
        if state.over {
            return Some(Next::Over);
        }
        if wants.returned {
            if let Some(batch) = state.inbox[me.index()].pop() {
                return Some(Next::Returned(batch));
            }
            let at = state
                .queue
                .iter()
                .rposition(|l| l.owner == me && mine(&l.batch));
            if let Some(loan) = at.and_then(|at| state.queue.remove(at)) {
                return Some(Next::Reclaimed(loan.batch));
            }
        }
        if wants.work {
            state.queue.pop_front().map(Next::Work)
        } else {
            None
        }
    }

    /// Ends the run for everybody: whoever waits or will wait gets [`Next::Over`].
    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.over = true;
        for worker in 0..self.wake.len() {
            if state.parked[worker].is_some() {
                self.rouse(&mut state, WorkerId(worker as u32));
            }
        }
        self.publish(&mut state);
    }

    /// Ends the run and waits until every other worker has left it. Worker 0 calls it last.
    pub(crate) fn close(&self) {
        self.end();
        let mut state = self.state.lock();
        while state.inside > 0 {
            state = self.left.wait(state);
        }
    }

    /// Unparks a worker. It counts as awake from here on, so that nobody who parks meanwhile takes the run for stuck.
    fn rouse(&self, state: &mut Guard<'_, State<T>>, worker: WorkerId) {
        state.parked[worker.index()] = None;
        state.awake += 1;
        state.coming += 1;
        self.wake[worker.index()].notify_one();
    }

    /// Wakes a parked worker for each queued batch, as far as there are workers that want one, and tells busy workers how many more there are.
    /// A worker that is roused but not here yet may find its batch taken; whoever took it has called this, so no batch is forgotten.
    fn publish(&self, state: &mut Guard<'_, State<T>>) {
        let wanting = |state: &State<T>| {
            state
                .parked
                .iter()
                .filter(|w| w.is_some_and(|w| w.work))
                .count()
        };
        let mut queued = state.queue.len();
        while queued > 0 {
            let Some(worker) = state.parked.iter().position(|w| w.is_some_and(|w| w.work)) else {
                break;
            };
            self.rouse(state, WorkerId(worker as u32));
            queued -= 1;
        }
        let hungry = (wanting(state) + state.resting as usize).saturating_sub(queued);
        // Relaxed: a hint, see `hungry`.
        self.hungry.store(hungry as u32, Ordering::Relaxed);
        // Those who are on their way find what is queued.
        let coming = state.coming.saturating_sub(state.queue.len() as u32);
        self.coming.store(coming, Ordering::Relaxed);
    }
}
