//! The branches of an `if` and the arms of a `match` differ.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u32) -> u32 {
        let a = if n > 1 { 1.5 } else { 2 };
        let b = match n {
            0 => true,
            _ => 7,
        };
        if n > 3 {
            5
        }
        a
    }
}

//~ 7:41: expected `a float`, found `an integer`
//~   help: write `2.0`
//~ 10:18: expected `bool`, found `an integer`
//~   help: compare it: `.. != 0`
//~ 13:13: expected `()`, found `an integer`
//~   help: put a `;` behind it, or `return` it
//~ 15:9: expected `u32`, found `a float`
//~   help: convert it: `.. as u32`
