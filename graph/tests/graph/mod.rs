//! The graph model, the IR, its text, its interpreter and its verifier.

mod drawing;
mod eval;
mod flow;
mod interp;
mod model;
mod text;
mod ty;
mod verify;

/// fib by hand: what spawns name, and the segments that it becomes.
const FIB: &str = "
    task fib(n: u32) -> u64 takes %0 { let %0: u32 b0: return 0u64 }
    segment entry() -> u64 takes %0, %1 {
        let %0 n: u32, %1 ret: ptr, %2: bool, %3: ptr, %4: u32
    b0:
        %2 = lt %0, 2u32
        branch %2 b1 b2
    b1:
        return 1u64
    b2:
        frame_alloc
        store %1 -> .2
        %3 = addr .0
        %4 = sub %0, 1u32
        spawn @fib(%4) -> %3 store
        %3 = addr .1
        spawn @fib(%4) -> %3 store
        continue s1
    }
    segment join() -> u64 {
        let %0: u64, %1: u64, %2: ptr
    b0:
        %0 = load .0
        %1 = load .1
        %0 = add %0, %1
        %2 = load .2
        return %0
    }";
