//! Plain arithmetic of both widths, down to the last bit.

#[millstream::program]
pub mod program {
    #[task]
    pub fn double(a: f64, b: f64) -> [f64; 6] {
        [a + b, a - b, a * b, a / b, a % b, -a]
    }

    #[task]
    pub fn single(a: f32, b: f32) -> [f32; 5] {
        [a + b, a - b, a * b, a / b, a % b]
    }

    #[task]
    pub fn no_contraction(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }
}

millstream_tests::cases! {
    double(0.1, 0.2);
    double(7.5, -2.0);
    double(1.0, 0.0);
    single(0.1, 0.3);
    single(1e38, 10.0);
    no_contraction(1.0000000001, 1.0000000001, -1.0);
}
