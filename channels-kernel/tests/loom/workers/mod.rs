//! The tier inside the blocks of a GPU: `src/cuda/device/workers.cu`, whose protocol is in the README beside it, as `model.rs` says it in Rust;
//! `text.rs` holds the two together, step by step.
//!
//! Workers run small trees. Whatever the interleaving, each element runs once, or is in what `gather` brings together and runs then; nobody leaves by `alive`
//! while an element is in flight; all end; and whatever is copied, or written where something lay, is ordered. A scene says what has to happen in it, so
//! that it is not about nothing. `BUGS` are what the protocol would be without one of its steps: each has to be found, by what it breaks.

mod model;
mod text;

use Event::{Gathered, Offered, Recalled, RootsLeft, SeenGone, Settled, Taken, TakenBack};
use loom::thread;
use model::{Crew, Worker};
use std::{
    panic::catch_unwind,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// A step that is left out, or done otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bug {
    /// Two may be given the same ticket.
    TicketTwice,
    /// A gift is counted when others can see it already,
    CountedLate,
    /// or never,
    NotCounted,
    /// or still when its owner has taken it back and it is part of the batch,
    CountedStill,
    /// or no more although its owner goes on with it as what is counted.
    CountedNoMore,
    /// What comes of a batch or a gift is done, and it stays counted.
    NeverDone,
    /// Somebody leaves when there is nothing to take,
    NothingToTake,
    /// or when nobody has anything to do. (That is when all is done; but who leaves is not hungry any more, and the others wait for ever.)
    AllAreHungry,
    /// No fence before `OFFERED`: who takes the gift may not see its elements.
    OfferedUnfenced,
    /// No fence after it is `TAKEN`: the same.
    TakenUnfenced,
    /// Who takes it looks, and then writes,
    TakenUnasked,
    /// and so does its owner who takes it back.
    TakenBackUnasked,
    /// It is taken back, and its elements are not.
    TakenBackForgotten,
    /// It is `NONE` before it is copied.
    NoneTooEarly,
    /// No fence before `NONE`: the owner may write what is not read yet.
    NoneUnfenced,
    /// No fence after the owner has waited for it,
    WaitedUnfenced,
    /// or has seen it by the way.
    GoneUnfenced,
    /// A range is used again before its gift is copied.
    NotWaited,
    /// What waits is brought down over what is not read yet.
    SettledTooMuch,
    /// A recall forgets what nobody has taken.
    RecallForgets,
    /// Who finds no room says so to nobody.
    RecallUntold,
    /// What is left is brought together over what is not read yet: too much at a time,
    GatheredTooMuch,
    /// or from the last worker down.
    GatheredDownwards,
    /// It lies elsewhere than the host looks for it.
    GatheredElsewhere,
    /// Roots that nobody took are forgotten.
    RootsForgotten,
}

/// What a load gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Loads {
    /// What was written last.
    Newest,
    /// Whatever the orders allow.
    Any,
}

/// A tree, and who runs it.
#[derive(Clone, Copy, Debug)]
struct Scene {
    workers: u32,
    /// The children of each node. The first nodes are the roots.
    tree: &'static [&'static [u32]],
    roots: u32,
    /// Roots that a worker takes at a time.
    batch: u32,
    /// Nodes from this one on lie in the second stack.
    second: u32,
    /// Elements that a worker has room for in each stack.
    share: u32,
    /// Elements of a dispatch at most.
    tile: u32,
    /// What has to happen in some interleaving.
    sees: &'static [Event],
    loads: Loads,
    /// How often somebody is interrupted at most.
    preemptions: usize,
    bug: Option<Bug>,
}

/// What may happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Event {
    Offered,
    Taken,
    /// By who has nothing else.
    TakenBack,
    /// Taken back by who needs room.
    Settled,
    /// Its owner sees by the way that it is copied.
    SeenGone,
    Recalled,
    /// An element that workers left.
    Gathered,
    /// A root that nobody took.
    RootsLeft,
}

