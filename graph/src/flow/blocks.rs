//! Sets of blocks.

use crate::ir::BlockId;
use fixedbitset::FixedBitSet;

/// Some of a function's blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockSet(FixedBitSet);

impl BlockSet {
    /// None of so many.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self(FixedBitSet::with_capacity(count))
    }

    /// Puts a block in; says whether it is new.
    pub fn insert(&mut self, block: BlockId) -> bool {
        !self.0.put(block.index())
    }

    /// Whether a block is in it.
    #[must_use]
    pub fn contains(&self, block: BlockId) -> bool {
        self.0.contains(block.index())
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.count_ones(..)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_clear()
    }

    /// The blocks by their numbers.
    pub fn iter(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.0.ones().map(BlockId::new)
    }
}
