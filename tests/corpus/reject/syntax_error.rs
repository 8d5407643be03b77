//! A missing parenthesis.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u32) -> u32 {
        let a = (n + 1;
        a
    }
}

//~ 9:5: the brackets do not match here, or a text or comment has no end
//~   help: look for a `(`, `[` or `{` before this place that nothing closes
