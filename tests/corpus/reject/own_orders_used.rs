//! Values that are compared by what their types' blocks do not say, or say otherwise than Rust asks.

#[millstream::program]
pub mod program {
    use std::cmp::Ordering;

    #[derive(Clone, Copy)]
    pub struct Same(u32);
    impl PartialEq for Same {
        fn eq(&self, other: &Self) -> bool {
            self.0 % 10 == other.0 % 10
        }
    }

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
    pub struct Wrong(u32);
    impl Ord for Wrong {
        fn cmp(&self, other: &Self) -> i32 {
            self.0 as i32 - other.0 as i32
        }
    }

    #[derive(Clone, Copy, PartialEq)]
    pub struct Float(f32);
    impl PartialOrd for Float {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            other.0.partial_cmp(&self.0)
        }
    }

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Holds(Wrong, u32);

    #[derive(Clone, Copy, PartialEq)]
    pub struct Within(Float, Option<Float>);

    #[task]
    pub fn run(a: Wrong, b: Float, h: Holds, w: Within) -> bool {
        let (mut x, mut y) = (None, None);
        let early = x == y;
        x = Some(Same(1));
        y = x;
        let c = a.cmp(&a).is_lt() || h.cmp(&h).is_lt();
        let d = b.cmp(&b).is_lt() || [b].cmp(&[b]).is_lt();
        let e = w < w || w.partial_cmp(&w).is_some() || a == 3 || b < 2.0;
        early && c && d && e
    }
}

//~ 40:21: the type must be known where values are compared
//~   help: write the type where the variable is declared
//~ 43:27: `i32` has no method `is_lt`
//~   help: did you mean `isqrt`?
//~ 43:38: expected `std::cmp::Ordering`, found `i32`
//~ 44:19: floats have no `cmp`: a NaN has no place in an order
//~   help: use `partial_cmp` or `total_cmp`
//~ 44:42: floats have no `cmp`: a NaN has no place in an order
//~   help: use `partial_cmp` or `total_cmp`
//~ 45:17: `Within` does not have `PartialOrd`
//~   help: derive it, or write `impl PartialOrd for Within { .. }`
//~ 45:26: `Within` does not have `PartialOrd`
//~   help: derive it, or write `impl PartialOrd for Within { .. }`
//~ 45:59: the two sides differ: `Wrong` and `an integer`
//~   help: convert one of them with `as`
//~ 45:69: the two sides differ: `Float` and `a float`
//~   help: convert one of them with `as`
