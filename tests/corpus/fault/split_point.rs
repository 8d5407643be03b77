// split([1.0, 2.0]; 3)
// A split point behind the end.

#[millstream::program]
pub mod program {
    #[task]
    pub fn split(data: &mut [f32], at: usize) -> usize {
        let (a, b) = data.split_at_mut(at);
        a.len() - b.len()
    }
}

//~ split point 3 lies beyond the length 2, in `split` at corpus/fault/split_point.rs:8:22
