//! Each way to a child's result gives a value, as in Rust.

#[millstream::program]
pub mod program {
    #[task]
    pub fn half(n: u32) -> u32 {
        n / 2
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        let (mut sum, mut or) = (0u32, 0u32);
        sum += if n > 1 { spawn!(half(n)) };
        or |= if n > 2 {
            spawn!(half(n))
        } else {
            spawn!(half(1));
        };
        sync!();
        sum + or
    }
}

//~ 13:16: expected `u32`, found `()`
//~   help: this has no value; end the block with one
//~ 16:16: expected `u32`, found `()`
//~   help: this has no value; end the block with one
