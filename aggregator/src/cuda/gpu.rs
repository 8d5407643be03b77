//! A GPU as what a run is launched on: the driver behind the seam of [`launcher`](super::launcher).

use super::{
    device::Inner,
    driver::Stopwatch,
    forms::Form,
    launcher::{Kernels, Kind, Launcher, Machine, Rows, Turn},
    loaded::{CudaLoaded, Deciding, LoadedModule},
    workspace::Workspace,
};
use crate::{error::RunError, live::Live};
use millstream_channels_kernel::cuda::{abi::kernel, plan::Mode};
use millstream_graph::ir::TaskId;
use std::{sync::atomic::AtomicU32, time::Duration};

/// The driver as a run's launcher: a program that is loaded, and the memory that runs use one after another.
#[derive(Debug)]
pub(super) struct Driver<'a, K> {
    pub(super) inner: &'a Inner,
    pub(super) loaded: &'a K,
    workspace: &'a mut Workspace,
    live: &'a Live,
    watch: Stopwatch,
}

impl<'a, K> Driver<'a, K> {
    /// The context is entered, and stays so.
    pub(super) fn new(
        inner: &'a Inner,
        loaded: &'a K,
        workspace: &'a mut Workspace,
        live: &'a Live,
    ) -> Result<Self, RunError> {
        Ok(Self {
            inner,
            loaded,
            workspace,
            live,
            watch: Stopwatch::new()?,
        })
    }
}

impl<K> Driver<'_, K> {
    /// Fills a global of a module: its address and its size.
    ///
    /// # Safety
    /// It is one.
    pub(super) unsafe fn fill(
        &self,
        (at, size): (u64, usize),
        bytes: &[u8],
    ) -> Result<(), RunError> {
        if bytes.len() > size {
            return Err(RunError::Device(format!(
                "the program's table of channels takes {size} bytes, not {}",
                bytes.len()
            )));
        }
        // SAFETY: as long as that; pageable memory is staged before the call returns.
        unsafe { self.inner.context.copy_in(at, bytes.as_ptr(), bytes.len()) }
    }
}

impl<K> Machine for Driver<'_, K> {
    fn home(&self) -> u64 {
        self.inner.context.shared.id
    }

    fn channels(&mut self, bytes: u64) -> Result<u64, RunError> {
        self.workspace.channels(&self.inner.context, bytes)
    }

    fn copies(&mut self, bytes: u64) -> Result<u64, RunError> {
        self.workspace.copies(&self.inner.context, bytes)
    }

    unsafe fn copy_in(&self, to: u64, from: *const u8, bytes: usize) -> Result<(), RunError> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.context.copy_in(to, from, bytes) }
    }

    unsafe fn copy_out(&self, to: *mut u8, from: u64, bytes: usize) -> Result<(), RunError> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.context.copy_out(to, from, bytes) }
    }

    unsafe fn copy_rows(
        &self,
        host: *mut u8,
        device: u64,
        rows: Rows,
        out: bool,
    ) -> Result<(), RunError> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.context.copy_rows(host, device, rows, out) }
    }

    unsafe fn zero(&self, at: u64, bytes: u64) -> Result<(), RunError> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.context.zero(at, bytes) }
    }

    fn wait(&self, what: &str) -> Result<(), RunError> {
        self.inner.context.wait(what)
    }

    fn is_done(&self, what: &str) -> Result<bool, RunError> {
        self.inner.context.is_done(what)
    }

    unsafe fn peek(&self, at: u64) -> Result<Option<u32>, RunError> {
        // SAFETY: the caller's promise.
        unsafe { self.inner.context.peek(at) }
    }

    fn give_up(&self) {
        self.inner.context.shared.give_up();
    }

    fn shared_word(&self, at: usize) -> &AtomicU32 {
        self.inner.shared_word(at)
    }

    fn shared_address(&self) -> u64 {
        self.inner.shared.device()
    }

    fn live(&self) -> &Live {
        self.live
    }

    fn mark(&self, end: bool) -> Result<(), RunError> {
        self.watch.mark(&self.inner.context, end)
    }

    fn elapsed(&self) -> Result<Duration, RunError> {
        self.watch.elapsed()
    }
}

