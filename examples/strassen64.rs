//! Strassen's matrix product of `f64`: seven products of quadrants instead of eight.
//!
//! ```text
//!   strassen ──► seven [ product ] ──► sync ──► four sums into the quadrants of c
//!      ▲              └──► two [ sum ] ──► sync ──┐
//!      └───────────────── spawn ──────────────────┘
//!   strassen of a small matrix ──► [ multiply ]
//!   [ sum ], [ multiply ] ──► two of them on halves ──► .. ──► a strip, TILE rows by LONG columns, or by WIDE on a GPU
//! ```
//!
//! How wide a strip is suits the device: a vector processor wants long rows, and a GPU wants few columns, so that neighbouring tasks, which run
//! side by side, work on neighbouring columns.

#[millstream::program]
pub mod strassen64 {
    type Real = f64;
    /// Up to this size the ordinary product is taken.
    const SMALL: usize = 64;
    /// Rows that one task computes, and columns on a CPU. A GPU's are [`WIDE`].
    const TILE: usize = 64;
    const LONG: usize = 512;
    /// Rows and columns of a product that stay in registers.
    const HIGH: usize = 8;
    const WIDE: usize = 2;

    /// How many numbers of scratch memory `levels` levels of seven products use, for matrices of size `n`.
    pub fn scratch_len(n: usize, levels: usize) -> usize {
        if levels == 0 || n <= SMALL || n % 2 == 1 {
            0
        } else {
            7 * (3 * (n / 2) * (n / 2) + scratch_len(n / 2, levels - 1))
        }
    }

    /// `c = a * b` for square matrices; where `scratch` is too short, it goes on with the ordinary product.
    #[task]
    pub fn strassen(mut c: MatMut<Real>, a: Mat<Real>, b: Mat<Real>, scratch: &mut [Real]) {
        let n = a.rows();
        if n <= SMALL || n % 2 == 1 || scratch.len() < 21 * (n / 2) * (n / 2) {
            spawn!(multiply(c, a, b));
            return;
        }
        let (a11, a12, a21, a22) = a.quadrants();
        let (b11, b12, b21, b22) = b.quadrants();
        let share = scratch.len() / 7;
        {
            let (p1, rest) = scratch.split_at_mut(share);
            let (p2, rest) = rest.split_at_mut(share);
            let (p3, rest) = rest.split_at_mut(share);
            let (p4, rest) = rest.split_at_mut(share);
            let (p5, rest) = rest.split_at_mut(share);
            let (p6, p7) = rest.split_at_mut(share);
            spawn!(product(p1, a11, 1.0, a22, b11, 1.0, b22));
            spawn!(product(p2, a21, 1.0, a22, b11, 0.0, b11));
            spawn!(product(p3, a11, 0.0, a11, b12, -1.0, b22));
            spawn!(product(p4, a22, 0.0, a22, b21, -1.0, b11));
            spawn!(product(p5, a11, 1.0, a12, b22, 0.0, b22));
            spawn!(product(p6, a21, -1.0, a11, b11, 1.0, b12));
            spawn!(product(p7, a12, -1.0, a22, b21, 1.0, b22));
            sync!();
        }
        // Each product stands at the start of its share.
        let p = Mat::new(&scratch[..7 * share], 7, share);
        let h = n / 2;
        let (p1, p2, p3) = (
            square(p.row(0), h),
            square(p.row(1), h),
            square(p.row(2), h),
        );
        let (p4, p5, p6) = (
            square(p.row(3), h),
            square(p.row(4), h),
            square(p.row(5), h),
        );
        let p7 = square(p.row(6), h);
        let (c11, c12, c21, c22) = c.quadrants_mut();
        spawn!(sum_of_four(c11, p1, p4, p5, p7));
        spawn!(sum(c12, p3, 1.0, p5));
        spawn!(sum(c21, p2, 1.0, p4));
        spawn!(sum_of_four(c22, p1, p3, p2, p6));
        sync!();
    }

