//! The device memory that the runs of a context use, one after another: it is kept from run to run.

use super::{driver::Context, memory::Memory};
use crate::error::RunError;

/// Where others have taken the memory meanwhile it may be so little.
const LEAST_MEMORY: u64 = 16 << 20;
/// Bytes for copies of the host's memory that a device keeps from run to run.
const KEPT_COPIES: u64 = 256 << 20;

/// Device memory that runs use one after another.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    channels: Option<Memory>,
    copies: Option<Memory>,
}

impl Workspace {
    /// Memory of so many bytes for the channels.
    pub(super) fn channels(&mut self, context: &Context, bytes: u64) -> Result<u64, RunError> {
        Self::place(&mut self.channels, context, bytes)
    }

    /// Takes memory for the channels of which nobody said how much: so many bytes, or less where others have taken it since. How many there are.
    pub(super) fn take_channels(&mut self, context: &Context, most: u64) -> Result<u64, RunError> {
        // What is much less than wanted is given back first: there may be more by now. Programs themselves take a little of what was free at first.
        let enough = |bytes: u64| bytes >= most / 2;
        let there = match self.channels.take().filter(|m| enough(m.bytes())) {
            Some(there) => there,
            // Something is left for the others, for programs and for copies.
            None => {
                let now = most.min((context.free_memory()? / 2).max(LEAST_MEMORY));
                Memory::at_most(context, now, LEAST_MEMORY)?
            }
        };
        let bytes = self.channels.insert(there).bytes();
        if !enough(bytes) {
            tracing::info!(memory = %crate::Bytes(bytes), "others have taken memory of the GPU; channels have less");
        }
        Ok(bytes.min(most))
    }

    /// Memory of so many bytes for copies of the host's.
    pub(super) fn copies(&mut self, context: &Context, bytes: u64) -> Result<u64, RunError> {
        if bytes == 0 {
            return Ok(0);
        }
        Self::place(&mut self.copies, context, bytes)
    }

    fn place(memory: &mut Option<Memory>, context: &Context, bytes: u64) -> Result<u64, RunError> {
        if let Some(enough) = memory.as_ref().filter(|m| m.bytes() >= bytes) {
            return Ok(enough.address());
        }
        // The old one is given back first.
        *memory = None;
        Ok(memory.insert(Memory::new(context, bytes)?).address())
    }

    /// What a run leaves: the channels' memory, and that for copies unless it is large.
    pub(super) fn shrink(&mut self) {
        self.copies.take_if(|m| m.bytes() > KEPT_COPIES);
    }
}
