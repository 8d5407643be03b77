//! Arguments of types of Rust's library that are others to tasks, or nothing.

use crate::{
    args::ErasedArg,
    call::{Arg, TaskValue},
};
use std::{
    marker::PhantomData,
    ops::{Range, RangeInclusive},
};

/// Nothing, as it is to tasks.
impl<T> TaskValue for PhantomData<T> {
    const SIZE: usize = 0;
    const ALIGN: usize = 1;

    fn read(_: &[u8]) -> Self {
        Self
    }

    fn write(&self, _: &mut [u8]) {}
}

impl<'a, T> Arg<'a> for PhantomData<T> {
    fn push(self, _: &mut Vec<ErasedArg<'a>>) {}
}

/// Its two ends.
impl<'a, T: Arg<'a>> Arg<'a> for Range<T> {
    fn push(self, args: &mut Vec<ErasedArg<'a>>) {
        self.start.push(args);
        self.end.push(args);
    }
}

impl<'a, T: Arg<'a>> Arg<'a> for RangeInclusive<T> {
    fn push(self, args: &mut Vec<ErasedArg<'a>>) {
        let (first, last) = self.into_inner();
        first.push(args);
        last.push(args);
    }
}
