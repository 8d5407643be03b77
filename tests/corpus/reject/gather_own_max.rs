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

//~ 18:24: `most` is used before its `sync!()`
//~   note: 18:30: a child that may still run writes to it
//~   help: put a `sync!()` in between
//~ 18:30: `most` already awaits the result of a child
//~   note: 18:30: this one, in the round before
//~   help: put a `sync!()` in between, take it in another variable, or gather both in the same way
