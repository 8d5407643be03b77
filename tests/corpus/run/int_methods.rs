//! The methods of integers that people use.

#[millstream::program]
pub mod program {
    #[task]
    pub fn signed(x: i32, y: i32) -> (i32, i32, i32, i32, u32, u32, bool) {
        (x.min(y), x.max(y), x.abs(), x.signum(), x.unsigned_abs(), x.abs_diff(y), x.is_negative())
    }

    #[task]
    pub fn unsigned(x: u32) -> (bool, u32, u32, u32, u32) {
        (x.is_power_of_two(), x.next_power_of_two(), x.ilog2(), x.pow(2), x.clamp(3, 10))
    }

    #[task]
    pub fn more_signed(x: i64, y: i8, z: i16) -> (i64, i8, i64, u32) {
        (x.saturating_mul(3), y.saturating_mul(-5), x.unsigned_abs().isqrt() as i64, (z & 0x7fff | 1).ilog(3))
    }

    #[task]
    pub fn more_unsigned(x: u64, y: u8) -> [u64; 6] {
        let y = y.max(1);
        let root = (x as u32).isqrt();
        [x.isqrt(), root as u64, y.isqrt() as u64, x.max(1).ilog10() as u64, y.saturating_mul(7) as u64, (x >> 8).next_multiple_of(y as u64)]
    }
}

millstream_tests::cases! {
    signed(-5, 3);
    signed(7, 7);
    signed(0, i32::MAX);
    unsigned(1);
    unsigned(12);
    unsigned(64);
    more_signed(i64::MAX, 100, 81);
    more_signed(i64::MIN, -128, 80);
    more_signed(-25, 25, 1);
    more_unsigned(0, 0);
    more_unsigned(u64::MAX, 255);
    more_unsigned(0xffff_fffe_0000_0001, 16);
    more_unsigned(0xffff_fffe_0000_0000, 15);
    more_unsigned(10_000_000_000, 9);
    more_unsigned(9_999_999_999, 37);
}
