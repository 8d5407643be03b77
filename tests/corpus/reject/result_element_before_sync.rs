//! One element of an array is read while children may still write others.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: usize) -> u32 {
        n as u32
    }

    #[task]
    pub fn all() -> u32 {
        let mut out = [0; 4];
        for i in 0..4 {
            out[i] = spawn!(leaf(i));
        }
        let first = out[0];
        sync!();
        first
    }
}

//~ 16:21: `out` is used before its `sync!()`
//~   note: 14:22: a child that may still run writes to it
//~   help: put a `sync!()` in between
