//! Ways to combine a result with what a name holds that do not gather.

#[millstream::program]
pub mod program {
    #[task]
    pub fn value(n: u64) -> u64 {
        n
    }

    #[task]
    pub fn is_odd(n: u64) -> bool {
        n % 2 == 1
    }

    #[task]
    pub fn total(n: u64) -> u64 {
        let mut t = 0u64;
        for i in 0..n {
            t = t.saturating_add(spawn!(value(i)));
        }
        sync!();
        t = t.saturating_add(spawn!(value(1)));
        t = t.abs_diff(spawn!(value(2)));
        sync!();
        t
    }

    #[task]
    pub fn found(n: u64, all: &mut [bool]) -> bool {
        let mut found = false;
        for i in 0..n {
            found = found || spawn!(is_odd(i));
            all[0] = all[0] && spawn!(is_odd(i));
        }
        sync!();
        found
    }
}

//~ 19:17: `t` cannot gather results this way
//~   note: 19:34: a child that may still run writes to it
//~   help: results are gathered by `+=`, `|=`, `&=`, `^=`, `.min(..)`, `.max(..)` and `.wrapping_add(..)`; else keep each in a name or an element of its own, and combine them after the `sync!()`
//~ 23:13: `t` cannot gather results this way
//~   note: 22:30: a child that may still run writes to it
//~   help: results are gathered by `+=`, `|=`, `&=`, `^=`, `.min(..)`, `.max(..)` and `.wrapping_add(..)`; else keep each in a name or an element of its own, and combine them after the `sync!()`
//~ 32:27: results cannot be gathered with `||`: there would be no child where `found` decides
//~   help: write `found |= spawn!(..)`: the child comes to be in any case
//~ 33:29: results cannot be gathered with `&&`: there would be no child where `all[0]` decides
//~   help: write `all[0] &= spawn!(..)`: the child comes to be in any case
