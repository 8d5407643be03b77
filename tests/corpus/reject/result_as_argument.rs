//! A child's result cannot be another child's argument before the sync.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn chain(n: u32) -> u32 {
        let a = spawn!(leaf(n));
        let b = spawn!(leaf(a));
        sync!();
        b
    }
}

//~ 13:29: `a` is used before its `sync!()`
//~   note: 12:17: a child that may still run writes to it
//~   help: put a `sync!()` in between
