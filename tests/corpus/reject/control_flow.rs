//! `ControlFlow` and ranges where values lie in memory or go to the caller.

#[millstream::program]
pub mod program {
    use std::ops::{ControlFlow, Range};

    #[derive(Clone, Copy)]
    struct Ended {
        by: ControlFlow<u32, ()>,
    }

    #[task]
    pub fn ends(n: u32) -> ControlFlow<u32> {
        ControlFlow::Break(n)
    }

    #[task]
    pub fn parts(of: (Range<u32>, u32)) -> u32 {
        of.1
    }

    #[task]
    pub fn whole(n: u32) -> Range<u32> {
        0..n
    }

    #[kernel]
    pub fn each(of: Range<u32>) {}
}

//~ 9:13: a field cannot be a `ControlFlow`
//~   help: write a `Result` there, with what ends it as the error
//~ 13:9: a task or kernel cannot take or return a `ControlFlow`
//~   help: write a `Result` there, with what ends it as the error
//~ 18:9: a task cannot take ranges but by value, as they are or in structs
//~   help: give it the two ends
//~ 23:9: a task cannot return a range
//~   help: give it the two ends
//~ 28:9: a kernel cannot take a range
//~   help: give it the two ends
