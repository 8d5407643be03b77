//! An index that is not a `usize`, and things that have no elements.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(data: &[u32], i: u32, t: (u32, u32)) -> u32 {
        let x = data[i];
        let y = t[0];
        let z = i[1];
        let part = data[1..];
        data[0] + x
    }
}

//~ 7:22: the index is `u32`
//~   help: an index is a `usize`: write `i as usize`
//~ 8:17: `(u32, u32)` cannot be indexed
//~   help: arrays, slices and matrices can
//~ 9:17: `u32` cannot be indexed
//~   help: arrays, slices and matrices can
//~ 10:20: a sub-slice needs a reference in front
//~   help: write `&a[lo..hi]` or `&mut a[lo..hi]`
