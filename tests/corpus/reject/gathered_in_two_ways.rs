//! One sum cannot be gathered by `+=` and `|=` at the same time.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn mixed(n: u32) -> u32 {
        let mut a = 0;
        a += spawn!(leaf(n));
        a |= spawn!(leaf(n));
        sync!();
        a
    }
}

//~ 14:14: `a` already awaits the result of a child
//~   note: 13:14: this one
//~   help: put a `sync!()` in between, take it in another variable, or gather both in the same way
