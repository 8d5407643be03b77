//! Arms of another type than the value, and names that are none.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u32) -> u32 {
        match n {
            true => 1,
            -1 => 2,
            300u8 => 3,
            (1, 2) => 4,
            _ => 5,
        }
    }
}

//~ 8:13: expected `u32`, found `bool`
//~ 9:13: -1 does not fit `u32`
//~ 10:13: expected `u32`, found `u8`
//~   help: convert it: `.. as u32`
//~ 11:13: a pattern of 2 fields for `u32`
