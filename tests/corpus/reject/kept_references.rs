//! Closures that capture as values of a type of functions, and references to constants that hold references where they would leave a function.

#[millstream::program]
pub mod program {
    fn double(x: u32) -> u32 {
        x * 2
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        let by: fn(u32) -> u32 = |x| x + n;
        let both: [fn(u32) -> u32; 2] = [double, |x, y| x + y];
        let wide: fn(u64) -> u64 = double;
        n(3) + by(1) + both[0](1, 2) + (0..n).map(both[0]).sum::<u32>() + both[1]
    }

    const ROWS: [(&[u32], u32); 2] = [(&[1, 2], 3), (&[4], 5)];

    fn row(n: usize) -> &'static (&'static [u32], u32) {
        &ROWS[n]
    }

    fn longest() -> Option<&'static (&'static [u32], u32)> {
        ROWS.iter().max_by_key(|row| row.0.len())
    }

    #[task]
    pub fn rows(n: usize) -> u32 {
        row(n).1 + longest().map_or(0, |row| row.1)
    }
}

//~ 11:34: this closure captures `n`, and is a value of a type of functions
//~   help: leave out the type where it has a name, `let f = |x| ..;`, or take `impl Fn(..) -> ..`
//~ 12:50: expected a closure that takes 1 arguments, this one takes 2
//~   help: several in one are a tuple: `|(i, x)| ..`
//~ 14:9: `n` is a variable, not a function
//~   help: a function is a value where a type says so, `fn(..) -> ..`
//~ 14:24: `fn(u32) -> u32` takes 1 argument, here are 2
//~   help: it takes (`u32`)
//~ 20:9: a reference to a constant that holds references, in a function that gives such ones
//~   help: give what it refers to itself: it is copied
//~ 24:9: a reference to a constant that holds references, in a function that gives such ones
//~   help: give what it refers to itself: it is copied
