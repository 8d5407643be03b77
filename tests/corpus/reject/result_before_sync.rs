//! A result is used before its sync.

#[millstream::program]
pub mod program {
    #[task]
    pub fn fib(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let x = spawn!(fib(n - 1));
        let y = spawn!(fib(n - 2));
        x + y
    }
}

//~ 12:9: `x` is used before its `sync!()`
//~   note: 10:17: a child that may still run writes to it
//~   help: put a `sync!()` in between
//~ 12:13: `y` is used before its `sync!()`
//~   note: 11:17: a child that may still run writes to it
//~   help: put a `sync!()` in between
