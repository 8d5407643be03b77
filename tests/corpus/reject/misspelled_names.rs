//! Names that are nearly right.

#[millstream::program]
pub mod program {
    const LIMIT: u32 = 10;

    fn double(value: u32) -> u32 {
        value * 2
    }

    #[task]
    pub fn run(count: u32) -> u32 {
        let total = doubl(coutn);
        if total > LIMTI {
            return total.count_one();
        }
        total
    }
}

//~ 13:21: there is no function `doubl` in this program
//~   help: did you mean `double`?
//~ 14:20: there is no `LIMTI` here
//~   help: did you mean `LIMIT`?
