//! The loop's state is in the frame; the continuation pushes itself again.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn rounds(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            let x = spawn!(leaf(i + sum));
            sync!();
            sum += x;
        }
        sum
    }
}

//~ task leaf(n: u32, return: ptr)
//~   segment 0 pushes nothing
//~ task rounds(n: u32, return: ptr)
//~   frame x: u32, n: u32, sum: u32, value: u32, return: ptr
//~   segment 0 pushes leaf x 1, rounds's frame x 1, rounds's segment 1 x 1
//~   segment 1 pushes leaf x 1, rounds's segment 1 x 1
