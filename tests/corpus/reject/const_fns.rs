//! What constants call: functions that are not `const`, and such as have no end.

#[millstream::program]
pub mod program {
    const fn endless(x: u32) -> u32 {
        endless(x)
    }

    fn plain(x: u32) -> u32 {
        x
    }

    const ENDLESS: u32 = endless(3);
    const PLAIN: u32 = plain(3);
    const OUT: u32 = [1, 2][beyond(5)];

    const fn beyond(x: usize) -> usize {
        x
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        n
    }
}

//~ 6:9: a constant's functions call each other too often
//~   help: write a loop, or write the value out
//~ 14:24: a constant calls only what is `const`
//~   help: write `const fn`, or write the value out
//~ 15:22: this constant has no value: index out of bounds: the length is 2 but the index is 5
