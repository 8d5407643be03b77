//! A result of one phase is an argument of the next.

#[millstream::program]
pub mod program {
    #[task]
    pub fn square(x: u64) -> u64 {
        x * x
    }

    #[task]
    pub fn phases(n: u64) -> u64 {
        let a = spawn!(square(n));
        let b = spawn!(square(n + 1));
        sync!();
        let c = spawn!(square(a - b));
        let half = a / 2;
        sync!();
        let d = spawn!(square(c + half));
        sync!();
        a + b + c + d
    }
}

millstream_tests::cases! {
    phases(3);
    phases(1000);
}
