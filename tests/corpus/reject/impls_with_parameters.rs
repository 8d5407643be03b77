//! Operators of numbers beside structs with parameters.

#[millstream::program]
pub mod program {
    use std::ops::Mul;

    #[derive(Clone, Copy)]
    pub struct V<const N: usize>([f32; N]);

    impl<const N: usize> Mul<V<N>> for f32 {
        type Output = V<N>;

        fn mul(self, v: V<N>) -> V<N> {
            let mut r = v;
            for x in r.0.iter_mut() {
                *x *= self;
            }
            r
        }
    }

    #[task]
    pub fn f(n: f32) -> f32 {
        let v = V([1.0, 2.0, 3.0]);
        v.0[2] * n
    }
}

//~ 10:9: an `impl` with parameters of one of Rust's traits belongs to a struct that has parameters
//~   help: write one for each type that is meant, as `impl Mul<V<3>> for f32`, or a function with parameters
