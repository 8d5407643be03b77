//! What is ordinary Rust elsewhere, and what is to be written here.

#[millstream::program]
pub mod program {
    struct P(u32, u64);

    #[task]
    pub fn pair() -> (u32, [u32; 2]) {
        (1, [2, 3])
    }

    #[task]
    pub fn run(n: u32, a: &[u32], s: i8) -> u64 {
        let x: u64 = n.into();
        let y = u8::try_from(n);
        let z = n.cmp(&3);
        let w = Ok(n);
        let v = <u32 as Default>::default();
        let u = ::pair();
        let t = s.is_ascii_digit();
        let q = s.is_multiple_of(2);
        let (b, .., c) = (n,);
        let P(d, .., e, f) = P(1, 2);
        let (g, [1, i]) = spawn!(pair());
        a[1..][0] = 1;
        a[1..][..1].rotate_left(1);
        sync!();
        x + b + c + d + e + f + g + i
    }
}

//~ 19:17: a program uses only its own items
//~   help: leave out the `::` in front
//~ 20:19: `i8` has no method `is_ascii_digit`
//~   help: docs/language.md lists the methods
//~ 21:19: `i8` has no method `is_multiple_of`
//~   help: unsigned integers have it: write `x % n == 0`
//~ 22:13: a pattern of 2 fields for `(u32,)`
//~ 23:13: `P` has 2 fields, here are 3
//~ 24:18: a child's result is bound to a name, or to names by a tuple, an array or a struct
//~   help: take it apart after the `sync!()`
//~ 25:9: this cannot be written: it lies behind `&[u32]`
//~   help: take it as `&mut [u32]`
//~ 26:9: `&[u32]` is shared and cannot be borrowed as `&mut`
//~   help: take it as `&mut`
