//! Why compiled code stopped: the value of [`WorkerContext::status`](crate::cpu::abi::WorkerContext::status) and
//! [`Control::status`](crate::cuda::abi::Control::status). `site` and `values` beside it say more.

/// It did not stop.
pub const OK: u32 = 0;
/// A check failed: `site` is its number, `values` what its message names.
pub const FAULT: u32 = 1;
/// A channel stack is full, on a CPU one whose pushes cannot be counted beforehand: `site` is the stack's number.
pub const CHANNEL_FULL: u32 = 2;
/// A recursive helper used up the thread's stack: `site` is the number of the helper's function.
pub const STACK_OVERFLOW: u32 = 3;
/// The run was cancelled.
pub const CANCELLED: u32 = 4;
/// A thread or a block of a GPU has been at one dispatch for longer than [`Control::watchdog`](crate::cuda::abi::Control::watchdog).
pub const WATCHDOG: u32 = 5;
/// There are more levels than a GPU's table of boundaries has room for.
pub const LEVELS_FULL: u32 = 6;
