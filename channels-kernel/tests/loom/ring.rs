//! The protocol of `src/ring/protocol.rs`: every interleaving of small scenes, and every value that the orderings allow a load to give.
//!
//! Nobody waits in a scene: who finds no room or no element after some tries goes home, and what is left is drained at the end. So every scene is finite.

#[allow(
    dead_code,
    unreachable_pub,
    reason = "it stands for `src/ring/sync.rs`"
)]
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};

    #[derive(Debug, Default)]
    pub(crate) struct Entry(loom::cell::UnsafeCell<u32>);

    impl Entry {
        pub(crate) unsafe fn get(&self) -> u32 {
            // SAFETY: loom checks that nobody writes it meanwhile.
            self.0.with(|p| unsafe { *p })
        }
        pub(crate) unsafe fn set(&self, slot: u32) {
            // SAFETY: loom checks that nobody looks at it meanwhile.
            self.0.with_mut(|p| unsafe { *p = slot });
        }
    }
}

#[allow(dead_code, unreachable_pub, reason = "a part of it is used here")]
#[path = "../../src/ring/protocol.rs"]
mod protocol;

use loom::{cell::UnsafeCell, sync::Arc, thread};
use protocol::{Span, Words};
use sync::{AtomicU64, Entry, Ordering};

/// A ring of numbers.
struct Ring {
    words: [AtomicU64; 5],
    meet: Vec<AtomicU64>,
    control: Vec<Entry>,
    done: Vec<AtomicU64>,
    data: Vec<UnsafeCell<u32>>,
    group: u32,
}

impl Ring {
    fn new(width: u32, group: u32) -> Self {
        let width = width as usize;
        Self {
            words: Default::default(),
            meet: (0..2 * width).map(|_| AtomicU64::new(0)).collect(),
            control: (0..2 * width).map(|_| Entry::default()).collect(),
            done: (0..width.div_ceil(group as usize))
                .map(|_| AtomicU64::new(0))
                .collect(),
            data: (0..width).map(|_| UnsafeCell::new(0)).collect(),
            group,
        }
    }

    fn words(&self) -> Words<'_> {
        let [head, tail, control_head, control_tail, reserve_tail] = &self.words;
        Words {
            head,
            tail,
            control_head,
            control_tail,
            reserve_tail,
            meet: &self.meet,
            control: &self.control,
            done: &self.done,
            width: self.data.len() as u32,
            group: self.group,
        }
    }

    /// Publishes numbers as one wavefront, if there is room in so many tries.
    fn send(&self, numbers: &[u32], tries: u32) -> bool {
        let count = numbers.len() as u32;
        let Some(span) = (0..tries).find_map(|_| self.words().talloc(count, count)) else {
            return false;
        };
        self.fill(span, numbers);
        true
    }

    fn fill(&self, span: Span, numbers: &[u32]) {
        let slots = self.words().slots(span);
        let slots = slots.iter().flat_map(|r| r.slot..r.slot + r.count);
        for (slot, number) in slots.zip(numbers) {
            // SAFETY: loom checks that nobody looks at it meanwhile.
            self.data[slot as usize].with_mut(|p| unsafe { *p = *number });
        }
        // SAFETY: `talloc` gave it.
        unsafe { self.words().enq(span) };
    }

    /// Takes a wavefront, if there is one in so many tries.
    fn receive(&self, most: u32, tries: u32) -> Vec<u32> {
        let Some(span) = (0..tries).find_map(|_| self.words().deq(1, most)) else {
            return Vec::new();
        };
        // SAFETY: `deq` gave it.
        let runs = unsafe { self.words().taken(span) };
        let slots = runs.flat_map(|r| r.slot..r.slot + r.count);
        // SAFETY: loom checks that nobody writes it meanwhile.
        let read = |slot: u32| self.data[slot as usize].with(|p| unsafe { *p });
        let numbers = slots.map(read).collect();
        // SAFETY: `deq` gave it, and nobody looks at it any more.
        unsafe { self.words().tfree(span) };
        numbers
    }
}

