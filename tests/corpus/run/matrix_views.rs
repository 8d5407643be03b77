//! Every other method of matrix views.

#[millstream::program]
pub mod program {
    use millstream::{Mat, MatMut};

    fn total(m: Mat<i32>) -> i32 {
        let mut sum = 0;
        for i in 0..m.rows() {
            for &x in m.row(i) {
                sum = sum * 3 + x;
            }
        }
        sum
    }

    fn add(mut m: MatMut<i32>, by: i32) {
        for i in 0..m.rows() {
            for x in m.row_mut(i).iter_mut() {
                *x += by;
            }
        }
    }

    #[task]
    pub fn views(data: &mut [i32], rows: usize, cols: usize) -> [i32; 6] {
        let mut m = MatMut::new(data, rows, cols);
        let mut out = [0; 6];
        out[0] = total(m.as_mat());
        {
            let (top, bottom) = m.split_rows_at_mut(1);
            add(top, 10);
            add(bottom, 20);
        }
        {
            let (left, _right) = m.split_cols_at_mut(2);
            add(left, 100);
        }
        add(m.reborrow(), 1);
        add(m.sub_mut(1, 1, 2, 2), 1000);
        out[1] = m[(1, 1)];
        let all = m.as_mat();
        let (top, bottom) = all.split_rows_at(2);
        let (left, right) = all.split_cols_at(cols - 1);
        out[2] = total(top) - total(bottom);
        out[3] = total(left) ^ total(right);
        out[4] = total(all.sub(0, 1, 2, 1));
        out[5] = (all.rows() * 10 + all.cols()) as i32;
        out
    }
}

millstream_tests::cases! {
    views(&mut (0..12).collect::<Vec<_>>(), 3, 4);
}
