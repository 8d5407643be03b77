//! Typed calls: the task, its arguments as pieces, and how its result is read.
//!
//! The attribute macro writes a function for each task that makes its [`Call`]. What those functions take, the traits here say:
//! [`Arg`] turns a Rust value into the pieces of a parameter, [`SliceArg`] and [`SliceMutArg`] let a slice be a `Vec`, an array or
//! a [`Buffer`] too, and [`TaskValue`] reads and writes plain data as it lies in a task's memory.

use crate::{
    args::{ErasedArg, ErasedCall, MemoryArg},
    buffer::{Buffer, Pod},
    device::{Device, Loaded},
    error::RunError,
    report::RunReport,
};
use millstream_graph::{ir::TaskId, levelized::Levelized};
use std::{
    cmp::Ordering,
    fmt,
    sync::{Arc, atomic},
};

/// A call of a task, to be run by [`Device::run`]: the task, its arguments and the type of its result.
///
/// The functions that make calls are written by the attribute macro: `fib::call::fib(30)`.
#[must_use = "a call does nothing until a device runs it"]
pub struct Call<'a, R> {
    program: Arc<Levelized>,
    task: &'static str,
    call: ErasedCall<'a>,
    size: usize,
    read: fn(&[u8]) -> R,
}

impl<'a, R: TaskValue> Call<'a, R> {
    /// A call of the task of that name, with an argument for each piece of its parameters. They are checked when it is run.
    pub fn new(program: Arc<Levelized>, task: &'static str, args: Vec<ErasedArg<'a>>) -> Self {
        Self {
            program,
            task,
            call: ErasedCall::new(args),
            size: R::SIZE,
            read: R::read,
        }
    }
}

impl<R> Call<'_, R> {
    /// The task's name.
    #[must_use]
    pub const fn task(&self) -> &'static str {
        self.task
    }

    /// The program it is a task of.
    #[must_use]
    pub const fn program(&self) -> &Arc<Levelized> {
        &self.program
    }

    /// The task; it is checked that the program has it and that it returns what the call reads.
    fn resolve(&self) -> Result<TaskId, RunError> {
        let lowered = &self.program.program;
        let id = self.program.find(self.task).ok_or_else(|| {
            RunError::BadArguments(format!(
                "the program `{}` has no task `{}`",
                lowered.name, self.task
            ))
        })?;
        let returned = lowered[self.program.func(id)]
            .ret
            .layout(&lowered.structs)
            .size;
        if returned == self.size as u64 {
            return Ok(id);
        }
        Err(RunError::BadArguments(format!(
            "task `{}` returns {returned} bytes, and the call reads {}",
            self.task, self.size
        )))
    }
}

impl<R> fmt::Debug for Call<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("task", &self.task)
            .field("args", &self.call.args)
            .finish_non_exhaustive()
    }
}

impl Device {
    /// Runs a call and waits for its result. The program is compiled for this device first, unless it is loaded already.
    ///
    /// # Errors
    /// If the program fails, its channels would outgrow the memory budget, or the run is cancelled: see [`RunError`].
    pub fn run<R>(&self, call: Call<'_, R>) -> Result<R, RunError> {
        self.run_told(call, false).map(|(result, _)| result)
    }

    /// Runs a call, and says what the run did.
    ///
    /// # Errors
    /// As [`Device::run`].
    pub fn run_with_report<R>(&self, call: Call<'_, R>) -> Result<(R, RunReport), RunError> {
        let (result, report) = self.run_told(call, true)?;
        Ok((result, report.unwrap_or_default()))
    }

    fn run_told<R>(
        &self,
        call: Call<'_, R>,
        told: bool,
    ) -> Result<(R, Option<RunReport>), RunError> {
        let task = call.resolve()?;
        let loaded = self.load(&call.program)?;
        let mut calls = [call.call];
        let report = self.launch_told(&loaded, task, &mut calls, told)?;
        Ok(((call.read)(&calls[0].result), report))
    }

