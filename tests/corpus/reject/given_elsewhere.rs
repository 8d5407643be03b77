//! What a loop in a loop names is looked up where that runs.

#[millstream::program]
pub mod program {
    mod inner {
        const STEP: usize = 2;

        pub fn steps(n: usize) -> impl Iterator<Item = usize> {
            (0..n).flat_map(|i| (0..i).map(|j| j * STEP))
        }
    }

    const STEP: usize = 3;

    #[task]
    pub fn run(n: usize, x: u64) -> usize {
        let mut it = [1, 2].iter().map(|x| { let y = x; y }).cycle().peekable();
        let wide = (x as u128 + 1.5 as u128) as bool;
        let lost = u128::from(-1i32);
        inner::steps(n).sum::<usize>() + STEP
    }
}

//~ 9:29: `STEP` means something else where this iterator is used
//~   help: write the loops there, or give the function a name of its own: what stands in a `flat_map` runs where the iterator is used
//~ 17:70: `peekable` of an iterator is not part of the task language
//~   help: write a loop, or end it by `sum`, `count`, `fold`, `any` or `all`
//~ 18:33: `a float` is not made an integer of 128 bits by `as`
//~   help: go by an integer of 64 bits: `x as u64 as u128`
//~ 19:20: `u128::from` does not take `i32`: a value could be lost
//~   help: write `.. as u128`
