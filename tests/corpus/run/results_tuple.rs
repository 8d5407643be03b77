//! A tuple of results, taken apart where it is spawned.

#[millstream::program]
pub mod program {
    #[task]
    pub fn divide(a: u32, b: u32) -> (u32, u32) {
        (a / b, a % b)
    }

    #[task]
    pub fn chain(a: u32) -> (u32, u32, u32) {
        let (q, r) = spawn!(divide(a, 7));
        let (_, last) = spawn!(divide(a, 10));
        let both = spawn!(divide(a, 3));
        sync!();
        (q + both.0, r + both.1, last)
    }
}

millstream_tests::cases! {
    chain(100);
    chain(12345);
}
