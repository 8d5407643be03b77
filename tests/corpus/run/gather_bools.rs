//! Whether any child, every child, an odd number of children says so.

#[millstream::program]
pub mod program {
    #[task]
    pub fn prime(n: u32) -> bool {
        if n < 2 {
            return false;
        }
        let mut d = 2;
        while d * d <= n {
            if n % d == 0 {
                return false;
            }
            d += 1;
        }
        true
    }

    #[task]
    pub fn ask(lo: u32, hi: u32) -> (bool, bool, bool) {
        let (mut any, mut all, mut odd) = (false, true, false);
        for n in lo..hi {
            any |= spawn!(prime(n));
            all &= spawn!(prime(n));
            odd ^= spawn!(prime(n));
        }
        sync!();
        (any, all, odd)
    }
}

millstream_tests::cases! {
    ask(24, 29);
    ask(2, 4);
    ask(8, 11);
}
