//! Loaded programs, their kernels, and how long these take.

use super::{Context, Shared, check, sys};
use crate::{cuda::forms::Form, error::RunError, report::KernelReport};
use cudarc::driver::sys::{CUfunction, CUmodule};
use std::{
    ffi::{CString, c_int, c_void},
    ptr,
    sync::Arc,
};

/// Bytes of what the linker may say.
const LINKER_LOG: usize = 8 << 10;

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

    /// Links objects that were compiled for an architecture, and loads the result. The context is entered.
    pub(in crate::cuda) fn linked(
        context: &Context,
        arch: u32,
        objects: &[&[u8]],
    ) -> Result<Self, RunError> {
        use sys::CUjit_option_enum as About;
        let mut log = vec![0u8; LINKER_LOG];
        let mut about = [
            About::CU_JIT_TARGET,
            About::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            About::CU_JIT_ERROR_LOG_BUFFER,
        ];
        // The driver wants numbers where pointers are.
        let mut values: [*mut c_void; 3] = [
            ptr::without_provenance_mut(arch as usize),
            ptr::without_provenance_mut(log.len()),
            log.as_mut_ptr().cast(),
        ];
        let mut linker = Linker(ptr::null_mut());
        let (mut image, mut bytes) = (ptr::null_mut(), 0);
        let mut link = || {
            // SAFETY: as many options as values. The linker writes to the values and to the log: both are declared before it, and so outlive it.
            let code = unsafe {
                sys::cuLinkCreate_v2(
                    3,
                    about.as_mut_ptr(),
                    values.as_mut_ptr(),
                    &raw mut linker.0,
                )
            };
            check(code, "starting the linker")?;
            for object in objects {
                // SAFETY: an ELF file of this length, which is copied.
                let code = unsafe {
                    sys::cuLinkAddData_v2(
                        linker.0,
                        sys::CUjitInputType_enum::CU_JIT_INPUT_CUBIN,
                        object.as_ptr().cast::<c_void>().cast_mut(),
                        object.len(),
                        c"segments".as_ptr(),
                        0,
                        ptr::null_mut(),
                        ptr::null_mut(),
                    )
                };
                check(code, "linking the program")?;
            }
            // SAFETY: valid for writes.
            let code = unsafe { sys::cuLinkComplete(linker.0, &raw mut image, &raw mut bytes) };
            check(code, "linking the program")
        };
        if let Err(error) = link() {
            let said = String::from_utf8_lossy(&log);
            let said = said.trim_end_matches('\0').trim();
            return Err(match error {
                RunError::Device(text) if !said.is_empty() => {
                    RunError::Compile(format!("{text}: {said}"))
                }
                other => other,
            });
        }
        // SAFETY: the linker is alive, and says how long its image is.
        let image = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), bytes) };
        Self::new(context, image)
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

/// The driver's linker at work; it owns what it links to.
struct Linker(sys::CUlinkState);

impl Drop for Linker {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: made by `cuLinkCreate`. Errors have nowhere to go.
            unsafe { sys::cuLinkDestroy(self.0) };
        }
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
    /// What it takes, under that name, where it is launched so, with as many blocks as run at one time.
    pub(in crate::cuda) fn describe(
        self,
        name: String,
        form: Form,
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
            shared_bytes: ask(About::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)? + form.shared,
            local_bytes: ask(About::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            blocks: form.blocks,
        })
    }

    /// Allows so much shared memory beside what it declares, and has the processor set aside as much for it as there is. False if a block has no such
    /// amount.
    pub(in crate::cuda) fn allow(self, shared: u32) -> Result<bool, RunError> {
        use sys::CUfunction_attribute_enum as About;
        let set = |what, value| {
            // SAFETY: the kernel's module is loaded.
            unsafe { sys::cuFuncSetAttribute(self.0, what, value) }
        };
        let most = About::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        match set(most, shared as c_int) {
            sys::CUresult::CUDA_ERROR_INVALID_VALUE => return Ok(false),
            code => check(code, "asking for shared memory")?,
        }
        let carveout = About::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
        check(set(carveout, 100), "asking for shared memory").map(|()| true)
    }

    /// Blocks of so many threads, with so much shared memory beside what it declares, that a multiprocessor holds at once.
    pub(in crate::cuda) fn occupancy(self, threads: u32, shared: u32) -> Result<u32, RunError> {
        let mut blocks = 0;
        // SAFETY: the kernel's module is loaded; valid for a write.
        let code = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                self.0,
                threads as c_int,
                shared as usize,
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
