// all([1, 2, 9])
// A child's index is wrong: the run names its place.

#[millstream::program]
pub mod program {
    #[task]
    pub fn read(data: &[u32], i: usize) -> u32 {
        let table = [5, 6, 7, 8];
        table[data[i] as usize]
    }

    #[task]
    pub fn all(data: &[u32]) -> u32 {
        let mut sum = 0;
        for i in 0..data.len() {
            sum += spawn!(read(data, i));
        }
        sync!();
        sum
    }
}

//~ index out of bounds: the length is 4 but the index is 9, in `read` at corpus/fault/index_in_child.rs:9:9