    /// Runs many independent calls of one task in one run. The results come in the order of the calls.
    ///
    /// # Errors
    /// As [`Device::run`]; and if the calls are not all of one task.
    pub fn run_all<'a, R>(
        &self,
        calls: impl IntoIterator<Item = Call<'a, R>>,
    ) -> Result<Vec<R>, RunError> {
        self.run_all_told(calls, false).map(|(results, _)| results)
    }

    /// Runs many independent calls of one task in one run, and says what the run did.
    ///
    /// # Errors
    /// As [`Device::run_all`].
    pub fn run_all_with_report<'a, R>(
        &self,
        calls: impl IntoIterator<Item = Call<'a, R>>,
    ) -> Result<(Vec<R>, RunReport), RunError> {
        let (results, report) = self.run_all_told(calls, true)?;
        Ok((results, report.unwrap_or_default()))
    }

    fn run_all_told<'a, R>(
        &self,
        calls: impl IntoIterator<Item = Call<'a, R>>,
        told: bool,
    ) -> Result<(Vec<R>, Option<RunReport>), RunError> {
        let mut calls = calls.into_iter();
        let Some(first) = calls.next() else {
            return Ok((Vec::new(), None));
        };
        let task = first.resolve()?;
        let loaded: Loaded = self.load(&first.program)?;
        let (name, read) = (first.task, first.read);
        let mut erased = vec![first.call];
        for call in calls {
            if call.task != name || !Arc::ptr_eq(&call.program, loaded.program()) {
                let (a, b) = (name, call.task);
                return Err(RunError::BadArguments(format!(
                    "the calls of one run are all of one task, and these are of `{a}` and `{b}`"
                )));
            }
            erased.push(call.call);
        }
        let report = self.launch_told(&loaded, task, &mut erased, told)?;
        Ok((
            erased.iter().map(|call| read(&call.result)).collect(),
            report,
        ))
    }
}

/// What a slice or a reference of a task may point at: plain data, which a task writes through `&mut`, and atomics, which it writes
/// through `&`.
///
/// # Safety
/// Its memory is what the task language lays out for it, and `SHARED_WRITES` is true if a shared reference to it can be written through.
pub unsafe trait Lendable: Sync + 'static {
    /// Whether tasks write to it through a shared reference.
    const SHARED_WRITES: bool;
}

// SAFETY: plain data has the task language's layout, and only `&mut` writes to it.
unsafe impl<T: Pod> Lendable for T {
    const SHARED_WRITES: bool = false;
}

/// Memory that a `&[T]` of the caller stands for.
const fn shared<T: Lendable>(values: &[T]) -> MemoryArg<'_> {
    // SAFETY: the memory is borrowed for the argument's lifetime and holds elements, which are `Sync`. If it is said to be mutable, they
    // are atomics, and whoever else has them reaches them by atomic operations alone.
    unsafe {
        MemoryArg::raw(
            values.as_ptr().cast::<u8>().cast_mut(),
            size_of_val(values),
            T::SHARED_WRITES,
        )
    }
}

/// Plain data as it lies in the memory of tasks: what a task returns, and what is passed by value.
pub trait TaskValue: Copy {
    /// Bytes it takes, a multiple of `ALIGN`.
    const SIZE: usize;
    /// Its alignment in bytes.
    const ALIGN: usize;

    /// The value in these bytes.
    fn read(memory: &[u8]) -> Self;

    /// Writes the value to these bytes. Padding stays as it was.
    fn write(&self, memory: &mut [u8]);
}

/// The value that memory of zeros is: what stands in the place of data that are not there.
#[must_use]
pub fn zeroed<T: TaskValue>() -> T {
    T::read(&vec![0; T::SIZE])
}

/// A value that can be passed to a task for a parameter of its type.
pub trait Arg<'a>: Sized {
    /// Appends the pieces of the parameter.
    fn push(self, args: &mut Vec<ErasedArg<'a>>);
}

/// Where the fields of a struct or tuple lie: one behind another, each aligned, as in C.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    size: usize,
    align: usize,
}

