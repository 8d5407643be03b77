//! Ranges that come of conditions, and that have no name.

#[millstream::program]
pub mod program {
    fn upper(n: usize) -> std::ops::Range<usize> {
        n / 2..n
    }

    #[task]
    pub fn run(data: &[u32]) -> u32 {
        let part = &data[if data.len() > 4 { upper(data.len()) } else { 0..1 }];
        let mut sum = part.len() as u32;
        for i in if data.len() > 4 { upper(data.len()) } else { 0..1 } {
            sum += data[i];
        }
        let r = upper(data.len());
        sum + data[r].len() as u32
    }
}

//~ 11:26: the index is `std::ops::Range<usize>`
//~   help: give the range a name before: `let r = ..;`, then `&a[r]`
//~ 13:18: a `for` cannot run over `std::ops::Range<usize>`
//~   help: give the range a name before: `let r = ..;`, then `for i in r`
