//! Attributes that nobody knows.

#[millstream::program]
pub mod program {
    #[taks]
    pub fn run(n: u32) -> u32 {
        n
    }

    #[inline]
    #[must_use]
    fn helper(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn other(n: u32) -> u32 {
        helper(n)
    }
}

//~ 5:5: there is no attribute `#[taks]` of a function
//~   help: a task has `#[task]` in front of it, a kernel `#[kernel]`; a helper has neither