impl Record {
    /// No field yet.
    pub const EMPTY: Self = Self { size: 0, align: 1 };

    /// With one more field.
    #[must_use]
    pub const fn and<T: TaskValue>(self) -> Self {
        let align = if self.align > T::ALIGN {
            self.align
        } else {
            T::ALIGN
        };
        Self {
            size: self.size.next_multiple_of(T::ALIGN) + T::SIZE,
            align,
        }
    }

    /// Size of the whole.
    #[must_use]
    pub const fn size(self) -> usize {
        self.size.next_multiple_of(self.align)
    }

    /// Alignment of the whole.
    #[must_use]
    pub const fn align(self) -> usize {
        self.align
    }

    /// The next field's place; the record grows by it.
    fn place<T: TaskValue>(&mut self) -> std::ops::Range<usize> {
        *self = self.and::<T>();
        self.size - T::SIZE..self.size
    }

    /// Reads the next field.
    pub fn read<T: TaskValue>(&mut self, memory: &[u8]) -> T {
        T::read(&memory[self.place::<T>()])
    }

    /// Writes the next field.
    pub fn write<T: TaskValue>(&mut self, field: &T, memory: &mut [u8]) {
        field.write(&mut memory[self.place::<T>()]);
    }
}

macro_rules! scalars {
    ($($ty:ty: $bits:expr;)*) => {$(
        impl TaskValue for $ty {
            const SIZE: usize = size_of::<$ty>();
            const ALIGN: usize = align_of::<$ty>();

            fn read(memory: &[u8]) -> Self {
                let mut bytes = [0; size_of::<$ty>()];
                bytes.copy_from_slice(memory);
                Self::from_ne_bytes(bytes)
            }

            fn write(&self, memory: &mut [u8]) {
                memory.copy_from_slice(&self.to_ne_bytes());
            }
        }

        impl<'a> Arg<'a> for $ty {
            fn push(self, args: &mut Vec<ErasedArg<'a>>) {
                let bits: fn(Self) -> u64 = $bits;
                args.push(ErasedArg::Scalar(bits(self)));
            }
        }
    )*};
}

scalars! {
    i8: |x| u64::from(x as u8);
    i16: |x| u64::from(x as u16);
    i32: |x| u64::from(x as u32);
    i64: |x| x as u64;
    isize: |x| x as u64;
    u8: u64::from;
    u16: u64::from;
    u32: u64::from;
    u64: |x| x;
    usize: |x| x as u64;
    f32: |x| u64::from(x.to_bits());
    f64: f64::to_bits;
}

impl TaskValue for bool {
    const SIZE: usize = 1;
    const ALIGN: usize = 1;

    fn read(memory: &[u8]) -> Self {
        memory[0] != 0
    }

    fn write(&self, memory: &mut [u8]) {
        memory[0] = u8::from(*self);
    }
}

impl<'a> Arg<'a> for bool {
    fn push(self, args: &mut Vec<ErasedArg<'a>>) {
        args.push(ErasedArg::Scalar(u64::from(self)));
    }
}

impl<T: TaskValue, const N: usize> TaskValue for [T; N] {
    const SIZE: usize = T::SIZE * N;
    const ALIGN: usize = T::ALIGN;

    fn read(memory: &[u8]) -> Self {
        std::array::from_fn(|i| T::read(&memory[i * T::SIZE..][..T::SIZE]))
    }

    fn write(&self, memory: &mut [u8]) {
        for (i, value) in self.iter().enumerate() {
            value.write(&mut memory[i * T::SIZE..][..T::SIZE]);
        }
    }
}

impl<'a, T: TaskValue, const N: usize> Arg<'a> for [T; N] {
    fn push(self, args: &mut Vec<ErasedArg<'a>>) {
        if Self::SIZE > 0 {
            let mut bytes = vec![0; Self::SIZE];
            self.write(&mut bytes);
            args.push(ErasedArg::Blob(bytes));
        }
    }
}

