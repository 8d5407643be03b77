//! Elements through a ring channel on two threads, beside `crossbeam-channel`; and a thousand million through rings of all kinds of widths.
//!
//! [`pass`] is for the papers' figures: elements that lie in several ways, wavefronts of any size, several producers and consumers.
//!
//! One thread makes wavefronts of 64 elements, the other adds them up. A message of the rival is an array of 64 elements, and its channel holds as
//! many elements as the ring.

use super::report::say;
use millstream_channels_kernel::ring::{GROUP, Ring, RingLayout, Run};
use serde::Serialize;
use std::{
    hint::spin_loop,
    slice,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

/// Elements of a wavefront.
const BATCH: usize = 64;
/// Elements that a channel holds, where it is measured.
const WIDTH: u32 = 4096;

/// Elements of one kind on one device beside a rival.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Rate {
    pub(crate) device: String,
    pub(crate) element_bytes: usize,
    pub(crate) rival: &'static str,
    /// Millions of elements a second.
    pub(crate) ours: f64,
    pub(crate) theirs: f64,
    pub(crate) ratio: f64,
}

/// How the words of an element of four lie.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Lie {
    /// An array for each word: a structure of arrays, as our channels are.
    Arrays,
    /// Side by side: an array of structures.
    Structs,
    /// Side by side, and each element in a line of the cache of its own, as the elements of a linked list would.
    Padded,
}

/// How elements are passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Passing {
    /// Elements of the ring.
    pub(crate) width: u32,
    /// Elements that share a word of done bits.
    pub(crate) group: u32,
    /// Elements that are reserved, taken and freed at once.
    pub(crate) batch: u32,
    pub(crate) lie: Lie,
    /// Whether who takes an element reads all of it, or its first word alone.
    pub(crate) whole: bool,
}

/// What is measured of elements that pass through channels, if it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Passed {
    /// Elements a second through rings.
    pub(crate) rings: bool,
    /// So many through rings of all widths.
    pub(crate) delivered: Option<u64>,
    /// Through a graph for so long.
    pub(crate) fed: Option<Duration>,
}

/// What something costs that is done once a look or a wavefront.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Cost {
    pub(crate) device: String,
    pub(crate) what: &'static str,
    pub(crate) ns: f64,
}

/// What came through a ring.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Delivered {
    pub(crate) device: String,
    pub(crate) width: u32,
    /// Rings side by side that the elements went through.
    pub(crate) rings: u32,
    pub(crate) elements: u64,
    pub(crate) seconds: f64,
}

/// An element: its number in the first word.
type Element<const WORDS: usize> = [u32; WORDS];

const fn element<const WORDS: usize>(number: u64) -> Element<WORDS> {
    [number as u32; WORDS]
}

/// Tries until there is something. Who waits long lets others run, for the machine may have one core.
fn wait<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    loop {
        for _ in 0..200 {
            if let Some(found) = attempt() {
                return found;
            }
            spin_loop();
        }
        thread::yield_now();
    }
}

/// Sends elements of numbers from 0 on, in wavefronts of so many.
fn produce<const WORDS: usize>(ring: &Ring, count: u64, batch: u32) {
    let array = ring.field(0).cast::<Element<WORDS>>();
    let mut next = 0;
    while next < count {
        let most = (count - next).min(batch.into()) as u32;
        let wavefront = wait(|| ring.talloc_up_to(most));
        for run in wavefront.runs() {
            // SAFETY: the slots are this thread's until they are published, and the field holds elements of this type.
            let slots = unsafe {
                slice::from_raw_parts_mut(array.add(run.slot as usize), run.count as usize)
            };
            for slot in slots {
                *slot = element(next);
                next += 1;
            }
        }
        wavefront.enq();
    }
}

