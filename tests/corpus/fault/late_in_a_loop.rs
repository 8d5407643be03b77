// run([0, 0, 0, 0, 0]; [3]; 9)
// The sixth turn's index is behind the end; the assertion in front of it would fail a turn later.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(data: &mut [u64], at: &mut [u64], turns: usize) -> u64 {
        let mut sum = 0;
        for i in 0..turns {
            at[0] += i as u64;
            assert!(i < 6, "the index is behind the end before this");
            data[i] = at[0];
            sum += data[i] * data[(at[0] % 5) as usize];
        }
        sum
    }
}

//~ index out of bounds: the length is 5 but the index is 5, in `run` at corpus/fault/late_in_a_loop.rs:12:13
