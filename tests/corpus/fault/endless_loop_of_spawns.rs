// flood(200000) with 1048576 bytes
// A loop that spawns more than the memory holds; a `for` of so many rounds would be shared out. The children assert something, and so do not end where they are spawned.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u64) -> u64 {
        assert!(n < 1 << 40);
        n
    }

    #[task]
    pub fn flood(n: u64) -> u64 {
        let mut sum = 0;
        let mut i = 0;
        while i < n {
            sum += spawn!(leaf(i));
            i += 1;
        }
        sync!();
        sum
    }
}

//~ interpreter: 19999900000 ["200000"]
//~ cpu with 1 threads, cpu with 2 threads, cpu with 4 threads, cpu with 16 threads, cpu with 1 threads, one element a wavefront, cpu with 16 threads, one element a wavefront: task `flood` filled the channel `leaf`
