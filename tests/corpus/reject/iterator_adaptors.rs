//! Loops over what an iterator would make of its items.

#[millstream::program]
pub mod program {
    #[task]
    pub fn sums(data: &[u32], out: &mut [u32], n: usize) -> u32 {
        for x in data.iter().skip(1) {}
        for (i, x) in out.iter_mut().enumerate().take(n) {}
        for (a, b) in data.iter().zip(out.iter()).filter(|(a, b)| a > b) {}
        for x in data.iter().map(|x| x + 1) {}
        for i in (0..n).filter(|i| i % 2 == 0) {}
        for i in (0..n).map(|i| i + 1) {}
        for x in data.iter().take_while(|x| **x > 0) {}
        for x in data.chunks(4).flatten() {}
        for x in data.iter().chain(out.iter()) {}
        for x in data.iter().cycle() {}
        for (x, y) in data.iter().zip(out.iter().rev()) {}
        for (x, y) in data.iter().step_by(2).zip(out.iter()) {}
        for (i, ((j, x), y)) in data.iter().enumerate().zip(out.iter()).enumerate() {}
        for (x, y) in data.iter().enumerate().zip(out.iter()) {}
        let v: Vec<u32> = Vec::new();
        let mut found = Vec::with_capacity(n);
        let less = (1, 2) < (n, 3);
        let sum: u32 = data.iter().sum();
        sum
    }
}

//~ 7:30: `skip` of an iterator is not part of the task language
//~   help: run over what is left: `for x in &a[n..]`
//~ 8:50: `take` of an iterator is not part of the task language
//~   help: run over the first of them: `for x in &a[..n]`
//~ 9:51: `filter` of an iterator is not part of the task language
//~   help: leave the others out in the loop: `if .. { continue; }`
//~ 10:30: `map` of an iterator is not part of the task language
//~   help: compute it in the loop's body
//~ 11:25: `filter` of an iterator is not part of the task language
//~   help: leave the others out in the loop: `if .. { continue; }`
//~ 12:25: `map` of an iterator is not part of the task language
//~   help: compute it in the loop's body
//~ 13:30: `take_while` of an iterator is not part of the task language
//~   help: leave the loop where it ends: `if .. { break; }`
//~ 14:33: `flatten` of an iterator is not part of the task language
//~   help: write a loop in the loop
//~ 15:30: `chain` of an iterator is not part of the task language
//~   help: write a loop for each
//~ 16:30: `cycle` of an iterator is not part of the task language
//~   help: run over the indices: `a[i % a.len()]`
//~ 17:50: `rev` of one side of a `zip`
//~   help: run over the indices: `for i in 0..n`, with `a[n - 1 - i]`
//~ 18:35: `step_by` of one side of a `zip`
//~   help: step through its indices: `for i in (0..a.len()).step_by(n)`
//~ 19:45: rounds are counted twice
//~   help: one `enumerate` is enough: all sides have the same index
//~ 20:14: `enumerate` gives an index and an element
//~   help: write `for ((i, x), y) in ..`
//~ 21:16: there is no type `Vec` in this program
//~   help: nothing is allocated in a task: use an array, or pass a slice
//~ 21:27: there is no function `Vec::new` in the task language
//~   help: nothing is allocated in a task: use an array, or pass a slice
//~ 22:25: there is no function `Vec::with_capacity` in the task language
//~   help: nothing is allocated in a task: use an array, or pass a slice
//~ 23:20: `<` cannot be applied to `(usize, i32)`
//~   help: write it for the parts, one by one
//~ 24:29: an iterator stands only in a `for`
//~   help: write a loop: `for x in a.iter() { .. }`
