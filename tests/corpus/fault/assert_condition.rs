// check(12)
// An assertion with a text of its own.

#[millstream::program]
pub mod program {
    #[task]
    pub fn check(n: u32) -> u32 {
        assert!(n < 10, "n is too large");
        n
    }
}

//~ assertion failed: n is too large, in `check` at corpus/fault/assert_condition.rs:8:9
