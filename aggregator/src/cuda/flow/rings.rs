//! What the host does to a ring while no kernel runs: it puts elements in and takes elements out, by the protocol of the device.

use super::{arena::Place, run::RingSize};
use crate::{
    cuda::{batch::Fields, launcher::Machine},
    error::RunError,
};
use millstream_channels_kernel::cuda::abi::flow::{Marks, RingWords, STRETCH, TAG};

/// A ring in the memory of a machine on which no kernel runs. Positions are as the device left them.
#[derive(Debug)]
pub(super) struct HostRing<'a, M> {
    pub(super) machine: &'a M,
    /// Where the run's memory begins.
    pub(super) base: u64,
    pub(super) place: &'a Place,
    pub(super) words: &'a mut RingWords,
}

/// What is done of a ring, as [`Marks`] says that it lies.
#[derive(Debug)]
struct Marked {
    group: u32,
    bits: Vec<u64>,
    freed: Vec<u32>,
}

impl Marked {
    /// As `ring_mark` in `ring.cu`.
    fn mark(&mut self, slot: u32) {
        let word = (slot / self.group) as usize;
        self.bits[word] ^= 1 << (slot % self.group);
        let count = &mut self.freed[word / STRETCH as usize];
        *count = count.wrapping_add(1);
    }

    fn is_done(&self, slot: u32, turn: u64) -> bool {
        let bit = self.bits[(slot / self.group) as usize] >> (slot % self.group) & 1;
        (bit != 0) == turn.is_multiple_of(2)
    }

    fn bytes(&self) -> Vec<u8> {
        let bits = self.bits.iter().flat_map(|w| w.to_le_bytes());
        let freed = self.freed.iter().flat_map(|c| c.to_le_bytes());
        bits.chain(freed).collect()
    }
}

/// The runs of `count` places from a position on, of an array of so many: where each begins, how many it has, and how many come before.
fn split(at: u64, count: u32, places: u32) -> [(u32, u32, u32); 2] {
    let slot = (at % u64::from(places)) as u32;
    let first = count.min(places - slot);
    [(slot, first, 0), (0, count - first, first)]
}

/// What tells an entry of the control array of this time round from one of the last: it turns over, and begins with what zeroed memory is not.
const fn tag(at: u64, width: u32) -> u32 {
    if (at / (2 * width as u64)).is_multiple_of(2) {
        TAG
    } else {
        0
    }
}

impl<M: Machine> HostRing<'_, M> {
    /// Elements that wait.
    pub(super) const fn waiting(&self) -> u32 {
        self.words.ready.0
    }

    fn write(&self, at: u64, bytes: &[u8]) -> Result<(), RunError> {
        // SAFETY: the arena lies inside the device's memory; the bytes live until they are waited for.
        unsafe {
            self.machine
                .copy_in(self.base + at, bytes.as_ptr(), bytes.len())
        }
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), RunError> {
        // SAFETY: as above.
        unsafe {
            self.machine
                .copy_out(bytes.as_mut_ptr(), self.base + at, bytes.len())
        }
    }

    fn done(&self) -> Result<Marked, RunError> {
        let RingSize { width, group, .. } = self.place.size;
        let marks = Marks::of(width, group, STRETCH);
        let mut bytes = vec![0; marks.bytes() as usize];
        self.read(self.place.done, &mut bytes)?;
        self.machine.wait("reading a channel")?;
        let (bits, freed) = bytes.split_at(marks.freed() as usize);
        let word = |b: &[u8]| b.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
        Ok(Marked {
            group,
            bits: bits.chunks_exact(8).map(word).collect(),
            freed: freed.chunks_exact(4).map(|b| word(b) as u32).collect(),
        })
    }

    /// Moves `head` over what is done: done to available.
    fn reclaim(&mut self, done: &Marked) {
        let width = u64::from(self.place.size.width);
        while self.words.head.0 < self.words.tail.0 {
            let (slot, turn) = (self.words.head.0 % width, self.words.head.0 / width);
            if !done.is_done(slot as u32, turn) {
                break;
            }
            self.words.head.0 += 1;
            self.words.room.0 += 1;
        }
    }

    /// Puts elements in, from number `from` on, as many as find room. They are waited for.
    pub(super) fn push(&mut self, fields: &Fields, from: u32, all: u32) -> Result<u32, RunError> {
        if self.words.room.0 < all - from {
            let done = self.done()?;
            self.reclaim(&done);
        }
        let count = self.words.room.0.min(all - from);
        if count == 0 {
            return Ok(0);
        }
        let width = self.place.size.width;
        let slots = split(self.words.tail.0, count, width);
        for (field, (array, stride)) in fields.iter().zip(&self.place.fields) {
            for (slot, count, before) in slots {
                let bytes = &field[((from + before) as usize * *stride as usize)..]
                    [..count as usize * *stride as usize];
                if count > 0 {
                    self.write(array + u64::from(slot) * stride, bytes)?;
                }
            }
        }
        let entry = |i| {
            let slot = ((self.words.tail.0 + i) % u64::from(width)) as u32;
            slot | tag(self.words.reserve_tail.0 + i, width)
        };
        let entries: Vec<u8> = (0..u64::from(count))
            .flat_map(|i| u32::to_le_bytes(entry(i)))
            .collect();
        for (place, count, before) in split(self.words.reserve_tail.0, count, 2 * width) {
            if count > 0 {
                let bytes = &entries[4 * before as usize..][..4 * count as usize];
                self.write(self.place.control + 4 * u64::from(place), bytes)?;
            }
        }
        self.words.tail.0 += u64::from(count);
        self.words.room.0 -= count;
        self.words.reserve_tail.0 += u64::from(count);
        self.words.ready.0 += count;
        self.machine.wait("feeding a channel")?;
        Ok(count)
    }

    /// Takes elements out, `most` at most.
    pub(super) fn pop(&mut self, most: u32) -> Result<(Fields, u32), RunError> {
        let count = self.words.ready.0.min(most);
        let width = self.place.size.width;
        let mut entries = vec![0; 4 * count as usize];
        for (place, count, before) in split(self.words.control_head.0, count, 2 * width) {
            if count > 0 {
                let bytes = &mut entries[4 * before as usize..][..4 * count as usize];
                self.read(self.place.control + 4 * u64::from(place), bytes)?;
            }
        }
        self.machine.wait("draining a channel")?;
        let slots: Vec<u32> = entries
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) & !TAG)
            .collect();
        let mut fields: Fields = Vec::new();
        for (array, stride) in &self.place.fields {
            let mut bytes = vec![0; count as usize * *stride as usize];
            let mut at = 0;
            for run in slots.chunk_by(|a, b| a + 1 == *b) {
                let end = at + run.len() * *stride as usize;
                self.read(array + u64::from(run[0]) * stride, &mut bytes[at..end])?;
                at = end;
            }
            self.machine.wait("draining a channel")?;
            fields.push(bytes);
        }
        let mut done = self.done()?;
        slots.iter().for_each(|slot| done.mark(*slot));
        self.write(self.place.done, &done.bytes())?;
        self.machine.wait("draining a channel")?;
        self.words.control_head.0 += u64::from(count);
        self.words.ready.0 -= count;
        self.reclaim(&done);
        Ok((fields, count))
    }
}
