//! The words of the GPU's ring: `src/cuda/device/ring.cu`, operation by operation, as its one lane does them. The emulator of the tests runs
//! the text itself, but with every access in order; here each load gives whatever the orderings allow.

use loom::{
    cell::UnsafeCell,
    sync::{
        Arc,
        atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering, fence},
    },
    thread,
};

/// The bit of an entry of the control array that says of which round it is: `RING_TAG`.
const TAG: u32 = 1 << 31;

/// A ring of numbers.
struct Ring {
    room: AtomicI32,
    ready: AtomicI32,
    head: AtomicU64,
    tail: AtomicU64,
    control_head: AtomicU64,
    reserve_tail: AtomicU64,
    control: Vec<AtomicU32>,
    /// Groups of one,
    done: Vec<AtomicU64>,
    /// and stretches of two.
    freed: Vec<AtomicU32>,
    data: Vec<UnsafeCell<u32>>,
}

/// `__nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, ..)`.
fn acq_rel() {
    fence(Ordering::AcqRel);
}

impl Ring {
    fn new(width: usize) -> Self {
        let words = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        Self {
            room: AtomicI32::new(width as i32),
            ready: AtomicI32::new(0),
            head: AtomicU64::new(0),
            tail: AtomicU64::new(0),
            control_head: AtomicU64::new(0),
            reserve_tail: AtomicU64::new(0),
            control: (0..2 * width).map(|_| AtomicU32::new(0)).collect(),
            done: words(width),
            freed: (0..width.div_ceil(2)).map(|_| AtomicU32::new(0)).collect(),
            data: (0..width).map(|_| UnsafeCell::new(0)).collect(),
        }
    }

    fn width(&self) -> u64 {
        self.data.len() as u64
    }

    /// `ring_pass`.
    fn pass(passes: &AtomicI32, most: i32) -> i32 {
        let had = passes.fetch_sub(most, Ordering::Relaxed);
        if had >= most {
            return most;
        }
        let got = had.max(0);
        passes.fetch_add(most - got, Ordering::Relaxed);
        got
    }

    /// `ring_take`.
    fn take(passes: &AtomicI32, word: &AtomicU64, most: i32) -> Option<(u64, u64)> {
        let got = Self::pass(passes, most) as u64;
        if got == 0 {
            return None;
        }
        acq_rel();
        let at = word.fetch_add(got, Ordering::Relaxed);
        acq_rel();
        Some((at, got))
    }

    /// `ring_talloc` and `ring_enq`.
    fn send(&self, numbers: &[u32]) -> usize {
        let got = Self::pass(&self.room, numbers.len() as i32) as u64;
        if got == 0 {
            return 0;
        }
        acq_rel();
        let at = self.tail.fetch_add(got, Ordering::Relaxed);
        let start = self.reserve_tail.fetch_add(got, Ordering::Relaxed);
        acq_rel();
        for (i, number) in (0..got).zip(numbers) {
            let slot = ((at + i) % self.width()) as usize;
            // SAFETY: loom checks that nobody looks at it meanwhile.
            self.data[slot].with_mut(|p| unsafe { *p = *number });
        }
        acq_rel();
        for i in 0..got {
            let entry = ((at + i) % self.width()) as u32 | self.tag(start + i);
            self.entry(start + i).store(entry, Ordering::Relaxed);
        }
        self.ready.fetch_add(got as i32, Ordering::Relaxed);
        got as usize
    }

    fn entry(&self, place: u64) -> &AtomicU32 {
        &self.control[(place % (2 * self.width())) as usize]
    }

    fn tag(&self, place: u64) -> u32 {
        ((place / (2 * self.width()) + 1) % 2) as u32 * TAG
    }

    /// `ring_deq` and `ring_tfree`.
    fn receive(&self, most: i32) -> Vec<u32> {
        let Some((at, got)) = Self::take(&self.ready, &self.control_head, most) else {
            return Vec::new();
        };
        let mut numbers = Vec::new();
        for place in at..at + got {
            let slot = loop {
                let entry = self.entry(place).load(Ordering::Relaxed);
                if entry & TAG == self.tag(place) {
                    break (entry & !TAG) as usize;
                }
                thread::yield_now();
            };
            acq_rel();
            // SAFETY: loom checks that nobody writes it meanwhile.
            numbers.push(self.data[slot].with(|p| unsafe { *p }));
            acq_rel();
            self.mark(slot);
        }
        numbers
    }

    /// `ring_mark`.
    fn mark(&self, slot: usize) {
        self.done[slot].fetch_xor(1, Ordering::Relaxed);
        self.freed[slot / 2].fetch_add(1, Ordering::Relaxed);
    }

    /// `ring_reclaim`.
    fn reclaim(&self) {
        let head = self.head.load(Ordering::Relaxed);
        let mut end = head;
        let mut far = true;
        while end - head < self.width() {
            let (slot, turn) = (end % self.width(), end / self.width());
            far &= slot % 2 == 0;
            let done = if far {
                let own = (self.width() - slot).min(2);
                let count = self.freed[slot as usize / 2].load(Ordering::Relaxed);
                if u64::from(count) == (turn + 1) * own {
                    own
                } else {
                    0
                }
            } else {
                let marks = self.done[slot as usize].load(Ordering::Relaxed);
                (marks ^ turn) & 1
            };
            end += done;
            if done == 0 && (!far || end != head) {
                break;
            }
            far = done != 0;
        }
        if end == head {
            return;
        }
        acq_rel();
        let moved = self
            .head
            .compare_exchange(head, end, Ordering::Relaxed, Ordering::Relaxed);
        if moved.is_ok() {
            self.room.fetch_add((end - head) as i32, Ordering::Relaxed);
        }
    }
}

