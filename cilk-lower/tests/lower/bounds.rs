//! Which checks are left, and that those that fail do so where they did.

use super::{In, apart::apart, args, simulate::Simulation, source::program};
use millstream_cilk_lower::lower::lower;
use millstream_graph::{
    flow::Flow,
    interp::Interp,
    ir::{Program, StmtKind},
    levelized::Levelized,
    text::print_levelized,
};

/// How many checks and loops the first segment of the first task has.
fn left(body: &str) -> (usize, usize) {
    let lowered = lower(&program(body)).unwrap();
    if std::env::var_os("SHOW").is_some() {
        println!("{}", print_levelized(&lowered));
    }
    let body = &apart(&lowered).tasks[0].segments[0].body;
    let is_check = |kind: &StmtKind| matches!(kind, StmtKind::Check { .. });
    let checks = body.stmts().filter(|s| is_check(&s.kind)).count();
    (checks, Flow::new(body).loops().len())
}

/// A task over two slices and two numbers.
fn over(body: &str) -> String {
    format!(
        "#[task] pub fn run(a: &mut [u64], b: &mut [u64], n: usize, k: usize) -> u64 {{ let mut sum = 0; {body} sum }}"
    )
}

/// What comes of a run, or where it fails, and what memory holds then.
type Ended = (Result<Vec<u8>, String>, Vec<Vec<u8>>);

/// A task of that form, as it is and lowered.
struct Both {
    body: String,
    program: Program,
    lowered: Levelized,
}

impl Both {
    fn new(body: &str) -> Self {
        let program = program(&over(body));
        Self {
            body: body.to_owned(),
            lowered: lower(&program).unwrap(),
            program,
        }
    }

    /// Runs it both ways, which end alike.
    fn run(&self, a: &[u64], b: &[u64], [n, k]: [u64; 2]) -> Ended {
        let values = [
            In::Slice(a.to_vec()),
            In::Slice(b.to_vec()),
            In::Bits(n),
            In::Bits(k),
        ];
        let expected: Ended = {
            let mut interp = Interp::new(&self.program);
            let (args, buffers) = args(&values, |bytes| interp.alloc(bytes, 8));
            let came: Result<_, _> = interp.call(self.program.find("run").unwrap(), &args);
            let after = buffers.iter().map(|b| interp.read(*b).to_vec());
            (came.map_err(|e| e.to_string()), after.collect())
        };
        let simulation = Simulation::new(&self.lowered);
        let mut machine = simulation.machine();
        let (args, buffers) = args(&values, |bytes| machine.alloc(bytes, 8));
        let came = machine.call("run", &args);
        let after = buffers.iter().map(|b| machine.read(*b).to_vec());
        let came = came.map_err(|e| e.to_string().replace("segment ", ""));
        let came: Ended = (came, after.collect());
        let lowered = || print_levelized(&self.lowered).to_string();
        assert_eq!(
            came,
            expected,
            "{} of {n} and {k}\n{}",
            self.body,
            lowered()
        );
        came
    }
}

fn ends_alike(body: &str, a: &[u64], b: &[u64], numbers: [u64; 2]) -> Ended {
    Both::new(body).run(a, b, numbers)
}

/// The same for lengths and numbers around those that fit, and for numbers with which sums wrap.
fn ends_alike_everywhere(body: &str) {
    let both = Both::new(body);
    let up = |len: u64| (1..=len).collect::<Vec<_>>();
    for len in [0, 1, 5, 8] {
        for n in [0, 1, 2, 4, 5, 6, 9, u64::MAX, u64::MAX - 1, 1 << 61] {
            for k in [0, 1, 3, 5, u64::MAX, 1 << 63, 1 << 32] {
                // What would not fail soon.
                if n <= 9 || !body.starts_with("/* long */") {
                    let _: Ended = both.run(&up(len), &up(5), [n, k]);
                }
            }
        }
    }
}

