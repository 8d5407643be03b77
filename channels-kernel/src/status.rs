//! Why compiled code stopped: the value of [`WorkerContext::status`](crate::cpu::abi::WorkerContext::status) and
//! [`Control::status`](crate::cuda::abi::Control::status). `site` and `values` beside it say more.

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal;)*) => {
        $($(#[doc = $doc])* pub const $name: u32 = $code;)*
        /// All of them, with their names, from 0 on: the CUDA device's header is made from it.
        pub const ALL: &[(&str, u32)] = &[$((stringify!($name), $name)),*];
    };
}

codes! {
    /// It did not stop.
    OK = 0;
    /// A check failed: `site` is its number, `values` what its message names.
    FAULT = 1;
    /// A channel stack is full, on a CPU one whose pushes cannot be counted beforehand: `site` is the stack's number.
    CHANNEL_FULL = 2;
    /// A recursive helper used up the thread's stack: `site` is the number of the helper's function.
    STACK_OVERFLOW = 3;
    /// The run was cancelled.
    CANCELLED = 4;
    /// A thread or a block of a GPU has been at one dispatch for longer than [`Control::watchdog`](crate::cuda::abi::Control::watchdog).
    WATCHDOG = 5;
    /// There are more levels than a GPU's table of boundaries has room for.
    LEVELS_FULL = 6;
}

// No two are the same, and memory that was zeroed says that nothing stopped.
const _: () = {
    let mut i = 0;
    while i < ALL.len() {
        assert!(ALL[i].1 == i as u32);
        i += 1;
    }
};
