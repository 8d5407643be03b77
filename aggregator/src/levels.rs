//! A worker's level records: where each level's elements begin and end on its stacks.
//!
//! Entries of level L+1 lie above those of level L in the same stack. A wavefront consumes from the beginning of its level's range, which
//! moves up, while its children are pushed above; batches are taken from the end. What was consumed is free when the level is drained.

use millstream_channels_kernel::layout::StackIndex;

/// Which level of a worker: 0 is the lowest on its stacks, whatever its depth in the run.
pub(crate) type Level = usize;

/// The records, on the heap: recursion depth is bounded by memory alone.
///
/// Every dispatch looks at all stacks, several times: of a program of many tasks that is what a narrow dispatch costs. A build that can be done anew in parts
/// inlines only what says so.
#[derive(Debug)]
pub(crate) struct Levels {
    stacks: usize,
    tasks: usize,
    /// For each level: the base of each stack, the end of each task's entries, the bytes beyond the allowance, the batches that are lent.
    marks: Vec<u32>,
}

impl Levels {
    pub(crate) fn new(stacks: usize, tasks: usize) -> Self {
        Self {
            stacks,
            tasks,
            marks: Vec::new(),
        }
    }

    #[inline]
    const fn stride(&self) -> usize {
        self.stacks + self.tasks + 3
    }

    /// Bytes that a record takes.
    #[inline]
    pub(crate) const fn bytes(&self) -> u64 {
        4 * self.stride() as u64
    }

    /// Makes room for a level; it is not an open level before its marks are set.
    #[inline]
    pub(crate) fn ensure(&mut self, level: Level) {
        let len = (level + 1) * self.stride();
        if self.marks.len() < len {
            self.marks.resize(len, 0);
        }
    }

    /// Forgets all levels; gives memory back if it is much.
    pub(crate) fn clear(&mut self) {
        self.marks.clear();
        self.marks.shrink_to(1 << 16);
    }

    /// Where a level's elements begin, of each stack.
    #[inline]
    pub(crate) fn bases(&self, level: Level) -> &[u32] {
        &self.marks[level * self.stride()..][..self.stacks]
    }

    /// The same, to be set.
    #[inline]
    pub(crate) fn bases_mut(&mut self, level: Level) -> &mut [u32] {
        let at = level * self.stride();
        &mut self.marks[at..][..self.stacks]
    }

    /// Where a level's unconsumed entries end, of each task.
    #[inline]
    pub(crate) fn ends(&self, level: Level) -> &[u32] {
        &self.marks[level * self.stride() + self.stacks..][..self.tasks]
    }

    /// The same, to be set.
    #[inline]
    pub(crate) fn ends_mut(&mut self, level: Level) -> &mut [u32] {
        let at = level * self.stride() + self.stacks;
        &mut self.marks[at..][..self.tasks]
    }

    /// Where a level's elements begin on a stack, and its entries that were not consumed.
    #[inline]
    pub(crate) fn base(&self, level: Level, stack: StackIndex) -> u64 {
        u64::from(self.marks[level * self.stride() + stack.index()])
    }

    #[inline]
    pub(crate) fn set_base(&mut self, level: Level, stack: StackIndex, base: u64) {
        let at = level * self.stride() + stack.index();
        self.marks[at] = base as u32;
    }

    /// Where a level's unconsumed entries of a task end.
    #[inline]
    pub(crate) fn end(&self, level: Level, task: usize) -> u64 {
        u64::from(self.marks[level * self.stride() + self.stacks + task])
    }

    #[inline]
    pub(crate) fn set_end(&mut self, level: Level, task: usize, end: u64) {
        let at = level * self.stride() + self.stacks + task;
        self.marks[at] = end as u32;
    }

    /// Bytes of the level below, with the entries of this one, that its allowance did not cover.
    #[inline]
    pub(crate) fn over(&self, level: Level) -> u64 {
        let at = (level + 1) * self.stride() - 3;
        u64::from(self.marks[at]) | u64::from(self.marks[at + 1]) << 32
    }

    #[inline]
    pub(crate) fn set_over(&mut self, level: Level, over: u64) {
        let at = (level + 1) * self.stride() - 3;
        (self.marks[at], self.marks[at + 1]) = (over as u32, (over >> 32) as u32);
    }

    /// Batches taken from this level that are not back.
    #[inline]
    pub(crate) fn lent(&self, level: Level) -> u32 {
        self.marks[(level + 1) * self.stride() - 1]
    }

    #[inline]
    pub(crate) fn set_lent(&mut self, level: Level, lent: u32) {
        let at = (level + 1) * self.stride() - 1;
        self.marks[at] = lent;
    }
}
