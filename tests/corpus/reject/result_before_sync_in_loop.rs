//! The result of one round is used in the next, before a sync.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn rounds(n: u32) -> u32 {
        let mut last = 0;
        for i in 0..n {
            if last > 100 {
                break;
            }
            last = spawn!(leaf(i));
        }
        sync!();
        last
    }
}

//~ 14:16: `last` is used before its `sync!()`
//~   note: 17:20: a child that may still run writes to it
//~   help: put a `sync!()` in between
//~ 17:20: `last` already awaits the result of a child
//~   note: 17:20: this one, in the round before
//~   help: put a `sync!()` in between, take it in another variable, or gather both in the same way
