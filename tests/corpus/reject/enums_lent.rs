//! Enums that hold references as arguments of tasks.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    enum Part<'a> {
        Of(&'a [u32]),
        Nothing,
    }

    struct Whole<'a> {
        part: Part<'a>,
    }

    #[task]
    fn by_value(part: Part) -> u32 {
        1
    }

    #[task]
    fn within(whole: Whole, parts: &[Part]) -> u32 {
        1
    }
}

//~ 16:17: a task cannot take `Part<'_>`: a variant holds references
//~   help: give it what the variant holds: a slice or reference of its own, beside plain data
//~ 21:15: a task cannot take `Whole<'_>`: a variant holds references
//~   help: give it what the variant holds: a slice or reference of its own, beside plain data
//~ 21:29: a task cannot take `&[Part<'_>]`: a variant holds references
//~   help: give it what the variant holds: a slice or reference of its own, beside plain data
