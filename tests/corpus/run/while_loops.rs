//! `while`, with a condition that does something.

#[millstream::program]
pub mod program {
    #[task]
    pub fn digits(mut n: u64) -> (u32, u64) {
        let (mut count, mut sum) = (0, 0);
        while n > 0 {
            sum += n % 10;
            n /= 10;
            count += 1;
        }
        (count, sum)
    }

    #[task]
    pub fn halvings(n: u32) -> u32 {
        let mut x = n;
        let mut steps = 0;
        while {
            x /= 2;
            x > 0
        } {
            steps += 1;
        }
        steps
    }
}

millstream_tests::cases! {
    digits(0);
    digits(9876543210);
    halvings(1);
    halvings(1000);
}
