//! What is asked of searches, and how their results are taken apart.

#[millstream::program]
pub mod program {
    #[task]
    pub fn search(a: &[i32], n: usize) -> usize {
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
        let reversed = a.iter().min_by(|x, y| y.cmp(x).reverse()).unwrap();
        let unsure = a.iter().max_by(|x, y| x.partial_cmp(y)).unwrap();
        let named = a.iter().max_by(i32::cmp).unwrap();
        0
    }
}

//~ 7:50: `unwrap_or` takes other arguments
//~   help: write `.unwrap()` or `.unwrap_or(value)`
//~ 8:19: this `match` has no arm for `None`
//~   help: add an arm for it, or `_ => ..` for all others
//~ 11:20: this `match` has no arm for `Some(_)`
//~   help: add an arm for it, or `_ => ..` for all others
//~ 18:27: this `match` has no arm for `4`
//~   help: add an arm for it, or `_ => ..` for all others
//~ 23:45: expected `(&i32,)`, found `an integer`
//~ 25:30: expected `u32`, found `usize`
//~   help: convert it: `.. as u32`
//~ 27:13: there is no function `missing` in this program
//~   help: a program calls its own functions; define it in this module
//~ 37:45: `Option<std::cmp::Ordering>` has no method `is_gt`
//~   help: take it apart: `if let Some(x) = ..`, or `match`
