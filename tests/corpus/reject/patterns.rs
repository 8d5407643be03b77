//! Patterns that the language does not have.

#[millstream::program]
pub mod program {
    struct P {
        x: u32,
        y: u32,
    }

    #[task]
    pub fn run(n: u32, p: P, t: (u32, u32)) -> u32 {
        let (a, b, c) = t;
        let P { x } = p;
        let ref r = n;
        let Some(v) = n else { return 1 };
        let (e, &f) = &t;
        match n {
            1 | k => k,
            "one" => 1,
            1.5 => 2,
            ref z => *z,
        }
    }
}

//~ 12:13: a pattern of 3 fields for `(u32, u32)`
//~ 13:13: the pattern does not name all fields
//~   help: end it with `..`
//~ 15:13: a pattern of an `Option` for `u32`
//~ 16:17: `&` of a part of what a reference refers to
//~   help: a name there is a reference already: leave out the `&`, and write `*x` for the value
//~ 18:13: `k` is bound in some of these patterns only
//~   help: bind it in each, or before the `match`
//~ 19:13: text is not part of the task language
//~   help: use `u8` values: `b'x'`, or an array of them
//~ 20:13: expected `u32`, found `a float`
//~   help: convert it: `.. as u32`