/// Takes so many elements: their sum, and whether each came once and in order, as from one producer it has to.
fn consume<const WORDS: usize>(ring: &Ring, count: u64, batch: u32) -> (u64, bool) {
    let array = ring.field(0).cast::<Element<WORDS>>();
    let (mut sum, mut next, mut same) = (0u64, 0u64, true);
    while next < count {
        let wavefront = wait(|| ring.deq(batch));
        for run in wavefront.runs() {
            // SAFETY: the slots are this thread's until they are freed, and the field holds elements of this type.
            let slots =
                unsafe { slice::from_raw_parts(array.add(run.slot as usize), run.count as usize) };
            for (slot, number) in slots.iter().zip(next..) {
                sum += u64::from(slot[0]);
                same &= *slot == element(number);
            }
            next += u64::from(run.count);
        }
        wavefront.tfree();
    }
    (sum, same)
}

fn ring(words: usize, width: u32) -> Result<Ring, String> {
    RingLayout::of_strides(vec![4 * words as u64], width, GROUP)
        .and_then(Ring::with_layout)
        .map_err(|e| e.to_string())
}

/// What all numbers below `count` add up to, of 32 bits each.
pub(crate) fn sum_of(count: u64) -> u64 {
    let (rounds, rest) = (count >> 32, count & 0xffff_ffff);
    let sum = |n: u64| (u128::from(n) * u128::from(n.saturating_sub(1)) / 2) as u64;
    sum(1 << 32).wrapping_mul(rounds).wrapping_add(sum(rest))
}

/// What a producer writes: its number and the three that follow.
const fn numbered(number: u32) -> [u32; 4] {
    [
        number,
        number.wrapping_add(1),
        number.wrapping_add(2),
        number.wrapping_add(3),
    ]
}

/// What the words of elements of these numbers add up to.
fn words_of(count: u64, whole: bool) -> u64 {
    let first = sum_of(count);
    if !whole {
        return first;
    }
    // The words that follow begin later and end later.
    (1..4).fold(first, |sum, k| {
        let shifted = sum_of(count + k).wrapping_sub(sum_of(k));
        sum.wrapping_add(shifted)
    })
}

/// An element in a line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u32; 4]);

