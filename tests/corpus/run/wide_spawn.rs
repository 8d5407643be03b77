//! A hundred thousand children of one task.

#[millstream::program]
pub mod program {
    #[task]
    pub fn parity(i: u32) -> u32 {
        i.count_ones() & 1
    }

    #[task]
    pub fn wide(n: u32) -> u32 {
        let mut odd = 0;
        for i in 0..n {
            odd += spawn!(parity(i));
        }
        sync!();
        odd
    }
}

millstream_tests::cases! {
    wide(0);
    wide(100_000);
}
