//! Parallel loops over what adaptors leave out or count.

#[millstream::program]
pub mod program {
    #[task]
    pub fn f(out: &mut [u32], a: &[u32]) {
        #[parallel]
        for (i, x) in (0..out.len()).zip(out.iter_mut()) { *x = i as u32 + a[i]; }
        #[parallel]
        for (x, i) in out.iter_mut().zip(0..) { *x += i as u32; }
        #[parallel]
        for x in out.iter_mut().step_by(2) { *x += 1; }
        #[parallel]
        for x in out.iter_mut().skip(2) { *x += 1; }
    }
}

//~ 7:9: a parallel loop over what adaptors make of its items
//~   help: rounds are counted by `.enumerate()`: `for (i, x) in a.iter_mut().enumerate()`
//~ 9:9: a parallel loop over what adaptors make of its items
//~   help: rounds are counted by `.enumerate()`: `for (i, x) in a.iter_mut().enumerate()`
//~ 11:9: a parallel loop over what adaptors make of its items
//~   help: step through its indices: `for i in (0..a.len()).step_by(n)`
//~ 13:9: a parallel loop over what adaptors make of its items
//~   help: run over what is left: `for x in &a[n..]`
