//! The CUDA driver, as far as it is needed: each call checked, each resource owned.
//!
//! The driver is loaded when it is first asked for. Nothing of it is called before [`present`] has found it, because the bindings panic where
//! the library or one of its functions is missing; the functions used here are all in the driver of CUDA 12.0.

mod found;
mod module;

pub use found::{devices, driver_version};
pub(super) use found::{info, present};
pub(super) use module::{Kernel, Module, Stopwatch};

use super::{
    forms::Form,
    launcher::Rows,
    memory::Pinned,
    staging::{LARGE, Staging},
};
use crate::{
    error::RunError,
    sync::{Guard, Mutex},
};
use cudarc::driver::sys::{self, CUfunction, CUresult, CUstream};
use std::{
    ffi::{CStr, c_int, c_void},
    ptr,
    sync::{
        Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// An error of the driver, with what was tried.
pub(super) fn failed(code: CUresult, what: &str) -> RunError {
    let mut text = ptr::null();
    // SAFETY: the driver is present, for it gave the code; it answers with a static string or not at all.
    let found = unsafe { sys::cuGetErrorString(code, &raw mut text) } == CUresult::CUDA_SUCCESS
        && !text.is_null();
    let text = if found {
        // SAFETY: as above.
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned()
    } else {
        "unknown error".to_owned()
    };
    let text = format!("{what}: {text} ({code:?})");
    if is_fatal(code) {
        RunError::Lost(text)
    } else {
        RunError::Device(format!("CUDA: {text}"))
    }
}

/// Whether a context gives nothing but errors after this one.
const fn is_fatal(code: CUresult) -> bool {
    use CUresult as C;
    matches!(
        code,
        C::CUDA_ERROR_ECC_UNCORRECTABLE
            | C::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | C::CUDA_ERROR_ILLEGAL_ADDRESS
            | C::CUDA_ERROR_LAUNCH_TIMEOUT
            | C::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | C::CUDA_ERROR_ASSERT
            | C::CUDA_ERROR_HARDWARE_STACK_ERROR
            | C::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | C::CUDA_ERROR_MISALIGNED_ADDRESS
            | C::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | C::CUDA_ERROR_INVALID_PC
            | C::CUDA_ERROR_LAUNCH_FAILED
    )
}

pub(super) fn check(code: CUresult, what: &str) -> Result<(), RunError> {
    if code == CUresult::CUDA_SUCCESS {
        Ok(())
    } else {
        Err(failed(code, what))
    }
}

/// A context on a GPU, shared by all devices of this process on that GPU and by what they hold there. It ends with the last of them, or
/// when a fatal error was seen and a device asks for the next one: then all that lies in it is gone, and its owners free nothing.
#[derive(Debug)]
pub(crate) struct Shared {
    context: sys::CUcontext,
    /// Different for each context of the process, and never 0.
    pub(crate) id: u64,
    /// A fatal error was seen.
    lost: AtomicBool,
    /// A kernel does not end.
    given_up: AtomicBool,
    /// Whether it has ended. Who works in it reads.
    ended: RwLock<bool>,
    /// One run at a time, of whichever device: a persistent kernel wants all of the GPU.
    pub(super) turn: Mutex<()>,
    /// Bytes of stack that each thread has for helpers that call themselves; 0 as long as no program has any.
    stack: Mutex<u64>,
}

// SAFETY: the driver's handles may be used from any thread, one at a time or not.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        self.end();
    }
}

/// While it is there, the context does not end, and it is the thread's.
pub(crate) type Using<'a> = RwLockReadGuard<'a, bool>;

impl Shared {
    /// The context on a GPU: the one there is, unless it is lost.
    fn of(ordinal: u32) -> Result<Arc<Self>, RunError> {
        static ALL: Mutex<Vec<(u32, Weak<Shared>)>> = Mutex::new(Vec::new());
        static NEXT: AtomicU64 = AtomicU64::new(1);
        present()?;
        let mut all = ALL.lock();
        all.retain(|(_, shared)| shared.strong_count() > 0);
        let found = all
            .iter()
            .filter(|(n, _)| *n == ordinal)
            .find_map(|(_, shared)| shared.upgrade().filter(|s| !s.is_lost()));
        if let Some(shared) = found {
            return Ok(shared);
        }
        let (mut device, mut context) = (0, ptr::null_mut());
        check(
            // SAFETY: present; valid for a write.
            unsafe { sys::cuDeviceGet(&raw mut device, ordinal as c_int) },
            &format!("looking for device {ordinal}"),
        )?;
        check(
            // SAFETY: the device exists; valid for a write.
            unsafe { sys::cuCtxCreate_v2(&raw mut context, 0, device) },
            "making a context (after some errors the driver makes none until the process is started anew)",
        )?;
        // Relaxed: a number of its own is all.
        let shared = Arc::new(Self {
            context,
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            lost: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
            ended: RwLock::new(false),
            turn: Mutex::new(()),
            stack: Mutex::new(0),
        });
        all.push((ordinal, Arc::downgrade(&shared)));
        Ok(shared)
    }

