//! Structs of references and atomics, and what locks.

#[millstream::program]
pub mod program {
    struct World<'a> {
        walls: &'a mut [u32],
    }

    impl World<'_> {
        fn build(&self) {
            self.walls[0] = 1;
        }
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

//~ 16:14: a struct field cannot be `AtomicU32`
//~   help: a struct holds plain data and what it borrows: give it the atomic by `&`, as `&'a AtomicU32`
//~ 20:15: a reference in a struct needs a lifetime
//~   help: write `struct Slice<'a>`, and `&'a` in front of what it refers to
//~ 24:21: there is no type `Mutex` in this program
//~   help: children share atomics by `&`, and are lent parts of a slice by `&mut`
