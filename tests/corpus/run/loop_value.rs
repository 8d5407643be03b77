//! `loop` with a value from `break`.

#[millstream::program]
pub mod program {
    #[task]
    pub fn root(n: u32) -> u32 {
        let mut x = 0;
        loop {
            if (x + 1) * (x + 1) > n {
                break x;
            }
            x += 1;
        }
    }

    #[task]
    pub fn nested(n: u32) -> u32 {
        let mut rounds = 0;
        let last = 'a: loop {
            loop {
                rounds += 1;
                if rounds % 7 == 0 {
                    continue 'a;
                }
                if rounds > n {
                    break 'a rounds * 2;
                }
            }
        };
        last + rounds
    }
}

millstream_tests::cases! {
    root(0);
    root(99);
    root(100);
    nested(13);
}
