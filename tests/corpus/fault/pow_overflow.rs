// power(300; 2)
// A power that does not fit.

#[millstream::program(checked)]
pub mod program {
    #[task]
    pub fn power(x: u16, n: u32) -> u16 {
        x.pow(n)
    }
}

//~ overflow: 300 * 300, in `power` at corpus/fault/pow_overflow.rs:8:15
