//! A variable is assigned, and spawned into again, while it awaits a result.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn twice(n: u32) -> u32 {
        let mut a = spawn!(leaf(n));
        a = 5;
        sync!();
        a = spawn!(leaf(1));
        a = spawn!(leaf(2));
        sync!();
        a
    }
}

//~ 13:9: `a` is assigned before its `sync!()`
//~   note: 12:21: a child that may still run writes to it
//~   help: put a `sync!()` in between
//~ 16:13: `a` already awaits the result of a child
//~   note: 15:13: this one
//~   help: put a `sync!()` in between, take it in another variable, or gather both in the same way
