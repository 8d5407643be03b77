//! Tuples of the wrong size.

#[millstream::program]
pub mod program {
    fn two() -> (u32, u32) {
        (1, 2, 3)
    }

    #[task]
    pub fn pair() -> (u32, u32) {
        two()
    }

    #[task]
    pub fn run() -> u32 {
        let (a, b, c) = two();
        let (x, y, z) = spawn!(pair());
        let w = spawn!(pair());
        sync!();
        w + a
    }
}

//~ 6:9: expected `(u32, u32)`, found `(an integer, an integer, an integer)`
//~ 16:13: a pattern of 3 fields for `(u32, u32)`
//~ 17:13: a pattern of 3 fields for `(u32, u32)`
