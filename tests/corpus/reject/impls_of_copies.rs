//! Traits that structs have by themselves.

#[millstream::program]
pub mod program {
    pub struct Number(u64);

    impl Clone for Number {
        fn clone(&self) -> Self {
            *self
        }
    }

    impl Copy for Number {}

    #[task]
    pub fn same(n: u64) -> u64 {
        let number = Number(n);
        let other = number;
        other.0 + number.0
    }
}

//~ 7:10: an `impl` of this trait is not part of the task language
//~   help: leave it out: structs are `Clone` and `Copy` by themselves
//~ 13:10: an `impl` of this trait is not part of the task language
//~   help: leave it out: structs are `Clone` and `Copy` by themselves
