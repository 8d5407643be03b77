//! The record of what a worker of the CPU decided, for tests of its policy. [`watch`](crate::watch) keeps it.

/// Why a wavefront ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// A batch's elements were put on a level of their own.
    Batch,
    /// Entries, while nothing that is deeper has work.
    Entries,
    /// An entry that has no room beside others of its level.
    Alone,
    /// Continuations, and no entry is left at their level.
    Drained,
    /// Continuations of which there is a full wavefront.
    Full,
    /// Continuations whose frames take the room that the level's entries need.
    Short,
}

/// One wavefront.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// Why.
    pub reason: Reason,
    /// The worker's level.
    pub level: usize,
    /// The task whose entries ran, or how many tasks there are and the number of the continuation.
    pub segment: usize,
    /// The first element, of entries.
    pub first: u64,
    /// How many elements.
    pub count: u64,
    /// The stacks that got elements, the number of the first one, and how many.
    pub pushed: Vec<(usize, u64, u64)>,
    /// Bytes that the level held before.
    pub held: u64,
    /// Bytes that it may hold for elements to run beside each other.
    pub allowed: u64,
    /// Bytes that the worker uses now.
    pub used: u64,
}
