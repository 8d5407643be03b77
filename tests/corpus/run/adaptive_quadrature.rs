//! Adaptive Simpson quadrature of several functions.
#[millstream::program]
pub mod program {
    use std::f64::consts::PI;

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Function {
        Sine,
        Bell,
        Root,
    }

    impl Function {
        fn eval(self, x: f64) -> f64 {
            match self {
                Function::Sine => (x * PI).sin(),
                Function::Bell => (-x * x).exp(),
                Function::Root => x.abs().sqrt(),
            }
        }
    }

    #[derive(Clone, Copy, Debug)]
    pub struct Piece {
        pub a: f64,
        pub b: f64,
        pub whole: f64,
        pub eps: f64,
    }

    fn simpson<F>(f: F, a: f64, b: f64) -> f64
    where
        F: Fn(f64) -> f64,
    {
        let m = 0.5 * (a + b);
        (b - a) / 6.0 * (f(a) + 4.0 * f(m) + f(b))
    }

    #[task]
    pub fn refine(f: Function, p: Piece, depth: u32) -> f64 {
        let Piece { a, b, whole, eps } = p;
        let m = (a + b) / 2.0;
        let left = simpson(|x| f.eval(x), a, m);
        let right = simpson(|x| f.eval(x), m, b);
        let delta = left + right - whole;
        if depth == 0 || delta.abs() <= 15.0 * eps {
            return left + right + delta / 15.0;
        }
        let l = spawn!(refine(f, Piece { a, b: m, whole: left, eps: eps / 2.0 }, depth - 1));
        let r = spawn!(refine(f, Piece { a: m, b, whole: right, eps: eps / 2.0 }, depth - 1));
        sync!();
        l + r
    }

    #[task]
    pub fn integrate(a: f64, b: f64, eps: f64) -> (f64, f64, f64) {
        let mut out = [0.0; 3];
        let all = [Function::Sine, Function::Bell, Function::Root];
        for i in 0..all.len() {
            let f = all[i];
            let whole = simpson(|x| f.eval(x), a, b);
            out[i] = spawn!(refine(f, Piece { a, b, whole, eps }, 20));
        }
        sync!();
        let [s, b, r] = out;
        (s, b, r)
    }
}
millstream_tests::cases! {
    integrate(0.0, 1.0, 1e-6);
}
