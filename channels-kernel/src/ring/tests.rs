//! The ring with real threads and real elements.

use super::*;
use std::{sync::atomic::AtomicU64 as Count, thread};

fn ring(strides: &[u64], width: u32, group: u32) -> Ring {
    Ring::with_layout(RingLayout::of_strides(strides.to_vec(), width, group).expect("a ring"))
        .expect("memory")
}

/// What an element is: its number in the first field, and each byte of the others made of it.
fn element(number: u64, field: usize, stride: u64) -> Vec<u8> {
    (0..stride)
        .map(|i| {
            (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (8 * ((i + field as u64) % 8))) as u8
        })
        .collect()
}

fn send(ring: &Ring, strides: &[u64], numbers: std::ops::Range<u64>) {
    let count = (numbers.end - numbers.start) as u32;
    let mut wavefront = loop {
        match ring.talloc(count) {
            Some(wavefront) => break wavefront,
            None => thread::yield_now(),
        }
    };
    let column: Vec<u8> = numbers.clone().flat_map(u64::to_le_bytes).collect();
    wavefront.write(0, &column);
    for (field, stride) in strides.iter().enumerate().skip(1) {
        let column: Vec<u8> = numbers
            .clone()
            .flat_map(|n| element(n, field, *stride))
            .collect();
        wavefront.write(field, &column);
    }
    wavefront.enq();
}

/// Takes a wavefront, checks what each element is, gives their numbers.
fn receive(ring: &Ring, strides: &[u64], most: u32) -> Vec<u64> {
    let Some(wavefront) = ring.deq(most) else {
        return Vec::new();
    };
    assert!((1..=most).contains(&wavefront.count()));
    let runs: u32 = wavefront.runs().map(|run| run.count).sum();
    assert_eq!(runs, wavefront.count());
    let mut column = vec![0; wavefront.count() as usize * 8];
    wavefront.read(0, &mut column);
    let numbers: Vec<u64> = column
        .chunks_exact(8)
        .map(|n| u64::from_le_bytes(n.try_into().expect("eight bytes")))
        .collect();
    for (field, stride) in strides.iter().enumerate().skip(1) {
        let mut column = vec![0; numbers.len() * *stride as usize];
        wavefront.read(field, &mut column);
        let expected = numbers.iter().flat_map(|n| element(*n, field, *stride));
        assert!(column.iter().copied().eq(expected), "{numbers:?}");
    }
    wavefront.tfree();
    numbers
}

/// Each of `producers` threads sends its share of `total` numbers in batches of all sizes, each of `consumers` takes wavefronts of all sizes. Each
/// number arrives once, those of a producer in order at each consumer.
fn deliver(strides: &[u64], width: u32, group: u32, producers: u64, consumers: u64, share: u64) {
    let ring = ring(strides, width, group);
    let arrived: Vec<Count> = (0..producers * share).map(|_| Count::new(0)).collect();
    let taken = Count::new(0);
    thread::scope(|scope| {
        for producer in 0..producers {
            let ring = &ring;
            scope.spawn(move || {
                let (mut sent, mut batch) = (0, producer);
                while sent < share {
                    batch = batch % u64::from(width).min(70) + 1;
                    let end = share.min(sent + batch);
                    send(
                        ring,
                        strides,
                        producer * share + sent..producer * share + end,
                    );
                    sent = end;
                }
            });
        }
        for consumer in 0..consumers {
            let (ring, arrived, taken) = (&ring, &arrived, &taken);
            scope.spawn(move || {
                let (mut most, mut last) = (consumer as u32, vec![None; producers as usize]);
                while taken.load(Ordering::Relaxed) < producers * share {
                    most = most % 65 + 1;
                    let numbers = receive(ring, strides, most);
                    if numbers.is_empty() {
                        thread::yield_now();
                    }
                    for number in &numbers {
                        let last = &mut last[(number / share) as usize];
                        assert!(*last < Some(*number), "{last:?} before {number}");
                        *last = Some(*number);
                        arrived[*number as usize].fetch_add(1, Ordering::Relaxed);
                    }
                    taken.fetch_add(numbers.len() as u64, Ordering::Relaxed);
                }
            });
        }
    });
    assert!(
        arrived
            .iter()
            .all(|count| count.load(Ordering::Relaxed) == 1)
    );
    assert_eq!((ring.ready(), ring.room()), (0, width));
}

const SHARE: u64 = if cfg!(miri) { 20 } else { 20_000 };

#[test]
fn every_width_delivers_each_element_once() {
    for width in [1, 2, 3, 5, 63, 64, 65, 100, 1000] {
        deliver(&[8], width, GROUP, 2, 2, SHARE);
    }
}

