//! What an `impl` block cannot have.

#[millstream::program]
pub mod program {
    struct Point {
        x: i32,
    }

    impl Point {
        const ZERO: Self = Self { x: 0 };
        type Number = i32;

        fn shift(&mut self, by: i32) {
            self.x += by;
        }
        fn shift(self) {}
        fn new() -> Self {
            Self { x: 0 }
        }

        #[task]
        fn run(self) {}
    }

    const FIRST: i32 = Point::new().x;

    impl Line {
        fn length(&self) -> u32 {
            0
        }
    }

    impl<T> Point {}

    impl [Point] {}

    #[task]
    pub fn run() {}
}

//~ 11:9: an `impl` block has functions and constants
//~   help: write this outside of it
//~ 16:12: the name `Point::shift` is defined more than once in this program
//~ 21:9: a method cannot be a task or kernel
//~   help: write a function outside of the `impl` block; it may call methods
//~ 25:24: a constant calls only what is `const`
//~   help: write `const fn`, or write the value out
//~ 27:10: there is no struct `Line` in this program
//~   help: an `impl` block belongs to a struct of this program
//~ 33:9: an `impl` with parameters of one of Rust's traits belongs to a struct that has parameters
//~   help: write one for each type that is meant, as `impl Mul<V<3>> for f32`, or a function with parameters
//~ 35:10: an `impl` block for references or slices is not part of the task language
//~   help: write it for what they refer to, or a function that takes them; there are operators of references, `impl Add for &Point`
