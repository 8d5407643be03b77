//! Slices, arrays and enums in patterns of each other, with `ref` and `@`.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub enum Op {
        #[default]
        Nop,
        Push(i64),
        Add,
        Mul,
        Jmp {
            to: usize,
            if_zero: bool,
        },
    }
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Node {
        pub op: Op,
        pub kids: [Option<u32>; 2],
        pub name: (u8, i16),
    }
    fn merge(a: &[u32], b: &[u32], out: &mut [u32]) {
        match (a, b, out) {
            ([], [], _) => {}
            ([x, xs @ ..], [y, ..], [o, os @ ..]) if x <= y => {
                *o = *x;
                merge(xs, b, os)
            }
            ([x, xs @ ..], [], [o, os @ ..]) => {
                *o = *x;
                merge(xs, b, os)
            }
            (_, [y, ys @ ..], [o, os @ ..]) => {
                *o = *y;
                merge(a, ys, os)
            }
            _ => unreachable!(),
        }
    }
    #[task]
    pub fn a(a: &[u32], b: &[u32], out: &mut [u32]) -> u32 {
        merge(a, b, out);
        out[6]
    }
    fn sum(s: &[u32]) -> u32 {
        match s {
            [] => 0,
            [x] => *x,
            [x, y] => x + y,
            [first, mid @ .., last] => first + sum(mid) + last,
        }
    }
    fn pal(s: &[u32]) -> bool {
        if let [a, m @ .., b] = s {
            a == b && pal(m)
        } else {
            true
        }
    }
    #[task]
    pub fn b(s: &[u32], k: u32) -> (u32, bool, bool, u32, u32) {
        let p = match s {
            [1, .., 4] => 1,
            [.., 9] => 2,
            [_, 2, ..] => 3,
            _ => 4,
        };
        let q = match s {
            [a, b, ..] if a > b => *a,
            [.., x @ (3 | 4)] => x * 10,
            [..] => 0,
        };
        (sum(s), pal(s), pal(&[1, 2, 1]), p, q + k)
    }
    #[task]
    pub fn c(n: u32) -> (i64, u32, u32, Node) {
        let mut ns = [Node {
            op: Op::Push(n as i64),
            kids: [Some(1), None],
            name: (1, -2),
        }; 4];
        ns[1].op = Op::Jmp {
            to: 3,
            if_zero: true,
        };
        ns[2].op = Op::Add;
        ns[3].kids = [None, Some(n)];
        let mut t = 0;
        for nd in &ns {
            t += match nd {
                Node {
                    op: Op::Push(v),
                    kids: [Some(k), None],
                    ..
                } => *v + *k as i64,
                Node {
                    op: Op::Jmp { to, if_zero: true },
                    name: (_, m),
                    ..
                } => *to as i64 * 10 + *m as i64,
                Node {
                    kids: [_, Some(k)], ..
                } => *k as i64 * 1000,
                Node { op, .. } if *op == Op::Add => 7,
                _ => -1,
            };
        }
        for nd in ns.iter_mut() {
            match nd {
                Node {
                    op: Op::Push(v),
                    kids: [a, b],
                    ..
                } => {
                    *v += 1;
                    std::mem::swap(a, b);
                }
                Node {
                    op: Op::Jmp { to, .. },
                    name,
                    ..
                } => {
                    *to += 1;
                    name.0 = 9;
                }
                nd => nd.op = Op::Nop,
            }
        }
        let u = match ns.first() {
            Some(Node {
                op: Op::Push(6),
                kids: [None, Some(x)],
                ..
            }) => *x,
            Some(_) => 50,
            None => 60,
        };
        let w = match ns.get(1) {
            Some(Node {
                op: Op::Jmp { to: 4, .. },
                name: (9, _),
                ..
            }) => 1,
            _ => 2,
        };
        (t, u, w, ns[1])
    }
    #[task]
    pub fn d(n: u32) -> (u32, u32, u32, u32, u32) {
        let x = &Some(&n);
        let a = match x {
            Some(3) => 1,
            Some(y) if **y > 5 => **y,
            Some(z) => **z,
            None => 0,
        };
        let t = (n, &Some((n, [n, n + 1])));
        let b = match t {
            (3, Some((_, [a, b]))) => a * b,
            (_, Some(_)) => 1,
            (_, None) => 2,
        };
        let mut v = [Some(1u32), None, Some(n)];
        if let [Some(a), _, Some(b)] = &mut v {
            *a += *b;
            *b = 0;
        }
        let c = if let [Some(a), None, Some(ref c)] = v {
            a + c
        } else {
            100
        };
        let mut q = (1u32, [2u32, 3]);
        match q {
            (ref mut a, [ref b, c]) => {
                *a += *b + c;
            }
        }
        let (ref z, _) = q;
        let z = *z;
        let d = match &q {
            &(a, [b, _]) => a + b,
        };
        let e = match (&v, &mut q) {
            ([Some(x), ..], (y, _)) => {
                *y += x;
                *y
            }
            _ => 0,
        };
        (a, b, c, d + z, e)
    }
    #[task]
    pub fn e(s: &[u32]) -> (u32, u32, Option<(usize, u32)>, u32) {
        let mut t = 0;
        let mut r = s;
        while let [x, rest @ ..] = r {
            t = t * 3 + x;
            r = rest;
        }
        let w: u32 = s
            .windows(2)
            .map(|w| match w {
                [a, b] => a.max(b) - a.min(b),
                _ => 0,
            })
            .sum();
        let m = s
            .iter()
            .enumerate()
            .max_by_key(|&(_, x)| x)
            .map(|(i, x)| (i, *x));
        let k = match s.iter().max() {
            Some(7) => 70,
            Some(x) if *x > 3 => *x,
            x => x.copied().unwrap_or(0),
        };
        let [p, q, ..] = s else {
            return (0, 0, None, 0);
        };
        (t + p + q, w, m, k)
    }
}

millstream_tests::cases! {
    a(&[1, 4, 6, 9], &[2, 3, 7], &mut [0; 7]);
    b(&[1, 2, 3, 4], 3);
    c(5);
    d(3);
    e(&[5, 1, 7, 2]);
}
