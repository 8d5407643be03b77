//! What a struct cannot hold: references, atomics, itself.

#[millstream::program]
pub mod program {
    use std::sync::atomic::AtomicU32;

    struct View {
        data: &[u32],
    }

    struct Counter {
        hits: AtomicU32,
    }

    struct Node {
        left: [Node; 2],
        value: u32,
    }

    #[task]
    pub fn run() {}
}

//~ 8:15: a reference in a struct needs a lifetime
//~   help: write `struct View<'a>`, and `&'a` in front of what it refers to
//~ 12:15: a struct field cannot be `AtomicU32`
//~   help: a struct holds plain data and what it borrows: give it the atomic by `&`, as `&'a AtomicU32`
//~ 16:15: the struct `Node` would contain itself
//~   help: keep the other element's index into a slice instead
