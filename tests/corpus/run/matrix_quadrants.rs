//! Matrix views: quadrants, splits, rows, elements, and the same view again.

#[millstream::program]
pub mod program {
    use millstream::{Mat, MatMut};

    #[task]
    pub fn multiply_add(mut c: MatMut<f32>, a: Mat<f32>, b: Mat<f32>) {
        let n = c.rows();
        if n <= 2 || n % 2 == 1 {
            for i in 0..n {
                for j in 0..c.cols() {
                    let mut sum = c[(i, j)];
                    for k in 0..a.cols() {
                        sum += a[(i, k)] * b[(k, j)];
                    }
                    c[(i, j)] = sum;
                }
            }
            return;
        }
        let (a11, a12, a21, a22) = a.quadrants();
        let (b11, b12, b21, b22) = b.quadrants();
        {
            let (c11, c12, c21, c22) = c.quadrants_mut();
            spawn!(multiply_add(c11, a11, b11));
            spawn!(multiply_add(c12, a11, b12));
            spawn!(multiply_add(c21, a21, b11));
            spawn!(multiply_add(c22, a21, b12));
            sync!();
        }
        let (c11, c12, c21, c22) = c.quadrants_mut();
        spawn!(multiply_add(c11, a12, b21));
        spawn!(multiply_add(c12, a12, b22));
        spawn!(multiply_add(c21, a22, b21));
        spawn!(multiply_add(c22, a22, b22));
    }

    #[task]
    pub fn product(a: &[f32], b: &[f32], c: &mut [f32], n: usize) {
        spawn!(multiply_add(MatMut::new(c, n, n), Mat::new(a, n, n), Mat::new(b, n, n)));
    }
}

millstream_tests::cases! {
    product(&[1.0, 2.0, 3.0, 4.0], &[0.5, -1.0, 0.25, 8.0], &mut [0.0; 4], 2);
    product(&(0..64u8).map(|i| i as f32 / 4.0).collect::<Vec<_>>(), &(0..64u8).map(|i| 8.0 - i as f32).collect::<Vec<_>>(), &mut vec![1.0; 64], 8);
}
