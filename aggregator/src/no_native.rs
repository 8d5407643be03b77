//! A build without the CPU device: no segment is compiled for this computer, and no device is made that would ask for it.

use crate::{error::RunError, plan::Code};
use millstream_channels_kernel::cpu::abi::{ContinuationFn, EntryFn};
use millstream_graph::{
    fault::Fault,
    ir::{SegmentId, TaskId},
    levelized::Levelized,
};

const NOT_BUILT: RunError = RunError::NotBuilt {
    device: "CPU device",
    feature: "cpu",
};

/// There is none.
#[derive(Debug)]
pub(crate) enum Native {}

impl Native {
    pub(crate) const fn built() -> Result<(), RunError> {
        Err(NOT_BUILT)
    }

    pub(crate) const fn target() -> String {
        String::new()
    }

    pub(crate) const fn compile(_: &Levelized) -> Result<Self, RunError> {
        Err(NOT_BUILT)
    }
}

impl Code for Native {
    fn entry(&self, _: TaskId) -> EntryFn {
        match *self {}
    }

    fn continuation(&self, _: TaskId, _: SegmentId) -> ContinuationFn {
        match *self {}
    }

    fn fault(&self, _: u32, _: [u64; 2]) -> Fault {
        match *self {}
    }

    fn function_name(&self, _: u32) -> String {
        match *self {}
    }
}
