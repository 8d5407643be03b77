//! Something is missing behind an operator.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u32) -> u32 {
        let a = n + ;
        a
    }
}

//~ 7:21: expected an expression