/// Elements of four words through one ring, from so many producers to as many consumers: seconds, and how many of the producers' wavefronts found no
/// room when they came. All of them have to arrive once.
pub(crate) fn pass(passing: Passing, producers: u32, count: u64) -> Result<(f64, u64), String> {
    let strides = match passing.lie {
        Lie::Arrays => vec![4; 4],
        Lie::Structs => vec![16],
        Lie::Padded => vec![size_of::<Line>() as u64],
    };
    let layout = RingLayout::of_strides(strides, passing.width, passing.group);
    let ring = layout
        .and_then(Ring::with_layout)
        .map_err(|e| e.to_string())?;
    let (taken, sum, yields) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let share = |part: u64| count * part / u64::from(producers);
    let start = Instant::now();
    thread::scope(|scope| {
        for part in 0..producers.into() {
            let (ring, yields) = (&ring, &yields);
            scope.spawn(move || {
                let yielded = send(ring, passing, share(part)..share(part + 1));
                // Relaxed, and below: the end of the threads orders it before the loads.
                yields.fetch_add(yielded, Ordering::Relaxed);
            });
            let (taken, sum) = (&taken, &sum);
            scope.spawn(move || {
                let mine = receive(ring, passing, taken, count);
                sum.fetch_add(mine, Ordering::Relaxed);
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let (sum, expected) = (sum.into_inner(), words_of(count, passing.whole));
    if (sum, taken.into_inner(), ring.room()) != (expected, count, passing.width) {
        return Err(format!(
            "{passing:?}: {count} elements came to {sum}, not {expected}"
        ));
    }
    Ok((seconds, yields.into_inner()))
}

/// Sends elements of these numbers; gives how many wavefronts found no room at first.
fn send(ring: &Ring, passing: Passing, numbers: std::ops::Range<u64>) -> u64 {
    let (mut next, mut yields) = (numbers.start, 0);
    while next < numbers.end {
        let most = (numbers.end - next).min(passing.batch.min(passing.width).into()) as u32;
        let wavefront = ring.talloc_up_to(most).unwrap_or_else(|| {
            yields += 1;
            wait(|| ring.talloc_up_to(most))
        });
        for Run { slot, count } in wavefront.runs() {
            let (slot, count) = (slot as usize, count as usize);
            let numbers = (next..).take(count).map(|n| numbered(n as u32));
            // SAFETY: the slots are this thread's until they are published, and the fields hold elements of these types.
            unsafe {
                match passing.lie {
                    Lie::Arrays => {
                        for k in 0..4 {
                            let field = ring.field(k).cast::<u32>().add(slot);
                            let slots = slice::from_raw_parts_mut(field, count);
                            for (slot, number) in slots.iter_mut().zip(next..) {
                                *slot = (number as u32).wrapping_add(k as u32);
                            }
                        }
                    }
                    Lie::Structs => {
                        let slots = ring.field(0).cast::<[u32; 4]>().add(slot);
                        let slots = slice::from_raw_parts_mut(slots, count);
                        slots.iter_mut().zip(numbers).for_each(|(s, n)| *s = n);
                    }
                    Lie::Padded => {
                        let slots = ring.field(0).cast::<Line>().add(slot);
                        let slots = slice::from_raw_parts_mut(slots, count);
                        slots.iter_mut().zip(numbers).for_each(|(s, n)| s.0 = n);
                    }
                }
            }
            next += count as u64;
        }
        wavefront.enq();
    }
    yields
}

/// Takes elements until all have been taken by somebody: the sum of the words that it read.
fn receive(ring: &Ring, passing: Passing, taken: &AtomicU64, all: u64) -> u64 {
    let read = if passing.whole { 4 } else { 1 };
    let add = |sum: u64, words: &[u32]| words.iter().fold(sum, |s, w| s + u64::from(*w));
    let mut sum = 0;
    loop {
        let found = wait(|| match ring.deq(passing.batch) {
            Some(wavefront) => Some(Some(wavefront)),
            // Relaxed: it only ends the wait.
            None => (taken.load(Ordering::Relaxed) == all).then_some(None),
        });
        let Some(wavefront) = found else {
            return sum;
        };
        for Run { slot, count } in wavefront.runs() {
            let (slot, count) = (slot as usize, count as usize);
            // SAFETY: the slots are this thread's until they are freed, and the fields hold elements of these types.
            unsafe {
                match passing.lie {
                    Lie::Arrays => {
                        for k in 0..read {
                            let field = ring.field(k).cast::<u32>().add(slot);
                            sum = add(sum, slice::from_raw_parts(field, count));
                        }
                    }
                    Lie::Structs => {
                        let slots = ring.field(0).cast::<[u32; 4]>().add(slot);
                        for element in slice::from_raw_parts(slots, count) {
                            sum = add(sum, &element[..read]);
                        }
                    }
                    Lie::Padded => {
                        let slots = ring.field(0).cast::<Line>().add(slot);
                        for element in slice::from_raw_parts(slots, count) {
                            sum = add(sum, &element.0[..read]);
                        }
                    }
                }
            }
        }
        taken.fetch_add(wavefront.count().into(), Ordering::Relaxed);
        wavefront.tfree();
    }
}

/// Seconds for so many elements through a ring, checked.
fn through_ring<const WORDS: usize>(count: u64, width: u32) -> Result<f64, String> {
    let ring = ring(WORDS, width)?;
    let batch = width.min(BATCH as u32);
    let start = Instant::now();
    let (sum, same) = thread::scope(|scope| {
        scope.spawn(|| produce::<WORDS>(&ring, count, batch));
        consume::<WORDS>(&ring, count, batch)
    });
    let seconds = start.elapsed().as_secs_f64();
    if sum != sum_of(count) || !same || (ring.ready(), ring.room()) != (0, width) {
        return Err(format!(
            "a ring of width {width}: {count} elements came to {sum}, each once and in order: {same}"
        ));
    }
    Ok(seconds)
}

/// The same through `crossbeam-channel`.
fn through_crossbeam<const WORDS: usize>(count: u64) -> Result<f64, String> {
    let (sender, receiver) =
        crossbeam_channel::bounded::<[Element<WORDS>; BATCH]>(WIDTH as usize / BATCH);
    let start = Instant::now();
    let (sum, same) = thread::scope(|scope| {
        scope.spawn(move || {
            for first in (0..count).step_by(BATCH) {
                let mut number = first;
                let batch = std::array::from_fn(|_| {
                    number += 1;
                    element(number - 1)
                });
                if sender.send(batch).is_err() {
                    return;
                }
            }
        });
        let (mut sum, mut next, mut same) = (0u64, 0u64, true);
        for batch in receiver {
            for (slot, number) in batch.iter().zip(next..) {
                sum += u64::from(slot[0]);
                same &= *slot == element(number);
            }
            next += BATCH as u64;
        }
        (sum, same)
    });
    let seconds = start.elapsed().as_secs_f64();
    if sum != sum_of(count) || !same {
        return Err(format!("crossbeam: {count} elements came to {sum}"));
    }
    Ok(seconds)
}

/// The best of each in turn.
fn beside<const WORDS: usize>(count: u64, rounds: usize) -> Result<Rate, String> {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..rounds {
        best[0] = best[0].min(through_ring::<WORDS>(count, WIDTH)?);
        best[1] = best[1].min(through_crossbeam::<WORDS>(count)?);
    }
    let [ours, theirs] = best.map(|s| count as f64 / s / 1e6);
    Ok(Rate {
        device: "cpu".into(),
        element_bytes: 4 * WORDS,
        rival: "crossbeam-channel",
        ours,
        theirs,
        ratio: ours / theirs,
    })
}

/// Elements a second beside the rival's.
pub(crate) fn rates(rounds: usize, quick: bool) -> Result<Vec<Rate>, String> {
    say!(
        "\nElements through a ring of width {WIDTH} in wavefronts of {BATCH}, one thread to another\n\n\
         | bytes | ring, M/s | crossbeam-channel, M/s | ratio |\n|---|---|---|---|"
    );
    let count = BATCH as u64 * if quick { 10_000 } else { 1 << 20 };
    let rates = vec![
        beside::<1>(count, rounds)?,
        beside::<4>(count, rounds)?,
        beside::<16>(count, rounds)?,
    ];
    for rate in &rates {
        say!(
            "| {} | {:.0} | {:.0} | {:.2} |",
            rate.element_bytes,
            rate.ours,
            rate.theirs,
            rate.ratio
        );
    }
    Ok(rates)
}

/// Widths that everything passes through.
pub(crate) const WIDTHS: [u32; 4] = [1, 64, 1000, 32_768];

/// Passes so many elements through rings of all kinds of widths.
pub(crate) fn deliver(count: u64) -> Result<Vec<Delivered>, String> {
    say!(
        "\n{count} elements of 4 bytes, one thread to another: each arrives once and in order\n\n\
         | width | seconds | M/s |\n|---|---|---|"
    );
    WIDTHS
        .into_iter()
        .map(|width| {
            let seconds = through_ring::<1>(count, width)?;
            say!(
                "| {width} | {seconds:.1} | {:.1} |",
                count as f64 / seconds / 1e6
            );
            Ok(Delivered {
                device: "cpu".into(),
                width,
                rings: 1,
                elements: count,
                seconds,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_arrives() {
        let rates = rates(1, true).expect("all arrive");
        assert!(rates.iter().all(|r| r.ours > 0.0 && r.theirs > 0.0));
        let delivered = deliver(20_000).expect("all arrive");
        assert_eq!(delivered.len(), WIDTHS.len());
    }

    #[test]
    fn sums_are_of_numbers_of_32_bits() {
        assert_eq!((sum_of(0), sum_of(1), sum_of(5)), (0, 0, 10));
        assert_eq!(sum_of((1 << 32) + 3), sum_of(1 << 32).wrapping_add(3));
    }
}
