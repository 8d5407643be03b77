//! Operators of references beside those of values, by their names too, and of operands with parameters of their own.
#[millstream::program]
pub mod program {
    use std::ops::{Add, AddAssign, Mul, Neg, Not};

    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub struct Z(pub u64);

    // Before that of values, which it calls.
    impl<'a> Mul<&'a Z> for &'a Z {
        type Output = Z;
        fn mul(self, other: &Z) -> Z {
            *self * *other
        }
    }

    impl Mul<&Z> for Z {
        type Output = Self;
        fn mul(self, other: &Self) -> Self::Output {
            self * *other
        }
    }

    impl Mul for Z {
        type Output = Z;
        fn mul(self, other: Z) -> Z {
            Z(self.0 * other.0 % 101)
        }
    }

    // What differs says which one is called.
    impl Add for Z {
        type Output = Z;
        fn add(self, other: Z) -> Z {
            Z(self.0 + other.0)
        }
    }

    impl Add for &Z {
        type Output = Z;
        fn add(self, other: Self) -> Z {
            Z(self.0 + other.0 + 1000)
        }
    }

    impl Neg for &Z {
        type Output = Z;
        fn neg(self) -> Z {
            Z(self.0 ^ 1)
        }
    }

    impl Not for Z {
        type Output = Z;
        fn not(self) -> Z {
            Z(self.0 ^ 2)
        }
    }

    impl AddAssign for Z {
        fn add_assign(&mut self, other: Z) {
            self.0 += other.0;
        }
    }

    impl AddAssign<&Z> for Z {
        fn add_assign(&mut self, other: &Z) {
            self.0 += other.0 + 500;
        }
    }

    #[derive(Clone, Copy)]
    pub struct V<T>(T, T);

    impl<T: Copy + Mul<Output = T> + Add<Output = T>> Mul<&V<T>> for &V<T> {
        type Output = T;
        fn mul(self, other: &V<T>) -> T {
            self.0 * other.0 + self.1 * other.1
        }
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Matrix<const R: usize, const C: usize>([[u32; C]; R]);

    impl<const R: usize, const K: usize, const C: usize> Mul<Matrix<K, C>> for Matrix<R, K> {
        type Output = Matrix<R, C>;
        fn mul(self, other: Matrix<K, C>) -> Self::Output {
            let mut out = [[0; C]; R];
            for (row, left) in out.iter_mut().zip(&self.0) {
                for (j, x) in row.iter_mut().enumerate() {
                    *x = left.iter().zip(&other.0).map(|(a, b)| a * b[j]).sum();
                }
            }
            Matrix(out)
        }
    }

    #[task]
    pub fn products(x: u32) -> (Matrix<2, 1>, Matrix<1, 1>, Matrix<2, 2>) {
        let (tall, wide) = (Matrix([[x], [3]]), Matrix([[2, x]]));
        let square = Matrix([[1, x], [x, 2]]);
        (square * tall, wide * square * tall, tall * wide * square)
    }

    fn twice<T: Add<Output = T> + Copy>(x: T) -> T {
        x + x
    }

    #[task]
    pub fn run(x: u64, data: &[u64]) -> (Z, Z, Z, Z, u64, Z) {
        let (a, b) = (Z(x), Z(x + 7));
        let product = &a * &b * &a;
        let sums = a + b + (&a + &b);
        let signs = -&a * !b;
        let mut all = Z::default();
        all += a;
        all += &b;
        let (v, w) = (V(x, 2), V(3, x));
        let folded = data.iter().map(|x| Z(*x)).fold(Z(1), Mul::mul);
        (product, sums, signs, all, &v * &w + data.iter().copied().fold(0, u64::wrapping_add), twice(Add::add(a, folded)))
    }
}

millstream_tests::cases! {
    products(7);
    run(5, &[3, 4]);
    run(90, &[7, 99, 12]);
}
