//! Channel stacks on the device.

use super::rules;
use crate::layout::{FIELD_ALIGN, stride};
use millstream_graph::{
    ir::{SegmentId, TaskId},
    levelized::{Field, StackRole},
};

/// Which stack a statement pushes to, before twins are told apart.
pub(super) type PushKey = StackRole;

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
    pub(super) const fn role(self, task: TaskId) -> StackRole {
        match self {
            Self::Entry => StackRole::Entry(task),
            Self::Frame => StackRole::Frame(task),
            Self::Continuation { segment, .. } => StackRole::Continuation(task, segment),
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

    /// How many elements of a stack that holds so many may lie in it where several elements run at a time. What is above is promised to those that run one
    /// by one. Where a run has one element at most no others can take its room.
    #[must_use]
    pub fn wide(&self, capacity: u64) -> u64 {
        if capacity == self.few() {
            return capacity;
        }
        let promised = rules::promised(capacity as u32, self.weight as u32);
        (capacity - u64::from(promised)) / u64::from(rules::NEIGHBOURS)
            * u64::from(rules::NEIGHBOURS)
    }

    /// Bytes of each field's array in a stack of this capacity, one behind another.
    pub fn arrays<'a>(&'a self, capacity: u64, once: &'a [bool]) -> impl Iterator<Item = u64> + 'a {
        self.fields.iter().enumerate().map(move |(i, field)| {
            let count = if self.is_once(i, once) { 1 } else { capacity };
            (stride(field) * count).next_multiple_of(FIELD_ALIGN)
        })
    }

    /// Bytes that a capacity takes.
    #[must_use]
    pub fn size(&self, capacity: u64, once: &[bool]) -> u64 {
        self.arrays(capacity, once).sum()
    }
}
