//! A helper is spawned.

#[millstream::program]
pub mod program {
    fn square(n: u32) -> u32 {
        n * n
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        let a = spawn!(square(n));
        sync!();
        a
    }
}

//~ 11:24: `square` is a helper, and only tasks can be spawned
//~   note: 5:8: it is defined here
//~   help: put `#[task]` in front of it, or call it without `spawn!`
