//! Pictures by their rows: sums over all that is above and left, in strips of columns; medians of what is around.

#[millstream::program]
pub mod program {
    #[task]
    pub fn integral(src: &[u8], out: &mut [u64], cols: usize) {
        let src = Mat::new(src, src.len() / cols, cols);
        let mut out = MatMut::new(out, src.rows(), cols);
        #[parallel]
        for (row, sums) in src.row_iter().zip(out.row_iter_mut()) {
            let mut sum = 0;
            for (x, s) in row.iter().zip(sums.iter_mut()) { sum += *x as u64; *s = sum; }
        }
        let step = (cols / 5).max(1);
        // Columns in strips, each a part of the matrix.
        spawn!(strips(out, step));
    }
    #[task]
    pub fn strips(mut m: MatMut<u64>, step: usize) {
        if m.cols() > step {
            let half = m.cols() / 2;
            let (l, r) = m.split_cols_at_mut(half);
            spawn!(strips(l, step));
            spawn!(strips(r, step));
            return;
        }
        for i in 1..m.rows() {
            let (above, mut below) = m.split_rows_at_mut(i);
            let last = above.row(i - 1);
            for (x, y) in below.row_mut(0).iter_mut().zip(last) { *x += *y; }
        }
    }
    #[task]
    pub fn median(src: &[u8], out: &mut [u8], cols: usize) -> u32 {
        let src = Mat::new(src, src.len() / cols, cols);
        let mut out = MatMut::new(out, src.rows(), cols);
        let rows = src.rows();
        let mut changed = 0;
        #[parallel]
        for (y, row) in out.row_iter_mut().enumerate() {
            #[parallel]
            for (x, pixel) in row.iter_mut().enumerate() {
                let mut window = [0u8; 9];
                let mut n = 0;
                for yy in y.saturating_sub(1)..(y + 2).min(rows) {
                    for &v in &src.row(yy)[x.saturating_sub(1)..(x + 2).min(cols)] {
                        let mut at = n;
                        while at > 0 && window[at - 1] > v { window[at] = window[at - 1]; at -= 1; }
                        window[at] = v;
                        n += 1;
                    }
                }
                *pixel = window[n / 2];
                changed += (*pixel != src[(y, x)]) as u32;
            }
        }
        changed
    }
}

fn bytes(n: u32) -> Vec<u8> {
    (0..n).map(|i| (i.wrapping_mul(2_654_435_769) >> 23) as u8).collect()
}

millstream_tests::cases! {
    integral(&bytes(1), &mut [0; 1], 1);
    integral(&bytes(21), &mut [0; 21], 7);
    integral(&bytes(1320), &mut [0; 1320], 33);
    median(&bytes(1), &mut [0; 1], 1);
    median(&bytes(21), &mut [0; 21], 7);
    median(&bytes(462), &mut [0; 462], 33);
}
