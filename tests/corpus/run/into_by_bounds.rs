//! `x.into()` of a parameter's value, which gives what the bound says where nothing else does.

#[millstream::program]
pub mod program {
    struct Meters(u32);

    impl From<Meters> for u64 {
        fn from(m: Meters) -> u64 {
            u64::from(m.0) * 100
        }
    }

    fn wide<T: Into<u64>>(x: T) -> u64 {
        x.into() + 1
    }

    fn total<T: Copy + Into<u64>>(xs: &[T]) -> u64 {
        let mut sum = 0;
        for x in xs {
            sum += (*x).into();
        }
        sum
    }

    fn mean<T>(xs: &[T]) -> f64
    where
        T: Copy + Into<f64>,
    {
        xs.iter().map(|&x| x.into()).sum::<f64>() / xs.len() as f64
    }

    fn both<T: Into<U>, U: std::ops::Add<Output = U>>(a: T, b: U) -> U {
        a.into() + b
    }

    fn scaled(x: impl Into<f64>, by: f64) -> f64 {
        by * x.into()
    }

    #[task]
    pub fn sums(n: u32) -> (u64, u64, f64) {
        let lengths = wide(Meters(n)) + wide(5u64) + wide(n) + wide(true);
        (lengths, total(&[1u16, 2]) + both(3u8, 4u64), mean(&[n, 2]) + mean(&[1.5f32, 2.5]) + scaled(n, 0.5))
    }
}

millstream_tests::cases! {
    sums(4);
    sums(0);
}
