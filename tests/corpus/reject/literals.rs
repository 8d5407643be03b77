//! Numbers that do not fit their types.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u8) -> i32 {
        let a: i8 = 200;
        let b: u32 = -1;
        let c: i8 = -129;
        let d = 1u7;
        let e = n + 300;
        let f = 123456789012345678901234567890;
        let g: f32 = 1;
        2147483648
    }
}

//~ 7:21: 200 does not fit `i8`
//~ 8:22: `u32` has no negative values
//~ 9:21: -129 does not fit `i8`
//~ 10:17: `u7` is not a number type of the task language
//~ 11:21: 300 does not fit `u8`
//~ 12:17: 123456789012345678901234567890 does not fit `i32`
//~ 13:22: expected `f32`, found `an integer`
//~   help: write `1.0`
