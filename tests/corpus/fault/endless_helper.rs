// run(1)
// A helper that never stops: the thread's stack ends.

#[millstream::program]
pub mod program {
    fn forever(n: u64) -> u64 {
        let mut room = [n; 16];
        room[3] = forever(n + 1);
        room[3] + room[n as usize % 16]
    }

    #[task]
    pub fn run(n: u64) -> u64 {
        forever(n)
    }
}

//~ interpreter: the program recursed deeper than 1000000 calls
//~ cpu with 1 threads, cpu with 2 threads, cpu with 4 threads, cpu with 16 threads, cpu with 1 threads, one element a wavefront, cpu with 16 threads, one element a wavefront: stack overflow in the helper function `forever`: only tasks can recurse without bound; make it a task, or bound its depth