/// How often it happened in all interleavings together, and how many they were.
#[derive(Default, Debug)]
struct Seen {
    runs: AtomicUsize,
    events: [AtomicUsize; 8],
}

impl Seen {
    fn add(&self, event: Event, n: usize) {
        self.events[event as usize].fetch_add(n, Relaxed);
    }
    fn saw(&self, event: Event) {
        self.add(event, 1);
    }
}

impl Scene {
    fn batches(&self) -> u32 {
        self.roots.div_ceil(self.batch)
    }
    /// Where a stack ended before: behind the roots, or behind an element of another task that waits.
    fn end(&self, stack: usize) -> u32 {
        if stack == 0 { self.roots } else { 1 }
    }
    /// Where the first worker's range begins: at an even number.
    fn base(&self, stack: usize) -> u32 {
        self.end(stack).next_multiple_of(2)
    }
    fn most_children(&self) -> u32 {
        let most = self.tree.iter().map(|children| children.len()).max();
        most.unwrap() as u32
    }
    fn stack_of(&self, node: u32) -> usize {
        usize::from(node >= self.second)
    }

    fn play(self) {
        let seen = Arc::new(Seen::default());
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(self.preemptions);
        let start = std::time::Instant::now();
        let of_all = seen.clone();
        model.check(move || self.once(&of_all));
        println!("{:.1?} {seen:?}: {self:?}", start.elapsed());
        for event in self.sees {
            let often = seen.events[*event as usize].load(Relaxed);
            assert!(often > 0, "{event:?} is what this is about: {self:?}");
        }
    }

    fn once(self, seen: &Arc<Seen>) {
        seen.runs.fetch_add(1, Relaxed);
        // Threads of loom are fibers of one.
        let crew = Rc::new(Crew::new(self));
        let others: Vec<_> = (1..self.workers as usize)
            .map(|me| {
                let (crew, seen) = (crew.clone(), seen.clone());
                thread::spawn(move || Worker::new(&crew, &seen, me).workers())
            })
            .collect();
        let mut rests = vec![Worker::new(&crew, seen, 0).workers()];
        rests.extend(others.into_iter().map(|other| other.join().unwrap()));
        crew.ends(&rests, seen);
    }
}

/// A root and its two children.
const PAIR: Scene = Scene {
    workers: 2,
    tree: &[&[1, 2], &[], &[]],
    roots: 1,
    batch: 1,
    second: u32::MAX,
    share: 8,
    tile: 1,
    sees: &[Offered, Taken, TakenBack],
    loads: Loads::Newest,
    preemptions: 4,
    bug: None,
};
/// Several gifts of the same worker.
const GIFTS: Scene = Scene {
    tree: &[&[1, 2, 3], &[], &[], &[4, 5], &[], &[]],
    sees: &[Offered, Taken, TakenBack, SeenGone],
    ..PAIR
};
/// Two stacks, batches and tiles of several elements.
const STACKS: Scene = Scene {
    tree: &[&[3, 4], &[5], &[], &[], &[], &[]],
    roots: 3,
    batch: 2,
    second: 4,
    tile: 2,
    ..PAIR
};
/// There is room for a while, and then there is not.
const NARROW: Scene = Scene {
    tree: &[&[1, 2], &[3, 4], &[5, 6], &[], &[], &[], &[]],
    share: 4,
    sees: &[
        Offered, Taken, TakenBack, Settled, SeenGone, Recalled, Gathered,
    ],
    ..PAIR
};
/// Who has taken a gift finds no room for what comes of it, and the other has more to give.
const RECALLED: Scene = Scene {
    tree: &[
        &[1, 2, 3],
        &[6, 7, 8],
        &[],
        &[4, 5],
        &[],
        &[],
        &[],
        &[],
        &[9, 10, 11],
        &[],
        &[],
        &[],
    ],
    share: 6,
    sees: &[Offered, Taken, Settled, Recalled, Gathered],
    ..PAIR
};
/// There is hardly room for a root.
const LITTLE: Scene = Scene {
    tree: &[&[3, 4], &[5, 6], &[], &[], &[], &[], &[]],
    roots: 3,
    share: 3,
    sees: &[Recalled, Gathered, RootsLeft],
    ..PAIR
};

