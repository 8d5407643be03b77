//! A cast stands around the spawn.

#[millstream::program]
pub mod program {
    #[task]
    pub fn count(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn total(n: u32) -> u64 {
        let sum = spawn!(count(n)) as u64;
        sync!();
        sum
    }
}

//~ 12:19: a child's result is used where it is spawned, but it comes with the next `sync!()`
//~   help: take its result with `let x = spawn!(..)`, `x = spawn!(..)`, `a[i] = spawn!(..)`, `sum += spawn!(..)` or `best = best.max(spawn!(..))`
