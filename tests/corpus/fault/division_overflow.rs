// divide(-2147483648; -1)
// The one quotient that does not fit.

#[millstream::program]
pub mod program {
    #[task]
    pub fn divide(a: i32, b: i32) -> i32 {
        a / b
    }
}

//~ overflow: -2147483648 / -1, in `divide` at corpus/fault/division_overflow.rs:8:9
