//! Kernels as the attribute macro leaves them in a binary: a name, a program, and the types of what a graph connects to them.
//!
//! A list of types is a pair of its first and the others, `()` if it is empty: `(A, (B, ()))`.

use crate::{Arg, Lendable, MatArg, Program, SliceArg, TaskValue};
use millstream_aggregator::ErasedArg;
use std::{fmt, marker::PhantomData};

/// A `#[kernel]` of a program: what it consumes, the elements of its ports, and what its other parameters are.
///
/// The attribute macro makes one for each kernel: `fib::kernel::fib`.
pub struct Kernel<E, Ports = (), Params = ()> {
    program: fn() -> &'static Program,
    name: &'static str,
    types: PhantomData<fn(E, Ports, Params)>,
}

impl<E, Ports, Params> Kernel<E, Ports, Params> {
    /// The kernel of that name of a program, which has these types there.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(program: fn() -> &'static Program, name: &'static str) -> Self {
        Self {
            program,
            name,
            types: PhantomData,
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The program that it is of.
    #[must_use]
    pub fn program(&self) -> &'static Program {
        (self.program)()
    }
}

impl<E, Ports, Params> Clone for Kernel<E, Ports, Params> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E, Ports, Params> Copy for Kernel<E, Ports, Params> {}

impl<E, Ports, Params> fmt::Debug for Kernel<E, Ports, Params> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(&self.name).finish()
    }
}

/// A kernel's parameter of type `T`, which is given by value.
#[derive(Debug)]
pub struct ByValue<T>(PhantomData<fn(T)>);

/// A kernel's parameter of type `&T`.
#[derive(Debug)]
pub struct ByRef<T>(PhantomData<fn(T)>);

/// A kernel's parameter of type `&[T]`.
#[derive(Debug)]
pub struct BySlice<T>(PhantomData<fn(T)>);

/// A kernel's parameter of type `Mat<T>`.
#[derive(Debug)]
pub struct ByMat<T>(PhantomData<fn(T)>);

/// The ports that a kernel has left, the first of which emits elements of type `T`.
#[diagnostic::on_unimplemented(
    message = "the kernel has no port here that emits `{T}`",
    label = "the ports that are left emit `{Self}`",
    note = "`produces` connects the kernel's `Channel` parameters in their order"
)]
pub trait NextPort<T> {
    /// The others.
    type Rest;
}

impl<T, Rest> NextPort<T> for (T, Rest) {
    type Rest = Rest;
}

/// The parameters that a kernel has left, the first of which can be given a `V`.
#[diagnostic::on_unimplemented(
    message = "the kernel has no parameter here that takes a `{V}`",
    label = "the parameters that are left are `{Self}`",
    note = "`arg` gives the kernel's parameters, besides its element and its channels, in their order"
)]
pub trait NextParam<'a, V> {
    /// The others.
    type Rest;
    /// Appends the pieces of the parameter.
    fn push(value: V, args: &mut Vec<ErasedArg<'a>>);
}

impl<'a, T: TaskValue + Arg<'a>, Rest> NextParam<'a, T> for (ByValue<T>, Rest) {
    type Rest = Rest;
    fn push(value: T, args: &mut Vec<ErasedArg<'a>>) {
        value.push(args);
    }
}

impl<'a, T: Lendable, Rest> NextParam<'a, &'a T> for (ByRef<T>, Rest) {
    type Rest = Rest;
    fn push(value: &'a T, args: &mut Vec<ErasedArg<'a>>) {
        value.push(args);
    }
}

impl<'a, T, V: SliceArg<'a, T>, Rest> NextParam<'a, V> for (BySlice<T>, Rest) {
    type Rest = Rest;
    fn push(value: V, args: &mut Vec<ErasedArg<'a>>) {
        millstream_aggregator::push_slice(value.slice(), args);
    }
}

impl<'a, T, V: MatArg<'a, T>, Rest> NextParam<'a, V> for (ByMat<T>, Rest) {
    type Rest = Rest;
    fn push(value: V, args: &mut Vec<ErasedArg<'a>>) {
        value.push_mat(args);
    }
}
