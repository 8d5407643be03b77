//! Type parameters, of a function and of a struct.

#[millstream::program]
pub mod program {
    struct Pair<T> {
        a: T,
        b: T,
    }

    fn larger<T: PartialOrd>(a: T, b: T) -> T {
        if a > b { a } else { b }
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        larger(n, 3)
    }
}

//~ 5:16: the struct `Pair` has parameters
//~   help: structs of a program are plain data: write one struct for each type you need
//~ 10:15: the function `larger` has a type parameter
//~   help: write it for the types you use; lifetimes are fine
