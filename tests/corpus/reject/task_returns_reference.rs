//! A task cannot return a slice.

#[millstream::program]
pub mod program {
    #[task]
    pub fn front(data: &[u32]) -> &[u32] {
        &data[..1]
    }
}

//~ 6:32: a task cannot return `&[u32]`
//~   help: a child's result is plain data; pass a `&mut` slice to write to instead
