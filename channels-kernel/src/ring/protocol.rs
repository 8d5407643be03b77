//! The ring's protocol: which word is written when, by whom, and what orders it. It moves slots, not elements. `README.md` says why it is right.

use super::sync::{AtomicU64, Entry, Ordering};
use std::iter::FusedIterator;

/// Slots that lie side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// The first.
    pub slot: u32,
    /// How many.
    pub count: u32,
}

/// The words of a ring, wherever they lie. Positions count from 0 and never wrap; slot and place in an array are what is left of them by division.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'m> {
    /// Data array: the first position that is not free again.
    pub(crate) head: &'m AtomicU64,
    /// Data array: the first position that is not allocated.
    pub(crate) tail: &'m AtomicU64,
    /// Control array: the first position that is not taken.
    pub(crate) control_head: &'m AtomicU64,
    /// Control array: the first position that is not published.
    pub(crate) control_tail: &'m AtomicU64,
    /// Control array: the first position that is not reserved.
    pub(crate) reserve_tail: &'m AtomicU64,
    /// Where `control_tail` meets whoever publishes: a word for each place of the control array.
    pub(crate) meet: &'m [AtomicU64],
    /// The control array: slots, in the order in which they are published. Twice the width.
    pub(crate) control: &'m [Entry],
    /// A bit for each slot, `group` of them a word.
    pub(crate) done: &'m [AtomicU64],
    /// Slots.
    pub(crate) width: u32,
    /// Slots that share a word of `done`, at most 64.
    pub(crate) group: u32,
}

/// Positions of a control array that a wavefront of consumers has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) at: u64,
    pub(crate) count: u32,
}

impl<'m> Words<'m> {
    /// Allocates `least` to `most` consecutive positions: available to reserved.
    pub(crate) fn talloc(self, least: u32, most: u32) -> Option<Span> {
        let full = u64::from(self.width);
        let mut head = self.head.load(Ordering::Acquire);
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            // Either may be older than the other: then the exchange fails, or what is free is more than it seems.
            let mut room = (head + full).saturating_sub(tail);
            if room < u64::from(most) {
                head = self.reclaim();
                room = (head + full).saturating_sub(tail);
            }
            let count = room.min(u64::from(most)) as u32;
            if count < least.max(1) {
                let now = self.tail.load(Ordering::Relaxed);
                if now == tail {
                    return None;
                }
                tail = now;
                continue;
            }
            match self.tail.compare_exchange_weak(
                tail,
                tail + u64::from(count),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(Span { at: tail, count }),
                Err(now) => tail = now,
            }
        }
    }

    /// The slots of positions that [`talloc`](Self::talloc) gave: two runs at most.
    pub(crate) fn slots(self, span: Span) -> [Run; 2] {
        split(span.at, span.count, self.width)
    }

    /// Publishes what `talloc` gave: reserved to ready. Waits for nobody.
    ///
    /// # Safety
    /// `data` is what `talloc` gave, and is published once.
    pub(crate) unsafe fn enq(self, data: Span) {
        let places = self.control.len() as u32;
        let start = self
            .reserve_tail
            .fetch_add(u64::from(data.count), Ordering::AcqRel);
        let mut slots = self
            .slots(data)
            .into_iter()
            .flat_map(|run| run.slot..run.slot + run.count);
        for run in split(start, data.count, places) {
            let entries = &self.control[run.slot as usize..][..run.count as usize];
            for (entry, slot) in entries.iter().zip(&mut slots) {
                // SAFETY: what stood here was of a position that is free again, so nobody reads it any more.
                unsafe { entry.set(slot) };
            }
        }
        self.publish(start, start + u64::from(data.count));
    }

    /// Says that the control array is written from `start` to `end`. If `control_tail` has come to `start` it goes on from here, else whoever
    /// brings it here will find `end`.
    fn publish(self, start: u64, end: u64) {
        if self.meeting(start).swap(end, Ordering::AcqRel) != start {
            return;
        }
        let mut at = end;
        loop {
            self.control_tail.store(at, Ordering::Release);
            let next = self.meeting(at).swap(at, Ordering::AcqRel);
            if next <= at {
                return;
            }
            at = next;
        }
    }

    fn meeting(self, at: u64) -> &'m AtomicU64 {
        &self.meet[(at % self.meet.len() as u64) as usize]
    }

    /// Takes `least` to `most` published positions: ready to dispatched.
    pub(crate) fn deq(self, least: u32, most: u32) -> Option<Span> {
        let mut at = self.control_head.load(Ordering::Relaxed);
        loop {
            let published = self.control_tail.load(Ordering::Acquire);
            let count = published.saturating_sub(at).min(u64::from(most)) as u32;
            if count < least.max(1) {
                let now = self.control_head.load(Ordering::Relaxed);
                if now == at {
                    return None;
                }
                at = now;
                continue;
            }
            match self.control_head.compare_exchange_weak(
                at,
                at + u64::from(count),
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(Span { at, count }),
                Err(now) => at = now,
            }
        }
    }

    /// The slots that `deq` gave.
    ///
    /// # Safety
    /// `span` is what `deq` gave, and has not been given to `tfree`.
    pub(crate) unsafe fn taken(self, span: Span) -> Taken<'m> {
        Taken {
            words: self,
            span,
            buffer: [0; BUFFER],
            filled: 0,
            given: 0,
        }
    }

    /// Marks what `deq` gave: dispatched to done.
    ///
    /// # Safety
    /// `span` is what `deq` gave, and is marked once. Its elements are not looked at any more.
    pub(crate) unsafe fn tfree(self, span: Span) {
        // SAFETY: as above.
        for Run { mut slot, count } in unsafe { self.taken(span) } {
            let end = slot + count;
            while slot < end {
                let (word, bit) = (slot / self.group, slot % self.group);
                let count = (self.group - bit).min(end - slot);
                self.done[word as usize].fetch_xor(ones(count) << bit, Ordering::Release);
                slot += count;
            }
        }
    }

    /// Moves `head` over what is done, in the order in which it was allocated: done to available. Gives `head`.
    pub(crate) fn reclaim(self) -> u64 {
        let width = u64::from(self.width);
        let head = self.head.load(Ordering::Acquire);
        let (mut slot, mut turn) = ((head % width) as u32, head / width);
        let mut end = head;
        while end - head < width {
            let (word, bit) = (slot / self.group, slot % self.group);
            let most = (self.group - bit).min(self.width - slot);
            let marks = self.done[word as usize].load(Ordering::Acquire);
            // A slot's bit turns over each time that it is done: to 1 in the first round, back to 0 in the second.
            let marks = if turn % 2 == 0 { marks } else { !marks };
            let count = (marks >> bit).trailing_ones().min(most);
            end += u64::from(count);
            if count < most {
                break;
            }
            slot += count;
            if slot == self.width {
                (slot, turn) = (0, turn + 1);
            }
        }
        if end == head {
            return head;
        }
        match self
            .head
            .compare_exchange(head, end, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => end,
            Err(now) => now,
        }
    }
}