/// Whether there is a value, and the value, all zeros where there is none.
impl<T: TaskValue> TaskValue for Option<T> {
    const SIZE: usize = Record::EMPTY.and::<bool>().and::<T>().size();
    const ALIGN: usize = Record::EMPTY.and::<bool>().and::<T>().align();

    fn read(memory: &[u8]) -> Self {
        let mut at = Record::EMPTY;
        at.read::<bool>(memory).then(|| at.read(memory))
    }

    fn write(&self, memory: &mut [u8]) {
        let mut at = Record::EMPTY;
        at.write(&self.is_some(), memory);
        match self {
            Some(value) => at.write(value, memory),
            None => memory[at.place::<T>()].fill(0),
        }
    }
}

impl<'a, T: TaskValue + Arg<'a>> Arg<'a> for Option<T> {
    fn push(self, args: &mut Vec<ErasedArg<'a>>) {
        self.is_some().push(args);
        self.unwrap_or_else(zeroed).push(args);
    }
}

/// Whether it is `Ok`, the value, and the error, of which the one that is not there is all zeros.
impl<T: TaskValue, E: TaskValue> TaskValue for Result<T, E> {
    const SIZE: usize = Record::EMPTY.and::<bool>().and::<T>().and::<E>().size();
    const ALIGN: usize = Record::EMPTY.and::<bool>().and::<T>().and::<E>().align();

    fn read(memory: &[u8]) -> Self {
        let mut at = Record::EMPTY;
        let (is_ok, ok): (bool, T) = (at.read(memory), at.read(memory));
        if is_ok { Ok(ok) } else { Err(at.read(memory)) }
    }

    fn write(&self, memory: &mut [u8]) {
        let mut at = Record::EMPTY;
        at.write(&self.is_ok(), memory);
        at.write(&self.unwrap_or_else(|_| zeroed()), memory);
        at.write(&self.err().unwrap_or_else(zeroed), memory);
    }
}

impl<'a, T: TaskValue + Arg<'a>, E: TaskValue + Arg<'a>> Arg<'a> for Result<T, E> {
    fn push(self, args: &mut Vec<ErasedArg<'a>>) {
        self.is_ok().push(args);
        self.unwrap_or_else(|_| zeroed()).push(args);
        self.err().unwrap_or_else(zeroed).push(args);
    }
}

/// As it lies in memory: a byte.
impl TaskValue for Ordering {
    const SIZE: usize = i8::SIZE;
    const ALIGN: usize = i8::ALIGN;

    fn read(memory: &[u8]) -> Self {
        i8::read(memory).cmp(&0)
    }

    fn write(&self, memory: &mut [u8]) {
        (*self as i8).write(memory);
    }
}

impl<'a> Arg<'a> for Ordering {
    fn push(self, args: &mut Vec<ErasedArg<'a>>) {
        (self as i8).push(args);
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        #[allow(
            non_snake_case,
            unused_variables,
            unused_mut,
            clippy::unused_unit,
            reason = "names of types are names of values here, and there may be none"
        )]
        impl<$($name: TaskValue),*> TaskValue for ($($name,)*) {
            const SIZE: usize = Record::EMPTY$(.and::<$name>())*.size();
            const ALIGN: usize = Record::EMPTY$(.and::<$name>())*.align();

            fn read(memory: &[u8]) -> Self {
                let mut at = Record::EMPTY;
                ($(at.read::<$name>(memory),)*)
            }

            fn write(&self, memory: &mut [u8]) {
                let mut at = Record::EMPTY;
                let ($($name,)*) = self;
                $(at.write($name, memory);)*
            }
        }

        #[allow(
            non_snake_case,
            unused_variables,
            reason = "names of types are names of values here, and there may be none"
        )]
        impl<'a, $($name: Arg<'a>),*> Arg<'a> for ($($name,)*) {
            fn push(self, args: &mut Vec<ErasedArg<'a>>) {
                let ($($name,)*) = self;
                $($name.push(args);)*
            }
        }
    )*};
}

