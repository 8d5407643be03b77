// power(-100000)
// Checked multiplication in place.

#[millstream::program(checked)]
pub mod program {
    #[task]
    pub fn power(n: i64) -> i64 {
        let mut x = n;
        for _ in 0..10 {
            x *= n;
        }
        x
    }
}

//~ overflow: -1000000000000000 * -100000, in `power` at corpus/fault/mul_overflow.rs:10:13
