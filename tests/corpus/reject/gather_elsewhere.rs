//! `a = b.max(spawn!(..))` starts from another place than it goes to.

#[millstream::program]
pub mod program {
    #[task]
    pub fn value(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn best(n: u32) -> u32 {
        let b = 3;
        let mut a = 0;
        a = b.max(spawn!(value(n)));
        sync!();
        a
    }
}

//~ 14:13: a gathered result goes back to the place it starts from
//~   help: take its result with `let x = spawn!(..)`, `x = spawn!(..)`, `a[i] = spawn!(..)`, `sum += spawn!(..)` or `best = best.max(spawn!(..))`
