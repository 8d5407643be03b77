//! Functions as fields, and wide integers in memory that is lent.

#[millstream::program]
pub mod program {
    struct Rule {
        step: fn(u32) -> u32,
    }

    fn half(x: u128) -> u128 {
        x / 2
    }

    #[task]
    pub fn wide(x: &[u128]) -> u128 {
        half(x[0])
    }
}

//~ 14:20: a task or kernel cannot be lent an integer of 128 bits
//~   help: lend it elements of two halves, `&[[u64; 2]]`
