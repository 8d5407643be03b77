//! Memory that a context owns: the device's, and such of the host's as the device reaches by itself.

use super::driver::{Context, Shared, check};
use crate::error::RunError;
use cudarc::driver::sys::{self, CUdeviceptr};
use std::{ffi::c_uint, ptr, sync::Arc};

/// Memory of the device.
#[derive(Debug)]
pub(crate) struct Memory {
    address: CUdeviceptr,
    bytes: u64,
    shared: Arc<Shared>,
}

impl Memory {
    /// The context is entered.
    pub(super) fn new(context: &Context, bytes: u64) -> Result<Self, RunError> {
        let (address, code) = Self::take(bytes);
        check(
            code,
            &format!("taking {} of device memory", crate::Bytes(bytes)),
        )?;
        Ok(Self::of(context, address, bytes))
    }

    /// So many bytes, or half and so on where others have taken the memory, but not less than `least`. The context is entered.
    pub(super) fn at_most(context: &Context, most: u64, least: u64) -> Result<Self, RunError> {
        let mut bytes = most;
        while bytes / 2 >= least {
            let (address, code) = Self::take(bytes);
            if code == sys::CUresult::CUDA_SUCCESS {
                return Ok(Self::of(context, address, bytes));
            }
            if code != sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
                break;
            }
            bytes /= 2;
        }
        Self::new(context, bytes)
    }

    fn take(bytes: u64) -> (CUdeviceptr, sys::CUresult) {
        let mut address = 0;
        // SAFETY: a context is current.
        let code = unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes.max(1) as usize) };
        (address, code)
    }

    fn of(context: &Context, address: CUdeviceptr, bytes: u64) -> Self {
        Self {
            address,
            bytes,
            shared: context.shared.clone(),
        }
    }

    pub(super) const fn address(&self) -> u64 {
        self.address
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(_using) = self.shared.enter_to_free() {
            // SAFETY: taken by `new`. Freeing waits for the device. Errors have nowhere to go.
            unsafe { sys::cuMemFree_v2(self.address) };
        }
    }
}

/// Memory of the host that the device reaches too, for flags and counters: cached on the host, not write-combined.
#[derive(Debug)]
pub(super) struct Mapped {
    host: *mut u32,
    device: CUdeviceptr,
    shared: Arc<Shared>,
}

// SAFETY: an address; who shares the words uses atomics.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// So many words, all 0. The context is entered.
    pub(super) fn new(context: &Context, words: usize) -> Result<Self, RunError> {
        let flags: c_uint = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        let mut host = ptr::null_mut();
        check(
            // SAFETY: a context is current.
            unsafe { sys::cuMemHostAlloc(&raw mut host, 4 * words, flags) },
            "taking mapped memory",
        )?;
        // SAFETY: it has just been taken, of that size.
        unsafe { ptr::write_bytes(host.cast::<u8>(), 0, 4 * words) };
        let mut out = Self {
            host: host.cast(),
            device: 0,
            shared: context.shared.clone(),
        };
        check(
            // SAFETY: taken as mapped.
            unsafe { sys::cuMemHostGetDevicePointer_v2(&raw mut out.device, host, 0) },
            "mapping memory",
        )?;
        Ok(out)
    }

    pub(super) const fn host(&self) -> *mut u32 {
        self.host
    }

    pub(super) const fn device(&self) -> u64 {
        self.device
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if let Some(_using) = self.shared.enter_to_free() {
            // SAFETY: taken by `new`. Errors have nowhere to go.
            unsafe { sys::cuMemFreeHost(self.host.cast()) };
        }
    }
}

/// Memory of the host that the device copies to and from by itself, and a mark of when it has.
#[derive(Debug)]
pub(super) struct Pinned {
    address: *mut u8,
    done: sys::CUevent,
    shared: Arc<Shared>,
}

// SAFETY: an address and a handle of the driver; who writes has it alone.
unsafe impl Send for Pinned {}
// SAFETY: as above.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// The context is entered.
    pub(super) fn new(context: &Context, bytes: usize) -> Result<Self, RunError> {
        let (mut address, mut done) = (ptr::null_mut(), ptr::null_mut());
        check(
            // SAFETY: a context is current; valid for a write.
            unsafe { sys::cuMemHostAlloc(&raw mut address, bytes, 0) },
            "taking pinned memory",
        )?;
        let mut out = Self {
            address: address.cast(),
            done,
            shared: context.shared.clone(),
        };
        // 2: nobody asks it for the time.
        check(
            // SAFETY: as above.
            unsafe { sys::cuEventCreate(&raw mut done, 2) },
            "making an event",
        )?;
        out.done = done;
        Ok(out)
    }

    pub(super) const fn address(&self) -> *mut u8 {
        self.address
    }

    /// Begins a copy to the device.
    ///
    /// # Safety
    /// `to` is device memory of so many bytes, and this is of as many. The context is the thread's.
    pub(super) unsafe fn send(
        &self,
        context: &Context,
        to: u64,
        bytes: usize,
    ) -> Result<(), RunError> {
        check(
            // SAFETY: the caller's promise.
            unsafe { sys::cuMemcpyHtoDAsync_v2(to, self.address.cast(), bytes, context.stream) },
            "copying to the device",
        )?;
        self.mark(context)
    }

    /// Begins a copy from the device.
    ///
    /// # Safety
    /// As for [`send`](Self::send).
    pub(super) unsafe fn fetch(
        &self,
        context: &Context,
        from: u64,
        bytes: usize,
    ) -> Result<(), RunError> {
        check(
            // SAFETY: the caller's promise.
            unsafe { sys::cuMemcpyDtoHAsync_v2(self.address.cast(), from, bytes, context.stream) },
            "copying from the device",
        )?;
        self.mark(context)
    }

    fn mark(&self, context: &Context) -> Result<(), RunError> {
        // SAFETY: the event and the stream are of one context.
        check(
            unsafe { sys::cuEventRecord(self.done, context.stream) },
            "recording an event",
        )
    }

    /// Waits until the last copy is done.
    pub(super) fn wait(&self) -> Result<(), RunError> {
        // SAFETY: it has been recorded.
        check(unsafe { sys::cuEventSynchronize(self.done) }, "copying")
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(_using) = self.shared.enter_to_free() {
            // SAFETY: made by `new`, the event unless that failed; no copy is under way. Errors have nowhere to go.
            unsafe {
                if !self.done.is_null() {
                    sys::cuEventDestroy_v2(self.done);
                }
                sys::cuMemFreeHost(self.address.cast());
            }
        }
    }
}
