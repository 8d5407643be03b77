//! What variants cannot hold, and types of results that are not whole.

#[millstream::program]
pub mod program {
    pub enum Tree {
        Leaf,
        Node(u32, Tree),
    }

    pub enum Round {
        Nothing,
        Of(Back),
    }

    pub struct Back {
        round: Option<Round>,
    }

    pub enum Part {
        Nothing,
        Of(&'static [u32]),
        Shared { count: AtomicU32 },
    }

    #[derive(Default)]
    pub enum Empty {
        Nothing(),
        #[default]
        One(u32),
    }

    #[task]
    pub fn run(a: Result<u32>, b: Result<u32, AtomicU32>, c: &[u32]) -> Result<u32, &[u32]> {
        Ok(1)
    }
}

//~ 7:19: the enum `Tree` would contain itself
//~   help: keep the other element's index into a slice instead
//~ 16:16: the struct `Back` would contain itself
//~   help: keep the other element's index into a slice instead
//~ 22:25: a variant cannot hold `AtomicU32`
//~   help: enums hold plain data and, with a lifetime, what they share: `enum Part<'a> { Of(&'a [u32]) }`; what is written to is an argument beside it
//~ 27:16: the variant `Nothing` has no data in its brackets
//~   help: leave them out
//~ 28:9: the default variant has data
//~   help: write an `impl Default` that gives them
//~ 33:19: `Result` needs the types of its value and of its error
//~   help: write `Result<u32, Fault>`
//~ 33:47: a `Result` cannot hold an atomic
//~   help: give the atomic by reference, and a `bool` beside it
//~ 33:70: a task cannot return `Result<u32, &[u32]>`
//~   help: a child's result is plain data; pass a `&mut` slice to write to instead
