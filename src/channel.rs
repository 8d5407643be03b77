//! Channels as a program's serial elision has them: queues of one thread. The command shows rustc this file as it is.

use crate::TaskValue;
use std::{cell::RefCell, collections::VecDeque, fmt, rc::Rc};

/// A channel of elements, where a kernel runs as the ordinary function that it is: first in, first out, of any width.
///
/// Copies are the same channel. [`run`](Self::run) takes its elements, so that a graph of kernels is a loop:
///
/// ```
/// #[millstream::program]
/// mod fib {
///     pub struct FibObj {
///         pub n: u32,
///     }
///
///     #[kernel]
///     pub fn fib(src: FibObj, next: Channel<FibObj>, result: &AtomicU64) {
///         if src.n < 2 {
///             result.fetch_add(src.n as u64, Ordering::Relaxed);
///             return;
///         }
///         next.emit(FibObj { n: src.n - 1 });
///         next.emit(FibObj { n: src.n - 2 });
///     }
///
///     use std::sync::atomic::{AtomicU64, Ordering};
/// }
///
/// # use std::sync::atomic::AtomicU64;
/// let (calls, result) = (millstream::Channel::new(), AtomicU64::new(0));
/// calls.emit(fib::FibObj { n: 20 });
/// while calls.run(|src| fib::fib(src, calls.clone(), &result)) {}
/// assert_eq!(result.into_inner(), 6765);
/// ```
pub struct Channel<T>(Rc<RefCell<VecDeque<T>>>);

impl<T> Channel<T> {
    /// A channel without elements.
    #[must_use]
    pub fn new() -> Self {
        Self(Rc::default())
    }

    /// Puts an element in.
    pub fn emit(&self, element: T) {
        self.0.borrow_mut().push_back(element);
    }

    /// An element to be filled in and put in by [`enq`](Self::enq). All its bits are zero.
    #[must_use]
    pub fn talloc(&self) -> T
    where
        T: TaskValue,
    {
        T::read(&vec![0; T::SIZE])
    }

    /// Puts an element in: the same as [`emit`](Self::emit).
    pub fn enq(&self, element: T) {
        self.emit(element);
    }

    /// Runs a kernel on the elements that are there now, in order; says whether there was any.
    pub fn run<E: From<T>>(&self, mut kernel: impl FnMut(E)) -> bool {
        let elements = self.0.take();
        let any = !elements.is_empty();
        for element in elements {
            kernel(element.into());
        }
        any
    }
}

impl<T> Clone for Channel<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> Default for Channel<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for Channel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&*self.0.borrow()).finish()
    }
}

/// An element that a kernel takes from its channel by [`deq`](Self::deq) and gives back by [`tfree`](Self::tfree).
#[derive(Debug)]
pub struct Element<T>(T);

impl<T> From<T> for Element<T> {
    fn from(element: T) -> Self {
        Self(element)
    }
}

impl<T: Copy> Element<T> {
    /// The element.
    #[must_use]
    pub const fn deq(&self) -> T {
        self.0
    }

    /// Says that the kernel needs the element's place no more.
    pub fn tfree(self) {}
}
