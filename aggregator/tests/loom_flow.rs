//! The protocol of `src/flow/bell.rs` under loom: every interleaving of small graphs. Loom finds deadlocks (lost wakeups among them) itself.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

#[allow(dead_code, unreachable_pub, reason = "it stands for `src/sync.rs`")]
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
    use std::time::Duration;

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
        /// Never by time: what needs that is found as a deadlock.
        pub(crate) fn wait_for<'a, T>(&self, guard: Guard<'a, T>, _: Duration) -> Guard<'a, T> {
            self.wait(guard)
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
#[path = "../src/flow/bell.rs"]
mod bell;
#[path = "../../channels-kernel/tests/loom/stacks.rs"]
mod stacks;

use bell::{Bell, Found, Slept};
use loom::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};
use std::time::Duration;

/// A graph: elements of a kind wait in `channels[kind]`, and one of kind `k` becomes one of kind `k - 1`, of kind 0 nothing.
struct Scene {
    bell: Bell,
    channels: Vec<AtomicU32>,
    /// Room of each channel.
    width: u32,
    blocked: Vec<AtomicU32>,
    ran: AtomicU32,
    stuck: AtomicU32,
    /// Elements of this kind are only taken by one who is alone awake.
    shy: Option<usize>,
    /// Those of this kind by nobody.
    never: Option<usize>,
    /// Those of this kind by the host node.
    host: Option<usize>,
}

impl Scene {
    fn new(workers: u32, hosts: u32, kinds: usize) -> Self {
        Self {
            bell: Bell::new(workers, hosts, 1),
            channels: (0..kinds).map(|_| AtomicU32::new(0)).collect(),
            width: 8,
            blocked: (0..kinds).map(|_| AtomicU32::new(0)).collect(),
            ran: AtomicU32::new(0),
            stuck: AtomicU32::new(0),
            shy: None,
            never: None,
            host: None,
        }
    }

    fn may(&self, kind: usize, alone: bool) -> bool {
        self.never != Some(kind)
            && self.host != Some(kind)
            && (self.shy != Some(kind) || alone)
            && self.channels[kind].load(Ordering::Relaxed) > 0
    }

    fn take(&self, kind: usize) -> bool {
        let less = |n: u32| n.checked_sub(1);
        let channel = &self.channels[kind];
        channel
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, less)
            .is_ok()
    }

    /// Puts an element in if there is room.
    fn put(&self, kind: usize) -> bool {
        let more = |n: u32| (n < self.width).then_some(n + 1);
        let channel = &self.channels[kind];
        channel
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, more)
            .is_ok()
    }

    /// After an element was taken, as `FlowWorker::tell` does.
    fn tell(&self, kind: usize, guests: bool) {
        let sleepers = self.bell.changed();
        if sleepers.idle && self.blocked[kind].load(Ordering::Relaxed) > 0 {
            self.bell.call_workers();
        }
        if sleepers.guests && guests {
            self.bell.call_guests();
        }
    }

    /// A worker: takes, runs, puts what came of it, sleeps.
    fn work(&self, seat: usize) {
        // An element that found no room.
        let mut staged: Option<usize> = None;
        let mut alone = false;
        let room = |kind: usize| self.channels[kind].load(Ordering::Relaxed) < self.width;
        let pick = |staged: Option<usize>, alone: bool| {
            let kinds = 0..self.channels.len();
            let open = |k: usize| staged.is_none() || staged != k.checked_sub(1);
            kinds.into_iter().find(|&k| open(k) && self.may(k, alone))
        };
        while !self.bell.over() {
            if staged.is_some_and(|kind| self.put(kind)) {
                let kind = staged.take().unwrap();
                self.blocked[kind].fetch_sub(1, Ordering::Relaxed);
            }
            if let Some(kind) = pick(staged, alone).filter(|&k| self.take(k)) {
                alone = false;
                self.ran.fetch_add(1, Ordering::Relaxed);
                self.bell.settle(u64::from(kind > 0), 1);
                if let Some(next) = kind.checked_sub(1).filter(|&next| !self.put(next)) {
                    assert!(staged.is_none(), "it would not have run");
                    self.blocked[next].fetch_add(1, Ordering::Relaxed);
                    staged = Some(next);
                }
                self.tell(kind, true);
                continue;
            }
            let slept = self.bell.sleep(seat, |alone| {
                if staged.is_some_and(room) || pick(staged, alone).is_some() {
                    Found::Work
                } else if alone && self.host_may() {
                    Found::ForHosts
                } else {
                    Found::Nothing
                }
            });
            alone = slept == Slept::Alone;
            if slept == Slept::Stuck {
                self.stuck.fetch_add(1, Ordering::Relaxed);
                self.bell.end();
            }
        }
    }

    fn host_may(&self) -> bool {
        self.host
            .is_some_and(|kind| self.channels[kind].load(Ordering::Relaxed) > 0)
    }

    /// A host node that consumes elements of its kind.
    fn serve(&self, seat: usize) {
        let kind = self.host.unwrap();
        while !self.bell.over() {
            if self.take(kind) {
                self.ran.fetch_add(1, Ordering::Relaxed);
                self.bell.settle(0, 1);
                self.tell(kind, true);
                continue;
            }
            let found = |_| match self.host_may() {
                true => Found::Work,
                false => Found::Nothing,
            };
            self.bell.sleep(seat, found);
        }
        self.bell.leave();
    }

    /// The caller sends an element, as `Flow::put` does.
    fn send(&self, kind: usize) {
        self.bell.born(1);
        assert!(self.put(kind));
        if self.bell.changed().idle {
            self.bell.call_workers();
        }
    }

    fn close(&self) {
        self.bell.fed_up();
        if self.bell.changed().idle {
            self.bell.call_workers();
        }
    }

    fn finish(&self) {
        self.close();
        self.bell.close_outside();
        while !self.bell.over() {
            self.bell.wait_for_end(Duration::ZERO, || false);
        }
    }
}

