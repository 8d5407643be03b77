// forever(0) with 4194304 bytes
// A task that never stops: the channels outgrow their memory.

#[millstream::program]
pub mod program {
    #[task]
    pub fn forever(n: u64) -> u64 {
        let a = spawn!(forever(n + 1));
        let b = spawn!(forever(n + 2));
        sync!();
        a + b
    }
}

//~ interpreter: the program recursed deeper than 1000000 calls
//~ cpu with 1 threads, cpu with 2 threads, cpu with 4 threads, cpu with 16 threads, cpu with 1 threads, one element a wavefront, cpu with 16 threads, one element a wavefront: out of channel memory: task `forever`
