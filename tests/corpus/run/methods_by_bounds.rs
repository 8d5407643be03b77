//! A parameter's values in options, tuples, arrays, fields, patterns, closures and chains have what the bounds say.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
    pub struct K {
        pub v: i32,
    }
    impl K {
        fn max(self, _o: K) -> K {
            K { v: -100 }
        }
        fn min(self, _o: K) -> K {
            K { v: 100 }
        }
        fn key(&self) -> i32 {
            -1
        }
        fn half(self) -> K {
            K { v: 999 }
        }
    }
    pub trait Key: Copy {
        fn key(&self) -> i32;
        fn half(self) -> Self;
        fn pair(self) -> (Self, Self) {
            (self, self.half())
        }
        fn opt(self) -> Option<Self> {
            Some(self.half())
        }
    }
    impl Key for K {
        fn key(&self) -> i32 {
            self.v
        }
        fn half(self) -> K {
            K { v: self.v / 2 }
        }
    }
    #[derive(Clone, Copy)]
    pub struct Two<A, B> {
        a: A,
        b: B,
    }
    impl<A: Key, B: Key + Ord> Two<A, B> {
        fn keys(&self) -> i32 {
            let Two { a, b } = self;
            a.key() * 10 + b.key() + self.a.half().key()
        }
        fn most(&self, o: B) -> B {
            self.b.max(o).max(self.b.half())
        }
        fn with(self, f: impl Fn(A) -> i32) -> i32 {
            f(self.a) + f(self.a.half())
        }
    }
    fn opt<T: Key>(x: Option<T>) -> i32 {
        match x {
            Some(y) => y.key() + y.half().key(),
            None => 0,
        }
    }
    fn opt2<T: Key>(x: Option<T>) -> i32 {
        x.map(|y| y.half()).map_or(0, |y| y.key()) + x.map_or(7, |y| y.key())
    }
    fn tup<T: Key + Ord>(p: (T, T)) -> i32 {
        let (a, b) = p;
        a.max(b).key() + p.0.min(p.1).key() + p.1.pair().1.key()
    }
    fn arr<T: Key + Ord, const N: usize>(a: [T; N]) -> i32 {
        let mut m = a[0];
        for x in a {
            m = m.max(x);
        }
        for x in &a {
            m = m.min(*x);
        }
        m.key() + a.iter().map(|x| x.key()).sum::<i32>()
    }
    fn chain<T: Key + Ord>(a: &[T]) -> i32 {
        a.iter()
            .copied()
            .filter(|x| x.key() > 1)
            .fold(a[0], |m, x| m.max(x))
            .key()
            + a.iter().max_by_key(|x| x.key()).map_or(0, |x| x.half().key())
    }
    fn clo<T: Key>(x: T) -> i32 {
        let f = |y: T| y.key();
        let g = |y| f(y) + 1;
        g(x) + f(x.opt().unwrap_or(x))
    }
    fn id<T>(x: T) -> T {
        x
    }
    fn nest<T: Key + Ord>(x: T, y: T) -> i32 {
        id(x).max(id(y)).key() + id(Some(x)).map_or(0, |z| z.half().key()) + std::cmp::max(x, y).key()
    }
    fn swap<T: Key>(mut x: T, mut y: T) -> i32 {
        std::mem::swap(&mut x, &mut y);
        let z = std::mem::replace(&mut x, y);
        x.key() * 3 + z.half().key()
    }
    fn lp<T: Key + Ord>(a: &mut [T], x: T) -> i32 {
        for y in a.iter_mut() {
            *y = (*y).max(x);
        }
        let [p, q] = [a[0], a[1]];
        if let [f, .., l] = a {
            return f.key() + l.half().key() + p.key() + q.min(p).key();
        }
        0
    }
    #[task]
    pub fn run(n: i32) -> (i32, i32, i32, i32, i32, i32, i32, i32) {
        let (x, y) = (K { v: n }, K { v: 8 });
        let t = Two { a: x, b: y };
        let mut m = [x, y, x];
        (
            t.keys() + t.most(x).key() + t.with(|k| k.v),
            opt(Some(x)) + opt2(Some(y)) + opt2::<K>(None),
            tup((x, y)),
            arr([x, y, x]),
            chain(&[x, y]),
            clo(x),
            nest(x, y) + swap(x, y),
            lp(&mut m, y) + x.max(y).v + x.key() + x.min(y).v + x.half().v,
        )
    }
    #[task]
    pub fn top(n: i32) -> i32 {
        let a = spawn!(run(n));
        let b = spawn!(run(n + 1));
        sync!();
        a.0 + a.1 + a.2 + b.3 + b.4 + b.5 + b.6 + b.7
    }
}

millstream_tests::cases! {
    run(6);
    top(9);
}
