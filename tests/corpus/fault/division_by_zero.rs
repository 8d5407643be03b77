// divide(7; 0)
// Division by zero ends a run in every mode.

#[millstream::program]
pub mod program {
    #[task]
    pub fn divide(a: i32, b: i32) -> i32 {
        a / b
    }
}

//~ division by zero: 7 / 0, in `divide` at corpus/fault/division_by_zero.rs:8:9
