//! Only one way to the use has a sync.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn half(n: u32) -> u32 {
        let a = spawn!(leaf(n));
        if n > 10 {
            sync!();
        }
        a + 1
    }
}

//~ 16:9: `a` is used before its `sync!()`
//~   note: 12:17: a child that may still run writes to it
//~   help: put a `sync!()` in between
