//! A slice without a reference, and a type left open.

#[millstream::program]
pub mod program {
    fn sum(data: [u32]) -> u32 {
        0
    }

    #[task]
    pub fn run(x: _) {}
}

//~ 5:18: a slice needs a reference in front
//~   help: write `&[T]` or `&mut [T]`
//~ 10:19: the type must be written out here
