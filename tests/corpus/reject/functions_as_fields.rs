//! Functions as fields, and wide integers between tasks.

#[millstream::program]
pub mod program {
    struct Rule {
        step: fn(u32) -> u32,
    }

    fn half(x: u128) -> u128 {
        x / 2
    }

    #[task]
    pub fn wide(x: u128) -> u128 {
        half(x)
    }
}

//~ 14:20: a task or kernel cannot take or return an integer of 128 bits
//~   help: give it two halves, `x as u64` and `(x >> 64) as u64`
