//! Two programs in one file, and none is named.

#[millstream::program]
pub mod first {
    #[task]
    pub fn run() {}
}

#[millstream::program]
pub mod second {
    #[task]
    pub fn run() {}
}

//~ 10:9: this file has several programs: `first`, `second`
//~   help: name the one to use
