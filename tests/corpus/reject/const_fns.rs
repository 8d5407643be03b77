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

//~
