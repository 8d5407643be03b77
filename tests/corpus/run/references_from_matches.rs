//! References to parts that a `match` names, and that outlive it.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum A {
        X(u32),
        Y([u32; 3]),
        Z,
    }
    impl A {
        fn get<'a>(&'a self, other: &'a u32) -> &'a u32 {
            match self {
                A::X(a) => a,
                A::Y(v) => &v[1],
                _ => other,
            }
        }
        fn part(&self) -> &[u32] {
            match self {
                A::Y(v) => &v[1..],
                _ => &[],
            }
        }
        fn opt(&self) -> Option<&u32> {
            match self {
                A::X(a) => Some(a),
                _ => None,
            }
        }
    }
    fn deep(a: &A, n: u32) -> u32 {
        let mut pad = [n; 8];
        pad[1] += 1;
        pad[(n % 8) as usize] + pad[2] + if let A::X(k) = a { *k } else { 0 }
    }
    fn od(o: &Option<u32>) -> &u32 {
        match o {
            Some(x) => x,
            None => &0,
        }
    }
    #[task]
    pub fn a(n: u32) -> (u32, u32, u32, u32) {
        let x = A::X(n);
        let y = A::Y([1, n, 5]);
        let k = 9;
        let p = x.get(&k);
        let q = y.get(&k);
        let s = y.part();
        let d = deep(&x, 4);
        let o = Some(n);
        let od = od(&o);
        let e = deep(&y, *od);
        (*p + d + e, *q, s[0] + s[1], *x.opt().unwrap() + *od)
    }
    #[task]
    pub fn b(n: u32) -> (u32, u32) {
        let mut x = A::X(n);
        let y = [1u32, 2, 3];
        let r = {
            let p = x.get(&y[0]);
            *p
        };
        if let A::X(v) = &mut x {
            *v += r;
        }
        let z = Some((n, 4u32));
        let w = match &z {
            Some(t) => &t.1,
            None => &n,
        };
        (x.get(&y[0]) + r, *w)
    }
    fn rec(a: &A, n: u32) -> &[u32] {
        if n == 0 { a.part() } else { rec(a, n - 1) }
    }
    fn other(n: u32) -> u32 {
        let mut pad = [n; 16];
        pad[(n % 16) as usize] += 1;
        if n == 0 {
            pad.iter().sum()
        } else {
            other(n - 1) + pad[3]
        }
    }
    #[task]
    pub fn outlives(n: u32) -> (u32, u32, u32) {
        let y = A::Y([1, n, 5]);
        let s = rec(&y, n);
        let k = other(n);
        (s[0], s[1], k)
    }
}

millstream_tests::cases! {
    a(3);
    b(3);
    outlives(4);
}
