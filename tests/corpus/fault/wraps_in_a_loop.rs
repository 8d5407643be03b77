// run([1, 2, 3, 4]; 2; 18446744073709551614)
// An index that wraps: the sums of the first turns lie behind the end, though that of the last would not.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(data: &mut [u32], turns: usize, by: usize) -> u32 {
        let mut sum = 0;
        for i in 0..turns {
            data[i + 1] += 1;
            sum += data[i + by + 2];
            sum += data[i + by + 1];
        }
        sum
    }
}

//~ index out of bounds: the length is 4 but the index is 18446744073709551615, in `run` at corpus/fault/wraps_in_a_loop.rs:12:20