/// The run of `count` places from a position on, in an array of so many: two at most, as it may go round its end.
fn split(at: u64, count: u32, places: u32) -> [Run; 2] {
    let slot = (at % u64::from(places)) as u32;
    let first = count.min(places - slot);
    [
        Run { slot, count: first },
        Run {
            slot: 0,
            count: count - first,
        },
    ]
}

/// So many bits, at most 64.
const fn ones(count: u32) -> u64 {
    u64::MAX >> (64 - count)
}

/// Entries that are looked at together.
const BUFFER: usize = 64;

/// The slots of a wavefront, in the order in which they were published, as runs.
#[derive(Clone, Debug)]
pub(crate) struct Taken<'m> {
    words: Words<'m>,
    span: Span,
    buffer: [u32; BUFFER],
    /// Slots in the buffer.
    filled: usize,
    /// Those of them that were given.
    given: usize,
}

impl Taken<'_> {
    /// Whether there is a slot in the buffer that was not given, from the control array if need be.
    fn more(&mut self) -> bool {
        if self.given < self.filled {
            return true;
        }
        let [Run { slot, count }, _] = split(
            self.span.at,
            self.span.count.min(BUFFER as u32),
            self.words.control.len() as u32,
        );
        let entries = &self.words.control[slot as usize..][..count as usize];
        for (slot, entry) in self.buffer.iter_mut().zip(entries) {
            // SAFETY: who took the span is the only one who looks at it until it is given to `tfree`, and nobody writes it before that.
            *slot = unsafe { entry.get() };
        }
        self.span.at += u64::from(count);
        self.span.count -= count;
        (self.filled, self.given) = (count as usize, 0);
        count > 0
    }
}

impl Iterator for Taken<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        if !self.more() {
            return None;
        }
        let mut run = Run {
            slot: self.buffer[self.given],
            count: 0,
        };
        while self.more() {
            let rest = &self.buffer[self.given..self.filled];
            let count = consecutive(rest, run.slot + run.count);
            run.count += count as u32;
            self.given += count;
            if self.given < self.filled {
                break;
            }
        }
        Some(run)
    }
}

impl FusedIterator for Taken<'_> {}

/// How many of the slots, from the first on, lie side by side from `slot` on.
fn consecutive(slots: &[u32], slot: u32) -> usize {
    const LANES: usize = 16;
    let mut count = 0;
    for block in slots.chunks_exact(LANES) {
        let first = slot + count as u32;
        let differ = (0u32..)
            .zip(block)
            .fold(0, |d, (i, s)| d | (s ^ (first + i)));
        if differ != 0 {
            break;
        }
        count += LANES;
    }
    let rest = (slot + count as u32..).zip(&slots[count..]);
    count + rest.take_while(|(at, slot)| at == *slot).count()
}
