//! Shifts by values of any integer type; signed ones keep the sign.

#[millstream::program]
pub mod program {
    #[task]
    pub fn shift(x: i32, n: u8) -> (i32, i32, u32) {
        (x << n, x >> n, x as u32 >> n)
    }

    #[task]
    pub fn assign(mut x: u64, n: i32) -> u64 {
        x <<= n;
        x |= 1;
        x >>= 1usize;
        x ^= 0xff;
        x &= !2;
        x
    }
}

millstream_tests::cases! {
    shift(-16, 3);
    shift(1, 31);
    assign(5, 10);
    assign(u64::MAX, 0);
}
