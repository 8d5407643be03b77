//! The ring channel: many producers allocate slots and publish them in any order, many consumers take wavefronts of them, slots become free in
//! the order in which they were allocated. One atomic operation a wavefront each; nobody waits for anybody. `README.md` has the protocol.
//!
//! ```
//! use millstream_channels_kernel::ring::{Ring, RingLayout};
//! let ring = Ring::with_layout(RingLayout::of_strides(vec![4], 100, 64)?)?;
//! let mut wavefront = ring.talloc(2).expect("room for 100");
//! wavefront.write(0, &[7u32, 8].map(u32::to_ne_bytes).concat());
//! wavefront.enq();
//! let wavefront = ring.deq(64).expect("two elements");
//! let mut elements = [0; 8];
//! wavefront.read(0, &mut elements);
//! wavefront.tfree();
//! assert_eq!(elements, *[7u32, 8].map(u32::to_ne_bytes).concat());
//! # Ok::<(), millstream_channels_kernel::ring::RingError>(())
//! ```

mod layout;
mod protocol;
mod sync;
#[cfg(test)]
mod tests;

pub use layout::{GROUP, RingError, RingLayout, WIDTH, Word};
pub use protocol::Run;

use crate::layout::FIELD_ALIGN;
use millstream_graph::levelized::Field;
use protocol::{Span, Words};
use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    ptr::NonNull,
    slice,
    sync::atomic::Ordering,
};
use sync::{AtomicU64, Entry};

/// A ring in memory of its own.
#[derive(Debug)]
pub struct Ring {
    layout: RingLayout,
    memory: Memory,
    /// In `memory`.
    words: Words<'static>,
}

/// Zeroed memory.
#[derive(Debug)]
struct Memory {
    base: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    fn new(bytes: u64) -> Option<Self> {
        let layout = Layout::from_size_align(usize::try_from(bytes).ok()?, FIELD_ALIGN as usize);
        let layout = layout.ok()?;
        // SAFETY: a ring has words, so the size is not 0.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { base, layout })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it by this layout.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}

// SAFETY: what is shared are atomics, and plain memory that the protocol gives to one thread at a time.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

impl Ring {
    /// An empty ring of elements of these fields; `group` neighbours share a word of done bits.
    ///
    /// # Errors
    /// If there is no such ring, or no memory for it.
    pub fn new(fields: &[Field], width: u32, group: u32) -> Result<Self, RingError> {
        Self::with_layout(RingLayout::new(fields, width, group)?)
    }

    /// An empty ring of that layout.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn with_layout(layout: RingLayout) -> Result<Self, RingError> {
        let memory = Memory::new(layout.bytes).ok_or(RingError::Memory(layout.bytes))?;
        // SAFETY: the memory is zeroed, as large as the layout says, and lives as long as the ring, which lends no `Words<'static>`.
        let words = unsafe { words(&layout, memory.base) };
        Ok(Self {
            layout,
            memory,
            words,
        })
    }

    /// How it lies in memory.
    #[must_use]
    pub const fn layout(&self) -> &RingLayout {
        &self.layout
    }

    /// Slots.
    #[must_use]
    pub const fn width(&self) -> u32 {
        self.layout.width
    }

    /// The array of a field: slot `i` lies at `i` times the field's stride. A slot is its producer's from `talloc` to `enq`, and its consumer's from
    /// `deq` to `tfree`.
    #[must_use]
    pub fn field(&self, field: usize) -> *mut u8 {
        // SAFETY: the layout is the memory's.
        unsafe {
            self.memory
                .base
                .as_ptr()
                .add(self.layout.fields[field] as usize)
        }
    }

    /// Allocates `count` slots for one wavefront: available to reserved. None if so many are not free, which is for ever if `count` is more than the
    /// width.
    #[must_use]
    pub fn talloc(&self, count: u32) -> Option<Allocated<'_>> {
        let span = self.words.talloc(count, count)?;
        Some(Allocated { ring: self, span })
    }

    /// Allocates as many slots as are free, `most` at most; none if there is none.
    #[must_use]
    pub fn talloc_up_to(&self, most: u32) -> Option<Allocated<'_>> {
        let span = self.words.talloc(1, most)?;
        Some(Allocated { ring: self, span })
    }

    /// Takes a wavefront of published elements, `most` at most: ready to dispatched. None if there is none.
    #[must_use]
    pub fn deq(&self, most: u32) -> Option<Dequeued<'_>> {
        self.deq_at_least(1, most)
    }

    /// Takes a wavefront of `least` to `most` published elements; none if there are not so many.
    #[must_use]
    pub fn deq_at_least(&self, least: u32, most: u32) -> Option<Dequeued<'_>> {
        let span = self.words.deq(least, most)?;
        Some(Dequeued { ring: self, span })
    }

    /// How many elements could be taken now.
    #[must_use]
    pub fn ready(&self) -> u32 {
        let head = self.words.control_head.load(Ordering::Relaxed);
        let tail = self.words.control_tail.load(Ordering::Relaxed);
        tail.saturating_sub(head).min(self.width().into()) as u32
    }

    /// How many slots could be allocated now.
    #[must_use]
    pub fn room(&self) -> u32 {
        let head = self.words.reclaim();
        let tail = self.words.tail.load(Ordering::Relaxed);
        (head + u64::from(self.width())).saturating_sub(tail) as u32
    }

    /// How many slots became free again so far: what is done behind one that is not does not count.
    #[must_use]
    pub fn freed(&self) -> u64 {
        self.words.reclaim()
    }

    /// Slots that are not free: reserved, ready, dispatched, or done but behind one that is not.
    #[must_use]
    pub fn held(&self) -> u32 {
        self.width() - self.room()
    }
}

