//! Channel stacks on the device.

use crate::layout::{FIELD_ALIGN, stride};
use millstream_graph::{
    ir::{SegmentId, TaskId},
    levelized::{Field, StackRef},
};

/// Which stack a statement pushes to, before twins are told apart.
pub(super) type PushKey = StackRef;

/// Elements, for each unit of its weight, of a stack that a run has hardly any use for.
pub(super) const FEW: u64 = 4;

/// What a channel holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackKind {
    /// Entry elements.
    Entry,
    /// Frames.
    Frame,
    /// References to frames that wait for a segment.
    Continuation {
        /// The segment.
        segment: SegmentId,
        /// Whether this is the second channel of a segment that waits for itself.
        twin: bool,
    },
}

impl StackKind {
    /// The program's stack that this is of a task; twins are one there.
    pub(super) const fn stack(self, task: TaskId) -> StackRef {
        match self {
            Self::Entry => StackRef::Entry(task),
            Self::Frame => StackRef::Frame(task),
            Self::Continuation { segment, .. } => StackRef::Continuation(task, segment),
        }
    }
}

/// A channel stack on the device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stack {
    /// Whose it is.
    pub task: TaskId,
    /// What it holds.
    pub kind: StackKind,
    /// Its fields, as wide as they are on the device.
    pub fields: Vec<Field>,
    /// Number of its first field, counted over all stacks.
    pub first_field: u32,
    /// How many of its elements go with one of the others', for the division of memory.
    pub weight: u64,
    /// For each field, its number among the plan's inherited ones, if it is one.
    pub inherited: Vec<Option<u32>>,
}

impl Stack {
    /// Bytes of an element, if every field is kept with each.
    #[must_use]
    pub fn element_bytes(&self) -> u64 {
        self.bytes(&[])
    }

    /// Bytes of an element in a run that keeps these inherited fields once.
    #[must_use]
    pub fn bytes(&self, once: &[bool]) -> u64 {
        (0..self.fields.len())
            .filter(|f| !self.is_once(*f, once))
            .map(|f| stride(&self.fields[f]))
            .sum::<u64>()
            .max(1)
    }

    /// Whether a field is kept once.
    #[must_use]
    pub fn is_once(&self, field: usize, once: &[bool]) -> bool {
        self.inherited[field].is_some_and(|n| once.get(n as usize).copied().unwrap_or(false))
    }

    /// The capacity of this stack where a run has hardly any use for it, and of no other: what is pushed always finds room.
    #[must_use]
    pub fn few(&self) -> u64 {
        FEW * self.weight
    }

    /// Bytes that a capacity takes, and where each field's array begins in them.
    #[must_use]
    pub fn offsets(&self, capacity: u64, once: &[bool]) -> (Vec<u64>, u64) {
        let mut at = 0u64;
        let mut offsets = Vec::new();
        for (i, f) in self.fields.iter().enumerate() {
            offsets.push(at);
            let count = if self.is_once(i, once) { 1 } else { capacity };
            at = (at + stride(f) * count).next_multiple_of(FIELD_ALIGN);
        }
        (offsets, at)
    }
}
