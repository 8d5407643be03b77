// shift(1; 32)
// A shift by more bits than there are.

#[millstream::program(checked)]
pub mod program {
    #[task]
    pub fn shift(x: u32, n: u32) -> u32 {
        x << n
    }
}

//~ overflow: 1 << 32, in `shift` at corpus/fault/shift_overflow.rs:8:9