/// Producers publish wavefronts of these sizes, consumers take wavefronts of these; whoever produces reclaims before.
fn scene(
    width: usize,
    ahead: u32,
    producers: &'static [usize],
    consumers: &'static [i32],
    preemptions: Option<usize>,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let ring = Arc::new(Ring::new(width));
        let ahead: Vec<u32> = (0..ahead).collect();
        assert_eq!(ring.send(&ahead), ahead.len());
        let consumers: Vec<_> = consumers
            .iter()
            .map(|most| {
                let ring = ring.clone();
                thread::spawn(move || ring.receive(*most))
            })
            .collect();
        let producers: Vec<_> = (1..)
            .zip(producers)
            .map(|(id, size)| {
                let ring = ring.clone();
                thread::spawn(move || {
                    ring.reclaim();
                    let mut numbers: Vec<u32> = (0..*size as u32).map(|i| 10 * id + i).collect();
                    numbers.truncate(ring.send(&numbers));
                    numbers
                })
            })
            .collect();
        let mut sent = ahead;
        producers
            .into_iter()
            .for_each(|p| sent.extend(p.join().unwrap()));
        let mut received: Vec<u32> = consumers
            .into_iter()
            .flat_map(|c| c.join().unwrap())
            .collect();
        received.extend(ring.receive(9));
        sent.sort_unstable();
        received.sort_unstable();
        assert_eq!(sent, received, "each once");
        // Once to the end of a stretch, once for what is done of the next one.
        ring.reclaim();
        ring.reclaim();
        let (room, ready) = (
            ring.room.load(Ordering::Relaxed),
            ring.ready.load(Ordering::Relaxed),
        );
        assert_eq!((room, ready), (width as i32, 0), "all slots are free again");
    });
}

#[test]
fn two_producers_meet() {
    scene(2, 0, &[1, 1], &[], None);
    scene(3, 0, &[1, 2], &[2], Some(2));
}

#[test]
fn two_consumers_share() {
    scene(3, 3, &[], &[1, 2], None);
}

#[test]
fn two_producers_want_what_two_consumers_free() {
    scene(2, 2, &[1, 1], &[1, 1], Some(2));
}

/// Apart from the last, so that both go side by side.
#[test]
fn a_producer_wants_two_that_two_consumers_free() {
    scene(2, 2, &[2], &[1, 2], Some(2));
}

/// Who passes the gate first may be given the later place: it has to see what was published for it.
#[test]
fn places_are_given_in_another_order_than_passes() {
    scene(2, 0, &[1, 1], &[1, 1], Some(2));
}

/// The same of room, where one slot was free before and the other becomes free meanwhile: it is its consumer who reclaims.
#[test]
fn room_is_given_in_another_order_than_passes() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let ring = Arc::new(Ring::new(2));
        assert_eq!(ring.send(&[1, 2]), 2);
        assert_eq!(ring.receive(1), [1]);
        ring.reclaim();
        let consumer = {
            let ring = ring.clone();
            thread::spawn(move || {
                let received = ring.receive(1);
                ring.reclaim();
                received
            })
        };
        let producer = {
            let ring = ring.clone();
            thread::spawn(move || ring.send(&[3]))
        };
        let sent = ring.send(&[4]);
        let sent = sent + producer.join().unwrap();
        assert_eq!(consumer.join().unwrap(), [2]);
        assert_eq!(ring.receive(9).len(), sent, "each once");
    });
}

/// Of the stretch that `head` stands in, a slot before it is done in the next round, and one behind it not in this one: its count is that of a stretch
/// that is done, and nothing may come of it.
#[test]
fn a_stretch_is_of_two_rounds() {
    loom::model(|| {
        let ring = Arc::new(Ring::new(2));
        assert_eq!(ring.send(&[1, 2]), 2);
        let (first, _) = Ring::take(&ring.ready, &ring.control_head, 1).unwrap();
        let (second, _) = Ring::take(&ring.ready, &ring.control_head, 1).unwrap();
        assert_eq!((first, second), (0, 1));
        acq_rel();
        ring.mark(0);
        let other = {
            let ring = ring.clone();
            thread::spawn(move || {
                ring.reclaim();
                assert_eq!(ring.send(&[3]), 1);
                assert_eq!(ring.receive(1), [3]);
                ring.reclaim();
                ring.send(&[4, 5])
            })
        };
        // SAFETY: loom checks that nobody writes it meanwhile.
        assert_eq!(ring.data[1].with(|p| unsafe { *p }), 2);
        assert_eq!(other.join().unwrap(), 0, "the second slot is not done");
        acq_rel();
        ring.mark(1);
        ring.reclaim();
        ring.reclaim();
        assert_eq!(ring.room.load(Ordering::Relaxed), 2);
    });
}
