//! Iterators in each other and beside each other that are none, and conversions of what is no integer.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(a: &[u32], n: usize) -> usize {
        let early = (0..n).flat_map(|i| {
            if i > 3 {
                return 0..0;
            }
            (0..i).map(|j| j + 1)
        }).count();
        let numbers = (0..n).flat_map(|i| i + 1).count();
        let flat = a.iter().flatten().count();
        let pairs = a.iter().filter(|x| **x > 1).zip(a.chunks(2)).count();
        let begins = a.iter().zip(..n).count();
        let none = a.iter().chain(n).count();
        let turned = (0..n).skip(1).rev().count();
        let mut range = 0..n;
        let found = range.find(|i| i * i > 5);
        let mut steps = 0;
        while let Some(i) = range.next() {
            steps += i;
        }
        let kept = a.iter().map(|x| x + 1);
        let tried = a.iter().try_fold(0, |s, x| s + x);
        let word: [u8; 4] = n.try_into().unwrap();
        let float = u8::try_from(1.5).unwrap_or(0);
        let what = n.try_into().unwrap();
        0
    }
}

//~ 7:37: a closure that returns an iterator early
//~   help: write a loop in the loop
//~ 13:23: a `for` cannot run over `usize`
//~   help: write a range: `0..n`
//~ 14:20: a `for` cannot run over `&u32`
//~   help: it runs over ranges, slices and arrays
//~ 16:35: a range without a beginning
//~   help: write `lo..hi`, or `lo..`
//~ 17:35: a `for` cannot run over `usize`
//~   help: write a range: `0..n`
//~ 18:37: `rev` behind another adaptor
//~   help: put it next to what is run over: `a.iter().rev().map(..)`
//~ 26:30: what `try_fold` takes gives `u32`
//~   help: it gives an `Option` or a `Result`: where it goes on, and where it ends
//~ 27:31: `usize` has no method `try_into`
//~   help: name the type: `let y: u64 = x.into()` or `u64::from(x)` where no value is lost, else `x as u64`
//~ 28:21: `u8::try_from` of `a float` is not part of the task language
//~   help: it takes integers: write `.. as`, or a function of the program
//~ 29:22: `usize` has no method `try_into`
//~   help: name the type: `let y: u64 = x.into()` or `u64::from(x)` where no value is lost, else `x as u64`
