//! Results cannot be gathered by `*=`, `-=` and `/=`.

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
            p -= spawn!(factor(i));
            p /= spawn!(factor(i));
            p = p - spawn!(factor(i));
            p = p * spawn!(factor(i));
        }
        sync!();
        p
    }
}

//~ 14:15: results cannot be gathered with `*=`
//~   help: store them, `a[i] = spawn!(..)`, and multiply after the `sync!()`; or let the rounds of a parallel loop do it: `let y = spawn!(..); sync!(); x *= y;`
//~ 15:15: results cannot be gathered with `-=`
//~   help: gather them by `+=` in a variable of their own, and take that away after the `sync!()`
//~ 16:15: results cannot be gathered with this operator: the order in which they come is not known
//~   help: there are `+=`, `|=`, `&=`, `^=`, `x = x.min(spawn!(..))` and `x = x.max(spawn!(..))`
//~ 17:17: `p` cannot gather results this way
//~   note: 18:21: a child that may still run writes to it
//~   help: results are gathered by `+=`, `|=`, `&=`, `^=`, `.min(..)`, `.max(..)` and `.wrapping_add(..)`; else keep each in a name or an element of its own, and combine them after the `sync!()`
//~ 18:17: `p` cannot gather results this way
//~   note: 17:21: a child that may still run writes to it
//~   help: results are gathered by `+=`, `|=`, `&=`, `^=`, `.min(..)`, `.max(..)` and `.wrapping_add(..)`; else keep each in a name or an element of its own, and combine them after the `sync!()`
