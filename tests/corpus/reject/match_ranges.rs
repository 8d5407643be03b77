//! Ranges and values that are none of the type.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u8, m: i8) -> u32 {
        let a = match n {
            300 => 1,
            9..=5 => 2,
            -1 => 3,
            _ => 4,
        };
        let b = match m {
            -200 => 1,
            0..5 => 2,
            5..=127 => 3,
            -128..-1 => 4,
        };
        a + b
    }
}

//~ 8:13: 300 does not fit `u8`
//~ 9:13: no value is in this range
//~   help: write the lower end first
//~ 10:13: -1 does not fit `u8`
//~ 14:13: -200 does not fit `i8`
