//! Memory that stays on a device from run to run.

use crate::{args::CPU, cuda::CudaBuffer, error::RunError, memory::Region};
use std::{fmt, marker::PhantomData, slice};

/// A type whose bytes mean the same to tasks and to Rust.
///
/// # Safety
/// The type is a scalar of the task language, or an array or `repr(C)` struct of such types; all bits zero are a value of it.
pub unsafe trait Pod: Copy + Send + Sync + 'static {}

macro_rules! pod {
    ($($ty:ty)*) => {$(
        // SAFETY: a scalar of the task language; zero is a value.
        unsafe impl Pod for $ty {}
    )*};
}

pod! { bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 }

// SAFETY: an array of such values has no bytes beside theirs, and is laid out as the task language does.
unsafe impl<T: Pod, const N: usize> Pod for [T; N] {}

/// An array of values that stays on a device. Made by [`Device::buffer`](crate::Device::buffer) and [`Device::zeros`](crate::Device::zeros).
///
/// On the CPU device it is host memory, aligned to a cache line, and tasks work on it in place. On a GPU it is memory of the GPU: passing
/// it to a call copies nothing, [`read`](Buffer::read) and [`write`](Buffer::write) do. It can be passed to calls that run on the CPU or on
/// the GPU that it was made for, by any [`Device`](crate::Device) of it.
pub struct Buffer<T: Pod> {
    store: Store,
    len: usize,
    values: PhantomData<T>,
}

enum Store {
    Cpu(Region),
    Cuda(CudaBuffer),
}

impl<T: Pod> Buffer<T> {
    pub(crate) fn on_cpu(len: usize) -> Option<Self> {
        let bytes = len.checked_mul(size_of::<T>())?;
        // A region is aligned to 64.
        let region = if align_of::<T>() <= 64 {
            Region::try_new(bytes)?
        } else {
            return None;
        };
        Some(Self {
            store: Store::Cpu(region),
            len,
            values: PhantomData,
        })
    }

    /// Memory with zeros, enough for so many values.
    pub(crate) const fn on_cuda(memory: CudaBuffer, len: usize) -> Self {
        Self {
            store: Store::Cuda(memory),
            len,
            values: PhantomData,
        }
    }

    /// How many values it has.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A copy of its values.
    ///
    /// # Panics
    /// If the GPU that it is on has lost it; [`try_read`](Buffer::try_read) gives the error.
    #[must_use]
    pub fn read(&self) -> Vec<T> {
        self.try_read().unwrap_or_else(|error| panic!("{error}"))
    }

    /// A copy of its values.
    ///
    /// # Errors
    /// If the GPU that it is on has lost it.
    pub fn try_read(&self) -> Result<Vec<T>, RunError> {
        match &self.store {
            Store::Cpu(region) => {
                Ok(
                    // SAFETY: the region has `len` values, zero at first or written by `write` or by tasks that took it as a `&mut [T]`; only a
                    // borrow of the buffer gives anyone access.
                    unsafe { slice::from_raw_parts(region.address().cast::<T>(), self.len) }
                        .to_vec(),
                )
            }
            Store::Cuda(memory) => {
                let mut out: Vec<T> = Vec::with_capacity(self.len);
                // SAFETY: there is room for that many bytes.
                unsafe { memory.read(out.as_mut_ptr().cast(), self.len * size_of::<T>()) }?;
                // SAFETY: they are values, as on the CPU.
                unsafe { out.set_len(self.len) };
                Ok(out)
            }
        }
    }

    /// Sets its values.
    ///
    /// # Panics
    /// If there are not as many as the buffer has, or the GPU that it is on has lost it; [`try_write`](Buffer::try_write) gives errors.
    pub fn write(&mut self, values: &[T]) {
        self.try_write(values)
            .unwrap_or_else(|error| panic!("{error}"));
    }

    /// Sets its values.
    ///
    /// # Errors
    /// If there are not as many as the buffer has, or the GPU that it is on has lost it.
    pub fn try_write(&mut self, values: &[T]) -> Result<(), RunError> {
        if values.len() != self.len {
            return Err(RunError::BadArguments(format!(
                "{} values cannot be written to a buffer of {}",
                values.len(),
                self.len
            )));
        }
        match &mut self.store {
            Store::Cpu(region) => {
                // SAFETY: as in `try_read`, and the borrow is exclusive.
                unsafe { slice::from_raw_parts_mut(region.address().cast(), self.len) }
                    .copy_from_slice(values);
                Ok(())
            }
            // SAFETY: the values have that many bytes.
            Store::Cuda(memory) => unsafe {
                memory.write(values.as_ptr().cast(), size_of_val(values))
            },
        }
    }

    /// Its address, on the device it is on.
    pub(crate) fn address(&self) -> *mut u8 {
        match &self.store {
            Store::Cpu(region) => region.address(),
            Store::Cuda(memory) => std::ptr::without_provenance_mut(memory.address() as usize),
        }
    }

    /// The device it is on.
    pub(crate) fn home(&self) -> u64 {
        match &self.store {
            Store::Cpu(_) => CPU,
            Store::Cuda(memory) => memory.home(),
        }
    }
}

impl<T: Pod> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("type", &std::any::type_name::<T>())
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
