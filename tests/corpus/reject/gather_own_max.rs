//! A program's own `max` is not std's, and its result comes before the child's.

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
        most = max(most, spawn!(value(n)));
        sync!();
        most
    }
}

//~ 17:26: a child's result is used where it is spawned, but it comes with the next `sync!()`
//~   help: take its result with `let x = spawn!(..)`, `x = spawn!(..)`, `a[i] = spawn!(..)`, `sum += spawn!(..)` or `best = best.max(spawn!(..))`
