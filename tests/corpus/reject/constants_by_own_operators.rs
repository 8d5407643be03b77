//! A constant by an operator of the program, which is no `const fn`.

#[millstream::program]
mod constants {
    #[derive(Clone, Copy)]
    struct Metres(f32);

    impl std::ops::Add for Metres {
        type Output = Metres;
        fn add(self, other: Metres) -> Metres {
            Metres(self.0 + other.0)
        }
    }

    const LENGTH: Metres = Metres(1.0 + 2.0) + Metres(0.5);

    #[task]
    fn length() -> f32 {
        LENGTH.0
    }
}

//~ 15:28: a constant calls only what is `const`
//~   help: write `const fn`, or write the value out
