//! References to slices.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(parts: &[&[u32]], one: &&u32, grow: &mut &mut [u32]) {}
}

//~ 6:23: a reference to `&[u32]` is not part of the task language
//~   help: pass `&[u32]` itself
//~ 6:39: a reference to `&u32` is not part of the task language
//~   help: pass `&u32` itself
//~ 6:52: a reference to `&mut [u32]` is not part of the task language
//~   help: pass `&mut [u32]` itself
