//! Both sides of an operator, a condition, a returned value.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(a: u32, b: u64, x: f64) -> u64 {
        let c = a + b;
        let d = x * 2;
        if a {
            return d;
        }
        let e: u32 = b;
        c
    }
}

//~ 7:19: the two sides differ: `u32` and `u64`
//~   help: convert one of them with `as`
//~ 8:19: the two sides differ: `f64` and `an integer`
//~   help: write `2.0`
//~ 9:12: expected `bool`, found `u32`
//~   help: compare it: `.. != 0`
//~ 12:22: expected `u32`, found `u64`
//~   help: convert it: `.. as u32`
