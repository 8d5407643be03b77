//! The protocol of `src/share.rs` under loom: every interleaving of small scenes. Loom finds deadlocks (lost wakeups among them) itself.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

#[allow(dead_code, unreachable_pub, reason = "it stands for `src/sync.rs`")]
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU32, Ordering};

    #[derive(Debug)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);
    pub(crate) type Guard<'a, T> = loom::sync::MutexGuard<'a, T>;

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }
        pub(crate) fn lock(&self) -> Guard<'_, T> {
            self.0.lock().unwrap()
        }
    }

    #[derive(Debug)]
    pub(crate) struct Condvar(loom::sync::Condvar);

    impl Condvar {
        pub(crate) fn new() -> Self {
            Self(loom::sync::Condvar::new())
        }
        pub(crate) fn wait<'a, T>(&self, guard: Guard<'a, T>) -> Guard<'a, T> {
            self.0.wait(guard).unwrap()
        }
        pub(crate) fn notify_one(&self) {
            self.0.notify_one();
        }
        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

#[allow(dead_code, reason = "a part of it is used here")]
#[path = "../src/share.rs"]
mod share;
#[path = "../../channels-kernel/tests/loom/stacks.rs"]
mod stacks;

use loom::{cell::UnsafeCell, sync::Arc, thread};
use share::{Loan, Next, Shared, Wants, WorkerId};

const OWNER: Wants = Wants {
    returned: true,
    work: true,
};
const IDLE: Wants = Wants {
    returned: false,
    work: true,
};

/// A batch: where its one result goes, as a result slot does, and how many batches it donates in turn.
struct Batch {
    result: Arc<UnsafeCell<u32>>,
    nested: u32,
}

impl Batch {
    fn new(nested: u32) -> (Self, Arc<UnsafeCell<u32>>) {
        let result = Arc::new(UnsafeCell::new(0));
        (
            Self {
                result: result.clone(),
                nested,
            },
            result,
        )
    }
}

/// Reads a result.
fn read(result: &Arc<UnsafeCell<u32>>) -> u32 {
    // SAFETY: loom checks that nobody writes meanwhile.
    result.with(|p| unsafe { *p })
}

/// Runs a batch: one task, and one for each batch that it donates.
fn run(shared: &Shared<Batch>, me: WorkerId, batch: &Batch) -> Result<(), ()> {
    let mut lent = Vec::new();
    for _ in 0..batch.nested {
        let (nested, result) = Batch::new(0);
        shared.donate(me, nested);
        lent.push(result);
    }
    await_all(shared, me, lent.len())?;
    // The owner reads what others wrote: loom complains unless the protocol orders it.
    let sum = 1 + lent.iter().map(read).sum::<u32>();
    // SAFETY: loom checks that nobody else touches it meanwhile.
    batch.result.with_mut(|p| unsafe { *p = sum });
    Ok(())
}

/// Waits for lent batches as a worker does: takes back, helps, sleeps.
fn await_all(shared: &Shared<Batch>, me: WorkerId, lent: usize) -> Result<(), ()> {
    let mut back = 0;
    while back < lent {
        match shared.next(me, OWNER, |_| true) {
            Next::Returned(_) => back += 1,
            Next::Reclaimed(batch) => {
                run(shared, me, &batch)?;
                back += 1;
            }
            Next::Work(loan) => help(shared, me, loan)?,
            Next::Over => return Err(()),
            Next::Stuck => panic!("stuck"),
        }
    }
    Ok(())
}

fn help(shared: &Shared<Batch>, me: WorkerId, loan: Loan<Batch>) -> Result<(), ()> {
    run(shared, me, &loan.batch)?;
    shared.finish(loan);
    Ok(())
}

/// What belongs to whoever called: nobody of the crew touches it before entering the run or after leaving it.
type Ground = Arc<UnsafeCell<u32>>;

/// What a thread of the crew does.
fn serve(shared: &Shared<Batch>, me: WorkerId, ground: &Ground) {
    if shared.enter() {
        serve_inside(shared, me, ground);
    }
}

fn serve_inside(shared: &Shared<Batch>, me: WorkerId, ground: &Ground) {
    loop {
        read(ground);
        match shared.next(me, IDLE, |_| true) {
            Next::Work(loan) => {
                if help(shared, me, loan).is_err() {
                    break;
                }
            }
            Next::Over => break,
            Next::Stuck => panic!("stuck"),
            Next::Returned(_) | Next::Reclaimed(_) => panic!("not asked for"),
        }
    }
    read(ground);
    shared.leave();
}

/// The run is closed: everything is the caller's again.
fn claim(ground: &Ground) {
    // SAFETY: loom checks that nobody touches it meanwhile.
    ground.with_mut(|p| unsafe { *p += 1 });
}

/// Worker 0 donates batches and waits; others serve. The results are all there, everyone leaves.
fn scene(workers: u32, batches: u32, nested: u32, preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let (shared, ground) = (Arc::new(Shared::new(workers)), Ground::default());
        let crew: Vec<_> = (1..workers)
            .map(|id| {
                let (shared, ground) = (shared.clone(), ground.clone());
                thread::spawn(move || serve(&shared, WorkerId(id), &ground))
            })
            .collect();
        let mut results = Vec::new();
        for _ in 0..batches {
            let (batch, result) = Batch::new(nested);
            shared.donate(WorkerId(0), batch);
            results.push(result);
        }
        await_all(&shared, WorkerId(0), results.len())
            .expect("nobody ends the run before worker 0 does");
        let sum: u32 = results.iter().map(read).sum();
        assert_eq!(sum, batches * (1 + nested));
        shared.close();
        claim(&ground);
        for thread in crew {
            thread.join().unwrap();
        }
    });
}

