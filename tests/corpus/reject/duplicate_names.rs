//! Two items of one name.

#[millstream::program]
pub mod program {
    const SIZE: u32 = 1;

    fn size() {}

    struct SIZE {
        n: u32,
    }

    #[task]
    pub fn run() {}

    #[task]
    pub fn run(n: u32) {}
}

//~ 9:12: the name `SIZE` is defined more than once in this program
//~ 17:12: the name `run` is defined more than once in this program
