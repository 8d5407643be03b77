//! A hundred thousand levels deep.

#[millstream::program]
pub mod program {
    #[task]
    pub fn down(n: u32) -> u64 {
        if n == 0 {
            return 0;
        }
        let below = spawn!(down(n - 1));
        sync!();
        below + n as u64 % 10
    }

    #[task]
    pub fn sink(n: u32, total: &mut u64) {
        if n > 0 {
            *total += 1;
            spawn!(sink(n - 1, total));
        }
    }
}

millstream_tests::cases! {
    down(100_000);
    sink(100_000, &mut 0);
}
