//! Counting, turning and swapping bits.

#[millstream::program]
pub mod program {
    #[task]
    pub fn counts(x: u32) -> [u32; 6] {
        [x.count_ones(), x.count_zeros(), x.leading_zeros(), x.trailing_zeros(), x.leading_ones(), x.trailing_ones()]
    }

    #[task]
    pub fn small(x: u8) -> [u32; 4] {
        [x.count_ones(), x.count_zeros(), x.leading_zeros(), x.trailing_zeros()]
    }

    #[task]
    pub fn turn(x: u16, n: u32) -> (u16, u16, u16, u16) {
        (x.rotate_left(n), x.rotate_right(n), x.swap_bytes(), x.reverse_bits())
    }
}

millstream_tests::cases! {
    counts(0);
    counts(0xf00f_0001);
    counts(u32::MAX);
    small(0);
    small(0x1c);
    turn(0x1234, 4);
    turn(0x8001, 17);
}
