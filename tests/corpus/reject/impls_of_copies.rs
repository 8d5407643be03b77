//! A `clone` that makes another value: values are copied as they are.

#[millstream::program]
pub mod program {
    struct Counted {
        value: u32,
        copies: u32,
    }

    impl Clone for Counted {
        fn clone(&self) -> Self {
            Self { value: self.value, copies: self.copies + 1 }
        }
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        let a = Counted { value: n, copies: 0 };
        a.clone().copies
    }
}

//~ 10:10: this `clone` is more than a copy
//~   help: end it with `*self`, or with the same fields, `Self { x: self.x, .. }`: values are copied as they are; write what makes another value as a function of its own
