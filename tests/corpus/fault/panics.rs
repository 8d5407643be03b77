// check(1)
// `panic!` with its text.

#[millstream::program]
pub mod program {
    #[task]
    pub fn check(n: u32) -> u32 {
        match n {
            0 => 1,
            1 => panic!("one is not allowed"),
            _ => unreachable!(),
        }
    }
}

//~ panic: one is not allowed, in `check` at corpus/fault/panics.rs:10:18
