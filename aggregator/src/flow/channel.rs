//! A channel of a running graph: its ring, and what happens where that is full.

use super::wiring::ChannelPlan;
use crate::sync::Mutex;
use millstream_channels_kernel::ring::{Dequeued, Ring, RingError};
use millstream_graph::graph::WhenFull;
use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

/// Bytes by which channels may grow.
#[derive(Debug)]
pub(crate) struct Stock {
    all: u64,
    left: AtomicU64,
    least: AtomicU64,
}

impl Stock {
    pub(crate) const fn new(bytes: u64) -> Self {
        Self {
            all: bytes,
            left: AtomicU64::new(bytes),
            least: AtomicU64::new(bytes),
        }
    }

    /// The most that was taken at one time.
    fn most_taken(&self) -> u64 {
        // Relaxed: every worker has left the run.
        self.all - self.least.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: u64) -> bool {
        // Relaxed: the counters order nothing; only their values matter. Pairs with `give`.
        let (relaxed, less) = (Ordering::Relaxed, |left: u64| left.checked_sub(bytes));
        let before = self.left.fetch_update(relaxed, relaxed, less);
        if let Ok(before) = before {
            self.least.fetch_min(before - bytes, relaxed);
        }
        before.is_ok()
    }

    fn give(&self, bytes: u64) {
        // Relaxed: see `take`.
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A channel.
#[derive(Debug)]
pub(crate) struct FlowChannel {
    pub(crate) ring: Ring,
    strides: Vec<usize>,
    full: WhenFull,
    /// How many workers, host nodes and callers have elements that found no room.
    pub(crate) blocked: AtomicU32,
    /// Of one that grows: what the ring has no room for, in order.
    spill: Mutex<Spill>,
    /// How many elements lie there. Stored under the mutex.
    spilled: AtomicU64,
    /// How many slots had been free again when the last drop freed none: the oldest is in somebody's hand then. More than there will be where there was no such drop.
    in_vain: AtomicU64,
    stock: Arc<Stock>,
}

/// Elements that wait for room in their ring, an array a field.
#[derive(Debug, Default)]
struct Spill {
    fields: Vec<Vec<u8>>,
    /// Elements at the beginning that are in the ring now.
    gone: usize,
    count: usize,
}

/// What became of elements that were offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Offered {
    /// So many, the first ones, are in the channel, or were dropped for those behind them.
    pub(crate) taken: u64,
    /// So many were dropped: of those offered, or of those that waited.
    pub(crate) dropped: u64,
    /// The channel may grow, and there is no memory for it.
    pub(crate) starved: bool,
}

impl FlowChannel {
    pub(crate) fn new(plan: &ChannelPlan, stock: &Arc<Stock>) -> Result<Self, RingError> {
        let ring = Ring::new(&plan.fields, plan.width, plan.group)?;
        Ok(Self::of(ring, plan.full, stock))
    }

    fn of(ring: Ring, full: WhenFull, stock: &Arc<Stock>) -> Self {
        let strides: Vec<usize> = ring.layout().strides.iter().map(|&s| s as usize).collect();
        Self {
            ring,
            full,
            blocked: AtomicU32::new(0),
            spill: Mutex::new(Spill {
                fields: vec![Vec::new(); strides.len()],
                ..Spill::default()
            }),
            spilled: AtomicU64::new(0),
            in_vain: AtomicU64::new(u64::MAX),
            stock: stock.clone(),
            strides,
        }
    }

    /// The most bytes that this channel and those beside it took to grow.
    pub(crate) fn most_grown(&self) -> u64 {
        self.stock.most_taken()
    }

    /// How many elements wait.
    pub(crate) fn waiting(&self) -> u64 {
        // Relaxed: a hint.
        u64::from(self.ring.ready()) + self.spilled.load(Ordering::Relaxed)
    }

    /// Whether a wavefront could be taken: what was spilled comes by way of the ring.
    pub(crate) fn has_some(&self) -> bool {
        // Relaxed: a hint.
        self.ring.ready() > 0 || self.spilled.load(Ordering::Relaxed) > 0 && self.ring.room() > 0
    }

    /// Whether something could be put in. `alone`: nobody else can go on.
    pub(crate) fn has_room(&self, alone: bool) -> bool {
        match self.full {
            WhenFull::Wait => self.ring.room() > 0,
            WhenFull::Grow => true,
            WhenFull::DropOldest => self.ring.room() > 0 || self.is_full(alone),
        }
    }