/// Checks that hold are gone, and loops are what they were.
#[test]
fn what_is_known_is_not_checked() {
    for (body, loops) in [
        ("for i in 0..a.len() { a[i] += 1; }", 1),
        ("for i in (0..a.len()).rev() { a[i] += 1; }", 1),
        ("for i in 1..a.len() { a[i] += a[i - 1]; }", 1),
        ("for i in 0..n.min(a.len()) { a[i] += 1; }", 1),
        (
            "let mut i = 0; while i < a.len() && a[i] < 9 { i += 1; } sum = i as u64;",
            1,
        ),
        (
            "let mut i = 0; while i < a.len() { if i < b.len() { sum += a[i] * b[i]; } i += 2; }",
            1,
        ),
        (
            "/* long */ if k < a.len() { for _ in 0..n { sum += a[k]; } }",
            1,
        ),
        ("if n > 0 && n <= a.len() { sum = a[n - 1]; }", 0),
        (
            "if n < a.len() { let m = n + 1; if m < a.len() { sum = a[n] + a[n + 1]; } }",
            0,
        ),
        (
            "for i in 0..a.len() / 2 { a[i] = 1; } for i in 0..a.len() >> 3 { a[i] = 2; }",
            2,
        ),
        (
            "/* long */ let c = [1u64, 2, 3, 4, 5, 6, 7]; for i in 0..n { sum += c[i % 7] + c[i & 3]; }",
            1,
        ),
        (
            "let (low, high) = (&a[..a.len() / 2], 1); for i in 0..low.len() { sum += low[i] + high; }",
            1,
        ),
    ] {
        assert_eq!(left(&over(body)), (0, loops), "{body}");
        ends_alike_everywhere(body);
    }
}

/// A check that was made, or that a branch asks, is not made again.
#[test]
fn what_was_checked_is_not_checked_again() {
    for (body, checks) in [
        ("a[k] += 1; a[k] *= 2; sum = a[k];", 1),
        ("a[k] = 1; if n > 3 { a[k] = 2; } else { sum = a[k]; }", 1),
        ("if n > 3 { a[k] = 1; } sum = a[k];", 2),
        (
            "sum = a[k]; let k = k + 1; sum += a[k]; sum += a[k - 1];",
            2,
        ),
        ("let mut k = k; sum = a[k]; k += n; sum += a[k];", 2),
        // The shorter slice is checked by itself.
        ("sum = a[k]; let c = &a[1..]; sum += c[k];", 2),
        ("let c = &a[1..]; sum = c[k]; sum += a[k];", 2),
    ] {
        assert_eq!(left(&over(body)).0, checks, "{body}");
        ends_alike_everywhere(body);
    }
}

/// Loops whose bound says nothing of the length are there twice, and one of them has no checks.
#[test]
fn loops_that_may_fit_are_there_twice() {
    for (body, checks, loops) in [
        ("for i in 0..n { a[i] += b[i]; }", 2, 2),
        ("for i in k..n { a[i] += 1; }", 1, 2),
        ("for i in 0..=n { a[i] += 1; }", 1, 2),
        ("for i in (0..n).rev() { a[i] += 1; }", 1, 2),
        ("for i in 0..n { a[i + k] = i as u64; }", 1, 2),
        ("for i in 0..n { a[n - 1 - i] = i as u64; }", 1, 2),
        ("for i in 1..n { a[i - 1] += b[i + 1]; }", 2, 2),
        ("for i in 0..n { a[2 * i + 1] = 3; }", 1, 2),
        ("for i in (0..n).step_by(2) { a[i] = 3; }", 1, 2),
        (
            "/* long */ for i in 0..n { for j in 0..k { a[i * k + j] = 1; } }",
            1,
            4,
        ),
        (
            "for i in 0..n { for j in i..n { a[j] += 1; sum += b[j - i]; } }",
            2,
            4,
        ),
        (
            "/* long */ for i in 0..n { let row = &a[i * k..(i + 1) * k]; for j in 0..k { sum += row[j]; } }",
            2,
            4,
        ),
        (
            "let mut i = 0; while i + 2 <= n { sum += a[i] + a[i + 1]; i += 2; }",
            2,
            2,
        ),
        ("for i in 0..n { if i == k { break; } a[i] += 1; }", 1, 2),
        ("let mut i = k; while i != n { a[i] = 1; i += 1; }", 1, 2),
        ("for i in 0..n as u32 { a[(i + 1) as usize] = 1; }", 1, 2),
    ] {
        assert_eq!(left(&over(body)), (checks, loops), "{body}");
        ends_alike_everywhere(body);
    }
}

