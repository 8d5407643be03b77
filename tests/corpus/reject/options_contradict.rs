//! Options that exclude each other.

#[millstream::program(checked,unchecked)]
pub mod program {
    #[task]
    pub fn run() {}
}

//~ 3:31: a program is either `checked` or `unchecked`
//~   help: leave out one of them
