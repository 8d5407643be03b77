// copy([0, 0]; [1, 2, 3])
// `copy_from_slice` of another length.

#[millstream::program]
pub mod program {
    #[task]
    pub fn copy(to: &mut [u32], from: &[u32]) {
        to.copy_from_slice(from);
    }
}

//~ lengths differ: 2 and 3, in `copy` at corpus/fault/lengths_differ.rs:8:9
