//! Elements through a ring channel on two threads, beside `crossbeam-channel`; and a thousand million through rings of all kinds of widths.
//!
//! One thread makes wavefronts of 64 elements, the other adds them up. A message of the rival is an array of 64 elements, and its channel holds as
//! many elements as the ring.

use super::report::say;
use millstream_channels_kernel::ring::{GROUP, Ring, RingLayout};
use serde::Serialize;
use std::{hint::spin_loop, slice, thread, time::Instant};

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

/// What came through a ring.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Delivered {
    pub(crate) device: String,
    pub(crate) width: u32,
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
