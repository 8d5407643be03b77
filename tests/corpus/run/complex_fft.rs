//! A generic complex type, FFT by recursion, polynomial product.
#[millstream::program]
pub mod program {
    use std::ops::{Add, AddAssign, Mul, Sub};

    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Complex<T> {
        pub re: T,
        pub im: T,
    }

    impl<T> Complex<T> {
        const fn new(re: T, im: T) -> Self {
            Complex { re, im }
        }
    }

    impl<T: Add<Output = T>> Add for Complex<T> {
        type Output = Self;
        fn add(self, o: Self) -> Self {
            Self::new(self.re + o.re, self.im + o.im)
        }
    }

    impl<T: Sub<Output = T>> Sub for Complex<T> {
        type Output = Self;
        fn sub(self, o: Self) -> Self {
            Self::new(self.re - o.re, self.im - o.im)
        }
    }

    impl<T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T>> Mul for Complex<T> {
        type Output = Self;
        fn mul(self, o: Self) -> Self {
            Self::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
        }
    }

    impl AddAssign for Complex<f32> {
        fn add_assign(&mut self, o: Self) {
            *self = *self + o;
        }
    }

    type C = Complex<f32>;

    fn root(k: usize, n: usize, sign: f32) -> C {
        let angle = sign * std::f32::consts::TAU * k as f32 / n as f32;
        let (s, c) = angle.sin_cos();
        C::new(c, s)
    }

    #[task]
    pub fn fft(data: &mut [C], scratch: &mut [C], sign: f32) {
        let n = data.len();
        if n == 1 {
            return;
        }
        for (i, pair) in data.chunks_exact(2).enumerate() {
            scratch[i] = pair[0];
            scratch[n / 2 + i] = pair[1];
        }
        let (even, odd) = scratch.split_at_mut(n / 2);
        let (se, so) = data.split_at_mut(n / 2);
        spawn!(fft(even, se, sign));
        spawn!(fft(odd, so, sign));
        sync!();
        for k in 0..n / 2 {
            let t = root(k, n, sign) * odd[k];
            se[k] = even[k] + t;
            so[k] = even[k] - t;
        }
    }

    #[task]
    pub fn energy(data: &mut [C], scratch: &mut [C]) -> f32 {
        spawn!(fft(data, scratch, -1.0));
        sync!();
        let mut all = C::default();
        for &z in data.iter() {
            all += z * Complex { im: -z.im, ..z };
        }
        all.re
    }
}
millstream_tests::cases! {
    energy(&mut vec![program::Complex { re: 1.0f32, im: 0.0 }, program::Complex { re: 2.0, im: 0.5 }, program::Complex { re: -1.0, im: 0.0 }, program::Complex { re: 0.0, im: 3.0 }], &mut vec![program::Complex::default(); 4]);
}