tuples! {
    ()
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
    (A B C D E F G H I)
    (A B C D E F G H I J)
    (A B C D E F G H I J K)
    (A B C D E F G H I J K L)
}

impl<'a, T: Lendable> Arg<'a> for &'a T {
    fn push(self, args: &mut Vec<ErasedArg<'a>>) {
        args.push(ErasedArg::Memory(shared(std::slice::from_ref(self))));
    }
}

impl<'a, T: Pod> Arg<'a> for &'a mut T {
    fn push(self, args: &mut Vec<ErasedArg<'a>>) {
        args.push(ErasedArg::Memory(MemoryArg::exclusive(
            std::slice::from_mut(self),
        )));
    }
}

impl<'a, T: Lendable> Arg<'a> for &'a [T] {
    fn push(self, args: &mut Vec<ErasedArg<'a>>) {
        push_slice(self.slice(), args);
    }
}

impl<'a, T: Pod> Arg<'a> for &'a mut [T] {
    fn push(self, args: &mut Vec<ErasedArg<'a>>) {
        push_slice(self.slice_mut(), args);
    }
}

/// Appends the pieces of a slice: its memory and its length.
pub fn push_slice<'a>((memory, len): (MemoryArg<'a>, usize), args: &mut Vec<ErasedArg<'a>>) {
    args.push(ErasedArg::Memory(memory));
    args.push(ErasedArg::Scalar(len as u64));
}

/// What can be passed for a `&[T]`: slices, arrays, vectors and buffers; for a slice of atomics also `&mut` memory of their integers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a `&[{T}]`",
    label = "pass a `&[{T}]`, `&Vec<{T}>`, `&[{T}; N]` or `&Buffer<{T}>`"
)]
pub trait SliceArg<'a, T> {
    /// Its memory and how many values lie there.
    fn slice(self) -> (MemoryArg<'a>, usize);
}

/// What can be passed for a `&mut [T]`: slices, arrays, vectors and buffers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a `&mut [{T}]`",
    label = "pass a `&mut [{T}]`, `&mut Vec<{T}>`, `&mut [{T}; N]` or `&mut Buffer<{T}>`"
)]
pub trait SliceMutArg<'a, T> {
    /// Its memory and how many values lie there.
    fn slice_mut(self) -> (MemoryArg<'a>, usize);
}

impl<'a, T: Lendable> SliceArg<'a, T> for &'a [T] {
    fn slice(self) -> (MemoryArg<'a>, usize) {
        (shared(self), self.len())
    }
}

impl<'a, T: Lendable> SliceArg<'a, T> for &'a Vec<T> {
    fn slice(self) -> (MemoryArg<'a>, usize) {
        self.as_slice().slice()
    }
}

impl<'a, T: Lendable, const N: usize> SliceArg<'a, T> for &'a [T; N] {
    fn slice(self) -> (MemoryArg<'a>, usize) {
        self.as_slice().slice()
    }
}

impl<'a, T: Pod> SliceArg<'a, T> for &'a Buffer<T> {
    fn slice(self) -> (MemoryArg<'a>, usize) {
        (MemoryArg::buffer(self), self.len())
    }
}

impl<'a, T: Pod> SliceMutArg<'a, T> for &'a mut [T] {
    fn slice_mut(self) -> (MemoryArg<'a>, usize) {
        let len = self.len();
        (MemoryArg::exclusive(self), len)
    }
}

impl<'a, T: Pod> SliceMutArg<'a, T> for &'a mut Vec<T> {
    fn slice_mut(self) -> (MemoryArg<'a>, usize) {
        self.as_mut_slice().slice_mut()
    }
}

impl<'a, T: Pod, const N: usize> SliceMutArg<'a, T> for &'a mut [T; N] {
    fn slice_mut(self) -> (MemoryArg<'a>, usize) {
        self.as_mut_slice().slice_mut()
    }
}

impl<'a, T: Pod> SliceMutArg<'a, T> for &'a mut Buffer<T> {
    fn slice_mut(self) -> (MemoryArg<'a>, usize) {
        let len = self.len();
        (MemoryArg::buffer_mut(self), len)
    }
}

