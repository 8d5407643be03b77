//! Casts that Rust does not have either.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u32, x: f32, b: bool, t: (u32, u32)) -> u32 {
        let c = n as bool;
        let d = b as f32;
        let e = x as bool;
        let f = t as u32;
        let g = n as (u32, u32);
        let h = u8::from(n);
        n
    }
}

//~ 7:17: `u32` cannot be converted to `bool` by `as`
//~   help: compare with zero: `x != 0`
//~ 8:17: `bool` cannot be converted to `f32` by `as`
//~   help: `as` converts numbers, and bools to integers
//~ 9:17: `f32` cannot be converted to `bool` by `as`
//~   help: compare with zero: `x != 0`
//~ 10:17: `(u32, u32)` cannot be converted to `u32` by `as`
//~   help: `as` converts numbers, and bools to integers
//~ 11:17: `as (u32, u32)` does not convert anything
//~   help: `as` converts numbers and bools
//~ 12:26: `u8::from` does not take `u32`: a value could be lost
//~   help: write `.. as u8`
