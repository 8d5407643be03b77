//! Loops over what an iterator would make of its items.

#[millstream::program]
pub mod program {
    #[task]
    pub fn sums(data: &[u32], out: &mut [u32], n: usize) -> u32 {
        for x in data.iter().map(|x| x + 1).rev() {}
        for (x, y) in data.iter().filter(|x| **x > 0).zip(out.iter()) {}
        for i in (0..n).map(|i| i + 1).step_by(2) {}
        for i in (0..n).map(|i| return i) {}
        for i in (0..n).filter(|i| { if *i > 1 { break; } true }) {}
        for i in (0..n).map(|i| spawn!(sums(data, out, i))) {}
        for i in (0..n).map(n) {}
        for i in (0..n).filter(|i, j| true) {}
        #[parallel]
        for x in data.iter().map(|x| x + 1) {}
        let first = data.iter().position(|&x| x == 1).ok_or(1);
        let most = data.iter().max().unwrap(1);
        for x in data.chunks(4).flatten() {}
        for x in data.iter().chain(out.iter()) {}
        for x in data.iter().skip(1).cycle() {}
        for (x, y) in data.iter().zip(out.iter().rev()) {}
        for (x, y) in data.iter().step_by(2).zip(out.iter()) {}
        for (i, ((j, x), y)) in data.iter().enumerate().zip(out.iter()).enumerate() {}
        for ([i, x], y) in data.iter().enumerate().zip(out.iter()) {}
        let v: Vec<u32> = Vec::new();
        let mut found = Vec::with_capacity(n);
        let less = [1, 2] < [n, 3];
        let all: u32 = [[n; 2]; 3].iter().flatten().map(|&x| x as u32).sum();
        let next = (0..n).map(|&i| i + 1).max();
        let odd = data.iter().filter_map(|x| x % 2).count();
        0
    }
}

//~ 11:50: `break` in a closure
//~   help: write a loop; a closure ends with its value
//~ 12:33: `spawn!` in a closure
//~   help: write a loop; a closure ends with its value
//~ 13:29: `n` is a variable, not a function
//~   help: a function is a value where a type says so, `fn(..) -> ..`
//~ 14:32: this closure takes 2 arguments, and gets 1
//~   help: several in one are a tuple: `|(i, x)| ..`
//~ 15:9: a parallel loop over what adaptors make of its items
//~   help: do it in the loop's body
//~ 18:38: `unwrap` takes other arguments
//~   help: write `.unwrap()` or `.unwrap_or(value)`
//~ 21:38: `cycle` of an iterator is not part of the task language
//~   help: run over the indices: `a[i % a.len()]`
//~ 24:45: rounds are counted twice
//~   help: one `enumerate` is enough: all sides have the same index
//~ 25:14: `enumerate` gives an index and an element
//~   help: write `for ((i, x), y) in ..`
//~ 26:16: there is no type `Vec` in this program
//~   help: nothing is allocated in a task: use an array, or pass a slice
//~ 26:27: there is no function `Vec::new` in the task language
//~   help: nothing is allocated in a task: use an array, or pass a slice
//~ 27:25: there is no function `Vec::with_capacity` in the task language
//~   help: nothing is allocated in a task: use an array, or pass a slice
//~ 30:32: a pattern of a reference for `usize`
//~   help: leave out the `&`
//~ 31:19: expected an `Option` of an item, found `u32`
//~   help: let the closure give `Some(..)` or `None`
