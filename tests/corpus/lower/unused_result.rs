//! A result that nobody takes needs no slot.

#[millstream::program]
pub mod program {
    #[task]
    pub fn count(n: u32, hits: &mut u32) -> u32 {
        *hits += n;
        n
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        let mut hits = 0;
        spawn!(count(n, &mut hits));
        sync!();
        hits
    }
}

//~ task count(n: u32, hits: ptr, return: ptr)
//~   segment 0 pushes nothing
//~ task run(n: u32, return: ptr)
//~   frame hits: 4 bytes, slot: 4 bytes, return: ptr
//~   segment 0 pushes count x 1, run's frame x 1, run's segment 1 x 1
//~   segment 1 pushes nothing