    pub(crate) fn is_lost(&self) -> bool {
        // Relaxed: who misses it gets the error from the driver.
        self.lost.load(Ordering::Relaxed)
    }

    /// A kernel of it does not end: nobody waits for it any more.
    pub(super) fn give_up(&self) {
        // Relaxed: `end` is called by whoever was told that the context is lost, later.
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// Waits for all who work in it, and ends it.
    pub(super) fn end(&self) {
        let mut ended = self.ended.write().unwrap_or_else(PoisonError::into_inner);
        // Where a kernel does not end, ending the context would wait for it for ever: it stays until the process ends.
        // Relaxed: see `give_up`.
        let given_up = self.given_up.load(Ordering::Relaxed);
        if !std::mem::replace(&mut *ended, true) && !given_up {
            // SAFETY: made by `of`; nobody works in it, and nobody will. Errors have nowhere to go.
            unsafe { sys::cuCtxDestroy_v2(self.context) };
        }
    }

    /// Makes it the calling thread's, to work in it. Not to be called by who works in it already.
    pub(super) fn enter(&self) -> Result<Using<'_>, RunError> {
        let using = self.ended.read().unwrap_or_else(PoisonError::into_inner);
        if *using || self.is_lost() {
            return Err(RunError::Lost(
                "an error ended it, and all that lay in it is gone".into(),
            ));
        }
        // SAFETY: it has not ended.
        check(
            unsafe { sys::cuCtxSetCurrent(self.context) },
            "entering the context",
        )
        .map(|()| using)
    }

    /// Like [`enter`](Self::enter), for who frees something and may work in it already; none if it is lost, for then nothing is to be
    /// freed. Never waits: only who ends it, for it is lost, keeps others out.
    pub(super) fn enter_to_free(&self) -> Option<Using<'_>> {
        let using = self.ended.try_read().ok()?;
        // SAFETY: it has not ended.
        let entered = !*using
            && !self.is_lost()
            && unsafe { sys::cuCtxSetCurrent(self.context) } == CUresult::CUDA_SUCCESS;
        entered.then_some(using)
    }
}

/// A context and a stream on it.
#[derive(Debug)]
pub(crate) struct Context {
    pub(super) stream: CUstream,
    /// For large copies, from the first on; none after it if no memory is to be had.
    staging: OnceLock<Option<Mutex<Staging>>>,
    pub(crate) shared: Arc<Shared>,
}

// SAFETY: the driver's handles may be used from any thread, one at a time or not.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(_using) = self.shared.enter_to_free() {
            // SAFETY: made by `new`. Errors have nowhere to go.
            unsafe { sys::cuStreamDestroy_v2(self.stream) };
        }
    }
}

impl Context {
    pub(super) fn new(ordinal: u32) -> Result<Self, RunError> {
        let shared = Shared::of(ordinal)?;
        let mut stream = ptr::null_mut();
        {
            let _using = shared.enter()?;
            // 1: does not wait for the default stream.
            check(
                // SAFETY: a context is current; valid for a write.
                unsafe { sys::cuStreamCreate(&raw mut stream, 1) },
                "making a stream",
            )?;
        }
        Ok(Self {
            stream,
            staging: OnceLock::new(),
            shared,
        })
    }

