//! Jacobi's method: sweeps between two buffers that change places by `std::mem::swap`, until nothing moves.

#[millstream::program]
pub mod program {
    fn sweep(a: Mat<f64>, b: &[f64], x: &[f64], next: &mut [f64]) -> f64 {
        let mut moved = 0.0f64;
        #[parallel]
        for (i, (row, out)) in a.row_iter().zip(next.iter_mut()).enumerate() {
            let mut left = b[i];
            for (j, (y, z)) in row.iter().zip(x).enumerate() {
                if j != i {
                    left -= y * z;
                }
            }
            *out = left / row[i];
            moved = moved.max((*out - x[i]).abs());
        }
        moved
    }

    #[task]
    pub fn solve<'a>(a: &[f64], b: &[f64], mut x: &'a mut [f64], mut next: &'a mut [f64], still: f64) -> u32 {
        let a = Mat::new(a, b.len(), b.len());
        let mut sweeps = 0;
        while sweep(a, b, x, next) > still {
            std::mem::swap(&mut x, &mut next);
            sweeps += 1;
        }
        sweeps
    }

    /// Shared ones too, and matrices; and what they are of stays.
    #[task]
    pub fn turns(p: &[u32], q: &[u32], m: &mut [u32], n: &mut [u32]) -> u32 {
        let (mut a, mut b) = (p, q);
        let (mut m, mut n) = (MatMut::new(m, 2, 2), MatMut::new(n, 2, 2));
        let (mut u, mut v) = (a[0], b[0]);
        std::mem::swap(&mut a, &mut b);
        std::mem::swap(&mut m, &mut n);
        std::mem::swap(&mut u, &mut v);
        m[(0, 1)] = a[0] * 10 + u;
        n[(1, 0)] = b[0] * 10 + v;
        a[1] * 100 + b[1]
    }
}

/// Rows that mean most on their diagonal.
fn rows(n: u32) -> Vec<f64> {
    (0..n * n).map(|i| f64::from(i * 7919 % 109) / 109.0 + f64::from(if i % (n + 1) == 0 { n } else { 0 })).collect()
}

fn numbers(n: u32) -> Vec<f64> {
    (0..n).map(|i| f64::from(i * 31 % 17)).collect()
}

millstream_tests::cases! {
    solve(&rows(5), &numbers(5), &mut [0.0; 5], &mut [0.0; 5], 1e-6);
    solve(&rows(40), &numbers(40), &mut [0.0; 40], &mut [0.0; 40], 1e-3);
    turns(&[1, 2], &[3, 4], &mut [0; 4], &mut [9; 4]);
}
