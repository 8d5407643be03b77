//! How many children there are, only the data knows.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn total(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            sum += spawn!(leaf(i));
        }
        sync!();
        sum
    }
}

//~ task leaf(n: u32, return: ptr)
//~   segment 0 pushes nothing
//~ task total(n: u32, return: ptr)
//~   frame sum: u32, n: u32, value: u32, return: ptr
//~   segment 0 pushes total.loop1+add x 1, leaf+add x n, total's frame x 1, total's segment 1 x 1, total's segment 2 x 1
//~   segment 1 pushes nothing
//~   segment 2 pushes leaf+add x n, total's segment 1 x 1, total's segment 2 x 1
//~ task total.loop1+add(rounds_each: usize, rounds: usize, from: u32, return: ptr)
//~   frame rounds_each: usize, rounds: usize, from: u32, value: usize, value.2: usize, value.3: usize, value.4: usize, return: ptr, leaves: u32
//~   segment 0 pushes total.loop1+add x n, leaf+add x n, total.loop1+add's frame x 1, total.loop1+add's segment 1 x 1, total.loop1+add's segment 2 x 1
//~   segment 1 pushes total.loop1+add x n, total.loop1+add's segment 1 x 1
//~   segment 2 pushes leaf+add x n, total.loop1+add's segment 2 x 1
//~ task leaf+add(n: u32, return: ptr)
//~   segment 0 pushes nothing
//~ where the device is wide
//~ task leaf(n: u32, return: ptr)
//~   segment 0 pushes nothing
//~ task total(n: u32, return: ptr)
//~   frame sum: u32, return: ptr
//~   segment 0 pushes total.loop1+add x 1, leaf+add x n, total's frame x 1, total's segment 1 x 1
//~   segment 1 pushes nothing
//~ task total.loop1+add(rounds_each: usize, rounds: usize, from: u32, return: ptr)
//~   segment 0 pushes total.loop1+add x n, leaf+add x n
//~ task leaf+add(n: u32, return: ptr)
//~   segment 0 pushes nothing
