// all(2)
// A loop over more than there is, which is written out.

#[millstream::program]
pub mod program {
    const SHARES: [u32; 3] = [5, 7, 9];

    #[task]
    pub fn all(first: u32) -> u32 {
        let mut sum = first;
        for i in 0..4 {
            sum += SHARES[i];
        }
        sum
    }
}

//~ index out of bounds: the length is 3 but the index is 3, in `all` at corpus/fault/table_ends.rs:12:20