    /// See [`Shared::enter`]. Everything else here wants it.
    pub(super) fn enter(&self) -> Result<Using<'_>, RunError> {
        self.shared.enter()
    }

    /// Marks the context as lost if a call that failed says so.
    pub(crate) fn note<T>(&self, result: Result<T, RunError>) -> Result<T, RunError> {
        if matches!(result, Err(RunError::Lost(_))) {
            // Relaxed: see `is_lost`.
            self.shared.lost.store(true, Ordering::Relaxed);
        }
        result
    }

    pub(super) fn free_memory(&self) -> Result<u64, RunError> {
        let (mut free, mut total) = (0, 0);
        check(
            // SAFETY: a context is current; valid for writes.
            unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) },
            "asking for free memory",
        )?;
        Ok(free as u64)
    }

    /// Gives each thread a stack, for all programs of the context, and says of how many bytes it is: half of `wanted` and so on, but not
    /// less than `least`, where others have taken the memory; or what it has already, if that is more.
    pub(super) fn stack(&self, wanted: u64, least: u64) -> Result<u64, RunError> {
        let mut stack = self.shared.stack.lock();
        let mut bytes = wanted;
        while *stack < bytes {
            // SAFETY: a context is current.
            let code =
                unsafe { sys::cuCtxSetLimit(sys::CUlimit::CU_LIMIT_STACK_SIZE, bytes as usize) };
            // What is more than any thread may have is an invalid value.
            let short = matches!(
                code,
                CUresult::CUDA_ERROR_OUT_OF_MEMORY | CUresult::CUDA_ERROR_INVALID_VALUE
            );
            // It is given out by KiB.
            let half = (bytes / 2) & !1023;
            if short && half >= least {
                bytes = half;
                continue;
            }
            if code == CUresult::CUDA_ERROR_INVALID_VALUE {
                return Err(RunError::Device(format!(
                    "threads cannot have a stack of {bytes} bytes each, which helpers that call themselves need"
                )));
            }
            check(code, "giving threads a stack")?;
            *stack = bytes;
        }
        Ok(*stack)
    }

    /// Makes the context that of a thread which helps one that has entered it.
    pub(super) fn bind(&self) -> Result<(), RunError> {
        // SAFETY: it does not end while somebody has entered it.
        check(
            unsafe { sys::cuCtxSetCurrent(self.shared.context) },
            "entering the context",
        )
    }

    /// What copies so many bytes faster than the driver does.
    fn staging(&self, bytes: usize) -> Option<Guard<'_, Staging>> {
        if bytes < LARGE {
            return None;
        }
        let make = || {
            Staging::new(self)
                .inspect_err(|e| tracing::warn!("large copies are slow: {e}"))
                .ok()
                .map(Mutex::new)
        };
        self.staging.get_or_init(make).as_ref().map(Mutex::lock)
    }

    /// # Safety
    /// `from` is valid for reads of `bytes` until the stream has done it, `to` is device memory of that size.
    pub(super) unsafe fn copy_in(
        &self,
        to: u64,
        from: *const u8,
        bytes: usize,
    ) -> Result<(), RunError> {
        if bytes == 0 {
            return Ok(());
        }
        if let Some(mut staging) = self.staging(bytes) {
            // SAFETY: the caller's promise; nothing is written to `from`.
            return unsafe { staging.copy(self, from.cast_mut(), to, bytes, false) };
        }
        // SAFETY: the caller's promise; a context is current while a run is on.
        check(
            unsafe { sys::cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, self.stream) },
            "copying to the device",
        )
    }

    /// # Safety
    /// `to` is valid for writes of `bytes` until the stream has done it, `from` is device memory of that size.
    pub(super) unsafe fn copy_out(
        &self,
        to: *mut u8,
        from: u64,
        bytes: usize,
    ) -> Result<(), RunError> {
        if bytes == 0 {
            return Ok(());
        }
        if let Some(mut staging) = self.staging(bytes) {
            // SAFETY: the caller's promise.
            return unsafe { staging.copy(self, to, from, bytes, true) };
        }
        // SAFETY: the caller's promise; a context is current while a run is on.
        check(
            unsafe { sys::cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, self.stream) },
            "copying from the device",
        )
    }

    /// Copies rows; their distance is the same on both sides.
    ///
    /// # Safety
    /// As for [`copy_in`](Self::copy_in) and [`copy_out`](Self::copy_out), for each of the rows.
    pub(super) unsafe fn copy_rows(
        &self,
        host: *mut u8,
        device: u64,
        rows: Rows,
        out: bool,
    ) -> Result<(), RunError> {
        use sys::CUmemorytype::{CU_MEMORYTYPE_DEVICE as DEVICE, CU_MEMORYTYPE_HOST as HOST};
        let (from, to) = if out { (DEVICE, HOST) } else { (HOST, DEVICE) };
        let copy = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: from,
            srcHost: host.cast_const().cast(),
            srcDevice: device,
            srcArray: ptr::null_mut(),
            srcPitch: rows.distance,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: to,
            dstHost: host.cast(),
            dstDevice: device,
            dstArray: ptr::null_mut(),
            dstPitch: rows.distance,
            WidthInBytes: rows.bytes,
            Height: rows.count,
        };
        // SAFETY: the caller's promise; a context is current while a run is on.
        check(
            unsafe { sys::cuMemcpy2DAsync_v2(&raw const copy, self.stream) },
            "copying a matrix",
        )
    }

    /// # Safety
    /// `at` is device memory of that size.
    pub(super) unsafe fn zero(&self, at: u64, bytes: u64) -> Result<(), RunError> {
        // SAFETY: the caller's promise; a context is current while a run is on.
        check(
            unsafe { sys::cuMemsetD8Async(at, 0, bytes as usize, self.stream) },
            "clearing memory",
        )
    }

    pub(super) fn wait(&self, what: &str) -> Result<(), RunError> {
        // SAFETY: the stream is this context's.
        check(unsafe { sys::cuStreamSynchronize(self.stream) }, what)
    }

    /// A word of the device's memory, by a stream of its own, so that it does not wait for the kernels of this one; none if it takes long.
    ///
    /// # Safety
    /// `at` is device memory, aligned.
    pub(super) unsafe fn peek(&self, at: u64) -> Result<Option<u32>, RunError> {
        const LONG: Duration = Duration::from_secs(1);
        const WHAT: &str = "looking at a word of the device";
        let (word, mut stream) = (Pinned::new(self, 4)?, ptr::null_mut());
        // 1: does not wait for the default stream.
        // SAFETY: a context is current; valid for a write.
        check(unsafe { sys::cuStreamCreate(&raw mut stream, 1) }, WHAT)?;
        let start = Instant::now();
        check(
            // SAFETY: the caller's promise; the word is pinned and lives until the copy is done or is leaked below.
            unsafe { sys::cuMemcpyDtoHAsync_v2(word.address().cast(), at, 4, stream) },
            WHAT,
        )?;
        loop {
            // SAFETY: the stream was made above.
            match unsafe { sys::cuStreamQuery(stream) } {
                CUresult::CUDA_SUCCESS => break,
                CUresult::CUDA_ERROR_NOT_READY if start.elapsed() < LONG => {}
                CUresult::CUDA_ERROR_NOT_READY => {
                    // The copy may still come.
                    std::mem::forget(word);
                    return Ok(None);
                }
                code => return Err(failed(code, WHAT)),
            }
        }
        // SAFETY: copied above; the stream has nothing more to do.
        unsafe {
            sys::cuStreamDestroy_v2(stream);
            Ok(Some(word.address().cast::<u32>().read()))
        }
    }

    /// Whether the stream is done.
    pub(super) fn is_done(&self, what: &str) -> Result<bool, RunError> {
        // SAFETY: the stream is this context's.
        match unsafe { sys::cuStreamQuery(self.stream) } {
            CUresult::CUDA_SUCCESS => Ok(true),
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => Err(failed(code, what)),
        }
    }

    /// # Safety
    /// `params` point at values of the kernel's parameter types, and what the kernel does with them is sound.
    pub(super) unsafe fn launch(
        &self,
        kernel: CUfunction,
        Form { blocks, shared }: Form,
        threads: u32,
        cooperative: bool,
        params: &mut [*mut c_void],
    ) -> Result<(), RunError> {
        let (stream, params) = (self.stream, params.as_mut_ptr());
        // SAFETY: the caller's promise; the stream is this context's, which is current while a run is on.
        let code = unsafe {
            if cooperative {
                sys::cuLaunchCooperativeKernel(
                    kernel, blocks, 1, 1, threads, 1, 1, shared, stream, params,
                )
            } else {
                sys::cuLaunchKernel(
                    kernel,
                    blocks,
                    1,
                    1,
                    threads,
                    1,
                    1,
                    shared,
                    stream,
                    params,
                    ptr::null_mut(),
                )
            }
        };
        check(code, "launching a kernel")
    }
}
