//! Two tasks that spawn each other.

#[millstream::program]
pub mod program {
    #[task]
    pub fn ping(n: u32) -> u64 {
        if n == 0 {
            return 1;
        }
        let a = spawn!(pong(n - 1));
        let b = spawn!(pong(n / 2));
        sync!();
        a + b
    }

    #[task]
    pub fn pong(n: u32) -> u64 {
        if n == 0 {
            return 2;
        }
        let a = spawn!(ping(n - 1));
        sync!();
        a * 2 + 1
    }
}

millstream_tests::cases! {
    ping(0);
    ping(9);
    pong(12);
}
