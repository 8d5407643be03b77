//! Blocks of traits for types that have none, twice for one type, or without what the trait asks for.
#[millstream::program]
pub mod program {
    trait Need {
        type Item;
        fn need(&self) -> u32;
    }

    trait Into2<T> {
        fn into2(self) -> T;
    }

    struct S;

    impl Need for S {
        type Item = u32;
        fn need(&self) -> u32 {
            1
        }
    }

    impl Need for S {
        type Item = u32;
        fn need(&self) -> u32 {
            2
        }
    }

    impl Need for [u32] {
        type Item = u32;
        fn need(&self) -> u32 {
            1
        }
    }

    impl Need for &S {
        type Item = u32;
        fn need(&self) -> u32 {
            1
        }
    }

    impl Need for u32 {
        fn more(&self) -> u32 {
            1
        }
    }

    impl Into2 for u32 {
        fn into2(self) -> u32 {
            1
        }
    }

    impl Need for Unknown {
        type Item = u32;
        fn need(&self) -> u32 {
            1
        }
    }

    impl Need for Mat<u32> {
        type Item = u32;
        fn need(&self) -> u32 {
            1
        }
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        n
    }
}

//~ 22:19: the trait `Need` is there for `S` already
//~   help: leave out one of the blocks
//~ 29:19: an `impl` block for references or slices is not part of the task language
//~   help: write it for what they refer to, or a function that takes them; there are operators of references, `impl Add for &Point`
//~ 36:19: an `impl` block for references or slices is not part of the task language
//~   help: write it for what they refer to, or a function that takes them; there are operators of references, `impl Add for &Point`
//~ 43:19: this `impl` for `u32` lacks `Item`
//~   note: 5:14: the trait asks for it
//~   help: write it here, or let the trait say what it is for all
//~ 43:19: this `impl` for `u32` lacks `need`
//~   note: 6:12: the trait asks for it
//~   help: write it here, or let the trait say what it is for all
//~ 44:12: the trait `Need` has no `more`
//~   help: write it in an `impl` block of the type's own
//~ 49:10: `Into2` needs its parameters here
//~ 55:19: there is no type `Unknown` in this program
//~   help: define it as a struct in this module
//~ 62:19: there are no traits for `Mat<u32>`
//~   help: write a function that takes the value
