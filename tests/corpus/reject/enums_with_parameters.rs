//! Enums with parameters that nothing says, or of which too many are written.

#[millstream::program]
pub mod program {
    pub enum Many<T> {
        One,
        Two(T),
    }

    pub enum Other {
        One,
        Two,
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        let x = Many::One;
        let y = Many::Two(n, n);
        let z = Many::<u32, u8>::Two(n);
        match Many::Two(n) {
            Many::One => 1,
            Other::Two => 2,
            Many::Two(x) => x,
        }
    }
}

//~ 17:17: what the parameter `T` of `Many` is, is not known here
//~   help: write it, as in `name::<u32>(..)`, or write the type of the variable that the value goes to
//~ 18:17: `Many::Two` takes 1 argument, here are 2
//~   help: write `Many::Two(x)`
//~ 19:17: 2 parameters where there are 1
//~ 22:13: expected `Many<u32>`, found `Other`
