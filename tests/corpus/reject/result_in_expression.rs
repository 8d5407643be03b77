//! A child's result is used where it is not the task's value, or where there may be no child.

#[millstream::program]
pub mod program {
    #[task]
    pub fn fib(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let more = n > 9 || spawn!(fib(n - 1)) + spawn!(fib(n - 2)) > 3;
        u64::from(more)
    }

    #[task]
    pub fn even(n: u32) -> bool {
        n == 0 || n > 1 && spawn!(even(n - 2))
    }

    #[task]
    pub fn some(n: u32) -> Option<u32> {
        Some(spawn!(some(n / 2))? + spawn!(some(n / 3))?)
    }
}

//~ 10:29: a child's result is used where it is spawned, but it comes with the next `sync!()`
//~   help: take its result with `let x = spawn!(..)`, `x = spawn!(..)`, `a[i] = spawn!(..)`, `sum += spawn!(..)` or `best = best.max(spawn!(..))`; a value may be made of children's results: `sum += 2 * spawn!(..)`
//~ 10:50: a child's result is used where it is spawned, but it comes with the next `sync!()`
//~   help: take its result with `let x = spawn!(..)`, `x = spawn!(..)`, `a[i] = spawn!(..)`, `sum += spawn!(..)` or `best = best.max(spawn!(..))`; a value may be made of children's results: `sum += 2 * spawn!(..)`
//~ 16:28: a child's result is used where it is spawned, but it comes with the next `sync!()`
//~   help: take its result with `let x = spawn!(..)`, `x = spawn!(..)`, `a[i] = spawn!(..)`, `sum += spawn!(..)` or `best = best.max(spawn!(..))`; a value may be made of children's results: `sum += 2 * spawn!(..)`
//~ 21:33: `?` asks for a child's result where it is spawned, but it comes with the next `sync!()`
//~   help: put the `?` behind the `sync!()`: `let r = spawn!(..); sync!(); let x = r?;`
//~ 21:56: `?` asks for a child's result where it is spawned, but it comes with the next `sync!()`
//~   help: put the `?` behind the `sync!()`: `let r = spawn!(..); sync!(); let x = r?;`
