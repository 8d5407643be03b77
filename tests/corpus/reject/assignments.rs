//! What cannot be assigned to.

#[millstream::program]
pub mod program {
    const LIMIT: u32 = 3;

    #[task]
    pub fn run(n: u32) -> u32 {
        n + 1 = 4;
        LIMIT += 1;
        5 = n;
        run(n) = 3;
        n
    }
}

//~ 9:9: this cannot be assigned to
//~   help: assign to a variable, a field, an element or `*reference`
//~ 10:9: a constant cannot be assigned to
//~   help: copy it to a variable first
//~ 11:9: this cannot be assigned to
//~   help: assign to a variable, a field, an element or `*reference`
//~ 12:9: this cannot be assigned to
//~   help: assign to a variable, a field, an element or `*reference`
