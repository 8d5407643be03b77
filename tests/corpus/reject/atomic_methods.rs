//! Atomics used like numbers, and methods called wrongly.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[task]
    pub fn run(a: &AtomicU32) -> u32 {
        a += 1;
        let x = a + 1;
        let old: u32 = a.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst);
        a.load() + a.fetch_add(1) + a.load(Ordering::Release) + a.increment(1)
    }
}

//~ 9:9: `a` cannot be changed: it is not declared `mut`
//~   note: 8:16: it is declared here
//~   help: write `mut a` there
//~ 9:11: `AtomicU32` has no operators
//~   help: use its methods: `load`, `store`, `fetch_add`, ..
//~ 10:19: `AtomicU32` has no operators
//~   help: use its methods: `load`, `store`, `fetch_add`, ..
//~ 11:24: expected `u32`, found `Result<u32, u32>`
//~ 12:11: `load` takes 1 argument, here are 0
//~   help: the last is an `Ordering`
//~ 12:22: `fetch_add` takes 2 arguments, here are 1
//~   help: the last is an `Ordering`
//~ 12:39: a load cannot have this ordering
//~   help: a load acquires, a store releases
//~ 12:67: `AtomicU32` has no method `increment`
//~   help: docs/language.md lists the methods
