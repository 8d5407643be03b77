// minus(-128)
// The value without a positive counterpart.

#[millstream::program(checked)]
pub mod program {
    #[task]
    pub fn minus(x: i8) -> i8 {
        -x
    }
}

//~ overflow: negation of -128, in `minus` at corpus/fault/neg_overflow.rs:8:9
