//! What compiled segments and the worker that runs them share.
//!
//! A worker owns private channel stacks: nothing here is shared between threads, so no field is atomic. Compiled code takes a run
//! of elements, and for each executes the segment's body: it pushes entry elements, frames and continuations on the worker's stacks
//! (`top` grows) and writes results through return addresses. `README.md` beside this file has the rules.

pub use crate::status;

use std::ffi::c_void;

/// The state of one private channel stack.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StackState {
    /// Elements on the stack: the next one pushed gets this number.
    pub top: u64,
    /// `top` may grow up to this number of elements during this dispatch.
    pub limit: u64,
    /// Of a stack of entries: children that ended where they were spawned, so that no element was pushed. Compiled code adds to it.
    pub leaves: u64,
}

/// Asks the worker for a greater limit of a stack whose pushes cannot be counted, where `top` came to the limit that it has. Gives the new
/// limit, which is no greater than `top` if there is no more memory. The run ends with the element that asked.
pub type MoreFn = unsafe extern "C" fn(ctx: *mut WorkerContext, stack: u32, top: u64) -> u64;

/// What a worker hands to compiled code.
#[repr(C)]
#[derive(Debug)]
pub struct WorkerContext {
    /// One of [`status`].
    pub status: u32,
    /// Which check, stack or function `status` speaks of.
    pub site: u32,
    /// Values of a failed check.
    pub values: [u64; 2],
    /// Lowest address of the thread's stack that a recursive helper may use.
    pub stack_limit: u64,
    /// The stacks, numbered as in [`Layouts`](crate::layout::Layouts).
    pub stacks: *mut StackState,
    /// Base address of each field's array, numbered over all stacks.
    pub fields: *const *mut u8,
    /// An `AtomicU32`: not 0 when the run is to end. Read (relaxed) at the back edges of loops.
    /// Pairs with the store of `Run::cancel` and of a worker that failed; it only hastens the end, so no order is needed.
    pub cancel: *const u32,
    /// Of a graph: the bits of each uniform, of a blob its address.
    pub uniforms: *const u64,
    /// Called where a stack whose pushes cannot be counted is at its limit.
    pub more: MoreFn,
    /// Which stack is to grow, its top, and then what `more` said: compiled code's own.
    pub growing: u32,
    /// See `growing`.
    pub granted: u64,
    /// The worker's own, for `more`.
    pub owner: *mut c_void,
}

/// Compiled code of an entry segment: runs elements `first` up to `first + count - 1` of the task's entry stack and returns how many it
/// consumed, from the first one up, so that siblings run in order. It consumes fewer than `count` where the next element might not find
/// room in a stack whose pushes are counted, where an element asked for more room than was meant for the run, or where `status` is no
/// longer [`status::OK`].
pub type EntryFn = unsafe extern "C" fn(ctx: *mut WorkerContext, first: u64, count: u64) -> u64;

/// Compiled code of a continuation segment: the same for the `count` frame references at `frames`, which are not on a stack any more and
/// do not lie where this call may push: a sync in a loop pushes to the very stack that its segment consumes.
pub type ContinuationFn =
    unsafe extern "C" fn(ctx: *mut WorkerContext, frames: *const u32, count: u64) -> u64;
