//! What a struct cannot hold: references, atomics, itself.

#[millstream::program]
pub mod program {
    use std::sync::atomic::AtomicU32;

    struct View<'a> {
        data: &'a [u32],
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

//~ 7:16: the struct `View` has parameters
//~   help: structs of a program are plain data: write one struct for each type you need
//~ 12:15: a struct field cannot be `AtomicU32`
//~   help: structs hold plain data: numbers, bools, arrays, tuples and other structs; pass references as arguments
//~ 16:15: the struct `Node` would contain itself
//~   help: keep the other element's index into a slice instead
