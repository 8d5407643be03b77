// check(7)
// `unreachable!` that is reached.

#[millstream::program]
pub mod program {
    #[task]
    pub fn check(n: u32) -> u32 {
        match n {
            0 => 1,
            _ => unreachable!(),
        }
    }
}

//~ panic: unreachable!(), in `check` at corpus/fault/unreachable_code.rs:10:18