impl Launcher for Driver<'_, CudaLoaded> {
    fn kernels(&self) -> &Kernels {
        &self.loaded.kernels
    }

    fn is_ready(&self) -> Result<bool, RunError> {
        self.loaded.is_ready(self.inner)
    }

    fn set_channels(&self, bytes: &[u8]) -> Result<(), RunError> {
        self.loaded.set_table(bytes);
        Ok(())
    }

    fn max_depth(&self, entry: TaskId) -> Result<u32, RunError> {
        let plan = &self.loaded.kernels.plan;
        let recursion = self.loaded.recursion.as_ref();
        self.inner.depth_of(recursion, plan, Some(entry))
    }

    fn blocks(&self) -> u32 {
        self.loaded.persistent().map_or(0, |kernel| kernel.blocks)
    }

    unsafe fn persistent(&self, addresses: [u64; 2], turn: Turn) -> Result<(), RunError> {
        let Some(persistent) = self.loaded.persistent() else {
            return Err(RunError::Device(
                "the persistent kernel is not compiled".into(),
            ));
        };
        self.fill_module(&persistent.module)?;
        let blocks = if turn.all { persistent.blocks } else { 1 };
        let ([mut published, mut standing], [mut limit, mut began]) = (addresses, turn.words());
        let mut params = [
            (&raw mut published).cast(),
            (&raw mut standing).cast(),
            (&raw mut limit).cast(),
            (&raw mut began).cast(),
        ];
        let kernel = persistent.kernel.0;
        // SAFETY: the kernel takes two addresses and two words; the rest is the caller's promise.
        unsafe {
            self.inner.context.launch(
                kernel,
                Form::near(blocks),
                kernel::BLOCK,
                turn.all,
                &mut params,
            )
        }
    }

    fn workers(&self, kind: Kind) -> Result<u32, RunError> {
        self.loaded.most_workers(self.inner, kind)
    }

    unsafe fn subtrees(&self, kind: Kind, crew: u64, workers: u32) -> Result<(), RunError> {
        let Some((kernel, blocks)) = self.crew_kernel()?.of(kind) else {
            return Err(RunError::Device("the program has no such workers".into()));
        };
        let mut crew = crew;
        let mut params = [(&raw mut crew).cast()];
        // SAFETY: the kernel takes the address of a crew's record; the rest is the caller's promise.
        unsafe {
            let form = Form::near(workers.min(blocks));
            self.inner
                .context
                .launch(kernel.0, form, kernel::BLOCK, false, &mut params)
        }
    }

    unsafe fn gather(&self, crew: u64, workers: u32) -> Result<(), RunError> {
        let gather = self.crew_kernel()?.module.kernel(kernel::GATHER)?;
        let (mut crew, mut workers) = (crew, workers);
        let mut params = [(&raw mut crew).cast(), (&raw mut workers).cast()];
        // SAFETY: the kernel takes the address of a crew's record and a word; the rest is the caller's promise.
        unsafe {
            self.inner
                .context
                .launch(gather.0, Form::near(1), kernel::BLOCK, false, &mut params)
        }
    }

    unsafe fn dispatch(
        &self,
        kernel: usize,
        form: Form,
        words: &mut [u32],
    ) -> Result<(), RunError> {
        let source = self.loaded.kernels.plan.sources.get(kernel);
        // Its blocks wait for each other.
        let cooperative = source.is_some_and(|s| s.mode == Mode::Master);
        let Some((module, kernel)) = self.loaded.dispatch(kernel) else {
            return Err(RunError::Device(
                "the host thread's kernels are not compiled".into(),
            ));
        };
        self.fill_module(module)?;
        let mut params = [words.as_mut_ptr().cast()];
        // SAFETY: the kernel takes a dispatch record by value; the rest is the caller's promise.
        unsafe {
            self.inner
                .context
                .launch(kernel.0, form, kernel::BLOCK, cooperative, &mut params)
        }
    }
}

impl Driver<'_, CudaLoaded> {
    /// The kernel of subtree dispatches, which sees the run's table.
    fn crew_kernel(&self) -> Result<&Deciding, RunError> {
        let Some(workers) = self.loaded.workers() else {
            return Err(RunError::Device(
                "the kernel of subtree dispatches is not compiled".into(),
            ));
        };
        self.fill_module(&workers.module)?;
        Ok(workers)
    }

    /// Fills a module's global with the run's table, unless that is what it holds. Kernels that are launched later see it.
    fn fill_module(&self, module: &LoadedModule) -> Result<(), RunError> {
        // SAFETY: a global of the module.
        module.fill(self.loaded, |to, table| unsafe { self.fill(to, table) })
    }
}
