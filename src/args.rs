//! Matrices as arguments of calls.

use crate::{Arg, Buffer, Lendable, Mat, MatMut, Pod};
use millstream_aggregator::{ErasedArg, MemoryArg};

/// What a task takes whose memory Rust does not lay out as devices do: nothing is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to this task from outside",
    label = "Rust does not promise how this lies in memory",
    note = "use a struct or an array in the place of a tuple that is lent, and a `bool` or an enum without data beside the value in the place of an `Option` or another enum, or let a task of the program make it"
)]
pub trait LaidOut {}

/// What can be passed for a `Mat<T>`: views, and a buffer with its rows and columns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a `Mat<{T}>`",
    label = "pass a `Mat<{T}>` or `(&Buffer<{T}>, rows, cols)`"
)]
pub trait MatArg<'a, T> {
    /// Appends the pieces of the parameter.
    fn push_mat(self, args: &mut Vec<ErasedArg<'a>>);
}

/// What can be passed for a `MatMut<T>`: views, and a buffer with its rows and columns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a `MatMut<{T}>`",
    label = "pass a `MatMut<{T}>` or `(&mut Buffer<{T}>, rows, cols)`"
)]
pub trait MatMutArg<'a, T> {
    /// Appends the pieces of the parameter.
    fn push_mat_mut(self, args: &mut Vec<ErasedArg<'a>>);
}

fn push<'a>(memory: MemoryArg<'a>, shape: [usize; 3], args: &mut Vec<ErasedArg<'a>>) {
    args.push(ErasedArg::Memory(memory));
    args.extend(shape.map(|n| ErasedArg::Scalar(n as u64)));
}

impl<'a, T: Pod> MatArg<'a, T> for Mat<'a, T> {
    fn push_mat(self, args: &mut Vec<ErasedArg<'a>>) {
        let (data, elements, shape) = self.parts();
        // SAFETY: the view borrows the elements from its first to its last, which are plain data, for `'a`; they are only read.
        let memory = unsafe {
            MemoryArg::raw(
                data.cast(),
                elements * size_of::<T>(),
                <T as Lendable>::SHARED_WRITES,
            )
        };
        push(memory, shape, args);
    }
}

impl<'a, T: Pod> MatMutArg<'a, T> for MatMut<'a, T> {
    fn push_mat_mut(self, args: &mut Vec<ErasedArg<'a>>) {
        let (data, elements, shape) = self.parts();
        // SAFETY: the view has its elements, which are plain data, for itself for `'a`. What lies between its rows may be others', and a
        // task with a view of this shape does not touch it.
        let memory = unsafe { MemoryArg::raw(data.cast(), elements * size_of::<T>(), true) };
        push(memory, shape, args);
    }
}

impl<'a, T: Pod> MatArg<'a, T> for (&'a Buffer<T>, usize, usize) {
    /// Whether the buffer has as many elements is checked when the call is run.
    fn push_mat(self, args: &mut Vec<ErasedArg<'a>>) {
        push(MemoryArg::buffer(self.0), [self.1, self.2, self.2], args);
    }
}

impl<'a, T: Pod> MatMutArg<'a, T> for (&'a mut Buffer<T>, usize, usize) {
    /// Whether the buffer has as many elements is checked when the call is run.
    fn push_mat_mut(self, args: &mut Vec<ErasedArg<'a>>) {
        push(
            MemoryArg::buffer_mut(self.0),
            [self.1, self.2, self.2],
            args,
        );
    }
}

impl<'a, T: Pod> Arg<'a> for Mat<'a, T> {
    fn push(self, args: &mut Vec<ErasedArg<'a>>) {
        self.push_mat(args);
    }
}

impl<'a, T: Pod> Arg<'a> for MatMut<'a, T> {
    fn push(self, args: &mut Vec<ErasedArg<'a>>) {
        self.push_mat_mut(args);
    }
}
