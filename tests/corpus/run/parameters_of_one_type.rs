//! Two parameters that stand for one type, and have functions of one name by different traits.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
    pub struct X(pub i32);
    trait P1 {
        fn go(&self) -> i32;
        fn up(self) -> Self;
        fn cmp(&self, o: &Self) -> i32;
    }
    trait P2 {
        fn go(&self) -> i32;
        fn up(self) -> Self;
        fn clone(&self) -> i32 {
            1000
        }
    }
    impl P1 for X {
        fn go(&self) -> i32 {
            1
        }
        fn up(self) -> X {
            X(self.0 + 1)
        }
        fn cmp(&self, o: &X) -> i32 {
            self.0 * 100 + o.0
        }
    }
    impl P2 for X {
        fn go(&self) -> i32 {
            2
        }
        fn up(self) -> X {
            X(self.0 * 2)
        }
    }
    impl P1 for i32 {
        fn go(&self) -> i32 {
            3
        }
        fn up(self) -> i32 {
            self + 1
        }
        fn cmp(&self, o: &i32) -> i32 {
            self - o
        }
    }
    impl P2 for i32 {
        fn go(&self) -> i32 {
            4
        }
        fn up(self) -> i32 {
            self * 2
        }
    }
    fn f<A: P1 + Copy, B: P2 + Copy>(a: A, b: B) -> i32 {
        let (x, y) = (a.up(), b.up());
        let z = [a, x];
        let w = [y, b];
        z[1].go() * 10
            + w[0].go()
            + z.iter().map(|q| q.go()).sum::<i32>() * 100
            + w.iter().map(|q| q.go()).sum::<i32>() * 1000
            + a.cmp(&x)
    }
    fn g<A: P1 + Copy>(a: A) -> i32 {
        f(a, X(3)) + h(a, |z| z.go())
    }
    fn h<B: P1 + Copy>(b: B, k: impl Fn(B) -> i32) -> i32 {
        k(b) + k(b.up()) * 10
    }
    fn i<B: P2 + Copy>(b: B) -> i32 {
        let c = |q: B| q.up().go();
        c(b) + P2::clone(&b)
    }
    struct Both<A, B> {
        a: A,
        b: B,
    }
    impl<A: P1 + Copy, B: P2 + Copy> Both<A, B> {
        fn all(&self) -> i32 {
            self.a.go() * 10 + self.b.go() + f(self.a, self.b)
        }
        fn flip(self) -> Both<B, A>
        where
            B: P1,
            A: P2,
        {
            Both { a: self.b, b: self.a }
        }
        fn ups(&mut self) {
            self.a = self.a.up();
            self.b = self.b.up();
        }
    }
    #[task]
    pub fn run(n: i32) -> (i32, i32, i32, i32, i32, (i32, i32)) {
        let mut b = Both { a: X(n), b: X(n) };
        let t = spawn!(sub(n));
        sync!();
        b.ups();
        let c = b.flip();
        (
            f(X(n), X(n)),
            g(X(n)) + g(n),
            i(X(n)) + i(n),
            c.all(),
            t,
            (c.a.0, c.b.0),
        )
    }
    #[task]
    pub fn sub(n: i32) -> i32 {
        let b = Both { a: n, b: n };
        b.all() + f(n, X(n)) + f(X(n), n)
    }
}

millstream_tests::cases! {
    run(4);
}
