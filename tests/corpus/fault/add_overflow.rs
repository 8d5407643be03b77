// add(200; 100)
// Checked addition.

#[millstream::program(checked)]
pub mod program {
    #[task]
    pub fn add(a: u8, b: u8) -> u8 {
        a + b
    }
}

//~ overflow: 200 + 100, in `add` at corpus/fault/add_overflow.rs:8:9
