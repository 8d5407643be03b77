//! Parameters that are not known, that have no end, or whose types lack what is done to them.

#[millstream::program]
pub mod program {
    use std::ops::Add;

    struct Pair<A, B> {
        a: A,
        b: B,
    }

    impl<A: Copy, B: Copy> Pair<A, B> {
        fn first(&self) -> A {
            self.a
        }

        fn none() -> u32 {
            0
        }
    }

    struct Plain {
        x: u32,
    }

    fn larger<T: PartialOrd>(a: T, b: T) -> T {
        if a > b { a } else { b }
    }

    fn sum<T: Add<Output = T>>(a: T, b: T) -> T {
        a + b
    }

    fn zero<T: Default>() -> T {
        T::default()
    }

    fn grow<T: Copy>(x: T, n: u32) -> u32 {
        if n == 0 { 0 } else { grow((x, x), n - 1) }
    }

    fn room<const N: usize>() -> usize {
        N
    }

    fn apply<F: Fn(u32) -> u32>(f: F, x: u32) -> u32 {
        f(x)
    }

    fn endless<F: Fn(u32) -> u32>(f: F, x: u32) -> u32 {
        endless(|y| f(y + 1), x)
    }

    fn rounds<F: Fn(u32) -> u32>(f: F, a: &mut [u32]) {
        #[parallel]
        for x in a.iter_mut() {
            *x = f(*x);
        }
    }

    #[task]
    pub fn run(n: u32, a: &mut [u32]) -> u32 {
        let p = Pair { a: 1u32, b: n };
        let q = Pair { a: 1u32 };
        let x = larger(n, 3u64);
        let y = larger(Plain { x: n }, Plain { x: 1 });
        let z = zero();
        let w = room();
        let v = room::<n>();
        let u = Pair::none();
        rounds(|x| x, a);
        apply(3, n) + apply(|x, y| x + y, n) + apply(|x| x > 3, n) + apply(missing, n) + p.second() + larger(n) + larger
    }

    #[task]
    pub fn without_end(n: u32) -> u32 {
        grow(n, n) + endless(|x| x, n)
    }
}

//~ 27:12: `>` cannot be applied to `Plain`
//~   note: 66:17: in `larger<Plain>`, which is used here
//~   help: write an `impl` of the operator's trait, as `std::ops::Add`; for an order, derive `PartialOrd`
//~ 39:32: copies of `grow` have no end: each calls one with a larger type
//~   help: let it call itself with the type that it was called with
//~ 51:9: `endless` calls itself with a closure of its own, so that there is one more function at each level
//~   help: hand on the closure that it was given, and pass what differs as a value
//~ 55:9: a parallel loop in a function of which there are several
//~   help: it stands in a function without parameters of types, numbers or closures, which may call such ones in its rounds
//~ 64:17: a `Pair` has each of its fields once
//~   help: its fields are `a`, `b`
//~ 65:27: expected `u32`, found `u64`
//~   help: convert it: `.. as u32`
//~ 68:17: what the parameter `N` of `room` is, is not known here
//~   help: write it, as in `name::<u32>(..)`, or write the type of the variable that the value goes to
//~ 69:24: there is no `n` here
//~   help: a constant or an array's length is made of literals and other constants
//~ 70:17: what the parameter `A` of `Pair::none` is, is not known
//~   help: write it, as in `name::<u32>(..)`
//~ 72:15: expected a closure or the name of a function
//~   help: write it here: `|x| ..`
//~ 72:29: expected a closure that takes 1 arguments, this one takes 2
//~   help: several in one are a tuple: `|(i, x)| ..`
//~ 72:58: expected `u32`, found `bool`
//~ 72:76: there is no function `missing` in this program
//~   help: a program calls its own functions; define it in this module
//~ 72:92: `Pair<u32, u32>` has no method `second`
//~   help: write it in an `impl` block of the struct
//~ 72:103: `larger` takes 2 arguments, here are 1
//~   help: give it as many as it takes
//~ 72:115: the function `larger` is used as a value
//~   help: call it: `larger(..)`
