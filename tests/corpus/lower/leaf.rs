//! A task that neither spawns nor syncs is one segment without a frame.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            sum += i;
        }
        sum
    }
}

//~ task leaf(n: u32, return: ptr)
//~   segment 0 pushes nothing
