//! What the race check is made of: see the module `rust::race` of `millstream_cilk_lower`. The command shows rustc this file as it is, so it
//! stands alone.

use std::{cell::Cell, marker::PhantomData};

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
