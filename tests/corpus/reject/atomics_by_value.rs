//! Atomics are shared, not passed, nor borrowed as `&mut`.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[task]
    pub fn by_value(a: AtomicU32) {}

    #[task]
    pub fn run(a: &mut AtomicU32) {}
}

//~ 8:24: an atomic cannot be passed by value
//~   help: pass it by reference: `&AtomicU32`
//~ 11:19: an atomic behind `&mut`
//~   help: share it: write `&` instead of `&mut`
