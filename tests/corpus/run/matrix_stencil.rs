//! A stencil: rows of a matrix to children, strips lent by `split_rows_at_mut`, a sync for each sweep.

#[millstream::program]
pub mod program {
    use millstream::{Mat, MatMut};

    #[task]
    pub fn sweep(from: Mat<f64>, mut to: MatMut<f64>, first: usize) {
        if to.rows() > 1 {
            let half = to.rows() / 2;
            let (top, bottom) = to.split_rows_at_mut(half);
            spawn!(sweep(from, top, first));
            spawn!(sweep(from, bottom, first + half));
            return;
        }
        let last = from.rows() - 1;
        for j in 0..to.cols() {
            let inside = first > 0 && first < last && j > 0 && j + 1 < to.cols();
            to[(0, j)] = if inside {
                0.25 * (from[(first - 1, j)] + from[(first + 1, j)] + from[(first, j - 1)] + from[(first, j + 1)])
            } else {
                from[(first, j)]
            };
        }
    }

    #[task]
    pub fn relax(a: &mut [f64], b: &mut [f64], n: usize, sweeps: u32) {
        for _ in 0..sweeps {
            spawn!(sweep(Mat::new(a, n, n), MatMut::new(b, n, n), 0));
            sync!();
            spawn!(sweep(Mat::new(b, n, n), MatMut::new(a, n, n), 0));
            sync!();
        }
    }
}

millstream_tests::cases! {
    relax(&mut (0..36u8).map(|i| if i < 6 { 64.0 } else { (i % 5) as f64 }).collect::<Vec<_>>(), &mut vec![0.0; 36], 6, 3);
}
