//! Results that a `let` takes side by side or from one of two ways, and that are gathered by an operator or a function.

#[millstream::program]
pub mod program {
    use std::cmp::max;

    #[task]
    pub fn divide(n: u32, by: u32) -> (u32, u32) {
        (n / by, n % by)
    }

    #[task]
    pub fn tree(n: u32) -> u64 {
        if n < 2 {
            return n as u64 + 1;
        }
        let (mut a, b) = (spawn!(tree(n - 1)), spawn!(tree(n - 2)));
        let (twice, c) = (n * 2, spawn!(tree(n / 2)));
        sync!();
        a ^= b;
        a.wrapping_mul(3) + c + twice as u64
    }

    #[task]
    pub fn ways(n: u32) -> u64 {
        if n == 0 {
            return 1;
        }
        let a = if n > 3 { spawn!(ways(n - 1)) } else { 7 };
        let b: u64 = if n > 9 {
            let m = n / 2;
            spawn!(tree(m))
        } else if n % 2 == 0 {
            n as u64
        } else {
            spawn!(ways(n - 1))
        };
        sync!();
        a + 2 * b
    }

    #[task]
    pub fn gathered(n: u32) -> (u64, u64, u32, u64) {
        let (mut sum, mut most, mut bits, mut least) = (1, 0, 0, u64::MAX);
        for i in 0..n {
            sum = sum + spawn!(tree(i));
            most = max(most, spawn!(ways(i)));
            bits = bits | spawn!(bit(i));
            least = std::cmp::min(least, spawn!(ways(i + 3)));
        }
        sync!();
        (sum, most, bits, least)
    }

    #[task]
    pub fn bit(i: u32) -> u32 {
        1 << (i * 5 % 32)
    }

    #[task]
    pub fn nested(n: u32) -> u32 {
        let ((q, r), one): ((u32, u32), u32) = (spawn!(divide(n, 7)), spawn!(bit(n)));
        sync!();
        q * 100 + r * 10 + one
    }
}

millstream_tests::cases! {
    tree(0);
    tree(11);
    ways(0);
    ways(3);
    ways(14);
    gathered(0);
    gathered(9);
    nested(9);
    nested(31);
}
