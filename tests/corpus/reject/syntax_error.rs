//! A missing parenthesis.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u32) -> u32 {
        let a = (n + 1;
        a
    }
}

//~ 7:17: this bracket is not closed
//~   help: what follows is closed by another kind of bracket before it is
