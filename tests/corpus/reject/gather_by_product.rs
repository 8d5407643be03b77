//! Results cannot be gathered by `*=`.

#[millstream::program]
pub mod program {
    #[task]
    pub fn factor(n: u64) -> u64 {
        n
    }

    #[task]
    pub fn product(n: u64) -> u64 {
        let mut p = 1;
        for i in 1..n {
            p *= spawn!(factor(i));
        }
        sync!();
        p
    }
}

//~ 14:15: results cannot be gathered with this operator: the order in which they come is not known
//~   help: there are `+=`, `|=`, `&=`, `^=`, `x = x.min(spawn!(..))` and `x = x.max(spawn!(..))`
