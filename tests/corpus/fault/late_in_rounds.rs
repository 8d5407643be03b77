// run([0, 0, 0, 0, 0, 0, 0, 0]; 3; 4)
// The last round of a parallel loop has fewer elements than its inner loop has turns.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(data: &mut [u32], width: usize, turns: usize) -> u32 {
        let mut sum = 0;
        #[parallel]
        for (r, row) in data.chunks_mut(width).enumerate() {
            for i in 0..turns.min(width + r / 2) {
                row[i] = (r * width + i) as u32;
                sum += row[i];
            }
        }
        sum
    }
}

//~ index out of bounds: the length is 2 but the index is 2, in `run` at corpus/fault/late_in_rounds.rs:12:17
