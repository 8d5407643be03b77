//! Enums that are not integers.

#[millstream::program]
pub mod program {
    pub enum Shape {
        Round(f32),
        Square { side: f32 },
        None,
    }

    pub enum Level {
        Low = 1,
        High,
    }

    #[repr(u8)]
    pub enum Big {
        Small,
        Large = 1000,
    }

    #[repr(C)]
    pub enum Other {
        One,
    }

    pub enum Many<T> {
        One,
        Two(T),
    }

    pub enum Twice {
        One = 0,
        Two = 0,
        One = 5,
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        n
    }
}

//~ 11:14: the enum `Level` has no variant with the number 0
//~   help: memory begins as zeros: give one of them this number
//~ 19:9: 1000 does not fit `u8`
//~   help: say which integer holds it: `#[repr(u32)]` in front of the enum
//~ 22:5: an enum has the layout of an integer
//~   help: write `#[repr(u8)]` or another integer type, or leave it out
//~ 34:9: `Two` has the number of the variant `One`
//~   help: give it another number
//~ 35:9: two variants are called `One`
//~   help: give it another name
