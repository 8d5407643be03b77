//! A build without the CUDA device: what the other modules name of it, of which nothing can be made.

use crate::{
    args::ErasedCall,
    error::RunError,
    flow::{GraphCall, GraphProgram, Running},
    gpus::{CudaOptions, DeviceInfo},
    live::Live,
    report::RunReport,
};
use flow::CudaGraph;
use millstream_graph::{ir::TaskId, levelized::Levelized};
use std::{sync::Arc, time::Duration};

const NOT_BUILT: RunError = RunError::NotBuilt {
    device: "CUDA device",
    feature: "cuda",
};

#[derive(Clone, Copy, Debug)]
enum Never {}

/// There is none.
#[derive(Clone, Debug)]
pub(crate) struct CudaDevice(Never);

impl CudaDevice {
    pub(crate) const fn with(_: CudaOptions) -> Result<Self, RunError> {
        Err(NOT_BUILT)
    }

    pub(crate) const fn name(&self) -> &str {
        match self.0 {}
    }

    pub(crate) const fn info(&self) -> &DeviceInfo {
        match self.0 {}
    }

    pub(crate) const fn memory(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) const fn live(&self) -> Live {
        match self.0 {}
    }

    pub(crate) const fn cancel_handle(&self) -> CudaCancel {
        match self.0 {}
    }

    pub(crate) const fn load(&self, _: &Arc<Levelized>) -> Result<Arc<CudaLoaded>, RunError> {
        match self.0 {}
    }

    pub(crate) const fn launch(
        &self,
        _: &CudaLoaded,
        _: TaskId,
        _: &mut [ErasedCall<'_>],
    ) -> Result<RunReport, RunError> {
        match self.0 {}
    }

    pub(crate) const fn load_graph(
        &self,
        _: &Arc<GraphProgram>,
    ) -> Result<Arc<CudaGraph>, RunError> {
        match self.0 {}
    }

    pub(crate) fn run_graph<R>(
        &self,
        _: &CudaGraph,
        _: GraphCall<'_>,
        _: impl FnOnce(&Running<'_>) -> Result<R, RunError>,
    ) -> Result<(R, RunReport), RunError> {
        match self.0 {}
    }

    pub(crate) const fn zeros(&self, _: u64) -> Result<CudaBuffer, RunError> {
        match self.0 {}
    }
}

/// There is none.
#[derive(Clone, Debug)]
pub(crate) struct CudaCancel(Never);

impl CudaCancel {
    pub(crate) const fn cancel(&self) {
        match self.0 {}
    }
}

/// There is none.
#[derive(Debug)]
pub(crate) struct CudaLoaded(Never);

impl CudaLoaded {
    pub(crate) const fn program(&self) -> &Arc<Levelized> {
        match self.0 {}
    }

    pub(crate) const fn compiling(&self) -> Duration {
        match self.0 {}
    }
}

/// There is none.
#[derive(Debug)]
pub(crate) struct CudaBuffer(Never);

impl CudaBuffer {
    pub(crate) const fn address(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) const fn home(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) const unsafe fn read(&self, _: *mut u8, _: usize) -> Result<(), RunError> {
        match self.0 {}
    }

    pub(crate) const unsafe fn write(&mut self, _: *const u8, _: usize) -> Result<(), RunError> {
        match self.0 {}
    }
}

pub(crate) mod flow {
    use super::Never;
    use crate::flow::GraphProgram;
    use std::{sync::Arc, time::Duration};

    /// There is none.
    #[derive(Debug)]
    pub(crate) struct CudaGraph(Never);

    impl CudaGraph {
        pub(crate) const fn program(&self) -> &Arc<GraphProgram> {
            match self.0 {}
        }

        pub(crate) const fn compiling(&self) -> Duration {
            match self.0 {}
        }
    }
}
