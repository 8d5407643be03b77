//! What patterns name is changed in arms and guards, in loops too.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
    pub enum V {
        A(u32),
        B(u32, [u32; 2]),
        C { s: (u8, i64), f: f32 },
        D,
    }
    #[derive(Clone, Copy)]
    pub struct View<'a> {
        data: &'a [u32],
        one: &'a u32,
        opt: Option<&'a V>,
    }
    fn upd(v: &mut V) -> u32 {
        let old = match v {
            V::A(n) => {
                let o = *n;
                *n = o + 1;
                o
            }
            V::B(n, [x, y]) => {
                std::mem::swap(n, x);
                *y += *n;
                *y
            }
            V::C { s: (a, b), f } => {
                *a = a.wrapping_add(1);
                *b -= 1;
                *f *= 2.0;
                *a as u32
            }
            V::D => {
                *v = V::A(9);
                0
            }
        };
        if let V::A(n @ 10..) = v {
            *n = 0;
        }
        old
    }
    #[task]
    pub fn a(n: u32) -> ([V; 4], u32, u32) {
        let mut vs = [
            V::A(n),
            V::B(1, [2, 3]),
            V::C {
                s: (255, -1),
                f: 1.5,
            },
            V::D,
        ];
        let mut t = 0;
        for _ in 0..3 {
            for v in vs.iter_mut() {
                t = t * 7 + upd(v);
            }
        }
        let u = match &mut vs {
            [V::A(a), V::B(b, [c, _]), .., last] => {
                *a += *b;
                *last = V::D;
                *c
            }
            _ => 0,
        };
        (vs, t, u)
    }
    #[task]
    pub fn b(mut a: [u32; 4]) -> ([u32; 4], u32, u32) {
        let mut k = 0;
        let x = match a {
            [p, ..]
                if {
                    k += 10;
                    p > 5
                } =>
            {
                1
            }
            [p, q, ..]
                if {
                    k += 20;
                    q == 2
                } =>
            {
                p + q
            }
            _ => 3,
        };
        let y = match a {
            [p, q, ..] => {
                a = [0; 4];
                p + q
            }
        };
        (a, x + k, y)
    }
    #[task]
    pub fn c(n: u32) -> (u32, u32, u32, u32, i64) {
        let k = [n, n + 1, n + 2];
        let v = V::B(n, [7, 8]);
        let w = View {
            data: &k,
            one: &k[1],
            opt: Some(&v),
        };
        let a = match w {
            View {
                data: [x, .., z],
                one,
                opt: Some(V::B(m, [p, _])),
            } => x * z + one + m + p,
            _ => 0,
        };
        let View {
            data: d, one: &o, ..
        } = w;
        let r = &w;
        let b = match r {
            View {
                data,
                one,
                opt: None,
            } => data[0] + **one,
            View {
                data, opt: Some(q), ..
            } => data[1] + if let V::B(m, _) = q { *m } else { 1 },
        };
        let c = match (w.data, w.opt) {
            ([_, rest @ ..], Some(V::B(..) | V::D)) => rest.iter().sum::<u32>(),
            ([], _) => 1,
            _ => 2,
        };
        let e = V::C { s: (1, -5), f: 0.0 };
        let f = match (&e, &v) {
            (
                V::C {
                    s: (1..=3, m @ ..=-5),
                    ..
                },
                V::B(..),
            ) => *m,
            (V::C { s, .. }, _) => s.1 + 100,
            _ => 0,
        };
        (a, b, c, o + d[0], f)
    }
    #[task]
    pub fn d(
        s: &[u32],
    ) -> (
        Option<(usize, u32)>,
        Option<u32>,
        (u32, u32),
        u32,
        Option<usize>,
    ) {
        let m = s
            .iter()
            .enumerate()
            .min_by_key(|(_, x)| **x)
            .map(|(i, &x)| (i, x));
        let l = s
            .iter()
            .enumerate()
            .max_by(|(i, a), (j, b)| a.cmp(b).then(j.cmp(i)))
            .map(|(i, _)| i as u32);
        let p = s.iter().fold((0, 0), |(a, b), x| match (x % 2, a) {
            (0, 0) => (*x, b),
            (0, y) => (y + x, b + 1),
            (_, y) => (y, b + x),
        });
        let mut it = 0;
        let mut r = s;
        while let [a, b, ..] = r {
            if let (x @ 3.., 2) | (2, x) = (*a, *b) {
                it = it * 10 + x;
            }
            r = &r[1..];
        }
        (m, l, p, it, s.iter().rev().position(|x| *x == 2))
    }
    #[task]
    pub fn e(n: u32) -> (u32, Option<V>, bool, bool) {
        let mut o = Some(V::A(n));
        let mut c = 0;
        while let Some(V::A(k @ 1..)) = &mut o {
            *k -= 1;
            c += 1;
        }
        let q = o.take();
        let w = if let Some(ref mut v) = o {
            *v = V::D;
            1
        } else {
            2
        };
        let x = [Some(1u32), None] < [Some(1), Some(0)];
        let y = (Some(n), [1.5f32, 2.0]) >= (Some(2), [1.5, f32::NAN]);
        (c + w, q, x, y)
    }
}

millstream_tests::cases! {
    a(3);
    b([1, 2, 3, 4]);
    c(5);
    d(&[4, 2, 9, 2]);
    e(2);
}
