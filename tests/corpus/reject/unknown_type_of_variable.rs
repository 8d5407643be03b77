//! A variable whose type nothing decides.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u32) -> u32 {
        let x;
        let list = [];
        n
    }
}

//~ 8:20: the type of this is not known
//~   help: write it: `let x: u32 = ..`
