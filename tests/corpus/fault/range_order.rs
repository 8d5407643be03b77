// part([1, 2, 3]; 2; 1)
// A range that starts behind its end.

#[millstream::program]
pub mod program {
    #[task]
    pub fn part(data: &[u32], lo: usize, hi: usize) -> usize {
        let p = &data[lo..hi];
        p.len()
    }
}

//~ range starts at 2 but ends at 1, in `part` at corpus/fault/range_order.rs:8:17
