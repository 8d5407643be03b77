//! How a ring lies in memory: one source for all who share it, in Rust and in CUDA.

use crate::layout::{FIELD_ALIGN, stride};
use millstream_graph::levelized::Field;

/// Slots that share a word of done bits, where nothing else is asked for, and at most: the bits of a word.
pub const GROUP: u32 = millstream_graph::graph::MAX_GROUP;
/// Slots of a ring at most: places of the control array, of which there are twice as many, are 32-bit numbers.
pub const WIDTH: u32 = 1 << 30;

/// Words that many change lie in lines of their own, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Word {
    /// Data array: the first position that is not free again.
    Head,
    /// Data array: the first position that is not allocated.
    Tail,
    /// Control array: the first position that is not taken.
    ControlHead,
    /// Control array: the first position that is not published.
    ControlTail,
    /// Control array: the first position that is not reserved.
    ReserveTail,
}

/// What cannot be a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RingError {
    /// The width is 0 or too large.
    #[error("a ring has 1 to {WIDTH} slots, not {0}")]
    Width(u32),
    /// No word of done bits can be shared by so many.
    #[error("1 to {GROUP} neighbours share a word of done bits, not {0}")]
    Group(u32),
    /// There is not so much memory.
    #[error("no memory for a ring of {0} bytes")]
    Memory(u64),
}

/// Where everything lies, in bytes from the ring's first, and how much there is of it. All zeros is an empty ring.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RingLayout {
    /// Slots.
    pub width: u32,
    /// Slots that share a word of done bits.
    pub group: u32,
    /// Words of done bits.
    pub done: u64,
    /// Words where the control array's tail meets who publishes.
    pub meet: u64,
    /// The control array.
    pub control: u64,
    /// The array of each field,
    pub fields: Vec<u64>,
    /// and the bytes from one of its elements to the next.
    pub strides: Vec<u64>,
    /// All of it.
    pub bytes: u64,
}

impl RingLayout {
    /// The layout of a ring of elements of these fields.
    ///
    /// # Errors
    /// If there is no such ring.
    pub fn new(fields: &[Field], width: u32, group: u32) -> Result<Self, RingError> {
        Self::of_strides(fields.iter().map(stride).collect(), width, group)
    }

    /// The layout of a ring of elements whose fields take so many bytes.
    ///
    /// # Errors
    /// If there is no such ring.
    pub fn of_strides(strides: Vec<u64>, width: u32, group: u32) -> Result<Self, RingError> {
        if !(1..=WIDTH).contains(&width) {
            return Err(RingError::Width(width));
        }
        if !(1..=GROUP).contains(&group) {
            return Err(RingError::Group(group));
        }
        let mut bytes = Self::word(Word::ReserveTail) + FIELD_ALIGN;
        let mut array = |count: u64, stride: u64| {
            let at = bytes;
            bytes = (at + count * stride).next_multiple_of(FIELD_ALIGN);
            at
        };
        let slots = u64::from(width);
        Ok(Self {
            width,
            group,
            done: array(u64::from(width.div_ceil(group)), 8),
            meet: array(2 * slots, 8),
            control: array(2 * slots, 4),
            fields: strides.iter().map(|s| array(slots, *s)).collect(),
            strides,
            bytes,
        })
    }

    /// Where a word lies.
    #[must_use]
    pub const fn word(word: Word) -> u64 {
        word as u64 * FIELD_ALIGN
    }

    /// Words of done bits.
    #[must_use]
    pub const fn groups(&self) -> u32 {
        self.width.div_ceil(self.group)
    }

    /// Places of the control array.
    #[must_use]
    pub const fn places(&self) -> u32 {
        2 * self.width
    }
}
