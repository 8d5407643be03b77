//! Types and constants of traits, their bounds, and traits with parameters that have a default.

#[millstream::program]
pub mod program {
    use std::ops::{Add, Mul};
    pub trait Weight: Copy + Ord + Add<Output = Self> {
        const NONE: Self;
    }
    impl Weight for u32 {
        const NONE: u32 = u32::MAX / 2;
    }
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub struct Lex {
        pub a: u32,
        pub b: u32,
    }
    impl Lex {
        fn min(self, _o: Lex) -> Lex {
            Lex { a: 0, b: 0 }
        }
        fn add(self, _o: Lex) -> u32 {
            1
        }
    }
    impl Add for Lex {
        type Output = Lex;
        fn add(self, o: Lex) -> Lex {
            Lex {
                a: self.a + o.a,
                b: self.b + o.b,
            }
        }
    }
    impl Weight for Lex {
        const NONE: Lex = Lex { a: 1000, b: 0 };
    }
    pub trait Graph {
        type W: Weight;
        fn n(&self) -> usize;
        fn edge(&self, i: usize, j: usize) -> Self::W;
        fn best(&self, i: usize) -> Self::W {
            let mut b = Self::W::NONE;
            for j in 0..self.n() {
                b = b.min(self.edge(i, j));
            }
            b
        }
    }
    pub struct Ring {
        pub n: usize,
    }
    impl Graph for Ring {
        type W = u32;
        fn n(&self) -> usize {
            self.n
        }
        fn edge(&self, i: usize, j: usize) -> u32 {
            if (i + 1) % self.n == j { 1 + i as u32 } else { u32::NONE }
        }
    }
    pub struct Full;
    impl Graph for Full {
        type W = Lex;
        fn n(&self) -> usize {
            4
        }
        fn edge(&self, i: usize, j: usize) -> Self::W {
            if i == j {
                Lex::NONE
            } else {
                Lex {
                    a: (i * j % 3) as u32,
                    b: (i + j) as u32,
                }
            }
        }
    }
    fn paths<G: Graph>(g: &G, from: usize, to: usize) -> G::W {
        let mut d = [G::W::NONE; 8];
        for j in 0..g.n() {
            d[j] = g.edge(from, j);
        }
        for _ in 0..g.n() {
            for i in 0..g.n() {
                for j in 0..g.n() {
                    d[j] = d[j].min(d[i] + g.edge(i, j));
                }
            }
        }
        d[to]
    }
    fn best<G>(g: &G) -> G::W
    where
        G: Graph,
    {
        let mut b = <G as Graph>::W::NONE;
        for i in 0..g.n() {
            b = b.min(g.best(i));
        }
        b
    }
    trait Dot<R = Self> {
        type Out;
        fn dot(self, r: R) -> Self::Out;
    }
    impl Dot for (f32, f32) {
        type Out = f32;
        fn dot(self, r: Self) -> f32 {
            self.0 * r.0 + self.1 * r.1
        }
    }
    impl Dot<f32> for (f32, f32) {
        type Out = (f32, f32);
        fn dot(self, r: f32) -> (f32, f32) {
            (self.0 * r, self.1 * r)
        }
    }
    fn scale<T: Dot<f32, Out = T>>(x: T) -> T {
        x.dot(2.0).dot(3.0)
    }
    fn sq<T>(x: T) -> T::Out
    where
        T: Dot + Copy,
    {
        x.dot(x)
    }
    fn horner<T: Copy + Add<Output = T> + Mul<Output = T>>(c: &[T], x: T) -> T {
        let mut y = c[0];
        for k in &c[1..] {
            y = y * x + *k;
        }
        y
    }
    #[task]
    pub fn run(n: usize) -> (u32, Lex, u32, Lex, (f32, f32), f32, i64) {
        let r = Ring { n };
        (
            paths(&r, 0, n - 1),
            paths(&Full, 1, 3),
            best(&r),
            best(&Full),
            scale((1.0, n as f32)),
            sq((1.0f32, 2.0f32)),
            horner(&[1i64, 2, 3], n as i64),
        )
    }
    #[task]
    pub fn top(n: usize) -> u32 {
        let a = spawn!(run(n));
        let b = spawn!(run(n + 1));
        sync!();
        a.0 + b.0 + a.1.add(b.1) + (a.1 + b.1).b + a.1.min(b.1).a
    }
}

millstream_tests::cases! {
    run(5);
    top(4);
}
