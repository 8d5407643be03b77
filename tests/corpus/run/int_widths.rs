//! Every integer type keeps its width.

#[millstream::program]
pub mod program {
    #[task]
    pub fn widths(a: i8, b: u8, c: i16, d: u16, e: i32, f: u32) -> (i8, u8, i16, u16, i32, u32) {
        (a.wrapping_add(1), b.wrapping_add(1), c.wrapping_mul(3), d.wrapping_mul(3), e.wrapping_sub(1), f.wrapping_sub(1))
    }

    #[task]
    pub fn wide(a: i64, b: u64, c: isize, d: usize) -> (i64, u64, isize, usize) {
        (a - 1, b * 3, -c, d / 7)
    }
}

millstream_tests::cases! {
    widths(127, 255, 20000, 40000, i32::MIN, 0);
    widths(-1, 0, -1, 1, 0, 5);
    wide(i64::MIN + 1, 1 << 62, -9, usize::MAX);
}
