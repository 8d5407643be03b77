//! Structs of references and atomics, and what locks.

#[millstream::program]
pub mod program {
    struct World<'a> {
        walls: &'a mut [u32],
    }

    struct Counts {
        all: AtomicU32,
    }

    struct Slice {
        data: &[u32],
    }

    #[task]
    pub fn lock(a: &Mutex<u32>) {}
}

//~ 6:16: a struct field cannot be `&mut [u32]`
//~   help: a struct holds plain data and what it shares: pass what is written beside it, as an argument of its own
//~ 10:14: a struct field cannot be `AtomicU32`
//~   help: a struct holds plain data and what it shares: give it the atomic by `&`, as `&'a AtomicU32`
//~ 14:15: a reference in a struct needs a lifetime
//~   help: write `struct Slice<'a>`, and `&'a` in front of what it refers to
//~ 18:21: there is no type `Mutex` in this program
//~   help: children share atomics by `&`, and are lent parts of a slice by `&mut`
