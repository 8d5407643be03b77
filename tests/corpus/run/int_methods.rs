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
}

millstream_tests::cases! {
    signed(-5, 3);
    signed(7, 7);
    signed(0, i32::MAX);
    unsigned(1);
    unsigned(12);
    unsigned(64);
}
