//! rayon: the same algorithms with `join` in the place of spawn and sync, the same cut-offs and the same number of threads.
//!
//! Written as one who knows rayon would: no task where one child is left, rows of matrices as slices so that inner loops become vector
//! code.

use super::program::{Contestant, Input, Outcome, Program};
use millstream::{Mat, MatMut};
use rayon::{ThreadPool, ThreadPoolBuilder, join};

/// Most elements that a task of the sort merges, and columns that one of a product has, as in `examples/`.
const GRAIN: usize = 512;
const LONG: usize = 512;

/// A pool of rayon's.
#[derive(Debug)]
pub(crate) struct Rayon {
    pool: ThreadPool,
}

impl Rayon {
    /// With so many threads.
    pub(crate) fn new(threads: u32) -> Result<Self, String> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads as usize)
            .stack_size(256 << 20)
            .build();
        Ok(Self {
            pool: pool.map_err(|e| e.to_string())?,
        })
    }
}

impl Contestant for Rayon {
    fn name(&self) -> &'static str {
        "rayon"
    }

    fn threads(&self) -> u32 {
        self.pool.current_num_threads() as u32
    }

    fn run(&mut self, program: Program, input: &mut Input, _: bool) -> Result<Outcome, String> {
        let answer = match (program, input) {
            (Program::Fib(n), _) => self.pool.install(|| fib(n)),
            (Program::Queens(n), _) => self.pool.install(|| place(u32::MAX, (1 << n) - 1, 0, 0, 0)),
            (Program::QueensTo(n, rows), _) => {
                self.pool.install(|| place(rows, (1 << n) - 1, 0, 0, 0))
            }
            (Program::Unbalanced(seed, branches), _) => {
                self.pool.install(|| 1 + children(seed, 0, branches))
            }
            (Program::Sort(_), Input::Sort { data, tmp, .. }) => {
                self.pool.install(|| sort(data, tmp));
                0
            }
            (
                Program::Strassen(_),
                Input::Strassen {
                    n,
                    a,
                    b,
                    c,
                    scratch,
                },
            ) => {
                let (c, a, b) = (
                    MatMut::new(c, *n, *n),
                    Mat::new(a, *n, *n),
                    Mat::new(b, *n, *n),
                );
                self.pool.install(|| strassen(c, a, b, scratch));
                0
            }
            (Program::Multiply(_), Input::Strassen { n, a, b, c, .. }) => {
                let (c, a, b) = (
                    MatMut::new(c, *n, *n),
                    Mat::new(a, *n, *n),
                    Mat::new(b, *n, *n),
                );
                self.pool.install(|| multiply(c, a, b));
                0
            }
            (program, _) => return Err(format!("{program} got an input that is not its own")),
        };
        Ok(Outcome {
            answer,
            ..Outcome::default()
        })
    }
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (x, y) = join(|| fib(n - 1), || fib(n - 2));
    x + y
}

/// Placements with tasks for the first `rows` rows.
fn place(rows: u32, all: u32, columns: u32, left: u32, right: u32) -> u64 {
    if columns == all {
        return 1;
    }
    if rows == 0 {
        return count(all, columns, left, right);
    }
    choose(
        rows,
        all,
        columns,
        left,
        right,
        all & !(columns | left | right),
    )
}

/// Placements that begin with one of the `free` squares of the next row.
fn choose(rows: u32, all: u32, columns: u32, left: u32, right: u32, free: u32) -> u64 {
    if free == 0 {
        return 0;
    }
    let queen = free & free.wrapping_neg();
    let rest = free ^ queen;
    let this = || {
        place(
            rows - 1,
            all,
            columns | queen,
            (left | queen) << 1,
            (right | queen) >> 1,
        )
    };
    if rest == 0 {
        return this();
    }
    let (x, y) = join(this, || choose(rows, all, columns, left, right, rest));
    x + y
}

fn count(all: u32, columns: u32, left: u32, right: u32) -> u64 {
    if columns == all {
        return 1;
    }
    let mut total = 0;
    let mut free = all & !(columns | left | right);
    while free != 0 {
        let queen = free & free.wrapping_neg();
        free ^= queen;
        total += count(
            all,
            columns | queen,
            (left | queen) << 1,
            (right | queen) >> 1,
        );
    }
    total
}

/// Nodes at and below the children `first..end` of a node.
fn children(node: u64, first: u32, end: u32) -> u64 {
    match end - first {
        0 => 0,
        1 => nodes(super::elision::unbalanced::child(node, first)),
        n => {
            let middle = first + n / 2;
            let (x, y) = join(
                || children(node, first, middle),
                || children(node, middle, end),
            );
            x + y
        }
    }
}

fn nodes(node: u64) -> u64 {
    if super::elision::unbalanced::fertile(node) {
        1 + children(node, 0, 8)
    } else {
        1
    }
}

/// Runs up to this length are sorted by one task.
const SMALL: usize = 128;

