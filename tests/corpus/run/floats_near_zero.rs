//! Functions that are exact near 0, where their kin lose all, and what is made of them. The last bits are the device's: what is compared has fewer.

#[millstream::program]
pub mod program {
    fn digits(x: f64) -> i64 {
        (x * 1e9).round() as i64
    }

    #[task]
    pub fn small(x: f64) -> (i64, i64, bool) {
        let (less, more) = (x.exp_m1() / x, x.ln_1p() / x);
        // What is computed in two steps has no digit left.
        (digits(less), digits(more), x.exp() - 1.0 == 0.0 && (1.0 + x).ln() == 0.0)
    }

    #[task]
    pub fn large(x: f64) -> [i64; 4] {
        [x.exp_m1(), x.ln_1p(), x.asinh(), (1.0 / (1.0 + x)).atanh()].map(digits)
    }

    #[task]
    pub fn single(x: f32) -> [i32; 4] {
        [x.exp_m1(), x.ln_1p(), x.asinh(), f32::atanh(x / 4.0)].map(|y| (y * 1e3).round() as i32)
    }

    #[task]
    pub fn ends() -> ([f64; 4], [bool; 3], f64) {
        let zeros = [0f64.exp_m1(), f64::ln_1p(0.0), (-0.0f64).asinh(), 0f64.atanh()];
        let none = [2f64.atanh().is_nan(), (-2f64).ln_1p().is_nan(), f64::NAN.asinh().is_nan()];
        (zeros, none, f64::NEG_INFINITY.exp_m1() + 1f64.atanh())
    }
}

millstream_tests::cases! {
    small(1e-20);
    small(-1e-18);
    large(0.25);
    large(3.0);
    large(7.5);
    single(0.5);
    single(-0.75);
    single(2.25);
    ends();
}
