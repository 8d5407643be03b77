//! A side of a `zip` that runs backwards, in a parallel loop.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(a: &mut [u32], b: &[u32]) {
        #[parallel]
        for (x, y) in a.iter_mut().zip(b.iter().rev()) {
            *x += y;
        }
    }
}

//~ 7:9: `rev` of a parallel loop
//~   help: its rounds run side by side, in no order: leave it out