#[test]
fn donate_and_acquire() {
    scene(2, 1, 0, None);
    scene(2, 2, 0, Some(3));
}

#[test]
fn a_donated_batch_donates() {
    scene(2, 1, 1, Some(3));
    scene(3, 1, 1, Some(2));
}

#[test]
fn many_sleep_and_all_wake() {
    scene(3, 2, 0, Some(2));
}

/// A worker that finds the run over while others sleep or wait: nobody sleeps on.
#[test]
fn an_error_ends_everyone() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let shared = Arc::new(Shared::new(2));
        let (batch, _) = Batch::new(0);
        let other = {
            let shared = shared.clone();
            thread::spawn(move || {
                if shared.enter() {
                    // It fails at whatever it gets, and gives nothing back.
                    let next = shared.next(WorkerId(1), IDLE, |_| true);
                    assert!(matches!(next, Next::Work(_) | Next::Over));
                    shared.end();
                    shared.leave();
                }
            })
        };
        shared.donate(WorkerId(0), batch);
        let next = shared.next(WorkerId(0), OWNER, |_| true);
        assert!(matches!(next, Next::Reclaimed(_) | Next::Over));
        shared.close();
        other.join().unwrap();
    });
}

/// A donation that is made because somebody was hungry, while that one may be parking or waking.
#[test]
fn a_hungry_worker_is_fed() {
    loom::model(|| {
        let (shared, ground) = (Arc::new(Shared::new(2)), Ground::default());
        let other = {
            let (shared, ground) = (shared.clone(), ground.clone());
            thread::spawn(move || serve(&shared, WorkerId(1), &ground))
        };
        let mut lent = 0;
        if shared.hungry() {
            let (batch, _) = Batch::new(0);
            shared.donate(WorkerId(0), batch);
            lent = 1;
        }
        await_all(&shared, WorkerId(0), lent).expect("nobody ends the run");
        shared.close();
        claim(&ground);
        other.join().unwrap();
    });
}

/// A worker that goes on until it sees the hint: whoever parks says that it is hungry, so the hint comes.
#[test]
fn a_sleeper_says_that_it_is_hungry() {
    loom::model(|| {
        let (shared, ground) = (Arc::new(Shared::new(2)), Ground::default());
        let other = {
            let (shared, ground) = (shared.clone(), ground.clone());
            thread::spawn(move || serve(&shared, WorkerId(1), &ground))
        };
        while !shared.hungry() {
            thread::yield_now();
        }
        let (batch, result) = Batch::new(0);
        shared.donate(WorkerId(0), batch);
        await_all(&shared, WorkerId(0), 1).expect("nobody ends the run");
        assert_eq!(read(&result), 1);
        shared.close();
        claim(&ground);
        other.join().unwrap();
    });
}

/// Batches that their owner does not take back, for they are not of the level that it waits at: the others must wake for them.
#[test]
fn sleepers_wake_for_a_donation() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let (shared, ground) = (Arc::new(Shared::new(2)), Ground::default());
        assert!(shared.enter(), "the run is not over");
        let other = {
            let (shared, ground) = (shared.clone(), ground.clone());
            thread::spawn(move || serve_inside(&shared, WorkerId(1), &ground))
        };
        for _ in 0..2 {
            let (batch, result) = Batch::new(0);
            shared.donate(WorkerId(0), batch);
            let next = shared.next(
                WorkerId(0),
                Wants {
                    returned: true,
                    work: false,
                },
                |_| false,
            );
            assert!(matches!(next, Next::Returned(_)), "it comes back");
            assert_eq!(read(&result), 1);
        }
        shared.close();
        claim(&ground);
        other.join().unwrap();
    });
}

/// A worker that donates and goes on with its own work, never looking at the channel: the sleeper wakes for the donation alone.
#[test]
fn a_donation_wakes_a_sleeper_by_itself() {
    loom::model(|| {
        let (shared, acquired) = (
            Arc::new(Shared::new(2)),
            Arc::new((sync::Mutex::new(false), sync::Condvar::new())),
        );
        assert!(shared.enter(), "the run is not over");
        let other = {
            let (shared, acquired) = (shared.clone(), acquired.clone());
            thread::spawn(move || {
                let Next::Work(loan) = shared.next(WorkerId(1), IDLE, |_| true) else {
                    panic!("there is a batch")
                };
                *acquired.0.lock() = true;
                acquired.1.notify_one();
                assert_eq!(help(&shared, WorkerId(1), loan), Ok(()));
                shared.leave();
            })
        };
        let (batch, result) = Batch::new(0);
        shared.donate(WorkerId(0), batch);
        let mut there = acquired.0.lock();
        while !*there {
            there = acquired.1.wait(there);
        }
        drop(there);
        await_all(&shared, WorkerId(0), 1).expect("nobody ends the run");
        assert_eq!(read(&result), 1);
        shared.close();
        other.join().unwrap();
    });
}
