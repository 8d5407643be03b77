//! Closures that take a copy of what is changed beside them, in an order that a name would say.

#[millstream::program]
pub mod program {
    fn next(seed: &mut u32) -> u32 {
        *seed = *seed * 5 + 3;
        *seed % 7
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        let mut seed = n;
        let all: u32 = (0..next(&mut seed)).map(move |x| x ^ seed).sum();
        let one = Some(next(&mut seed)).map(move |x| {
            seed += x;
            seed
        });
        all + one.unwrap_or(seed)
    }
}

//~ 13:49: this takes `seed`, which what is run over changes
//~   help: give that a name before: `let n = next(&mut seed);`
//~ 14:45: this closure has a copy of `seed`, which is changed beside it
//~   help: give the closure a name before, `let mut f = move |x| ..;`, or what it is called on