#[test]
fn every_group_delivers_each_element_once() {
    for (width, group) in [
        (1, 1),
        (7, 1),
        (7, 2),
        (7, 3),
        (100, 33),
        (64, 64),
        (130, 64),
    ] {
        deliver(&[8], width, group, 2, 2, SHARE);
    }
}

#[test]
fn elements_of_a_byte_to_a_kilobyte_arrive_whole() {
    for strides in [&[8, 1][..], &[8, 3, 16], &[8, 1024], &[8, 1, 2, 4, 8]] {
        deliver(strides, 17, 5, 2, 2, SHARE / 10);
    }
}

#[test]
fn many_producers_and_consumers() {
    deliver(&[8], 12, 4, 4, 1, SHARE);
    deliver(&[8], 12, 4, 1, 4, SHARE);
    deliver(&[8], 300, 64, 4, 4, SHARE);
}

#[test]
fn an_allocation_is_whole_or_not_at_all() {
    let ring = ring(&[8], 5, 2);
    assert_eq!((ring.room(), ring.held()), (5, 0));
    assert!(ring.talloc(6).is_none() && ring.talloc(0).is_none());
    let first = ring.talloc(3).expect("room");
    assert!(ring.talloc(3).is_none());
    assert_eq!(ring.room(), 2);
    let second = ring.talloc_up_to(3).expect("some");
    assert_eq!(second.count(), 2);
    assert!(ring.talloc_up_to(3).is_none() && ring.deq(1).is_none());
    first.enq();
    second.enq();
    assert_eq!(ring.ready(), 5);
    assert!(ring.deq_at_least(6, 9).is_none());
    ring.deq(9).expect("all").tfree();
    assert_eq!(ring.room(), 5);
    // The next five go round the end of the array.
    ring.talloc(3).expect("room").enq();
    ring.deq(3).expect("three").tfree();
    let around = ring.talloc(5).expect("room");
    let runs: Vec<_> = around.runs().collect();
    assert_eq!(runs, [Run { slot: 3, count: 2 }, Run { slot: 0, count: 3 }]);
    around.enq();
}

/// What is published later is seen first, a consumer that is slow holds nobody up but the slots behind it, and these become free in order.
#[test]
fn published_out_of_order_and_freed_in_order() {
    let ring = ring(&[8], 4, 2);
    let (mut slow, mut fast) = (ring.talloc(2).expect("room"), ring.talloc(2).expect("room"));
    fast.write(0, &[3u64, 4].map(u64::to_le_bytes).concat());
    fast.enq();
    assert_eq!(receive(&ring, &[8], 64), [3, 4]);
    assert_eq!(ring.room(), 0, "slots 0 and 1 were allocated before");
    slow.write(0, &[1u64, 2].map(u64::to_le_bytes).concat());
    slow.enq();
    let (one, two) = (ring.deq(1).expect("1"), ring.deq(1).expect("2"));
    two.tfree();
    assert_eq!(ring.room(), 0);
    one.tfree();
    assert_eq!(ring.room(), 4);
}

/// A wavefront that was published by many is taken as one, in as many runs as lie apart.
#[test]
fn a_wavefront_gathers_what_many_published() {
    let ring = ring(&[8], 9, 4);
    let mut parts: Vec<_> = (0..8)
        .map(|_| ring.talloc(1).expect("room"))
        .map(Some)
        .collect();
    for i in [4, 5, 6, 1, 0, 2, 3, 7] {
        parts[i].take().expect("once").enq();
    }
    let wavefront = ring.deq(64).expect("eight");
    let runs: Vec<_> = wavefront.runs().map(|r| (r.slot, r.count)).collect();
    assert_eq!(runs, [(4, 3), (1, 1), (0, 1), (2, 2), (7, 1)]);
}

#[test]
fn what_cannot_be_a_ring_is_named() {
    let error = |width, group| {
        RingLayout::of_strides(vec![8], width, group)
            .expect_err("no such ring")
            .to_string()
    };
    assert_eq!(error(0, 64), "a ring has 1 to 1073741824 slots, not 0");
    assert_eq!(
        error(1 << 31, 64),
        "a ring has 1 to 1073741824 slots, not 2147483648"
    );
    assert_eq!(
        error(8, 0),
        "1 to 64 neighbours share a word of done bits, not 0"
    );
    assert_eq!(
        error(8, 65),
        "1 to 64 neighbours share a word of done bits, not 65"
    );
}

#[test]
#[cfg_attr(
    miri,
    ignore = "Miri touches all memory that it gives, as no system does"
)]
fn what_finds_no_memory_is_an_error() {
    let huge = RingLayout::of_strides(vec![1 << 40], WIDTH, 64).expect("a layout");
    assert!(matches!(Ring::with_layout(huge), Err(RingError::Memory(_))));
}
