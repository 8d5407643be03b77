//! Closures that are values, that leave more than themselves, or are called in other ways.

#[millstream::program]
pub mod program {
    fn apply(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn run(a: &[u32], n: u32) -> u32 {
        let add = |x: u32, y: u32| x + y;
        let one = add(n);
        let other = add;
        let early = |x: u32| {
            if x > 1 {
                return 1;
            }
            x
        };
        let taken = move |x: u32| x + n;
        let child = |x: u32| {
            let y = spawn!(run(a, x));
            y
        };
        let wrong = |x: u32| x + missing;
        let two = wrong(2) + wrong(3);
        let text = add(n, 1.5);
        let (f, g) = (|x: u32| x, |x: u32| x);
        let fixed = 1;
        let write = |x: u32| fixed = x;
        write(2);
        let b0 = |x: u32| x + 1;
        let b1 = |x: u32| b0(x) + b0(x) + b0(x) + b0(x);
        let b2 = |x: u32| b1(x) + b1(x) + b1(x) + b1(x);
        let b3 = |x: u32| b2(x) + b2(x) + b2(x) + b2(x);
        let b4 = |x: u32| b3(x) + b3(x) + b3(x) + b3(x);
        let b5 = |x: u32| b4(x) + b4(x) + b4(x) + b4(x);
        let b6 = |x: u32| b5(x) + b5(x) + b5(x) + b5(x);
        b6(n) + b6(n)
    }
}

//~ 12:19: this closure takes 2 arguments, and gets 1
//~   help: give it as many as stand between its `|`
//~ 22:21: `spawn!` in a closure
//~   help: write a loop; a closure ends with its value
//~ 25:34: there is no `missing` here
//~ 27:27: expected `u32`, found `a float`
//~   help: convert it: `.. as u32`
//~ 30:30: `fixed` cannot be changed: it is not declared `mut`
//~   note: 29:13: it is declared here
//~   help: write `mut fixed` there
//~ 33:27: closures are called too often in this function
//~   help: write a function in place of one of them
