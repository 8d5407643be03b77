// down(2)
// Checked subtraction below zero.

#[millstream::program(checked)]
pub mod program {
    #[task]
    pub fn down(n: u32) -> u32 {
        let x = spawn!(down(n - 1));
        sync!();
        x
    }
}

//~ overflow: 0 - 1, in `down` at corpus/fault/sub_overflow.rs:8:29
