//! Items that a program cannot have.

#[millstream::program]
pub mod program {
    static COUNTER: u32 = 0;

    trait Area {
        fn area(&self) -> f32;
    }

    struct Square(f32);

    impl Area for Square {
        fn area(&self) -> f32 {
            self.0 * self.0
        }
    }

    mod inner {}

    macro_rules! twice {
        ($e:expr) => {
            $e + $e
        };
    }

    #[task]
    pub fn run() {}
}

//~ 5:5: a static is not part of the task language
//~   help: use a `const`, or pass a buffer as an argument
//~ 7:5: a trait is not part of the task language
//~   help: write the functions it would have for the types you use
//~ 13:10: an `impl` of this trait is not part of the task language
//~   help: there are those of `Default` and of operators, as `Add`; write other functions as the struct's own: `impl Name { .. }`
//~ 19:5: a module is not part of the task language
//~   help: a program is one module: move its items up
//~ 21:5: a macro is not part of the task language
//~   help: write out what it would expand to, or use a function
