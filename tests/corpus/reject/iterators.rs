//! Iterator chains instead of loops.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(data: &[u32]) -> u32 {
        let sum: u32 = data.iter().map(|x| x * 2).sum();
        let most = data.iter().max();
        for x in data.iter().filter(|x| **x > 1) {
            let y = x;
        }
        for (a, b) in data.iter().zip(data) {}
        for c in data.chunks(2) {}
        for i in 0.. {}
        for (i, x) in data {}
        sum
    }
}

//~ 7:29: an iterator stands only in a `for`
//~   help: write a loop: `for x in a.iter() { .. }`
//~ 8:25: an iterator stands only in a `for`
//~   help: write a loop: `for x in a.iter() { .. }`
//~ 9:23: an iterator stands only in a `for`
//~   help: write a loop: `for x in a.iter() { .. }`
//~ 12:28: an iterator stands only in a `for`
//~   help: write a loop: `for x in a.iter() { .. }`
//~ 13:23: slices have no method `chunks`
//~   help: take sub-slices in a loop: `&a[i * n..(i + 1) * n]`
//~ 14:18: a `for` needs both ends of its range
//~   help: write `lo..hi`, or use `loop`
//~ 15:13: a pattern of 2 fields for `&u32`
//~   help: to get the index too, write `.iter().enumerate()`
