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
        let c = data.chunks(2);
        for pair in data.iter().zip(data) {}
        for (a, b) in data.iter().zip(0..) {}
        for (a, b) in data.iter().zip(data).rev() {}
        for i in 0.. {}
        for (i, x) in data {}
        sum
    }
}

//~ 7:29: an iterator stands only in a `for`
//~   help: write a loop: `for x in a.iter() { .. }`
//~ 8:25: an iterator stands only in a `for`
//~   help: write a loop: `for x in a.iter() { .. }`
//~ 9:30: `filter` of an iterator is not part of the task language
//~   help: leave the others out in the loop: `if .. { continue; }`
//~ 13:22: an iterator stands only in a `for`
//~   help: write a loop: `for part in a.chunks(n) { .. }`
//~ 14:13: `zip` gives pairs
//~   help: write `for (x, y) in ..`
//~ 15:39: a range beside a slice
//~   help: count with `.enumerate()`, or run over the indices
//~ 16:23: `rev` of a `zip`
//~   help: run over the indices: `for i in (0..n).rev()`
//~ 17:18: a `for` needs both ends of its range
//~   help: write `lo..hi`, or use `loop`
//~ 18:13: a pattern of 2 fields for `&u32`
//~   help: to get the index too, write `.iter().enumerate()`
