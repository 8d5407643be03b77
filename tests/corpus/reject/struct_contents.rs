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
//~   help: a struct holds no references; a tuple may: `type View<'a> = (&'a [u32], &'a [f32]);`
//~ 12:15: a struct field cannot be `AtomicU32`
//~   help: structs hold plain data; pass atomics beside them, as `&AtomicU32` or `&[AtomicU32; 4]`
//~ 16:15: the struct `Node` would contain itself
//~   help: keep the other element's index into a slice instead
