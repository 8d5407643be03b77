// run([1, 2, 3, 4, 5, 6, 0, 0]; 7)
// Each turn writes the index that the next one reads, until one lies behind the end.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(next: &mut [usize], turns: usize) -> usize {
        let mut at = 0;
        for i in 0..turns {
            next[i] += i * i;
            at = next[at] + next[i + 1];
        }
        at
    }
}

//~ index out of bounds: the length is 8 but the index is 10, in `run` at corpus/fault/late_by_what_was_written.rs:11:18
