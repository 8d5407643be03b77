//! Structs with parameters that are made from others: what is wrong with the base is said, or what is not known.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Default)]
    pub struct Pair<A, B> {
        a: A,
        b: B,
    }

    #[task]
    pub fn made(n: u32, of: Pair<u32, u64>) -> u32 {
        let p = Pair { a: n, ..nothing };
        let q = Pair { c: n, ..of };
        let r = Pair { a: n as u8, ..of };
        let s = Pair { a: n, ..n };
        let t = Pair { b: n, ..p };
        let u = Pair { b: n, ..7 };
        q.a + s.a
    }
}

//~ 13:32: there is no `nothing` here
//~ 14:24: the struct `Pair` has no field `c`
//~   help: its fields are `a`, `b`
//~ 15:27: expected `u32`, found `u8`
//~   help: convert it: `.. as u32`
//~ 16:32: expected `Pair`, found `u32`
//~ 18:32: expected `Pair`, found `an integer`
