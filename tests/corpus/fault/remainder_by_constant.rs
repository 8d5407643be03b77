// wrap(-7)
// A compiler of machine code sees that it is zero, and says nothing.

#[millstream::program]
pub mod program {
    #[task]
    pub fn wrap(a: i64) -> i64 {
        let length: i64 = 0;
        a % length
    }
}

//~ division by zero: -7 % 0, in `wrap` at corpus/fault/remainder_by_constant.rs:9:9