fn sort(data: &mut [i32], tmp: &mut [i32]) {
    let n = data.len();
    if n <= SMALL {
        return exchange(data);
    }
    let quarter = n / 4;
    {
        let (low, high) = data.split_at_mut(2 * quarter);
        let ((a, b), (c, d)) = (low.split_at_mut(quarter), high.split_at_mut(quarter));
        let (tmp_low, tmp_high) = tmp.split_at_mut(2 * quarter);
        let ((ta, tb), (tc, td)) = (
            tmp_low.split_at_mut(quarter),
            tmp_high.split_at_mut(quarter),
        );
        join(
            || join(|| sort(a, ta), || sort(b, tb)),
            || join(|| sort(c, tc), || sort(d, td)),
        );
    }
    {
        let (low, high) = data.split_at(2 * quarter);
        let (tmp_low, tmp_high) = tmp.split_at_mut(2 * quarter);
        join(
            || merge(&low[..quarter], &low[quarter..], tmp_low),
            || merge(&high[..quarter], &high[quarter..], tmp_high),
        );
    }
    let (low, high) = tmp.split_at(2 * quarter);
    merge(low, high, data);
}

fn merge(a: &[i32], b: &[i32], out: &mut [i32]) {
    if out.len() <= GRAIN {
        return piece(a, b, out);
    }
    let half = out.len() / 2;
    let (mut lo, mut hi) = (half.saturating_sub(b.len()), half.min(a.len()));
    while lo < hi {
        let i = lo + (hi - lo) / 2;
        if a[i] <= b[half - 1 - i] {
            lo = i + 1;
        } else {
            hi = i;
        }
    }
    let (out_low, out_high) = out.split_at_mut(half);
    join(
        || merge(&a[..lo], &b[..half - lo], out_low),
        || merge(&a[lo..], &b[half - lo..], out_high),
    );
}

fn piece(a: &[i32], b: &[i32], out: &mut [i32]) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        out[i + j] = x.min(y);
        i += usize::from(x <= y);
        j += usize::from(x > y);
    }
    let at = i + j;
    let rest = if i < a.len() { &a[i..] } else { &b[j..] };
    out[at..].copy_from_slice(rest);
}

/// Batcher's merge exchange.
fn exchange(run: &mut [i32]) {
    let n = run.len();
    let top = n.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut first, mut d) = (top, 0, p);
        loop {
            let mut start = first;
            while start + d < n {
                let (low, high) = run[start..].split_at_mut(d);
                for (x, y) in low[..p].iter_mut().zip(high) {
                    (*x, *y) = ((*x).min(*y), (*x).max(*y));
                }
                start += 2 * p;
            }
            if q == p {
                break;
            }
            (first, d) = (p, q - p);
            q /= 2;
        }
        p /= 2;
    }
}

/// Up to this size the ordinary product is taken.
const ORDINARY: usize = 64;
/// Rows of a result that one task computes.
const TILE: usize = 64;

fn strassen(mut c: MatMut<'_, f32>, a: Mat<'_, f32>, b: Mat<'_, f32>, scratch: &mut [f32]) {
    let n = a.rows();
    if n <= ORDINARY || n % 2 == 1 || scratch.len() < 21 * (n / 2) * (n / 2) {
        return multiply(c, a, b);
    }
    let ((a11, a12, a21, a22), (b11, b12, b21, b22)) = (a.quadrants(), b.quadrants());
    let share = scratch.len() / 7;
    let factors = [
        (a11, 1.0, a22, b11, 1.0, b22),
        (a21, 1.0, a22, b11, 0.0, b11),
        (a11, 0.0, a11, b12, -1.0, b22),
        (a22, 0.0, a22, b21, -1.0, b11),
        (a11, 1.0, a12, b22, 0.0, b22),
        (a21, -1.0, a11, b11, 1.0, b12),
        (a12, -1.0, a22, b21, 1.0, b22),
    ];
    products(scratch, share, &factors);
    let h = n / 2;
    let p: Vec<Mat<'_, f32>> = scratch
        .chunks(share)
        .take(7)
        .map(|p| Mat::new(&p[..h * h], h, h))
        .collect();
    let (c11, c12, c21, c22) = c.quadrants_mut();
    join(
        || {
            join(
                || sum_of_four(c11, p[0], p[3], p[4], p[6]),
                || sum(c12, p[2], 1.0, p[4]),
            )
        },
        || {
            join(
                || sum(c21, p[1], 1.0, p[3]),
                || sum_of_four(c22, p[0], p[2], p[1], p[5]),
            )
        },
    );
}

/// What a product is made of: `(a + x * a2) * (b + y * b2)`.
type Factors<'a> = (
    Mat<'a, f32>,
    f32,
    Mat<'a, f32>,
    Mat<'a, f32>,
    f32,
    Mat<'a, f32>,
);

