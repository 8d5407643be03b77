// rest(7; 3)
// So does a remainder.

#[millstream::program]
pub mod program {
    #[task]
    pub fn rest(a: u64, mut b: u64) -> u64 {
        b %= b + 1;
        b -= b;
        a % b
    }
}

//~ division by zero: 7 % 0, in `rest` at corpus/fault/remainder_by_zero.rs:10:9
