//! A local array that awaits results is in the frame as one piece; one that does not live on is not.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn all(n: u32) -> u32 {
        let mut scratch = [0u32; 16];
        for i in 0..16 {
            scratch[i] = i as u32 * n;
        }
        let mut out = [0; 8];
        for i in 0..8 {
            out[i] = spawn!(leaf(scratch[i * 2]));
        }
        sync!();
        let mut sum = 0;
        for x in out {
            sum += x;
        }
        sum
    }
}

//~ task leaf(n: u32, return: ptr)
//~   segment 0 pushes nothing
//~ task all(n: u32, return: ptr)
//~   frame out: 32 bytes, return: ptr
//~   segment 0 pushes leaf x 8, all's frame x 1, all's segment 1 x 1
//~   segment 1 pushes nothing
//~ where the device is wide
//~ task leaf(n: u32, return: ptr)
//~   segment 0 pushes nothing
//~ task all(n: u32, return: ptr)
//~   frame out: 32 bytes, value: usize, return: ptr, scratch: 64 bytes
//~   segment 0 pushes leaf x n, all's frame x 1, all's segment 1 x 1, all's segment 2 x 1
//~   segment 1 pushes leaf x n, all's segment 1 x 1, all's segment 2 x 1
//~   segment 2 pushes nothing
