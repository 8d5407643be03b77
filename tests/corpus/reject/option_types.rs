//! What an `Option` cannot hold, and where it cannot stand.

#[millstream::program]
pub mod program {
    use std::sync::atomic::AtomicU32;

    #[derive(Clone, Copy)]
    struct Node {
        next: Option<Node>,
        data: Option<&'static [u32]>,
    }

    fn held(counts: Option<AtomicU32>, bare: Option) {}

    #[task]
    pub fn view(a: &[u32]) -> Option<&u32> {
        a.first()
    }
}

//~ 9:15: the struct `Node` would contain itself
//~   help: keep the other element's index into a slice instead
//~ 13:28: an `Option` cannot hold an atomic
//~   help: give the atomic by reference, and a `bool` beside it
//~ 13:46: `Option` needs the type it holds
//~   help: write `Option<u32>`
//~ 16:28: a task cannot return `Option<&u32>`
//~   help: a child's result is plain data; pass a `&mut` slice to write to instead
