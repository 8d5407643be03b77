//! What a number's type has by itself comes before what a trait gives it.
#[millstream::program]
pub mod program {
    trait Real {
        const MAX: Self;
        fn sqrt(self) -> Self;
        fn twice(self) -> Self;
        fn is_nan(self) -> bool {
            false
        }
    }

    impl Real for f32 {
        const MAX: f32 = 100.0;
        fn sqrt(self) -> f32 {
            self.sqrt()
        }
        fn twice(self) -> f32 {
            self + self
        }
    }

    trait Size {
        fn abs(self) -> Self;
        fn wrapping_add(self, by: Self) -> Self;
        fn wrapping_twice(self) -> Self;
    }

    impl Size for u32 {
        fn abs(self) -> u32 {
            self
        }
        fn wrapping_add(self, by: u32) -> u32 {
            self.saturating_add(by)
        }
        fn wrapping_twice(self) -> u32 {
            self.wrapping_mul(2)
        }
    }

    #[task]
    pub fn run(x: f32) -> f32 {
        x.twice()
    }
}

//~ 13:19: `f32` has a `MAX` of its own, which comes before the trait's
//~   note: 14:15: it is this name
//~   help: give it another name in the trait
//~ 13:19: `f32` has a `is_nan` of its own, which comes before the trait's
//~   note: 8:12: it is this name
//~   help: give it another name in the trait
//~ 13:19: `f32` has a `sqrt` of its own, which comes before the trait's
//~   note: 15:12: it is this name
//~   help: give it another name in the trait
//~ 29:19: `u32` has a `wrapping_add` of its own, which comes before the trait's
//~   note: 33:12: it is this name
//~   help: give it another name in the trait
