//! A function ends without the value that it promises.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u32) -> u32 {
        n + 1;
    }

    #[task]
    pub fn other(n: u32) -> u32 {
        if n > 2 {
            return;
        }
        for i in 0..n {
            if i == 3 {
                return i;
            }
        }
    }
}

//~ 8:5: this block ends without a value, and `u32` is expected
//~   help: end it with a value, without a `;` behind it
//~ 13:13: this `return` has no value; the function returns `u32`
//~ 15:9: expected `u32`, found `()`
//~   help: this has no value; end the block with one