/// The words of a ring in memory.
///
/// # Safety
/// At `base` lies a ring of that layout, for as long as the words are used.
unsafe fn words(layout: &RingLayout, base: NonNull<u8>) -> Words<'static> {
    let at = |bytes: u64| base.as_ptr().wrapping_add(bytes as usize);
    // SAFETY: by the layout there is a word, aligned; zero is a value of it.
    let word = |word| unsafe { &*at(RingLayout::word(word)).cast::<AtomicU64>() };
    let (places, groups) = (layout.places() as usize, layout.groups() as usize);
    // SAFETY: as above, so many of them.
    let (meet, control, done) = unsafe {
        (
            slice::from_raw_parts(at(layout.meet).cast::<AtomicU64>(), places),
            slice::from_raw_parts(at(layout.control).cast::<Entry>(), places),
            slice::from_raw_parts(at(layout.done).cast::<AtomicU64>(), groups),
        )
    };
    Words {
        head: word(Word::Head),
        tail: word(Word::Tail),
        control_head: word(Word::ControlHead),
        control_tail: word(Word::ControlTail),
        reserve_tail: word(Word::ReserveTail),
        meet,
        control,
        done,
        width: layout.width,
        group: layout.group,
    }
}

/// Slots that a producer fills. They are nobody's if this is dropped: an element that was announced must be published.
#[must_use = "slots that are not published are lost to the ring"]
#[derive(Debug)]
pub struct Allocated<'r> {
    ring: &'r Ring,
    span: Span,
}

impl Allocated<'_> {
    /// How many.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.span.count
    }

    /// Where they lie: two runs at most, in the order of the elements.
    pub fn runs(&self) -> impl Iterator<Item = Run> + use<> {
        let runs = self.ring.words.slots(self.span);
        runs.into_iter().filter(|run| run.count > 0)
    }

    /// Fills a field of all of them from values that lie side by side.
    ///
    /// # Panics
    /// If they are not as many bytes as the slots take.
    pub fn write(&mut self, field: usize, values: &[u8]) {
        let stride = self.ring.layout.strides[field] as usize;
        assert_eq!(values.len(), self.count() as usize * stride, "bytes");
        let (array, mut at) = (self.ring.field(field), 0);
        for run in self.runs() {
            let bytes = run.count as usize * stride;
            // SAFETY: the slots are this one's until it is published, and lie in the array.
            unsafe {
                array
                    .add(run.slot as usize * stride)
                    .copy_from_nonoverlapping(values[at..].as_ptr(), bytes);
            }
            at += bytes;
        }
    }

    /// Publishes them: reserved to ready. Waits for nobody.
    pub fn enq(self) {
        // SAFETY: `talloc` gave it to this one, which ends here.
        unsafe { self.ring.words.enq(self.span) };
    }
}

/// A wavefront of elements that a consumer has. Dropping it frees the slots.
#[must_use = "who takes elements runs them"]
#[derive(Debug)]
pub struct Dequeued<'r> {
    ring: &'r Ring,
    span: Span,
}

impl Dequeued<'_> {
    /// How many.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.span.count
    }

    /// Where they lie, in the order in which they were published: as many runs as there were publications in a row that do not lie side by side.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        // SAFETY: `deq` gave it to this one, which ends by `tfree`, as does the borrow.
        unsafe { self.ring.words.taken(self.span) }
    }

    /// Copies a field of all of them to where values lie side by side.
    ///
    /// # Panics
    /// If that is not as many bytes as the slots take.
    pub fn read(&self, field: usize, values: &mut [u8]) {
        let stride = self.ring.layout.strides[field] as usize;
        assert_eq!(values.len(), self.count() as usize * stride, "bytes");
        let (array, mut at) = (self.ring.field(field), 0);
        for run in self.runs() {
            let bytes = run.count as usize * stride;
            // SAFETY: the slots are this one's until they are freed, and lie in the array.
            unsafe {
                array
                    .add(run.slot as usize * stride)
                    .copy_to_nonoverlapping(values[at..].as_mut_ptr(), bytes);
            }
            at += bytes;
        }
    }

    /// Gives the slots back: dispatched to done.
    pub fn tfree(self) {}
}

impl Drop for Dequeued<'_> {
    fn drop(&mut self) {
        // SAFETY: `deq` gave it to this one, which ends here.
        unsafe { self.ring.words.tfree(self.span) };
    }
}
