//! A sum that is gathered in several phases.

#[millstream::program]
pub mod program {
    #[task]
    pub fn piece(i: u64) -> u64 {
        i * i
    }

    #[task]
    pub fn rounds(n: u64) -> (u64, u64) {
        let mut sum = 0;
        let mut seen = 0;
        for round in 0..n {
            for i in 0..round {
                sum += spawn!(piece(i + seen % 3));
            }
            sync!();
            seen = seen * 7 + sum;
            sum += 1;
        }
        (sum, seen)
    }
}

millstream_tests::cases! {
    rounds(0);
    rounds(8);
}
