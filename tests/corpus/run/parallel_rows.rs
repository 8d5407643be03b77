//! Loops over the rows of matrices, one after the other and side by side.

#[millstream::program]
pub mod program {
    /// Rows in step with a slice, with their numbers, from either end.
    #[task]
    pub fn turns(data: &[i32], out: &mut [i64], rows: usize) -> i64 {
        let m = Mat::new(data, rows, data.len() / rows);
        let mut all = 0;
        for (i, row) in m.row_iter().enumerate() {
            for x in row {
                all = all * 3 + i64::from(*x) * i as i64;
            }
        }
        for (row, sum) in m.row_iter().zip(out.iter_mut()) {
            *sum = row.len() as i64;
        }
        for ((i, row), sum) in m.row_iter().enumerate().zip(out.iter()) {
            all += i64::from(row[0]) * i as i64 - sum;
        }
        #[parallel]
        for (row, (i, sum)) in m.row_iter().zip(out.iter_mut().enumerate()) {
            *sum += i64::from(row[i % row.len()]);
        }
        for row in m.row_iter().rev() {
            all = all * 5 + i64::from(row[0]);
        }
        for (row, next) in m.row_iter().zip(m.sub(1, 0, rows - 1, m.cols()).row_iter()) {
            all += i64::from(row[0] * next[next.len() - 1]);
        }
        all
    }

    #[task]
    pub fn product(out: &mut [f32], a: &[f32], b: &[f32], n: usize) {
        let (a, b) = (Mat::new(a, a.len() / n, n), Mat::new(b, n, b.len() / n));
        let mut out = MatMut::new(out, a.rows(), b.cols());
        #[parallel]
        for (sums, left) in out.row_iter_mut().zip(a.row_iter()) {
            #[parallel]
            for (j, sum) in sums.iter_mut().enumerate() {
                for (x, right) in left.iter().zip(b.row_iter()) {
                    *sum += x * right[j];
                }
            }
        }
    }

    /// Parts of rows, which lie apart in memory.
    #[task]
    pub fn frame(data: &mut [u32], cols: usize) -> (u32, u32) {
        let rows = data.len() / cols;
        let mut m = MatMut::new(data, rows, cols);
        let mut inside = m.sub_mut(1, 1, rows - 2, cols - 2);
        let (mut sum, mut most) = (0, 0);
        #[parallel]
        for (i, row) in inside.row_iter_mut().enumerate() {
            row.fill(i as u32 + 1);
            sum += row.len() as u32;
        }
        let (left, right) = inside.split_cols_at_mut(1);
        spawn!(double(left));
        spawn!(double(right));
        sync!();
        #[parallel]
        for row in m.as_mat().row_iter() {
            #[parallel]
            for x in row {
                most = most.max(*x);
            }
        }
        (sum, most)
    }

    #[task]
    pub fn double(mut m: MatMut<u32>) {
        #[parallel]
        for row in m.row_iter_mut() {
            for x in row.iter_mut() {
                *x *= 2;
            }
        }
    }

    /// Rounds that spawn, of many rows.
    #[task]
    pub fn lengths(data: &[u8], out: &mut [u32], cols: usize) -> u32 {
        let m = Mat::new(data, data.len() / cols, cols);
        let mut all = 0;
        #[parallel]
        for (row, n) in m.row_iter().zip(out.iter_mut()) {
            let length = spawn!(ones(row));
            sync!();
            *n = length;
            all += length;
        }
        for row in m.row_iter() {
            all += spawn!(ones(row));
        }
        sync!();
        all
    }

    #[task]
    pub fn ones(row: &[u8]) -> u32 {
        let mut ones = 0;
        for x in row {
            ones += x.count_ones();
        }
        ones
    }

    fn trace(m: Mat<f64>) -> f64 {
        let mut trace = 0.0;
        #[parallel]
        for (i, row) in m.row_iter().enumerate() {
            trace += row[i];
        }
        trace
    }

    #[task]
    pub fn traces(data: &[f64], n: usize) -> (u64, u64) {
        let m = Mat::new(data, n, n);
        let (a, _, _, d) = m.quadrants();
        (trace(m).to_bits(), (trace(a) - trace(d)).to_bits())
    }

    /// Matrices without rows or columns.
    #[task]
    pub fn none(data: &mut [u16]) -> u32 {
        let mut n = 0;
        let mut m = MatMut::new(data, 2, 3);
        #[parallel]
        for row in m.sub(0, 3, 2, 0).row_iter() {
            n += 1 + row.len() as u32;
        }
        #[parallel]
        for row in m.sub_mut(2, 0, 0, 3).row_iter_mut() {
            n += 100 + row.len() as u32;
        }
        n
    }
}

fn numbers(n: u32) -> Vec<i32> {
    (0..n).map(|i| (i * 7919 % 109) as i32 - 50).collect()
}

fn floats<T: From<f32>>(n: u32) -> Vec<T> {
    numbers(n).into_iter().map(|x| T::from(x as f32 / 8.0)).collect()
}

millstream_tests::cases! {
    turns(&numbers(12), &mut [0; 3], 4);
    turns(&numbers(12), &mut [0; 9], 2);
    product(&mut [0.5; 14], &floats(6), &floats(21), 3);
    product(&mut [0.0; 4900], &floats(490), &floats(490), 7);
    frame(&mut [7; 12], 4);
    frame(&mut [7; 2100], 3);
    frame(&mut [7; 2100], 700);
    lengths(&[7, 1, 0, 255, 3, 3], &mut [0; 3], 2);
    lengths(&[5; 900], &mut [0; 300], 3);
    traces(&floats(16), 4);
    traces(&floats(4900), 70);
    none(&mut [1; 6]);
}
