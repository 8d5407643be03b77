//! `Option::from` and `Result::from`.

#[millstream::program]
pub mod program {
    #[task]
    pub fn some(n: u64) -> Option<u64> {
        let o: Option<u64> = Option::from(n);
        let p = Option::<u64>::from(n);
        let r: Result<u64, u8> = Result::from(Ok(n));
        o.or(p).or(r.ok())
    }
}

//~ 7:30: `Option::from` is not part of the task language
//~   help: write `Some(..)`
//~ 8:17: `Option::from` is not part of the task language
//~   help: write `Some(..)`
//~ 9:34: `Result::from` is not part of the task language
//~   help: write `Ok(..)` or `Err(..)`
