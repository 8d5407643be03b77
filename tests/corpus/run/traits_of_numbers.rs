//! Traits that give numbers what Rust gives them, too: that is the trait's in generic code alone.

#[millstream::program]
pub mod program {
    use std::ops::{Add, Mul};
    trait Float: Copy + PartialOrd + Add<Output = Self> + Mul<Output = Self> {
        const ZERO: Self;
        const MAX: Self;
        fn sqrt(self) -> Self;
        fn max(self, other: Self) -> Self;
        fn of(x: f32) -> Self;
    }
    impl Float for f32 {
        const ZERO: f32 = 0.0;
        const MAX: f32 = 100.0;
        fn sqrt(self) -> f32 {
            f32::sqrt(self) + 1.0
        }
        fn max(self, other: f32) -> f32 {
            self.max(other) + 10.0
        }
        fn of(x: f32) -> f32 {
            x
        }
    }
    impl Float for f64 {
        const ZERO: f64 = 0.0;
        const MAX: f64 = 200.0;
        fn sqrt(self) -> f64 {
            self.sqrt() + 2.0
        }
        fn max(self, other: f64) -> f64 {
            f64::max(self, other)
        }
        fn of(x: f32) -> f64 {
            x as f64
        }
    }
    #[derive(Clone, Copy)]
    struct V<T> {
        x: T,
        y: T,
    }
    impl<T: Float> V<T> {
        fn len(&self) -> T {
            (self.x * self.x + self.y * self.y).sqrt()
        }
        fn big(self) -> T {
            let V { x, y } = self;
            x.max(y)
        }
    }
    fn norm<T: Float>(v: &[T]) -> T {
        let mut s = T::ZERO;
        for &x in v {
            s = s + x * x;
        }
        s.sqrt()
    }
    fn most<T: Float>(v: &[T]) -> T {
        v.iter().fold(T::ZERO, |a, &x| a.max(x))
    }
    fn limit<T: Float>(x: T) -> T {
        if x > T::MAX { T::MAX } else { x }
    }
    #[task]
    pub fn run(x: f32) -> (f32, f64, f32, f32, f64, f32) {
        let v = V { x: 3.0f32, y: 4.0 };
        let w = V { x: 3.0f64, y: 4.0 };
        (
            norm(&[x, 4.0]),
            norm(&[3.0f64, 4.0]),
            v.len(),
            v.big() + most(&[1.0f32, 2.0]),
            w.len() + w.big(),
            limit(1000.0f32) + f32::of(2.0),
        )
    }
    #[task]
    pub fn plain(x: f32) -> (f32, f32, f32, f32, f32) {
        let a = spawn!(run(x));
        sync!();
        (
            x.sqrt(),
            Float::sqrt(x),
            <f32 as Float>::sqrt(x),
            f32::MAX.min(7.0),
            x.max(2.0) + a.0,
        )
    }
}

millstream_tests::cases! {
    run(3.0);
    plain(4.0);
}
