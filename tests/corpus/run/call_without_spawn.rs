//! A task called as a function runs as its elision, within the caller.

#[millstream::program]
pub mod program {
    #[task]
    pub fn count(n: u32) -> u32 {
        if n < 2 {
            return 1;
        }
        if n < 6 {
            return count(n - 1) + count(n - 2);
        }
        let a = spawn!(count(n - 1));
        let b = spawn!(count(n - 2));
        sync!();
        a + b
    }

    fn twice(n: u32) -> u32 {
        count(n) * 2
    }

    #[task]
    pub fn outer(n: u32) -> u32 {
        let a = spawn!(count(n));
        let direct = count(n) + twice(n);
        sync!();
        a * 3 - direct
    }
}

millstream_tests::cases! {
    count(15);
    outer(8);
}
