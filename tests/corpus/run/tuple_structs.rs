//! Tuple structs and unit-like ones, taken apart by patterns.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Complex(pub f64, pub f64);

    fn mul(a: Complex, b: Complex) -> Complex {
        let Complex(ar, ai) = a;
        let Complex(br, bi) = b;
        Complex(ar * br - ai * bi, ar * bi + ai * br)
    }

    #[task]
    pub fn power(re: f64, im: f64, n: u32) -> Complex {
        let mut out = Complex(1.0, 0.0);
        for _ in 0..n {
            out = mul(out, Complex(re, im));
        }
        out.0 += 0.0;
        out
    }
}

millstream_tests::cases! {
    power(0.0, 1.0, 3);
    power(1.0, 2.0, 5);
}
