//! A task per call.

#[millstream::program]
pub mod program {
    #[task]
    pub fn fib(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let x = spawn!(fib(n - 1));
        let y = spawn!(fib(n - 2));
        sync!();
        x + y
    }
}

millstream_tests::cases! {
    fib(0);
    fib(1);
    fib(20);
}
