//! A segment that is never come to once an array's elements are known is gone, and so is what it kept in the frame.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn all(n: u32) -> u32 {
        let mut wanted = [false; 3];
        for i in 0..3 {
            wanted[i] = i == 3;
        }
        let mut sum = 0;
        if wanted[0] || wanted[2] {
            let x = spawn!(leaf(n));
            sync!();
            sum += x * n;
        }
        sum
    }
}

//~ task leaf(n: u32, return: ptr)
//~   segment 0 pushes nothing
//~ task all(n: u32, return: ptr)
//~   segment 0 pushes nothing
