//! Ranges up to the last value of their type end.

#[millstream::program]
pub mod program {
    #[task]
    pub fn bytes() -> (u32, u64) {
        let (mut count, mut sum) = (0, 0);
        for b in 0..=255u8 {
            count += 1;
            sum += b as u64;
        }
        (count, sum)
    }

    #[task]
    pub fn down(from: i8) -> (u32, i64) {
        let (mut count, mut sum) = (0, 0);
        for x in (i8::MIN..=from).rev() {
            count += 1;
            sum += x as i64;
        }
        (count, sum)
    }

    #[task]
    pub fn steps() -> u32 {
        let mut count = 0;
        for _ in (0..u64::MAX).step_by(1 << 62) {
            count += 1;
        }
        for _ in (250..=255u8).step_by(4) {
            count += 10;
        }
        count
    }
}

millstream_tests::cases! {
    bytes();
    down(i8::MIN);
    down(127);
    steps();
}
