//! Adaptive quadrature: how deep it goes, only the function knows.

#[millstream::program]
pub mod program {
    fn f(x: f64) -> f64 {
        (x * x + 1.0) * x
    }

    #[task]
    pub fn area(a: f64, b: f64, fa: f64, fb: f64, whole: f64) -> f64 {
        let mid = (a + b) / 2.0;
        let fm = f(mid);
        let (left, right) = ((fa + fm) * (mid - a) / 2.0, (fm + fb) * (b - mid) / 2.0);
        let sum = left + right;
        if (sum - whole).abs() < 1e-6 {
            return sum;
        }
        let l = spawn!(area(a, mid, fa, fm, left));
        let r = spawn!(area(mid, b, fm, fb, right));
        sync!();
        l + r
    }
}

millstream_tests::cases! {
    area(0.0, 4.0, 0.0, 68.0, 136.0);
}
