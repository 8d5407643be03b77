//! A result is gathered, but one way out of the task does not wait for it.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        n * n
    }

    #[task]
    pub fn early(n: u32) -> u32 {
        let a = spawn!(leaf(n));
        if n % 2 == 0 {
            return 77;
        }
        sync!();
        a
    }
}

millstream_tests::cases! {
    early(3);
    early(4);
}
