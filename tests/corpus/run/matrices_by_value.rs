//! Strassen's products of blocks that are generic matrices, passed and returned by value.

#[millstream::program]
pub mod program {
    use std::ops::{Add, Mul, Sub};

    pub const N: usize = 4;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Matrix<T, const N: usize>(pub [[T; N]; N]);

    impl<T: Copy + Default + Add<Output = T> + Mul<Output = T>, const N: usize> Matrix<T, N> {
        pub fn zero() -> Self {
            Self([[T::default(); N]; N])
        }

        fn transpose(&self) -> Self {
            let mut out = Self::zero();
            for (i, row) in self.0.iter().enumerate() {
                for (j, x) in row.iter().enumerate() {
                    out.0[j][i] = *x;
                }
            }
            out
        }
    }

    impl<T: Copy + Default + Add<Output = T> + Mul<Output = T>, const N: usize> Mul for Matrix<T, N> {
        type Output = Self;
        fn mul(self, rhs: Self) -> Self {
            let mut out = Self::zero();
            let t = rhs.transpose();
            for i in 0..N {
                for j in 0..N {
                    out.0[i][j] = self.0[i].iter().zip(t.0[j].iter()).fold(T::default(), |s, (&a, &b)| s + a * b);
                }
            }
            out
        }
    }

    impl<T: Copy + Add<Output = T>, const N: usize> Add for Matrix<T, N> {
        type Output = Self;
        fn add(mut self, rhs: Self) -> Self {
            for (a, b) in self.0.iter_mut().zip(&rhs.0) {
                for (x, y) in a.iter_mut().zip(b) {
                    *x = *x + *y;
                }
            }
            self
        }
    }

    impl<T: Copy + Sub<Output = T>, const N: usize> Sub for Matrix<T, N> {
        type Output = Self;
        fn sub(mut self, rhs: Self) -> Self {
            for i in 0..N {
                for j in 0..N {
                    self.0[i][j] = self.0[i][j] - rhs.0[i][j];
                }
            }
            self
        }
    }

    type Block = Matrix<i64, N>;

    fn block(m: &[i64], stride: usize, i: usize, j: usize) -> Block {
        Matrix(std::array::from_fn(|r| std::array::from_fn(|c| m[(i * N + r) * stride + j * N + c])))
    }

    #[task]
    fn product(a: Matrix<i64, 4>, b: Block) -> Matrix<i64, N> {
        a * b
    }

    #[task]
    pub fn strassen(a: &[i64], b: &[i64], c: &mut [i64]) {
        let stride = 2 * N;
        let [a11, a12, a21, a22] = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| block(a, stride, i, j));
        let [b11, b12, b21, b22] = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| block(b, stride, i, j));
        let m1 = spawn!(product(a11 + a22, b11 + b22));
        let m2 = spawn!(product(a21 + a22, b11));
        let m3 = spawn!(product(a11, b12 - b22));
        let m4 = spawn!(product(a22, b21 - b11));
        let m5 = spawn!(product(a11 + a12, b22));
        let m6 = spawn!(product(a21 - a11, b11 + b12));
        let m7 = spawn!(product(a12 - a22, b21 + b22));
        sync!();
        let out = [[m1 + m4 - m5 + m7, m3 + m5], [m2 + m4, m1 - m2 + m3 + m6]];
        for (i, row) in c.chunks_exact_mut(stride).enumerate() {
            for (j, x) in row.iter_mut().enumerate() {
                *x = out[i / N][j / N].0[i % N][j % N];
            }
        }
    }
}
fn m(k: i64) -> Vec<i64> { (0..64).map(|i| (i * k + 3) % 17 - 8).collect() }
millstream_tests::cases! { strassen(&m(5), &m(7), &mut vec![0; 64]); }
