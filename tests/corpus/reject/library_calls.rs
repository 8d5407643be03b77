//! What is wrong with a call of a method that is written in the language stands at the call.

#[millstream::program]
pub mod program {
    fn bytes(a: [u32; 3]) -> [u8; 3] {
        a.map(|x| x + 1)
    }

    fn sorted(a: &mut [u32]) {
        a.sort_by(|x, y| x < y);
        a.sort_unstable_by(|x, y| x.cmp(y));
    }

    fn first(a: &[u32]) -> u32 {
        let mut it = a.iter();
        let Some(x) = it.next() else { return 0 };
        *x
    }

    fn swapped<'a>(o: &mut Option<&'a u32>, x: &'a u32) {
        if let Some(y) = o {
            *y = x;
        }
        let (Some(0) | None) = o else { return };
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        n
    }
}

//~ 6:19: expected `u8`, found `u32`
//~   help: convert it: `.. as u8`
//~ 10:9: `bool` has no method `is_lt`
//~   help: docs/language.md lists the methods
//~ 21:21: a reference to `&u32` is not part of the task language
//~   help: take it as it is: it is copied
//~ 22:14: `y` cannot be changed: it is not declared `mut`
//~   note: 21:21: it is declared here
//~   help: write `mut y` there