/// Nothing is known of these: the index is not a sum of what loops count, the length changes, or what is done in the loop stands in one place.
#[test]
fn what_is_not_known_stays() {
    for (body, checks, loops) in [
        ("for i in 0..n { sum += b[a[i % 5] as usize]; }", 2, 1),
        (
            "for i in 0..n { a[i.wrapping_mul(i).wrapping_mul(i).wrapping_mul(i)] = 1; }",
            1,
            1,
        ),
        (
            "let mut c = &mut a[..]; for _ in 0..n { c[0] = 1; c = &mut c[1..]; }",
            1,
            1,
        ),
        (
            "let mut i = k; while i < n { a[i] = 1; i *= 2; i += 1; }",
            1,
            1,
        ),
        ("let mut i = k; while i < n { a[i] = 1; i += k; }", 1, 1),
        (
            "let mut i = 0; loop { a[i] = 1; i += 1; if i == k { break; } }",
            1,
            1,
        ),
    ] {
        assert_eq!(left(&over(body)), (checks, loops), "{body}");
    }
}

/// A fault comes behind all that is done before it, with the values that it had.
#[test]
fn faults_come_late() {
    let up = |len: u64| (1..=len).collect::<Vec<_>>();
    let body = "for i in 0..n { b[0] += i as u64; a[i] = b[0]; }";
    let (came, after) = ends_alike(body, &up(5), &up(1), [7, 0]);
    let message = came.unwrap_err();
    assert!(
        message.contains("the length is 5 but the index is 5"),
        "{message}"
    );
    // 1 + 0 + 1 + 2 + 3 + 4 + 5: the turn of the fault has added, too.
    assert_eq!(after[1], 16u64.to_le_bytes());
    assert_eq!(after[0][32..], 11u64.to_le_bytes());
    // Left before it comes to that.
    let body = "for i in 0..n { if a[i] == 4 { break; } b[i] = 1; }";
    assert!(ends_alike(body, &up(5), &up(4), [100, 0]).0.is_ok());
    // The first of two, in the order of the turns.
    let body = "for i in 0..n { a[i] = 1; b[i] = 2; }";
    for (a, b) in [(3, 5), (5, 3), (4, 4)] {
        assert!(ends_alike(body, &up(a), &up(b), [9, 0]).0.is_err());
    }
    // Inner loops that do not run need nothing.
    let body = "for i in 0..n { for j in 0..k { a[i * k + j] = 1; } } sum = 3;";
    assert!(ends_alike(body, &[], &[], [5, 0]).0.is_ok());
}

/// Both components of an index of a matrix.
#[test]
fn matrices() {
    let views = "let mut m = MatMut::new(&mut a[..], 2, 4); let w = Mat::new(&b[..], 2, 2);";
    for (body, checks, loops) in [
        (
            "for i in 0..m.rows() { for j in 0..m.cols() { m[(i, j)] += 1; } }",
            0,
            2,
        ),
        (
            "for i in 0..n { for j in 0..m.cols() { m[(i, j)] += 1; } }",
            1,
            4,
        ),
        (
            "for i in 0..n { for j in 0..k { m[(i, j)] += w[(j, i)]; } }",
            3,
            4,
        ),
        (
            "for i in 1..m.rows() { for j in 0..m.cols() { m[(i, j)] += m[(i - 1, j)]; } }",
            0,
            2,
        ),
    ] {
        let body = format!("{views} {body}");
        let of_views = left(&over(views)).0;
        assert_eq!(left(&over(&body)), (of_views + checks, loops), "{body}");
        let both = Both::new(&body);
        for n in 0..4 {
            for k in 0..6 {
                let _: Ended = both.run(&[1, 2, 3, 4, 5, 6, 7, 8], &[1, 2, 3, 4], [n, k]);
            }
        }
    }
}
