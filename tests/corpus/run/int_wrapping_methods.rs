//! The methods that say what happens at the end of the range.

#[millstream::program]
pub mod program {
    #[task]
    pub fn wrapping(a: i8, b: i8) -> [i8; 5] {
        [a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a.wrapping_neg(), a.wrapping_abs()]
    }

    #[task]
    pub fn saturating(a: i8, b: i8) -> (i8, i8, u8, u8) {
        (a.saturating_add(b), a.saturating_sub(b), (a as u8).saturating_add(b as u8), (a as u8).saturating_sub(b as u8))
    }

    #[task]
    pub fn overflowing(a: u8, b: u8) -> ((u8, bool), (u8, bool), (u8, bool)) {
        (a.overflowing_add(b), a.overflowing_sub(b), a.overflowing_mul(b))
    }

    #[task]
    pub fn shifts(a: i32, n: u32) -> (i32, i32, i32) {
        (a.wrapping_shl(n), a.wrapping_shr(n), a.wrapping_pow(n))
    }
}

millstream_tests::cases! {
    wrapping(-128, -128);
    wrapping(100, 100);
    saturating(100, 100);
    saturating(-100, 100);
    overflowing(255, 2);
    overflowing(3, 4);
    shifts(-9, 33);
    shifts(3, 21);
}
