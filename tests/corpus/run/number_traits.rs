//! Generic code over numbers of Rust and of the program: what an operator gives is what the bound says.

#[millstream::program]
pub mod program {
    use std::ops::{Add, Mul, Sub};
    pub trait Num: Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Default {
        const ONE: Self;
        fn max(self, o: Self) -> Self {
            if self > o { self } else { o }
        }
        fn abs(self) -> Self;
        fn floor(self) -> Self;
        fn pow(self, n: u32) -> Self {
            let mut r = Self::ONE;
            for _ in 0..n {
                r = r * self;
            }
            r
        }
        fn signum(self) -> i32;
    }
    impl Num for i32 {
        const ONE: i32 = 1;
        fn abs(self) -> i32 {
            i32::abs(self) + 1000
        }
        fn floor(self) -> i32 {
            self
        }
        fn signum(self) -> i32 {
            7
        }
    }
    impl Num for f32 {
        const ONE: f32 = 1.0;
        fn abs(self) -> f32 {
            self.abs() + 1000.0
        }
        fn floor(self) -> f32 {
            f32::floor(self) - 1.0
        }
        fn signum(self) -> i32 {
            8
        }
    }
    #[derive(Clone, Copy, PartialEq, PartialOrd, Default, Debug)]
    pub struct Fix(pub i32);
    impl Add for Fix {
        type Output = Fix;
        fn add(self, o: Fix) -> Fix {
            Fix(self.0 + o.0)
        }
    }
    impl Sub for Fix {
        type Output = Fix;
        fn sub(self, o: Fix) -> Fix {
            Fix(self.0 - o.0)
        }
    }
    impl Mul for Fix {
        type Output = Fix;
        fn mul(self, o: Fix) -> Fix {
            Fix(self.0 * o.0 / 16)
        }
    }
    impl Fix {
        fn abs(self) -> Fix {
            Fix(-77)
        }
        fn max(self, _o: Fix) -> Fix {
            Fix(-78)
        }
        fn floor(&self) -> i32 {
            -79
        }
    }
    impl Num for Fix {
        const ONE: Fix = Fix(16);
        fn abs(self) -> Fix {
            Fix(self.0.abs())
        }
        fn floor(self) -> Fix {
            Fix(self.0 / 16 * 16)
        }
        fn signum(self) -> i32 {
            9
        }
    }
    fn dist<T: Num>(a: &[T], b: &[T]) -> T {
        let mut m = T::default();
        for (x, y) in a.iter().zip(b) {
            m = m.max((*x - *y).abs());
        }
        m.floor()
    }
    fn dist2<T: Num>(a: &[T], b: &[T]) -> T {
        a.iter()
            .zip(b.iter())
            .map(|(&x, &y)| (x - y) * (x - y))
            .fold(T::default(), |a, x| (a + x).max(T::ONE))
    }
    fn poly<T: Num, const N: usize>(c: [T; N], x: T) -> T {
        let mut s = T::default();
        for i in 0..N {
            s = s + c[i] * x.pow(i as u32);
        }
        (s + T::ONE).abs()
    }
    fn sig<T: Num>(x: T, n: i32) -> i32 {
        x.signum() + (x + x).signum() + n.signum()
    }
    fn sig2<T: Num>(x: T) -> i32 {
        x.signum() + (x * T::ONE - x).abs().signum()
    }
    #[task]
    pub fn run(n: i32) -> (i32, f32, Fix, i32, Fix, Fix, i32, i32) {
        let (a, b) = ([1, n, 5], [4, 4, 4]);
        let (f, g) = ([1.5f32, 2.0], [3.25f32, n as f32]);
        let (p, q) = ([Fix(16), Fix(n)], [Fix(40), Fix(3)]);
        (
            dist(&a, &b),
            dist(&f, &g),
            dist(&p, &q),
            dist2(&a, &b),
            dist2(&p, &q),
            poly([Fix(16), Fix(32)], Fix(n)),
            sig2(n) + sig2(Fix(n)) + sig2(1.5f32) + sig(1.5f32, n),
            n.abs() + n.signum() + Fix(3).abs().0 + (&Fix(3)).floor(),
        )
    }
    #[task]
    pub fn top(n: i32) -> i32 {
        let a = spawn!(run(n));
        let b = spawn!(run(-n));
        sync!();
        a.0 + b.3 + a.5.max(b.5).0 + a.6 + b.7
    }
}

millstream_tests::cases! {
    run(-9);
    top(6);
}
