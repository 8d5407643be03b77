//! Operators on types that do not have them.

#[millstream::program]
pub mod program {
    struct P {
        x: u32,
    }

    #[task]
    pub fn run(n: u32, x: f64, b: bool, p: P, q: P, list: [u32; 3]) -> bool {
        let a = -n;
        let c = !x;
        let d = b + true;
        let e = x << 2;
        let f = x & 1.0;
        let g = p + q;
        let h = list == [1, 2, 3];
        let i = b < false;
        let j = n << x;
        *n == 3
    }
}

//~ 11:17: `-` cannot be applied to `u32`
//~   help: use `wrapping_neg`, or a signed type
//~ 12:17: `!` cannot be applied to `f64`
//~ 13:17: `+` cannot be applied to `bool`
//~ 14:17: `<<` cannot be applied to `f64`
//~ 15:17: `&` cannot be applied to `f64`
//~ 16:17: `+` cannot be applied to `P`
//~   help: write an `impl` of the operator's trait, as `std::ops::Add`; for an order, derive `PartialOrd`
//~ 19:17: `<<` cannot be applied to `f64`
//~ 20:9: `u32` is not a reference
//~   help: leave out the `*`
