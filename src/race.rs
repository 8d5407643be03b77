//! What the race check is made of: see the module `rust::race` of `millstream_cilk_lower`. The command shows rustc this file as it is, so it
//! stands alone.

use std::{cell::Cell, marker::PhantomData, ops::ControlFlow};

/// The children of a task since its last sync, and what they were lent: borrows for `'s`, which end when this is dropped.
///
/// It is invariant in `'s`, so that no borrow can be shortened, and has a `Drop` impl, so that rustc takes it to look at all of them
/// at its end. No program ever has a value of it: it is for the borrow checker alone.
#[derive(Debug)]
pub struct Children<'s> {
    lent: PhantomData<Cell<&'s ()>>,
}

impl<'s> Children<'s> {
    /// No child yet.
    #[expect(clippy::new_without_default, reason = "only the race check makes one")]
    #[must_use]
    pub const fn new() -> Self {
        Self { lent: PhantomData }
    }

    /// A child's result of this value will be written to this place.
    pub fn hold<T>(&self, _: &'s T, _: T) {}
}

impl Drop for Children<'_> {
    fn drop(&mut self) {}
}

/// What `?` may be behind: in the race check, a task that leaves there waits for its children, as it does at a `return`.
pub trait Tried: Sized {
    /// What it is where the task goes on.
    type Value;
    /// That, or what the task leaves with.
    ///
    /// # Errors
    /// The value itself, where `?` leaves.
    fn tried(self) -> Result<Self::Value, Self>;
}

impl<T> Tried for Option<T> {
    type Value = T;
    fn tried(self) -> Result<T, Self> {
        self.ok_or(None)
    }
}

impl<T, E> Tried for Result<T, E> {
    type Value = T;
    fn tried(self) -> Result<T, Self> {
        self.map_err(Err)
    }
}

impl<B, C> Tried for ControlFlow<B, C> {
    type Value = C;
    fn tried(self) -> Result<C, Self> {
        match self {
            Self::Continue(value) => Ok(value),
            Self::Break(value) => Err(Self::Break(value)),
        }
    }
}
