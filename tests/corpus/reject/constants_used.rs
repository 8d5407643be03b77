//! Constants where a variable is needed, and the other way round.

#[millstream::program]
pub mod program {
    const SIZE: usize = 4;
    const FULL: [u32; 4] = [1, 2, 3, 4];

    #[task]
    pub fn run(count: usize) -> u32 {
        SIZE = 5;
        let room = [0; count];
        FULL[1]
    }
}

//~ 10:9: a constant cannot be assigned to
//~   help: copy it to a variable first
//~ 11:24: there is no `count` here
//~   help: a constant or an array's length is made of literals and other constants
