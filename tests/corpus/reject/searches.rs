//! What is asked of searches, and how their results are taken apart.

#[millstream::program]
pub mod program {
    #[task]
    pub fn search(a: &[i32], n: usize) -> usize {
        let at = a.iter().position(|&x| x == 1);
        let more = a.iter().max().map(|x| x + 1);
        let two = a.iter().position(|&x| x == 1).unwrap_or(1, 2);
        let one = match a.iter().max() {
            Some(x) => *x,
        };
        let none = match a.iter().max() {
            None => 1,
        };
        let named = match a.iter().max() {
            None => 1,
            found => 2,
        };
        let parts = match a.iter().position(|&x| x == 1) {
            Some(0..4) => 1,
            None => 2,
        };
        if let found = a.iter().max() {}
        let Some(x) = a.iter().max() else { 3 };
        if let Some(i) = a.iter().position(|&x| x == 1) {
            let wrong: u32 = i;
        } else {
            missing(n);
        }
        while let Some(i) = a.iter().map(|x| return 1).max() {}
        let kind = match a.iter().min() {
            Some(x) if *x > 1 => 1,
            Some(&0) | None => 2,
            _ => 3,
        };
        let part = a.get(1..3).is_some();
        let apart = a.split_first();
        let reversed = a.iter().min_by(|x, y| y.cmp(x).reverse()).unwrap();
        let unsure = a.iter().max_by(|x, y| x.partial_cmp(y)).unwrap();
        let named = a.iter().max_by(i32::cmp).unwrap();
        let sum = n.checked_add(1);
        0
    }
}

//~ 7:27: `position` gives an `Option`, and there is none on a device
//~   help: say what it is where there is nothing, `.max().unwrap_or(0)`, or take it apart: `if let Some(x) = ..`
//~ 8:29: `max` gives an `Option`, and there is none on a device
//~   help: say what it is where there is nothing, `.max().unwrap_or(0)`, or take it apart: `if let Some(x) = ..`
//~ 9:50: `unwrap_or` takes other arguments
//~   help: write `.unwrap()` or `.unwrap_or(value)`
//~ 11:13: `None` is not covered
//~   help: write arms of `Some(..)`, and one of `None` or `_`
//~ 14:13: `Some(_)` is not covered
//~   help: write arms of `Some(..)`, and one of `None` or `_`
//~ 18:13: this arm of a `match` of what a search finds
//~   help: write arms of `Some(..)`, and one of `None` or `_`
//~ 20:27: this `match` has no arm for `4`
//~   help: add an arm for it, or `_ => ..` for all others
//~ 24:16: this arm of a `match` of what a search finds
//~   help: write arms of `Some(..)`, and one of `None` or `_`
//~ 25:45: expected `(&i32,)`, found `an integer`
//~ 27:30: expected `u32`, found `usize`
//~   help: convert it: `.. as u32`
//~ 29:13: there is no function `missing` in this program
//~   help: a program calls its own functions; define it in this module
//~ 31:46: `return` in a closure
//~   help: write a loop; a closure ends with its value
//~ 34:13: this arm of a `match` of what a search finds
//~   help: write arms of `Some(..)`, and one of `None` or `_`
//~ 37:26: `get` of a range is not part of the task language
//~   help: compare its ends with the length, then write `&a[lo..hi]`
//~ 38:23: slices have no method `split_first`
//~   help: there is no `Option`: take it apart, `if let Some((first, rest)) = ..`
//~ 39:47: this closure does more than compare
//~   help: write `|a, b| a.x.total_cmp(&b.x)`, with `cmp`, `total_cmp` or `partial_cmp(..).unwrap()`; or `min_by_key`
//~ 40:45: this closure does more than compare
//~   help: write `|a, b| a.x.total_cmp(&b.x)`, with `cmp`, `total_cmp` or `partial_cmp(..).unwrap()`; or `min_by_key`
//~ 41:37: expected a closure that compares
//~   help: write `|a, b| a.x.total_cmp(&b.x)`, with `cmp`, `total_cmp` or `partial_cmp(..).unwrap()`; or `min_by_key`
//~ 42:21: `usize` has no method `checked_add`
//~   help: there is no `Option`: ask `checked_add`, `_sub` or `_mul` at once, `.unwrap_or(0)`; or use `overflowing_`
