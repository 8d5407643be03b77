//! Natural loops.

use super::{BlockSet, Flow};
use crate::ir::BlockId;
use std::collections::BTreeMap;

/// What back edges to one block close.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// Where each turn begins.
    pub header: BlockId,
    /// Where the back edges leave.
    pub latches: Vec<BlockId>,
    /// Its blocks, these counted.
    pub blocks: BlockSet,
}

impl Flow {
    /// The loops, by their headers. One that has other ways in than its header is among them.
    #[must_use]
    pub fn loops(&self) -> Vec<Loop> {
        let mut latches: BTreeMap<BlockId, Vec<BlockId>> = BTreeMap::new();
        for (from, to) in self.back_edges() {
            latches.entry(*to).or_default().push(*from);
        }
        let loops = latches.into_iter().map(|(header, latches)| Loop {
            blocks: self.natural_loop(header, latches.iter().copied()),
            header,
            latches,
        });
        loops.collect()
    }
}
