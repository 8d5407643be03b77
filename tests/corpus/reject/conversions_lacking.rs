//! A block of `From` that says nothing.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    pub struct P(i64);
    impl From<i32> for P {}

    #[task]
    pub fn run(p: P) -> i64 {
        p.0
    }
}

//~ 7:24: this `impl` for `P` lacks `from`
//~   help: write it here
