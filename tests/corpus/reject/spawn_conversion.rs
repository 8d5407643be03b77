//! A result of another type than its place.

#[millstream::program]
pub mod program {
    #[task]
    pub fn count(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn total(n: u32) -> u64 {
        let mut sum: u64 = 0;
        sum += spawn!(count(n));
        let x: u64 = spawn!(count(n));
        sync!();
        sum + x
    }
}

//~ 13:16: expected `u64`, found `u32`
//~   help: a child's result is taken as it is: convert it, as in `sum += spawn!(..) as u64`
//~ 14:22: expected `u64`, found `u32`
//~   help: a child's result is taken as it is: convert it, as in `sum += spawn!(..) as u64`