macro_rules! atomics {
    ($($atomic:ident $plain:ty;)*) => {$(
        // SAFETY: an atomic has the size and alignment of its integer (of 64 bits too, on hosts with 64-bit addresses).
        unsafe impl Lendable for atomic::$atomic {
            const SHARED_WRITES: bool = true;
        }

        // SAFETY: as above, one behind another.
        unsafe impl<const N: usize> Lendable for [atomic::$atomic; N] {
            const SHARED_WRITES: bool = true;
        }

        impl<'a> SliceArg<'a, atomic::$atomic> for &'a mut [$plain] {
            fn slice(self) -> (MemoryArg<'a>, usize) {
                self.slice_mut()
            }
        }

        impl<'a> SliceArg<'a, atomic::$atomic> for &'a mut Vec<$plain> {
            fn slice(self) -> (MemoryArg<'a>, usize) {
                self.slice_mut()
            }
        }

        impl<'a> SliceArg<'a, atomic::$atomic> for &'a mut Buffer<$plain> {
            fn slice(self) -> (MemoryArg<'a>, usize) {
                self.slice_mut()
            }
        }
    )*};
}

atomics! {
    AtomicBool bool;
    AtomicI8 i8;
    AtomicI16 i16;
    AtomicI32 i32;
    AtomicI64 i64;
    AtomicIsize isize;
    AtomicU8 u8;
    AtomicU16 u16;
    AtomicU32 u32;
    AtomicU64 u64;
    AtomicUsize usize;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image<T: TaskValue>(value: T) -> Vec<u8> {
        let mut bytes = vec![0xaa; T::SIZE];
        value.write(&mut bytes);
        bytes
    }

    #[test]
    fn values_lie_as_in_c() {
        type Mixed = (u8, u32, bool, f64);
        assert_eq!((Mixed::SIZE, Mixed::ALIGN), (24, 8));
        let bytes = image::<Mixed>((7, 0x0102_0304, true, -1.5));
        assert_eq!(bytes[..9], [7, 0xaa, 0xaa, 0xaa, 4, 3, 2, 1, 1]);
        assert_eq!(Mixed::read(&bytes), (7, 0x0102_0304, true, -1.5));
        assert_eq!((<()>::SIZE, <()>::ALIGN), (0, 1));
        assert_eq!(<[(u16, u8); 3]>::SIZE, 12);
        let rows = [(1u16, 2u8), (3, 4), (5, 6)];
        assert_eq!(<[(u16, u8); 3]>::read(&image(rows)), rows);
        assert_eq!(i32::read(&image(-5i32)), -5);
        let (some, none) = (image(Some(7u16)), image(None::<u16>));
        assert_eq!(
            (&some[..], &none[..]),
            (&[1, 0xaa, 7, 0][..], &[0, 0xaa, 0, 0][..])
        );
        assert_eq!(
            (Option::<u16>::read(&some), Option::<u16>::read(&none)),
            (Some(7), None)
        );
    }

    #[test]
    fn pieces_are_bits_and_bytes() {
        let mut args = Vec::new();
        (-1i8, (true, 1.0f32), [1u16, 2], [0u64; 0]).push(&mut args);
        let [
            ErasedArg::Scalar(0xff),
            ErasedArg::Scalar(1),
            ErasedArg::Scalar(one),
            ErasedArg::Blob(bytes),
        ] = &args[..]
        else {
            panic!("{args:?}")
        };
        assert_eq!((*one, &bytes[..]), (0x3f80_0000, &[1, 0, 2, 0][..]));
        args.clear();
        (Some(9u8), None::<i64>).push(&mut args);
        let pushed = args.iter().map(|arg| match arg {
            ErasedArg::Scalar(bits) => *bits,
            other => panic!("{other:?}"),
        });
        assert_eq!(pushed.collect::<Vec<_>>(), [1, 9, 0, 0]);
    }
}
