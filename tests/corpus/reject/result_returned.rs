//! A child's result is returned where it is spawned.

#[millstream::program]
pub mod program {
    #[task]
    pub fn down(n: u32) -> u64 {
        if n == 0 {
            return 0;
        }
        if n == 1 {
            return spawn!(down(0));
        }
        spawn!(down(n - 1))
    }
}

//~ 11:20: a child's result is used where it is spawned, but it comes with the next `sync!()`
//~   help: take its result with `let x = spawn!(..)`, `x = spawn!(..)`, `a[i] = spawn!(..)`, `sum += spawn!(..)` or `best = best.max(spawn!(..))`
//~ 13:9: a child's result is used where it is spawned, but it comes with the next `sync!()`
//~   help: take its result with `let x = spawn!(..)`, `x = spawn!(..)`, `a[i] = spawn!(..)`, `sum += spawn!(..)` or `best = best.max(spawn!(..))`
