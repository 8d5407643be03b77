//! A program's own `max` is not std's: what it is given is read when the child is spawned, before the child of the round before is done.

#[millstream::program]
pub mod program {
    #[task]
    pub fn value(n: u32) -> u32 {
        n
    }

    fn max(a: u32, b: u32) -> u32 {
        a * 2 + b
    }

    #[task]
    pub fn best(n: u32) -> u32 {
        let mut most = 0;
        for i in 0..n {
            most = max(most, spawn!(value(i)));
        }
        sync!();
        most
    }
}

//~ 18:24: `most` cannot gather results this way
//~   note: 18:30: a child that may still run writes to it
//~   help: results are gathered by `+=`, `|=`, `&=`, `^=`, `.min(..)`, `.max(..)` and `.wrapping_add(..)`; else keep each in a name or an element of its own, and combine them after the `sync!()`
