//! Constants without a value.

#[millstream::program]
pub mod program {
    const A: u32 = B + 1;
    const B: u32 = A + 1;
    const TABLE: [u32; 3] = [1, 2];
    const LAST: u32 = FULL[4];
    const FULL: [u32; 4] = [1, 2, 3, 4];
    const HALF: u32 = 1 / 0;
    const SQUARE: u32 = square(3);
    const TOO_BIG: u8 = 256;

    fn square(n: u32) -> u32 {
        n * n
    }

    #[task]
    pub fn run(n: u32) {}
}

//~ 6:20: the constant `A` depends on itself
//~ 7:29: expected `[u32; 3]`, found `[u32; 2]`
//~ 8:23: this constant has no value: index out of bounds: the length is 4 but the index is 4
//~ 10:23: this constant has no value: division by zero: 1 / 0
//~ 11:25: a constant calls only what is `const`
//~   help: write `const fn`, or write the value out
//~ 12:25: 256 does not fit `u8`
