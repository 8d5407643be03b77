//! Macros that are nearly right, or none of ours.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u32) {
        span!(run(n));
        sink!();
        todo!();
        assert(n > 1);
        assert!();
        assert_eq!(n);
        assert!(n);
        assert_eq!(n, 1.5);
    }
}

//~ 7:9: `span!` is not part of the task language
//~   help: did you mean `spawn!`?
//~ 8:9: `sink!` is not part of the task language
//~   help: did you mean `sync!`?
//~ 10:9: `assert` is a macro
//~   help: write `assert!(..)`
//~ 11:9: an assertion needs a condition
//~   help: write `assert!(condition)`
//~ 12:9: this assertion compares two values
//~   help: write `assert_eq!(a, b)`
//~ 13:17: expected `bool`, found `u32`
//~   help: compare it: `.. != 0`
//~ 14:23: expected `u32`, found `a float`
//~   help: convert it: `.. as u32`
