//! The ends of a range are taken once, and the loop's variable is a copy.

#[millstream::program]
pub mod program {
    #[task]
    pub fn once(n: u32) -> (u32, u32) {
        let mut end = n;
        let mut sum = 0;
        for mut i in 0..end {
            end += 1;
            i *= 2;
            sum += i;
        }
        (end, sum)
    }
}

millstream_tests::cases! {
    once(5);
}