/// What the bug is, where it is found, and by what it breaks.
const BUGS: &[(Bug, Scene, &str)] = &[
    (Bug::TicketTwice, STACKS, TWICE),
    (Bug::CountedLate, PAIR, EARLY),
    (Bug::NotCounted, PAIR, MORE),
    (Bug::CountedStill, NARROW, ENDLESS),
    (Bug::CountedNoMore, PAIR, MORE),
    (Bug::NeverDone, PAIR, ENDLESS),
    (Bug::NothingToTake, PAIR, EARLY),
    (Bug::AllAreHungry, PAIR, ENDLESS),
    (Bug::OfferedUnfenced, PAIR, RACE),
    (Bug::TakenUnfenced, PAIR, RACE),
    (Bug::TakenUnasked, PAIR, TWICE),
    (Bug::TakenBackUnasked, PAIR, TWICE),
    (Bug::TakenBackForgotten, PAIR, EARLY),
    (Bug::NoneTooEarly, NARROW, RACE),
    (Bug::NoneUnfenced, NARROW, RACE),
    (Bug::WaitedUnfenced, NARROW, RACE),
    (Bug::GoneUnfenced, GIFTS, RACE),
    (Bug::NotWaited, NARROW, RACE),
    (Bug::SettledTooMuch, NARROW, OVER),
    (Bug::RecallForgets, RECALLED, ONCE),
    (Bug::RecallUntold, NARROW, ENDLESS),
    (Bug::GatheredTooMuch, NARROW, OVER),
    (Bug::GatheredDownwards, RECALLED, TWICE),
    (Bug::GatheredElsewhere, LITTLE, NEVER),
    (Bug::RootsForgotten, LITTLE, ONCE),
];
const ONCE: &str = "each element once";
const TWICE: &str = "an element runs twice";
const NEVER: &str = "an element is read where none was written";
const MORE: &str = "more is done than was counted";
const EARLY: &str = "somebody leaves before all is done";
const RACE: &str = "Causality violation: Concurrent";
const ENDLESS: &str = "Model exceeded maximum number of branches";
const OVER: &str = "a copy writes what is not read yet";

#[test]
fn planted_bugs_are_found() {
    for (bug, scene, says) in BUGS {
        let scene = Scene {
            bug: Some(*bug),
            sees: &[],
            ..*scene
        };
        let Err(panic) = catch_unwind(|| scene.play()) else {
            panic!("{bug:?} is not found");
        };
        let said = match panic.downcast_ref::<String>() {
            Some(said) => said,
            None => *panic.downcast_ref::<&str>().unwrap(),
        };
        assert!(said.contains(says), "{bug:?}: {said}");
    }
}

/// Interrupted as often as can be tried in some seconds.
#[test]
fn two_workers() {
    for (scene, preemptions) in [
        (PAIR, 5),
        (GIFTS, 4),
        (STACKS, 4),
        (NARROW, 5),
        (RECALLED, 5),
        (LITTLE, 9),
    ] {
        Scene {
            preemptions,
            ..scene
        }
        .play();
    }
}

/// Loads give whatever the orders allow.
#[test]
fn two_workers_who_see_late() {
    for (scene, preemptions) in [
        (PAIR, 3),
        (STACKS, 2),
        (NARROW, 2),
        (RECALLED, 3),
        (LITTLE, 4),
    ] {
        Scene {
            loads: Loads::Any,
            preemptions,
            ..scene
        }
        .play();
    }
}

#[test]
fn three_workers() {
    for (scene, preemptions) in [
        (PAIR, 3),
        (GIFTS, 2),
        (STACKS, 2),
        (NARROW, 3),
        (RECALLED, 2),
    ] {
        Scene {
            workers: 3,
            preemptions,
            ..scene
        }
        .play();
    }
}