/// The products, each in its share of the scratch memory, in parallel.
fn products(scratch: &mut [f32], share: usize, factors: &[Factors<'_>]) {
    if let [factors] = factors {
        return product(&mut scratch[..share], *factors);
    }
    let middle = factors.len() / 2;
    let (low, high) = scratch.split_at_mut(middle * share);
    join(
        || products(low, share, &factors[..middle]),
        || products(high, share, &factors[middle..]),
    );
}

fn product(scratch: &mut [f32], (a, x, a2, b, y, b2): Factors<'_>) {
    let h = a.rows();
    let (out, rest) = scratch.split_at_mut(h * h);
    let (left, rest) = rest.split_at_mut(h * h);
    let (right, below) = rest.split_at_mut(h * h);
    let add = |to: &mut [f32], a, x, b| sum(MatMut::new(to, h, h), a, x, b);
    match (x != 0.0, y != 0.0) {
        (true, true) => drop(join(|| add(left, a, x, a2), || add(right, b, y, b2))),
        (true, false) => add(left, a, x, a2),
        (false, true) => add(right, b, y, b2),
        (false, false) => {}
    }
    let a = if x == 0.0 { a } else { Mat::new(left, h, h) };
    let b = if y == 0.0 { b } else { Mat::new(right, h, h) };
    strassen(MatMut::new(out, h, h), a, b, below);
}

fn sum(mut out: MatMut<'_, f32>, a: Mat<'_, f32>, x: f32, b: Mat<'_, f32>) {
    if out.rows() > TILE {
        let half = out.rows() / 2;
        let ((a1, a2), (b1, b2), (out1, out2)) = (
            a.split_rows_at(half),
            b.split_rows_at(half),
            out.split_rows_at_mut(half),
        );
        join(|| sum(out1, a1, x, b1), || sum(out2, a2, x, b2));
        return;
    }
    if out.cols() > LONG {
        let half = out.cols() / 2;
        let ((a1, a2), (b1, b2), (out1, out2)) = (
            a.split_cols_at(half),
            b.split_cols_at(half),
            out.split_cols_at_mut(half),
        );
        join(|| sum(out1, a1, x, b1), || sum(out2, a2, x, b2));
        return;
    }
    for i in 0..out.rows() {
        for ((out, a), b) in out.row_mut(i).iter_mut().zip(a.row(i)).zip(b.row(i)) {
            *out = a + x * b;
        }
    }
}

fn sum_of_four(
    mut out: MatMut<'_, f32>,
    a: Mat<'_, f32>,
    b: Mat<'_, f32>,
    c: Mat<'_, f32>,
    d: Mat<'_, f32>,
) {
    if out.rows() > TILE {
        let half = out.rows() / 2;
        let ((a1, a2), (b1, b2)) = (a.split_rows_at(half), b.split_rows_at(half));
        let ((c1, c2), (d1, d2)) = (c.split_rows_at(half), d.split_rows_at(half));
        let (out1, out2) = out.split_rows_at_mut(half);
        join(
            || sum_of_four(out1, a1, b1, c1, d1),
            || sum_of_four(out2, a2, b2, c2, d2),
        );
        return;
    }
    if out.cols() > LONG {
        let half = out.cols() / 2;
        let ((a1, a2), (b1, b2)) = (a.split_cols_at(half), b.split_cols_at(half));
        let ((c1, c2), (d1, d2)) = (c.split_cols_at(half), d.split_cols_at(half));
        let (out1, out2) = out.split_cols_at_mut(half);
        join(
            || sum_of_four(out1, a1, b1, c1, d1),
            || sum_of_four(out2, a2, b2, c2, d2),
        );
        return;
    }
    for i in 0..out.rows() {
        let rows = a.row(i).iter().zip(b.row(i)).zip(c.row(i)).zip(d.row(i));
        for (out, (((a, b), c), d)) in out.row_mut(i).iter_mut().zip(rows) {
            *out = a + b - c + d;
        }
    }
}

fn multiply(mut c: MatMut<'_, f32>, a: Mat<'_, f32>, b: Mat<'_, f32>) {
    if c.rows() > TILE {
        let half = c.rows() / 2;
        let ((top, bottom), (c1, c2)) = (a.split_rows_at(half), c.split_rows_at_mut(half));
        join(|| multiply(c1, top, b), || multiply(c2, bottom, b));
        return;
    }
    if c.cols() > LONG {
        let half = c.cols() / 2;
        let ((left, right), (c1, c2)) = (b.split_cols_at(half), c.split_cols_at_mut(half));
        join(|| multiply(c1, a, left), || multiply(c2, a, right));
        return;
    }
    for i in 0..c.rows() {
        let out = c.row_mut(i);
        out.fill(0.0);
        for (k, &x) in a.row(i).iter().enumerate() {
            for (out, y) in out.iter_mut().zip(b.row(k)) {
                *out += x * y;
            }
        }
    }
}
