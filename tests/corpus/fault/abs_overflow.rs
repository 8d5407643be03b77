// size(-32768)
// `abs` of it.

#[millstream::program(checked)]
pub mod program {
    #[task]
    pub fn size(x: i16) -> i16 {
        x.abs()
    }
}

//~ overflow: negation of -32768, in `size` at corpus/fault/abs_overflow.rs:8:9
