//! Segments compiled by Cranelift, as workers see them.

use crate::{error::RunError, plan::Code};
use millstream_channels_kernel::cpu::{
    CompiledProgram,
    abi::{ContinuationFn, EntryFn},
    host,
};
use millstream_graph::{
    fault::Fault,
    ir::{SegmentId, TaskId},
    levelized::Levelized,
};

/// A program as machine code. Whoever holds its function pointers holds it too: a run has it next to its plan.
#[derive(Debug)]
pub(crate) struct Native(CompiledProgram);

impl Native {
    /// Whether this build has a compiler.
    pub(crate) const fn built() -> Result<(), RunError> {
        Ok(())
    }

    /// What for.
    pub(crate) fn target() -> String {
        host().unwrap_or_else(|e| e.to_string())
    }

    pub(crate) fn compile(program: &Levelized) -> Result<Self, RunError> {
        CompiledProgram::compile(program)
            .map(Self)
            .map_err(|e| RunError::Compile(e.to_string()))
    }
}

impl Code for Native {
    fn entry(&self, task: TaskId) -> EntryFn {
        self.0.entry(task)
    }

    fn continuation(&self, task: TaskId, segment: SegmentId) -> ContinuationFn {
        self.0.continuation(task, segment)
    }

    fn fault(&self, site: u32, values: [u64; 2]) -> Fault {
        self.0.fault(site, values)
    }

    fn function_name(&self, function: u32) -> String {
        self.0.function_name(function).to_owned()
    }
}
