//! References to scalars, structs, elements and fields.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug)]
    pub struct Pair {
        pub a: i32,
        pub b: i32,
    }

    fn bump(x: &mut i32, by: &i32) {
        *x += *by;
    }

    fn swap_fields(p: &mut Pair) {
        let t = p.a;
        p.a = p.b;
        p.b = t;
    }

    fn larger(p: &Pair) -> i32 {
        if p.a > p.b { p.a } else { p.b }
    }

    #[task]
    pub fn refs(n: i32) -> (Pair, [i32; 3], i32) {
        let mut p = Pair { a: n, b: 10 };
        let mut list = [1, 2, 3];
        let step = 5;
        bump(&mut p.a, &step);
        bump(&mut list[1], &p.a);
        swap_fields(&mut p);
        let r = &mut list;
        r[0] = 100;
        let q = &mut p;
        q.b *= 2;
        let big = larger(&p);
        std::mem::swap(&mut p.a, &mut p.b);
        let old = std::mem::replace(&mut list[2], 8);
        (p, list, big + old)
    }

    #[task]
    pub fn through(x: &mut i64, y: &i64) {
        *x = *x * 2 + *y;
    }
}

millstream_tests::cases! {
    refs(1);
    through(&mut 20, &1);
}