/// A ring and who is at it. Each producer publishes its wavefronts in order, each consumer takes so many wavefronts.
#[derive(Clone, Copy)]
struct Scene {
    width: u32,
    group: u32,
    /// What each producer publishes: sizes of its wavefronts.
    producers: &'static [&'static [u32]],
    /// What each consumer takes: most elements of each wavefront.
    consumers: &'static [&'static [u32]],
    /// How often the deallocator looks.
    reclaims: u32,
    /// Elements that pass through the ring before all that,
    before: u32,
    /// and that are published in it then.
    ahead: u32,
    /// How often somebody is interrupted at most; none: any number of times.
    preemptions: Option<usize>,
}

impl Scene {
    fn play(self) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = self.preemptions;
        model.check(move || self.once());
    }

    fn once(self) {
        let ring = Arc::new(Ring::new(self.width, self.group));
        for number in 0..self.before {
            assert!(ring.send(&[number], 1));
            assert_eq!(ring.receive(1, 1), [number]);
        }
        let ahead: Vec<u32> = (0..self.ahead).collect();
        assert!(ahead.is_empty() || ring.send(&ahead, 1));
        let mut producers = Vec::new();
        for (id, sizes) in (1..).zip(self.producers) {
            let ring = ring.clone();
            producers.push(thread::spawn(move || {
                let mut sent = Vec::new();
                for (part, size) in (0..).zip(*sizes) {
                    let numbers: Vec<u32> = (0..*size).map(|i| 100 * id + 10 * part + i).collect();
                    if ring.send(&numbers, 2) {
                        sent.extend(numbers);
                    }
                }
                sent
            }));
        }
        let mut consumers = Vec::new();
        for sizes in self.consumers {
            let ring = ring.clone();
            consumers.push(thread::spawn(move || {
                let received = sizes.iter().flat_map(|most| ring.receive(*most, 2));
                received.collect::<Vec<_>>()
            }));
        }
        for _ in 0..self.reclaims {
            ring.words().reclaim();
        }
        let mut sent = ahead;
        for thread in producers {
            sent.extend(thread.join().unwrap());
        }
        let mut received = Vec::new();
        for thread in consumers {
            received.push(thread.join().unwrap());
        }
        // All publications have returned: what they published can be taken.
        received.push(
            std::iter::from_fn(|| Some(ring.receive(9, 1)).filter(|r| !r.is_empty()))
                .flatten()
                .collect(),
        );
        for one in &received {
            for id in 0..=self.producers.len() as u32 {
                let of_one = one.iter().filter(|n| **n / 100 == id);
                assert!(of_one.is_sorted(), "those of a producer in order: {one:?}");
            }
        }
        let mut all = received.concat();
        all.sort_unstable();
        sent.sort_unstable();
        assert_eq!(all, sent, "each once");
        // All is done: all is free.
        let end = u64::from(self.before) + sent.len() as u64;
        assert_eq!(ring.words().reclaim(), end, "all slots are free again");
        for word in &ring.words {
            assert_eq!(word.load(Ordering::Relaxed), end);
        }
    }
}

const ONE: Scene = Scene {
    width: 2,
    group: 2,
    producers: &[&[1]],
    consumers: &[&[1]],
    reclaims: 0,
    before: 0,
    ahead: 0,
    preemptions: None,
};

#[test]
fn one_producer_one_consumer() {
    for width in 1..=4 {
        Scene {
            width,
            producers: &[&[1, 1, 1]],
            consumers: &[&[2, 2]],
            ..ONE
        }
        .play();
    }
}

#[test]
fn two_producers_meet() {
    for width in 2..=4 {
        Scene {
            width,
            producers: &[&[1], &[1]],
            consumers: &[],
            ..ONE
        }
        .play();
        Scene {
            width,
            producers: &[&[1], &[2]],
            consumers: &[],
            before: width - 1,
            ..ONE
        }
        .play();
    }
    Scene {
        width: 4,
        producers: &[&[1, 1], &[1]],
        consumers: &[],
        preemptions: Some(3),
        ..ONE
    }
    .play();
}

#[test]
fn three_producers_meet() {
    Scene {
        width: 3,
        producers: &[&[1], &[1], &[1]],
        consumers: &[],
        preemptions: Some(3),
        ..ONE
    }
    .play();
}

