//! Loaded programs, their kernels, and how long these take.

use super::{Context, Shared, check, sys};
use crate::{error::RunError, report::KernelReport};
use cudarc::driver::sys::{CUfunction, CUmodule};
use std::{
    ffi::{CString, c_int},
    ptr,
    sync::Arc,
};

/// A loaded cubin.
#[derive(Debug)]
pub(in crate::cuda) struct Module {
    module: CUmodule,
    shared: Arc<Shared>,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// The context is entered.
    pub(in crate::cuda) fn new(context: &Context, cubin: &[u8]) -> Result<Self, RunError> {
        let mut module = ptr::null_mut();
        check(
            // SAFETY: the bytes are an ELF file, which says itself how long it is.
            unsafe { sys::cuModuleLoadData(&raw mut module, cubin.as_ptr().cast()) },
            "loading the program",
        )?;
        Ok(Self {
            module,
            shared: context.shared.clone(),
        })
    }

    pub(in crate::cuda) fn kernel(&self, name: &str) -> Result<Kernel, RunError> {
        let text = CString::new(name)
            .map_err(|_| RunError::Device(format!("no kernel is named {name:?}")))?;
        let mut function = ptr::null_mut();
        check(
            // SAFETY: the module is loaded; the name is a C string.
            unsafe { sys::cuModuleGetFunction(&raw mut function, self.module, text.as_ptr()) },
            &format!("looking for kernel {name}"),
        )?;
        Ok(Kernel(function))
    }

    /// Address and size of a global.
    pub(in crate::cuda) fn global(&self, name: &str) -> Result<(u64, usize), RunError> {
        let text = CString::new(name)
            .map_err(|_| RunError::Device(format!("no global is named {name:?}")))?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded; the name is a C string.
        let code = unsafe {
            sys::cuModuleGetGlobal_v2(&raw mut address, &raw mut bytes, self.module, text.as_ptr())
        };
        check(code, &format!("looking for global {name}"))?;
        Ok((address, bytes))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Some(_using) = self.shared.enter_to_free() {
            // SAFETY: loaded by `new`. Errors have nowhere to go.
            unsafe { sys::cuModuleUnload(self.module) };
        }
    }
}

/// A kernel of a loaded module.
#[derive(Clone, Copy, Debug)]
pub(in crate::cuda) struct Kernel(pub(in crate::cuda) CUfunction);

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// What it takes, under that name, where so many blocks run at one time.
    pub(in crate::cuda) fn describe(
        self,
        name: String,
        blocks: u32,
    ) -> Result<KernelReport, RunError> {
        use sys::CUfunction_attribute_enum as About;
        let ask = |what| {
            let mut value = 0;
            // SAFETY: the kernel's module is loaded; valid for a write.
            let code = unsafe { sys::cuFuncGetAttribute(&raw mut value, what, self.0) };
            check(code, "asking what a kernel takes")?;
            Ok::<u32, RunError>(value as u32)
        };
        Ok(KernelReport {
            name,
            registers: ask(About::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            shared_bytes: ask(About::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            local_bytes: ask(About::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            blocks,
        })
    }

    /// Blocks of so many threads that a multiprocessor holds at once.
    pub(in crate::cuda) fn occupancy(self, threads: u32) -> Result<u32, RunError> {
        let mut blocks = 0;
        // SAFETY: the kernel's module is loaded; valid for a write.
        let code = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                self.0,
                threads as c_int,
                0,
            )
        };
        check(code, "asking how many blocks fit")?;
        Ok(blocks as u32)
    }
}

/// Two marks on a stream, and the time between them.
#[derive(Debug)]
pub(in crate::cuda) struct Stopwatch {
    marks: [sys::CUevent; 2],
}

impl Stopwatch {
    /// The context is entered.
    pub(in crate::cuda) fn new() -> Result<Self, RunError> {
        let mut out = Self {
            marks: [ptr::null_mut(); 2],
        };
        for mark in &mut out.marks {
            // SAFETY: a context is current; valid for a write.
            check(unsafe { sys::cuEventCreate(mark, 0) }, "making an event")?;
        }
        Ok(out)
    }

    /// Marks the beginning, or the end.
    pub(in crate::cuda) fn mark(&self, context: &Context, end: bool) -> Result<(), RunError> {
        check(
            // SAFETY: the event and the stream are of one context.
            unsafe { sys::cuEventRecord(self.marks[usize::from(end)], context.stream) },
            "recording an event",
        )
    }

    /// After the stream has been waited for.
    pub(in crate::cuda) fn elapsed(&self) -> Result<std::time::Duration, RunError> {
        let mut ms = 0f32;
        check(
            // SAFETY: both events have been recorded; valid for a write.
            unsafe { sys::cuEventElapsedTime(&raw mut ms, self.marks[0], self.marks[1]) },
            "reading the time",
        )?;
        Ok(std::time::Duration::from_secs_f64(
            f64::from(ms.max(0.0)) / 1e3,
        ))
    }
}

impl Drop for Stopwatch {
    fn drop(&mut self) {
        for mark in self.marks.iter().filter(|m| !m.is_null()) {
            // SAFETY: made by `new`. Errors have nowhere to go.
            unsafe { sys::cuEventDestroy_v2(*mark) };
        }
    }
}
