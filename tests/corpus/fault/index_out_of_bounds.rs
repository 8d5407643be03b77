// get([1, 2, 3]; 3)
// An index behind the end of a slice.

#[millstream::program]
pub mod program {
    #[task]
    pub fn get(data: &[u32], i: usize) -> u32 {
        data[i]
    }
}

//~ index out of bounds: the length is 3 but the index is 3, in `get` at corpus/fault/index_out_of_bounds.rs:8:9
