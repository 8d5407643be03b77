//! Patterns that ask for what lies behind references, in tuples, arrays, structs and slices.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum A {
        X(u32),
        Y(u32, u32),
        Z,
    }
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct P {
        pub a: A,
        pub t: (u8, bool),
    }
    impl A {
        fn same(&self, other: &A) -> u32 {
            match (self, other) {
                (A::X(a), A::X(b)) => a + b,
                (A::Y(a, _), A::X(b)) | (A::X(a), A::Y(_, b)) => a * b,
                (A::Z, _) | (_, A::Z) => 0,
                _ => 99,
            }
        }
        fn val(self, o: Self) -> u32 {
            match (self, o) {
                (A::X(a), A::X(b)) if a < b => 1,
                (A::X(_), A::X(_)) => 2,
                _ => 3,
            }
        }
        fn mm(&mut self, other: &mut A) {
            match (self, other) {
                (A::X(a), A::X(b)) => {
                    *a += *b;
                    *b = 0;
                }
                (x, y) => {
                    *x = A::Z;
                    *y = A::Z;
                }
            }
        }
    }
    #[task]
    pub fn a(n: u32) -> (u32, u32, u32, u32, A, A) {
        let (x, y) = (A::X(n), A::Y(2, 5));
        let mut p = A::X(3);
        let mut q = A::X(4);
        p.mm(&mut q);
        let k = match (&x, &y) {
            (A::X(a), A::Y(b, c)) => a + b + c,
            _ => 0,
        };
        (x.same(&y), x.same(&A::X(1)), x.val(A::X(9)), k, p, q)
    }
    #[task]
    pub fn b(s: &[u32]) -> (u32, u32, u32) {
        let arr = [0u32, 7, 2];
        let r = match arr {
            [0, x, ..] => x,
            [a, b, c] => a + b + c,
        };
        let q = match &arr {
            [0, x, 3] => *x,
            [_, _, c] => *c,
        };
        let t = match s {
            [] => 0,
            [0, rest @ ..] => rest.len() as u32,
            [x] => *x,
            [x, .., y] => x + y,
        };
        (r, q, t)
    }
    #[task]
    pub fn c(n: u32) -> (u32, u32, u32, u32) {
        let p = P {
            a: A::Y(n, 3),
            t: (4, true),
        };
        let a = match p {
            P { a: A::X(v), .. } => v,
            P {
                a: A::Y(v @ 1..=5, w),
                t: (c, true),
            } => v * 100 + w * 10 + c as u32,
            _ => 1,
        };
        let b = match &p {
            P {
                a: A::Y(v, _),
                t: (1..=9, true),
            } => *v,
            _ => 2,
        };
        let c = match n {
            x @ 1..=5 => x * 2,
            x @ (6 | 7) => x,
            _ => 0,
        };
        let mut q = p;
        match q {
            P {
                a: A::Y(ref mut v, ref w),
                ..
            } => {
                *v += *w;
            }
            _ => {}
        }
        let d = match q.a {
            A::Y(ref v, _) => *v,
            _ => 0,
        };
        (a, b, c, d)
    }
    #[task]
    pub fn d(n: u32) -> (u32, u32, u32, u32) {
        let o = Some((A::X(n), [1u32, 2]));
        let a = match o {
            Some((A::X(v), [x, y])) => v + x + y,
            Some((A::Y(..), _)) => 1,
            Some((_, [x, _])) => x,
            None => 0,
        };
        let b = match &o {
            Some((A::X(v), [x, y])) => v + x + y,
            Some(_) => 3,
            None => 4,
        };
        let mut o = o;
        if let Some((A::X(v), [x, _])) = &mut o {
            *v += 1;
            *x = 10;
        }
        let c = if let Some((A::X(v), [x, _])) = o {
            v + x
        } else {
            0
        };
        let t = (Some(1u32), Some(2u32));
        let d = match t {
            (Some(a), Some(b)) => a + b,
            (Some(a), None) | (None, Some(a)) => a,
            (None, None) => 0,
        };
        (a, b, c, d)
    }
}

millstream_tests::cases! {
    a(3);
    b(&[0, 3, 3, 4]);
    c(4);
    d(4);
}
