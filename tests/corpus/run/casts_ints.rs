//! `as` between integers cuts off or extends with the sign.

#[millstream::program]
pub mod program {
    #[task]
    pub fn narrow(x: i64) -> (i8, u8, i16, u16, i32, u32) {
        (x as i8, x as u8, x as i16, x as u16, x as i32, x as u32)
    }

    #[task]
    pub fn widen(x: i8) -> (u8, i64, u64, usize, isize) {
        (x as u8, x as i64, x as u64, x as usize, x as isize)
    }

    #[task]
    pub fn from(x: u8, b: bool) -> (u64, i32, f64, u32) {
        (u64::from(x), i32::from(x), f64::from(x), u32::from(b) + b as u32)
    }
}

millstream_tests::cases! {
    narrow(-1);
    narrow(0x1234_5678_9abc_def0);
    widen(-128);
    widen(127);
    from(200, true);
}
