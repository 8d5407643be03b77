//! Results that are read or added to while a loop still spawns: a `sync!()` in it would make the children run in turn.

#[millstream::program]
pub mod program {
    #[task]
    pub fn child(n: u64, m: u64) -> u64 {
        n + m
    }

    #[task]
    pub fn smooth(n: u64) -> u64 {
        let mut q = [0; 8];
        for k in 1..8 {
            q[k] = spawn!(child(n, q[k - 1]));
        }
        sync!();
        q[7]
    }

    #[task]
    pub fn count(n: u64) -> u64 {
        let mut count = 0;
        for k in 0..n {
            count += spawn!(child(n, k));
            count -= n;
            count *= 2;
        }
        sync!();
        count
    }

    #[task]
    pub fn some(n: u64) -> u64 {
        let mut r = [0; 4];
        for k in 0..4 {
            r[k as usize / 2] = if n > k { spawn!(child(n, k)) } else { 1 };
        }
        sync!();
        r[3]
    }

    #[task]
    pub fn either(n: u64) -> u64 {
        let mut r = [0; 4];
        for k in 0..4 {
            if n > k {
                r[k as usize] = spawn!(child(n, k));
            } else {
                r[k as usize] = 1;
            }
        }
        sync!();
        r[3]
    }
}

//~ 14:36: `q` is used before its `sync!()`
//~   note: 14:20: a child that may still run writes to it
//~   help: let the children of this loop write to a second variable, and read the first
//~ 25:13: `count` is assigned before its `sync!()`
//~   note: 24:22: a child that may still run writes to it
//~   help: put a `sync!()` in between
//~ 26:13: `count` is assigned before its `sync!()`
//~   note: 24:22: a child that may still run writes to it
//~   help: put a `sync!()` in between
//~ 36:13: `r` is assigned before its `sync!()`
//~   note: 36:44: a child that may still run writes to it
//~   help: give elements their values before the loop, and let children write over them; or put a `sync!()` in between
//~ 49:17: `r` is assigned before its `sync!()`
//~   note: 47:33: a child that may still run writes to it
//~   help: let one assignment give an element either of its values, `r[i] = if .. { spawn!(..) } else { .. }`; or give elements their values before the loop, and let children write over them; or put a `sync!()` in between
