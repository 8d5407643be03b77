//! A product in strips, whose sums stay in registers: loops of a few turns over a local array.

#[millstream::program]
pub mod program {
    type Real = f32;
    const TILE: usize = 16;
    const HIGH: usize = 8;
    const WIDE: usize = 2;

    #[task]
    pub fn run(c: &mut [f32], a: &[f32], b: &[f32], width: usize) {
        spawn!(multiply(MatMut::new(c, 17, 9), Mat::new(a, 17, 5), Mat::new(b, 5, 9), width));
    }

    /// `c = a * b` in the ordinary way, for matrices of any shape that fit.
    #[task]
    pub fn multiply(mut c: MatMut<Real>, a: Mat<Real>, b: Mat<Real>, width: usize) {
        if c.rows() > TILE {
            let (top, bottom) = a.split_rows_at(c.rows() / 2);
            let (c1, c2) = c.split_rows_at_mut(top.rows());
            spawn!(multiply(c1, top, b, width));
            spawn!(multiply(c2, bottom, b, width));
        } else if c.cols() > width {
            let (left, right) = b.split_cols_at(c.cols() / 2);
            let (c1, c2) = c.split_cols_at_mut(left.cols());
            spawn!(multiply(c1, a, left, width));
            spawn!(multiply(c2, a, right, width));
        } else {
            spawn!(multiply_strip(c, a, b));
        }
    }

    /// A strip of a product by [`multiply`].
    #[task]
    pub fn multiply_strip(mut c: MatMut<Real>, a: Mat<Real>, b: Mat<Real>) {
        let mut done = 0;
        if c.cols() == WIDE {
            while done + HIGH <= c.rows() {
                multiply_in_registers(c.sub_mut(done, 0, HIGH, WIDE), a.sub(done, 0, HIGH, a.cols()), b);
                done += HIGH;
            }
        }
        for i in done..c.rows() {
            c.row_mut(i).fill(0.0);
            for k in 0..a.cols() {
                let x = a[(i, k)];
                for j in 0..c.cols() {
                    c[(i, j)] += x * b[(k, j)];
                }
            }
        }
    }

    /// `c = a * b` for HIGH by WIDE numbers, which are read and written once.
    fn multiply_in_registers(mut c: MatMut<Real>, a: Mat<Real>, b: Mat<Real>) {
        let mut sums = [0.0; HIGH * WIDE];
        for k in 0..a.cols() {
            for j in 0..WIDE {
                let y = b[(k, j)];
                for i in 0..HIGH {
                    sums[i * WIDE + j] += a[(i, k)] * y;
                }
            }
        }
        for i in 0..HIGH {
            for j in 0..WIDE {
                c[(i, j)] = sums[i * WIDE + j];
            }
        }
    }
}

fn numbers(n: u32) -> Vec<f32> {
    (0..n).map(|i| (i * 7919 % 109) as f32 / 8.0 - 5.0).collect()
}

millstream_tests::cases! {
    run(&mut vec![1.0; 153], &numbers(85), &numbers(45), 1);
    run(&mut vec![1.0; 153], &numbers(85), &numbers(45), 2);
    run(&mut vec![1.0; 153], &numbers(85), &numbers(45), 64);
}
