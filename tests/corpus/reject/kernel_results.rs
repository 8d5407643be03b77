//! A kernel waits for its tasks' results as a task does.

#[millstream::program]
pub mod program {
    #[task]
    pub fn twice(n: u32) -> u32 {
        n * 2
    }

    #[kernel]
    pub fn work(n: u32, next: Channel<u32>) {
        let x = spawn!(twice(n));
        next.emit(x);
        sync!();
        let y = next.emit(x);
        next.emit(spawn!(twice(n)));
        spawn!(work(n, next));
    }
}

//~ 13:19: `x` is used before its `sync!()`
//~   note: 12:17: a child that may still run writes to it
//~   help: put a `sync!()` in between
//~ 16:19: a child's result is used where it is spawned, but it comes with the next `sync!()`
//~   help: take its result with `let x = spawn!(..)`, `x = spawn!(..)`, `a[i] = spawn!(..)`, `sum += spawn!(..)` or `best = best.max(spawn!(..))`; a value may be made of children's results: `sum += 2 * spawn!(..)`
//~ 17:16: `work` is a kernel: a graph runs it, over the elements of a channel
//~   note: 11:12: it is defined here
//~   help: emit an element into the channel that it consumes, or move what both need to a helper