    /// Of a ring without free slots: whether what waits is what it is full of, and not slots that are done behind one that is not, or that somebody has in
    /// hand. At most half of it may be those, and a drop that freed none was enough until the oldest slot is free. Where nobody else can go on, nobody takes what waits.
    fn is_full(&self, alone: bool) -> bool {
        let ready = self.ring.ready();
        // Relaxed: a hint, as is what waits.
        let in_vain = || self.in_vain.load(Ordering::Relaxed) == self.ring.freed();
        ready > 0 && (alone || ready >= self.ring.width() / 2 && !in_vain())
    }

    /// Takes a wavefront of `most` elements at most.
    pub(crate) fn take(&self, most: u64) -> Option<Dequeued<'_>> {
        // Relaxed: who spilled the last ones tells whoever sleeps.
        if self.spilled.load(Ordering::Relaxed) > 0 {
            self.refill();
        }
        self.ring.deq(u32::try_from(most).unwrap_or(u32::MAX))
    }

    /// Puts elements in, of which `field` gives the bytes of each field; as many as there is room for. `alone`: nobody else can go on.
    pub(crate) fn offer<'a>(
        &self,
        count: u64,
        field: impl Fn(usize) -> &'a [u8],
        alone: bool,
    ) -> Offered {
        match self.full {
            WhenFull::Wait => Offered {
                taken: self.put(0, count, &field),
                ..Offered::default()
            },
            WhenFull::Grow => {
                let taken = self.put_or_spill(count, &field);
                Offered {
                    taken,
                    starved: taken < count,
                    ..Offered::default()
                }
            }
            WhenFull::DropOldest => self.put_or_drop(count, &field, alone),
        }
    }

    /// Puts elements `from..to` into the ring; says up to which.
    fn put<'a>(&self, from: u64, to: u64, field: &impl Fn(usize) -> &'a [u8]) -> u64 {
        let mut at = from;
        while at < to {
            let most = u32::try_from(to - at).unwrap_or(u32::MAX);
            let Some(mut slots) = self.ring.talloc_up_to(most) else {
                break;
            };
            let count = slots.count() as usize;
            for (f, &stride) in self.strides.iter().enumerate() {
                let first = at as usize * stride;
                slots.write(f, &field(f)[first..first + count * stride]);
            }
            slots.enq();
            at += count as u64;
        }
        at
    }

    fn put_or_spill<'a>(&self, count: u64, field: &impl Fn(usize) -> &'a [u8]) -> u64 {
        // Relaxed: elements that pass those of another producer are as good as before them.
        let taken = match self.spilled.load(Ordering::Relaxed) {
            0 => self.put(0, count, field),
            _ => 0,
        };
        if taken == count || !self.stock.take((count - taken) * self.bytes()) {
            return taken;
        }
        let mut spill = self.spill.lock();
        for ((values, &stride), f) in spill.fields.iter_mut().zip(&self.strides).zip(0..) {
            values.extend_from_slice(&field(f)[taken as usize * stride..count as usize * stride]);
        }
        spill.count += (count - taken) as usize;
        self.note(&spill);
        count
    }

    /// Moves what was spilled to the ring, as far as there is room.
    fn refill(&self) {
        let mut spill = self.spill.lock();
        let Spill {
            fields,
            gone,
            count,
        } = &mut *spill;
        let before = *gone;
        let to = *gone + *count;
        *gone = self.put(before as u64, to as u64, &|f| &fields[f][..]) as usize;
        *count = to - *gone;
        if *gone > *count {
            for (values, stride) in fields.iter_mut().zip(&self.strides) {
                values.drain(..*gone * stride);
            }
            *gone = 0;
        }
        let moved = to - *count - before;
        self.stock.give(moved as u64 * self.bytes());
        self.note(&spill);
    }

    fn note(&self, spill: &Spill) {
        // Relaxed: a hint; what lies there is behind the mutex.
        self.spilled.store(spill.count as u64, Ordering::Relaxed);
    }

    fn bytes(&self) -> u64 {
        self.strides.iter().sum::<usize>() as u64
    }

    fn put_or_drop<'a>(
        &self,
        count: u64,
        field: &impl Fn(usize) -> &'a [u8],
        alone: bool,
    ) -> Offered {
        // No more than the last of them can stay.
        let mut at = count.saturating_sub(u64::from(self.ring.width()));
        let mut dropped = at;
        loop {
            at = self.put(at, count, field);
            if at == count || !self.is_full(alone) {
                break;
            }
            let most = u32::try_from(count - at).unwrap_or(u32::MAX);
            let Some(oldest) = self.ring.deq(most) else {
                break;
            };
            dropped += u64::from(oldest.count());
            oldest.tfree();
            if self.ring.room() == 0 {
                // Relaxed: as in `is_full`.
                self.in_vain.store(self.ring.freed(), Ordering::Relaxed);
            }
        }
        Offered {
            taken: at,
            dropped,
            starved: false,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends there")]
mod tests {
    use super::*;
    use millstream_channels_kernel::ring::Allocated;
    use millstream_graph::ty::{Field, PieceKind, Scalar};

    const WIDTH: u32 = 64;

    fn channel(full: WhenFull, growth: u64) -> FlowChannel {
        let field = Field {
            name: "x".to_owned(),
            kind: PieceKind::Scalar(Scalar::U32),
        };
        let ring = Ring::new(&[field], WIDTH, 1).unwrap();
        FlowChannel::of(ring, full, &Arc::new(Stock::new(growth)))
    }

    fn offer(channel: &FlowChannel, count: u32, alone: bool) -> Offered {
        let values: Vec<u8> = (0..count).flat_map(u32::to_ne_bytes).collect();
        channel.offer(u64::from(count), |_| &values, alone)
    }

    fn publish(mut slot: Allocated<'_>) {
        slot.write(0, &7u32.to_ne_bytes());
        slot.enq();
    }

    /// Who is held up between allocating and publishing leaves the oldest slot to the element that waits: all others are done.
    #[test]
    fn a_ring_full_of_what_is_done_drops_only_where_nobody_else_can_go_on() {
        let channel = channel(WhenFull::DropOldest, 0);
        let first = channel.ring.talloc(1).unwrap();
        assert_eq!(
            offer(&channel, WIDTH - 1, false).taken,
            u64::from(WIDTH - 1)
        );
        channel.take(u64::from(WIDTH)).unwrap().tfree();
        publish(first);
        assert!(channel.has_some() && !channel.has_room(false) && channel.has_room(true));
        assert_eq!(offer(&channel, 1, false), Offered::default());
        let offered = offer(&channel, 1, true);
        assert_eq!((offered.taken, offered.dropped), (1, 1));
        assert_eq!((channel.waiting(), channel.ring.room()), (1, WIDTH - 1));
    }

    /// The oldest slot is in somebody's hand: what is dropped behind it makes no room, and once is enough to find that out.
    #[test]
    fn what_makes_no_room_is_dropped_once() {
        let channel = channel(WhenFull::DropOldest, 0);
        assert_eq!(offer(&channel, WIDTH, false).taken, u64::from(WIDTH));
        let hand = channel.take(1).unwrap();
        let offered = offer(&channel, 1, false);
        assert_eq!((offered.taken, offered.dropped), (0, 1));
        assert!(!channel.has_room(false));
        assert_eq!(offer(&channel, 1, false), Offered::default());
        hand.tfree();
        assert!(channel.has_room(false));
        let offered = offer(&channel, 3, false);
        assert_eq!((offered.taken, offered.dropped), (3, 1));
        assert_eq!(channel.waiting(), u64::from(WIDTH) - 3 + 3);
    }

    /// What was spilled comes by way of the ring: where all of that is in hand, there is nothing to take.
    #[test]
    fn what_was_spilled_is_nothing_to_take_without_room() {
        let channel = channel(WhenFull::Grow, 1 << 10);
        assert_eq!(offer(&channel, WIDTH, false).taken, u64::from(WIDTH));
        let hand = channel.take(u64::from(WIDTH)).unwrap();
        assert_eq!(offer(&channel, 5, false).taken, 5);
        assert!(channel.waiting() == 5 && !channel.has_some());
        assert!(channel.take(u64::from(WIDTH)).is_none());
        hand.tfree();
        assert!(channel.has_some());
        assert_eq!(channel.take(u64::from(WIDTH)).unwrap().count(), 5);
    }
}
