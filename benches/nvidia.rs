//! Rivals on a GPU: CUDA C++ of their own, compiled by NVRTC and launched by the driver, without anything of Millstream around it.

use cudarc::driver::sys::{self, CUfunction, CUmodule, CUresult};
use millstream_channels_kernel::cuda::nvrtc::{self, Arch, How};
use std::{
    ffi::{CString, c_int, c_void},
    ptr,
};

/// A GPU and a program for it. Memory that it gives is freed when it is asked, or when the command ends.
#[derive(Debug)]
pub(crate) struct Gpu {
    module: CUmodule,
    context: sys::CUcontext,
}

/// Memory of 32-bit words on a GPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words(u64, usize);

fn check(code: CUresult, what: &str) -> Result<(), String> {
    if code == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    Err(format!("{what}: {code:?}"))
}

/// The machine code of a rival's text.
pub(crate) fn compile(text: &str, arch: Arch) -> Result<Vec<u8>, String> {
    let how = How {
        fast_math: false,
        check: false,
        ..How::default()
    };
    let compiled = nvrtc::find().and_then(|n| n.compile_cached(text, arch, how));
    compiled.map(|c| c.cubin).map_err(|e| e.to_string())
}

impl Gpu {
    /// Compiles a text for the GPU of that number, of this architecture.
    pub(crate) fn new(ordinal: u32, arch: Arch, text: &str) -> Result<Self, String> {
        let cubin = compile(text, arch)?;
        let (mut device, mut context, mut module) = (0, ptr::null_mut(), ptr::null_mut());
        // SAFETY: each is given a place for what it gives; the cubin says itself how long it is.
        unsafe {
            check(sys::cuInit(0), "starting the driver")?;
            check(
                sys::cuDeviceGet(&raw mut device, ordinal as c_int),
                "finding the GPU",
            )?;
            check(
                sys::cuDevicePrimaryCtxRetain(&raw mut context, device),
                "making a context",
            )?;
            check(sys::cuCtxSetCurrent(context), "entering the context")?;
            check(
                sys::cuModuleLoadData(&raw mut module, cubin.as_ptr().cast()),
                "loading the rival",
            )?;
        }
        Ok(Self { module, context })
    }

    /// Makes this thread's calls go to it: other devices' calls leave other contexts there.
    pub(crate) fn enter(&self) -> Result<(), String> {
        // SAFETY: the context was retained.
        check(
            unsafe { sys::cuCtxSetCurrent(self.context) },
            "entering the context",
        )
    }

    /// A kernel of the text.
    pub(crate) fn kernel(&self, name: &str) -> Result<CUfunction, String> {
        let name = CString::new(name).map_err(|e| e.to_string())?;
        let mut function = ptr::null_mut();
        // SAFETY: the module is loaded; the name is a C string.
        let code =
            unsafe { sys::cuModuleGetFunction(&raw mut function, self.module, name.as_ptr()) };
        check(code, "finding a kernel").map(|()| function)
    }

    /// Waits for all kernels.
    pub(crate) fn wait(&self) -> Result<(), String> {
        // SAFETY: the context is current.
        check(unsafe { sys::cuCtxSynchronize() }, "waiting for a kernel")
    }

    /// Memory that holds these words.
    pub(crate) fn words(&self, words: &[u32]) -> Result<Words, String> {
        let bytes = 4 * words.len().max(1);
        let mut at = 0;
        // SAFETY: the context is current; as many bytes are read as are there.
        unsafe {
            check(sys::cuMemAlloc_v2(&raw mut at, bytes), "allocating memory")?;
            check(
                sys::cuMemcpyHtoD_v2(at, words.as_ptr().cast(), 4 * words.len()),
                "copying to the GPU",
            )?;
        }
        Ok(Words(at, words.len()))
    }

    /// Launches a kernel of so many threads, 256 a block, whose parameters are addresses and numbers.
    ///
    /// # Safety
    /// The parameters are those of the kernel, which stays within the memory that it is given.
    pub(crate) unsafe fn launch(
        &self,
        kernel: CUfunction,
        threads: u32,
        params: &mut [Param],
    ) -> Result<(), String> {
        let mut places: Vec<*mut c_void> = params.iter_mut().map(Param::place).collect();
        // SAFETY: each parameter lies where its place says; the rest is the caller's promise.
        let code = unsafe {
            sys::cuLaunchKernel(
                kernel,
                threads.div_ceil(256).max(1),
                1,
                1,
                256,
                1,
                1,
                0,
                ptr::null_mut(),
                places.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        check(code, "launching a kernel")
    }
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Param {
    Words(Words),
    Number(u32),
}

impl Param {
    const fn place(&mut self) -> *mut c_void {
        match self {
            Self::Words(words) => (&raw mut words.0).cast(),
            Self::Number(number) => ptr::from_mut(number).cast(),
        }
    }
}

impl Words {
    /// Sets all of them to one number.
    pub(crate) fn fill(self, word: u32) -> Result<(), String> {
        // SAFETY: as many words as there are; the context is current.
        check(
            unsafe { sys::cuMemsetD32_v2(self.0, word, self.1) },
            "filling memory",
        )
    }

    /// Writes the first ones.
    pub(crate) fn write(self, words: &[u32]) -> Result<(), String> {
        let bytes = 4 * words.len().min(self.1);
        // SAFETY: as many bytes as both have.
        check(
            unsafe { sys::cuMemcpyHtoD_v2(self.0, words.as_ptr().cast(), bytes) },
            "copying to the GPU",
        )
    }

    /// Gives it back, of which there is no other copy in use.
    pub(crate) fn free(self) -> Result<(), String> {
        // SAFETY: it was allocated, and kernels before have ended or are waited for.
        check(unsafe { sys::cuMemFree_v2(self.0) }, "freeing memory")
    }

    /// Reads the first ones, when the kernels before have ended.
    pub(crate) fn read(self, words: &mut [u32]) -> Result<(), String> {
        let bytes = 4 * words.len().min(self.1);
        // SAFETY: as many bytes as both have.
        check(
            unsafe { sys::cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), self.0, bytes) },
            "copying from the GPU",
        )
    }
}