/// Runs a scene of so many workers, and a host node if it has one, with what the caller sends; says how many elements ran.
fn run(
    preemptions: usize,
    workers: usize,
    scene: fn() -> Scene,
    send: &'static [usize],
    after: fn(u32, u32),
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let scene = Arc::new(scene());
        let hosts = usize::from(scene.host.is_some());
        let threads = (0..workers + hosts).map(|seat| {
            let scene = scene.clone();
            thread::spawn(move || match seat < workers {
                true => scene.work(seat),
                false => scene.serve(seat),
            })
        });
        let threads: Vec<_> = threads.collect();
        for &kind in send {
            scene.send(kind);
        }
        scene.finish();
        for thread in threads {
            thread.join().unwrap();
        }
        let load = |of: &AtomicU32| of.load(Ordering::Relaxed);
        after(load(&scene.ran), load(&scene.stuck));
    });
}

#[test]
fn the_end_comes_with_the_last_element_and_not_before() {
    let scene = || Scene::new(1, 0, 2);
    run(3, 1, scene, &[1, 1], |ran, stuck| {
        assert_eq!((ran, stuck), (4, 0))
    });
    let scene = || Scene::new(2, 0, 2);
    run(2, 2, scene, &[1], |ran, stuck| {
        assert_eq!((ran, stuck), (2, 0))
    });
}

#[test]
fn a_host_node_gets_the_last_element() {
    let scene = || Scene {
        host: Some(0),
        ..Scene::new(1, 1, 2)
    };
    run(2, 1, scene, &[1], |ran, stuck| {
        assert_eq!((ran, stuck), (2, 0))
    });
}

#[test]
fn who_found_no_room_is_called_when_there_is_some() {
    let scene = || Scene {
        width: 1,
        host: Some(0),
        ..Scene::new(1, 1, 2)
    };
    run(2, 1, scene, &[0, 1], |ran, stuck| {
        assert_eq!((ran, stuck), (3, 0));
    });
}

#[test]
fn what_is_sent_is_run_before_anything_else_happens() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let scene = Arc::new(Scene::new(1, 0, 1));
        let worker = {
            let scene = scene.clone();
            thread::spawn(move || scene.work(0))
        };
        for sent in 1..=2 {
            scene.send(0);
            let ran = || scene.ran.load(Ordering::Relaxed) == sent;
            while !ran() {
                scene.bell.wait_outside(Duration::ZERO, ran);
            }
        }
        scene.finish();
        worker.join().unwrap();
    });
}

#[test]
fn who_is_alone_takes_what_others_would_not() {
    let scene = || Scene {
        shy: Some(0),
        ..Scene::new(2, 0, 1)
    };
    run(2, 2, scene, &[0], |ran, stuck| {
        assert_eq!((ran, stuck), (1, 0))
    });
}

#[test]
fn a_graph_that_cannot_go_on_is_found_once() {
    for workers in [1, 2] {
        let scene = match workers {
            1 => || Scene {
                never: Some(0),
                ..Scene::new(1, 0, 2)
            },
            _ => || Scene {
                never: Some(0),
                ..Scene::new(2, 0, 2)
            },
        };
        run(2, workers, scene, &[1], |ran, stuck| {
            assert_eq!((ran, stuck), (1, 1))
        });
    }
}

#[test]
fn a_host_node_that_goes_to_sleep_last_lets_it_be_found() {
    let scene = || Scene {
        never: Some(0),
        host: Some(1),
        ..Scene::new(1, 1, 2)
    };
    run(2, 1, scene, &[0, 1], |ran, stuck| {
        assert_eq!((ran, stuck), (1, 1));
    });
}

#[test]
fn each_is_asked_before_the_graph_is_stuck() {
    // Who runs an element of kind 1 has no room for what comes of it and can run no other; the other worker can.
    let scene = || Scene {
        width: 2,
        never: Some(0),
        shy: Some(1),
        ..Scene::new(2, 0, 2)
    };
    run(2, 2, scene, &[0, 0, 1, 1], |ran, stuck| {
        assert_eq!((ran, stuck), (2, 1));
    });
}
