// part([1, 2, 3]; 1; 4)
// A range that ends behind the slice.

#[millstream::program]
pub mod program {
    #[task]
    pub fn part(data: &[u32], lo: usize, hi: usize) -> usize {
        data[lo..hi].len()
    }
}

//~ range out of bounds: it ends at 4 but the length is 3, in `part` at corpus/fault/range_end.rs:8:9
