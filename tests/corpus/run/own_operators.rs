//! Operators and defaults that a program writes for its types, and the order that these derive.

#[millstream::program]
pub mod program {
    use std::ops::{Add, AddAssign, BitXor, Mul, MulAssign, Neg, Not, Shl, Sub};

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Complex {
        pub re: f64,
        pub im: f64,
    }

    impl Add for Complex {
        type Output = Self;
        fn add(self, other: Self) -> Self::Output {
            Self { re: self.re + other.re, im: self.im + other.im }
        }
    }

    impl Sub for Complex {
        type Output = Complex;
        fn sub(self, other: Complex) -> Complex {
            self + -other
        }
    }

    impl Neg for Complex {
        type Output = Complex;
        fn neg(self) -> Complex {
            -1.0 * self
        }
    }

    impl Mul for Complex {
        type Output = Complex;
        fn mul(self, o: Complex) -> Complex {
            Complex { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
        }
    }

    impl Mul<f64> for Complex {
        type Output = Complex;
        fn mul(self, by: f64) -> Complex {
            Complex { re: self.re * by, im: self.im * by }
        }
    }

    impl Mul<Complex> for f64 {
        type Output = Complex;
        fn mul(self, z: Complex) -> Complex {
            z * self
        }
    }

    impl AddAssign for Complex {
        fn add_assign(&mut self, other: Complex) {
            *self = *self + other;
        }
    }

    impl MulAssign<f64> for Complex {
        fn mul_assign(&mut self, by: f64) {
            self.re *= by;
            self.im *= by;
        }
    }

    impl Default for Complex {
        fn default() -> Self {
            Complex { re: 1.0, im: 0.0 }
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Set(pub u32);

    impl Not for Set {
        type Output = Set;
        fn not(self) -> Set {
            Set(!self.0)
        }
    }

    impl BitXor for Set {
        type Output = Set;
        fn bitxor(self, other: Set) -> Set {
            Set(self.0 ^ other.0)
        }
    }

    impl Shl<u32> for Set {
        type Output = Set;
        fn shl(self, by: u32) -> Set {
            Set(self.0 << by)
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
    pub enum Level {
        #[default]
        Low,
        Middle,
        High,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
    pub struct Pair(pub i32, pub u8);

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
    pub struct Score {
        pub level: Level,
        pub pair: Pair,
        pub last: u32,
    }

    #[task]
    pub fn power(z: Complex, n: u32) -> Complex {
        if n <= 1 {
            return if n == 0 { Complex::default() } else { z };
        }
        let a = spawn!(power(z, n / 2));
        let b = spawn!(power(z, n - n / 2));
        sync!();
        a * b
    }

    #[task]
    pub fn sums(all: &mut [Complex], by: f64) -> Complex {
        let mut sum = Complex { im: 3.0, ..Default::default() };
        for z in all.iter_mut() {
            *z *= by;
            sum += *z - 2.0 * sum;
        }
        all[0] += sum;
        sum
    }

    #[task]
    pub fn sets(a: Set, b: Set, n: u32) -> Set {
        !(a ^ b << n)
    }

    #[task]
    pub fn best(scores: &[Score], least: Score) -> (Score, Score, bool, usize) {
        let mut best = Score::default();
        for &s in scores {
            if s > best {
                best = s;
            }
        }
        let other = scores.iter().copied().max().unwrap_or(least);
        let high = scores.iter().filter(|s| s.level >= Level::Middle && **s != best).count();
        (std::cmp::max(best, least), other.min(least), best == other, high)
    }

    #[task]
    pub fn pairs(a: &[u32]) -> (u32, usize) {
        let mut best = (0, 0);
        for (i, &x) in a.iter().enumerate() {
            best = best.max((x, i));
        }
        best
    }
}

millstream_tests::cases! {
    power(program::Complex { re: 0.5, im: 2.0 }, 7);
    power(program::Complex { re: 0.5, im: 2.0 }, 0);
    sums(&mut [program::Complex { re: 0.5, im: 2.0 }, program::Complex { re: -1.5, im: 8.0 }], 3.0);
    sets(program::Set(5), program::Set(9), 3);
    best(&[program::Score { level: program::Level::High, pair: program::Pair(1, 2), last: 3 }, program::Score { level: program::Level::High, pair: program::Pair(1, 3), last: 2 }, program::Score { level: program::Level::Middle, pair: program::Pair(1, 2), last: 3 }], program::Score { level: program::Level::High, pair: program::Pair(1, 3), last: 1 });
    best(&[], program::Score { level: program::Level::Low, pair: program::Pair(-1, 3), last: 1 });
    pairs(&[3, 9, 2, 9, 1]);
}
