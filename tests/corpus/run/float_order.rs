//! Comparing, least and greatest, and what is not a number.

#[millstream::program]
pub mod program {
    #[task]
    pub fn compare(a: f64, b: f64) -> [bool; 6] {
        [a < b, a <= b, a > b, a >= b, a == b, a != b]
    }

    #[task]
    pub fn pick(a: f64, b: f64) -> (f64, f64, bool, bool, bool) {
        (a.min(b), a.max(b), a.is_nan(), a.is_finite(), a.is_infinite())
    }

    #[task]
    pub fn clamp(x: f32) -> f32 {
        x.clamp(-1.0, 1.0)
    }
}

millstream_tests::cases! {
    compare(1.0, 2.0);
    compare(f64::NAN, 1.0);
    compare(0.0, -0.0);
    pick(3.0, -4.0);
    pick(f64::NAN, 1.0);
    pick(f64::INFINITY, 1.0);
    clamp(5.0);
    clamp(-0.25);
}
