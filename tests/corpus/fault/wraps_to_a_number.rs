// run([0, 0, 0]; 2; 8589934590)
// What a counter is taken from and added to again is a number, which does not fit the counter's type: the difference is 4294967294 there.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(a: &mut [u64], n: u32, k: usize) -> u64 {
        let mut i = 0u32;
        while i < n {
            let v = i
                .wrapping_add(0xffff_ffff)
                .wrapping_sub(i.wrapping_sub(0xffff_ffff));
            a[k - v as usize] = 1;
            i += 1;
        }
        7
    }
}

//~ index out of bounds: the length is 3 but the index is 4294967296, in `run` at corpus/fault/wraps_to_a_number.rs:13:13
