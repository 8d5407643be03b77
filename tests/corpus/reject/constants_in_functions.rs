//! Names of constants in functions that mean something else already.

#[millstream::program]
pub mod program {
    const N: u32 = 3;

    #[task]
    pub fn run(m: u32) -> u32 {
        const N: u32 = 4;
        const RUN: u32 = m;
        if m > N {
            const m: u32 = 5;
            const RUN: u32 = 6;
            return RUN;
        }
        static S: u32 = 3;
        N
    }
}

//~ 9:15: the name `N` is defined more than once here
//~   help: give the constant of this block a name of its own
//~ 10:26: there is no `m` here
//~   help: a constant or an array's length is made of literals and other constants
//~ 12:19: the name `m` is defined more than once here
//~   help: give the constant of this block a name of its own
//~ 13:19: the name `RUN` is defined more than once here
//~   help: give the constant of this block a name of its own