    /// `c = a * b`; by how much the sum over `c` is off, which is the sum over k of column k of `a` times row k of `b`.
    #[allow(clippy::unnecessary_cast, reason = "`Real` may be `f32`")]
    #[task]
    pub fn with_check(
        mut c: MatMut<Real>,
        a: Mat<Real>,
        b: Mat<Real>,
        scratch: &mut [Real],
    ) -> f64 {
        spawn!(strassen(c.reborrow(), a, b, scratch));
        sync!();
        let mut off = 0.0;
        #[parallel]
        for k in 0..a.rows() {
            let (mut column, mut row, mut sum) = (0.0, 0.0, 0.0);
            for i in 0..a.rows() {
                column += a[(i, k)] as f64;
                row += b[(k, i)] as f64;
                sum += c[(k, i)] as f64;
            }
            off += sum - column * row;
        }
        off
    }

    fn square(data: &[Real], n: usize) -> Mat<'_, Real> {
        Mat::new(&data[..n * n], n, n)
    }

    /// `(a + x * a2) * (b + y * b2)`, at the start of `scratch`; a factor of zero means that there is no such matrix.
    #[task]
    #[allow(
        clippy::too_many_arguments,
        reason = "a task takes its matrices one by one"
    )]
    pub fn product(
        scratch: &mut [Real],
        a: Mat<Real>,
        x: Real,
        a2: Mat<Real>,
        b: Mat<Real>,
        y: Real,
        b2: Mat<Real>,
    ) {
        let h = a.rows();
        let (out, rest) = scratch.split_at_mut(h * h);
        let (left, rest) = rest.split_at_mut(h * h);
        let (right, below) = rest.split_at_mut(h * h);
        let (mut a, mut b) = (a, b);
        if x != 0.0 {
            spawn!(sum(MatMut::new(&mut *left, h, h), a, x, a2));
        }
        if y != 0.0 {
            spawn!(sum(MatMut::new(&mut *right, h, h), b, y, b2));
        }
        sync!();
        if x != 0.0 {
            a = square(left, h);
        }
        if y != 0.0 {
            b = square(right, h);
        }
        spawn!(strassen(MatMut::new(out, h, h), a, b, below));
    }

    /// `out = a + x * b`
    #[task]
    pub fn sum(mut out: MatMut<Real>, a: Mat<Real>, x: Real, b: Mat<Real>) {
        let width = if millstream::on_gpu() { WIDE } else { LONG };
        if out.rows() > TILE {
            let half = out.rows() / 2;
            let ((a1, a2), (b1, b2)) = (a.split_rows_at(half), b.split_rows_at(half));
            let (out1, out2) = out.split_rows_at_mut(half);
            spawn!(sum(out1, a1, x, b1));
            spawn!(sum(out2, a2, x, b2));
        } else if out.cols() > width {
            let half = out.cols() / 2;
            let ((a1, a2), (b1, b2)) = (a.split_cols_at(half), b.split_cols_at(half));
            let (out1, out2) = out.split_cols_at_mut(half);
            spawn!(sum(out1, a1, x, b1));
            spawn!(sum(out2, a2, x, b2));
        } else {
            spawn!(sum_strip(out, a, x, b));
        }
    }

    /// A strip of a [`sum`].
    #[task]
    pub fn sum_strip(mut out: MatMut<Real>, a: Mat<Real>, x: Real, b: Mat<Real>) {
        for i in 0..out.rows() {
            for j in 0..out.cols() {
                out[(i, j)] = a[(i, j)] + x * b[(i, j)];
            }
        }
    }

    /// `out = a + b - c + d`
    #[task]
    pub fn sum_of_four(
        mut out: MatMut<Real>,
        a: Mat<Real>,
        b: Mat<Real>,
        c: Mat<Real>,
        d: Mat<Real>,
    ) {
        let width = if millstream::on_gpu() { WIDE } else { LONG };
        if out.rows() > TILE {
            let half = out.rows() / 2;
            let ((a1, a2), (b1, b2)) = (a.split_rows_at(half), b.split_rows_at(half));
            let ((c1, c2), (d1, d2)) = (c.split_rows_at(half), d.split_rows_at(half));
            let (out1, out2) = out.split_rows_at_mut(half);
            spawn!(sum_of_four(out1, a1, b1, c1, d1));
            spawn!(sum_of_four(out2, a2, b2, c2, d2));
        } else if out.cols() > width {
            let half = out.cols() / 2;
            let ((a1, a2), (b1, b2)) = (a.split_cols_at(half), b.split_cols_at(half));
            let ((c1, c2), (d1, d2)) = (c.split_cols_at(half), d.split_cols_at(half));
            let (out1, out2) = out.split_cols_at_mut(half);
            spawn!(sum_of_four(out1, a1, b1, c1, d1));
            spawn!(sum_of_four(out2, a2, b2, c2, d2));
        } else {
            spawn!(strip_of_four(out, a, b, c, d));
        }
    }

    /// A strip of a [`sum_of_four`].
    #[task]
    pub fn strip_of_four(
        mut out: MatMut<Real>,
        a: Mat<Real>,
        b: Mat<Real>,
        c: Mat<Real>,
        d: Mat<Real>,
    ) {
        for i in 0..out.rows() {
            for j in 0..out.cols() {
                out[(i, j)] = a[(i, j)] + b[(i, j)] - c[(i, j)] + d[(i, j)];
            }
        }
    }

    /// `c = a * b` in the ordinary way, for matrices of any shape that fit.
    #[task]
    pub fn multiply(mut c: MatMut<Real>, a: Mat<Real>, b: Mat<Real>) {
        let width = if millstream::on_gpu() { WIDE } else { LONG };
        if c.rows() > TILE {
            let (top, bottom) = a.split_rows_at(c.rows() / 2);
            let (c1, c2) = c.split_rows_at_mut(top.rows());
            spawn!(multiply(c1, top, b));
            spawn!(multiply(c2, bottom, b));
        } else if c.cols() > width {
            let (left, right) = b.split_cols_at(c.cols() / 2);
            let (c1, c2) = c.split_cols_at_mut(left.cols());
            spawn!(multiply(c1, a, left));
            spawn!(multiply(c2, a, right));
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
                multiply_in_registers(
                    c.sub_mut(done, 0, HIGH, WIDE),
                    a.sub(done, 0, HIGH, a.cols()),
                    b,
                );
                done += HIGH;
            }
        }
        for i in done..c.rows() {
            c.row_mut(i).fill(0.0);
            let mut k = 0;
            // Four at a time, in their order, so that `c` is read and written once for them.
            while k + 4 <= a.cols() {
                let (x, y, z, w) = (a[(i, k)], a[(i, k + 1)], a[(i, k + 2)], a[(i, k + 3)]);
                for j in 0..c.cols() {
                    let sum = c[(i, j)] + x * b[(k, j)] + y * b[(k + 1, j)];
                    c[(i, j)] = sum + z * b[(k + 2, j)] + w * b[(k + 3, j)];
                }
                k += 4;
            }
            for k in k..a.cols() {
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

fn main() -> Result<(), millstream::Error> {
    use millstream::{Mat, MatMut};
    let n = 256;
    let a: Vec<f64> = (0..n * n).map(|i| (i % 7) as f64 - 3.0).collect();
    let b: Vec<f64> = (0..n * n).map(|i| (i % 5) as f64 - 2.0).collect();
    let mut c = vec![0.0; n * n];
    let mut scratch = vec![0.0; strassen64::scratch_len(n, 2)];

    let device = millstream::Device::auto()?;
    let (a, b) = (Mat::new(&a, n, n), Mat::new(&b, n, n));
    let off = device.run(strassen64::call::with_check(
        MatMut::new(&mut c, n, n),
        a,
        b,
        &mut scratch,
    ))?;

    // Small integers: every sum is exact, so the ordinary product gives the same bits.
    let mut expected = vec![0.0; n * n];
    strassen64::multiply(MatMut::new(&mut expected, n, n), a, b);
    assert_eq!(c, expected);
    assert_eq!(off, 0.0);
    println!(
        "c[0][0] = {}, c[{m}][{m}] = {}",
        c[0],
        c[n * n - 1],
        m = n - 1
    );
    Ok(())
}