#[test]
fn two_consumers_share() {
    for (width, before) in [(3, 0), (3, 2), (4, 5)] {
        Scene {
            width,
            before,
            ahead: 3,
            producers: &[],
            consumers: &[&[1], &[2]],
            ..ONE
        }
        .play();
    }
}

#[test]
fn two_producers_want_what_a_consumer_frees() {
    for (width, group) in [(2, 1), (2, 2)] {
        Scene {
            width,
            group,
            ahead: 2,
            producers: &[&[1], &[1]],
            consumers: &[&[2]],
            preemptions: Some(2),
            ..ONE
        }
        .play();
    }
}

#[test]
fn a_producer_wants_what_two_consumers_free() {
    for (width, group) in [(2, 1), (2, 2), (3, 2)] {
        Scene {
            width,
            group,
            ahead: 2,
            producers: &[&[2]],
            consumers: &[&[1], &[1]],
            preemptions: Some(3),
            ..ONE
        }
        .play();
    }
}

/// The ring has been gone round before, so that every bit and every meeting point has held something.
#[test]
fn in_later_rounds() {
    for before in 1..=4 {
        Scene {
            before,
            producers: &[&[1, 1]],
            consumers: &[&[1, 1]],
            ..ONE
        }
        .play();
        Scene {
            before,
            producers: &[&[1], &[1]],
            consumers: &[&[2]],
            preemptions: Some(2),
            ..ONE
        }
        .play();
    }
}

#[test]
fn a_deallocator_beside_them() {
    for (width, group) in [(2, 1), (2, 2), (3, 2)] {
        Scene {
            width,
            group,
            ahead: 1,
            producers: &[&[1, 1]],
            consumers: &[&[1, 1]],
            reclaims: 2,
            preemptions: Some(3),
            ..ONE
        }
        .play();
    }
}

/// All at once.
#[test]
fn two_producers_two_consumers_one_deallocator() {
    for width in 2..=4 {
        let scene = Scene {
            width,
            producers: &[&[1], &[1]],
            consumers: &[&[1], &[1]],
            reclaims: 1,
            preemptions: Some(1),
            ..ONE
        };
        scene.play();
        Scene { ahead: 1, ..scene }.play();
    }
}

/// A place of the control array is written again by a producer that allocated before the place was free: who told it that it is free is another
/// producer, by `reserve_tail`. That takes a width of 3: slots 2, 0, 1, 3, 5, 6, 4 are published in this order, and 4 stands where 2 stood.
#[test]
fn a_place_is_written_again_when_its_reader_is_done() {
    loom::model(|| {
        let ring = Arc::new(Ring::new(3, 3));
        let words = ring.words();
        let [zero, one, two] = [0; 3].map(|_| words.talloc(1, 1).unwrap());
        ring.fill(two, &[2]);
        let slow = words.deq(1, 1).unwrap();
        ring.fill(zero, &[0]);
        ring.fill(one, &[1]);
        assert_eq!(ring.receive(2, 1), [0, 1]);
        let [three, four] = [0; 2].map(|_| words.talloc(1, 1).unwrap());
        let consumer = {
            let ring = ring.clone();
            thread::spawn(move || {
                // SAFETY: `deq` gave it.
                let runs: Vec<_> = unsafe { ring.words().taken(slow) }.collect();
                // SAFETY: `deq` gave it.
                unsafe { ring.words().tfree(slow) };
                runs
            })
        };
        let producer = {
            let ring = ring.clone();
            thread::spawn(move || {
                ring.fill(three, &[3]);
                let received = ring.receive(1, 1);
                (received, ring.send(&[5, 6], 1))
            })
        };
        ring.fill(four, &[4]);
        let runs = consumer.join().unwrap();
        assert_eq!(runs, [protocol::Run { slot: 2, count: 1 }]);
        let (mut received, sent) = producer.join().unwrap();
        received.extend(ring.receive(9, 1));
        received.sort_unstable();
        assert_eq!(received, [3, 4, 5, 6][..if sent { 4 } else { 2 }]);
    });
}
