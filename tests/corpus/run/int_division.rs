//! Division and remainder round towards zero; the euclidean ones do not.

#[millstream::program]
pub mod program {
    #[task]
    pub fn divide(a: i32, b: i32) -> (i32, i32, i32, i32) {
        (a / b, a % b, a.div_euclid(b), a.rem_euclid(b))
    }

    #[task]
    pub fn ceiling(a: u32, b: u32) -> u32 {
        a.div_ceil(b)
    }
}

millstream_tests::cases! {
    divide(7, 2);
    divide(-7, 2);
    divide(7, -2);
    divide(-7, -2);
    ceiling(10, 5);
    ceiling(11, 5);
}
