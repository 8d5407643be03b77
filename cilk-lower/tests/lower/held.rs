//! Which loops keep what they add up in a local. That they come to the same is in the corpus (`sums_in_memory`).

use super::source::program;
use millstream_cilk_lower::lower::lower;
use millstream_graph::{
    flow::Flow,
    ir::{Rvalue, StmtKind, TaskId},
};

/// How many innermost loops of the task write to memory, and how many do not. A loop whose checks hold for all of its turns stands there twice, once with them.
fn writing(body: &str) -> (usize, usize) {
    let text = format!(
        "#[derive(Clone, Copy)] pub struct Two {{ x: u64, y: u64 }}
        #[task] pub fn run(a: &mut [u64], b: &mut [u64], c: &mut [Two], n: usize, k: usize) {{ {body} }}"
    );
    let lowered = lower(&program(&text)).unwrap();
    let body = lowered.entry(TaskId(0)).body;
    let loops = Flow::new(body).loops();
    let innermost = loops.iter().filter(|l| {
        let mut others = loops.iter().filter(|o| o.header != l.header);
        others.all(|o| !l.blocks.contains(o.header))
    });
    let stores = |kind: &StmtKind| matches!(kind, StmtKind::Store { .. });
    let (write, rest): (Vec<_>, Vec<_>) = innermost.partition(|l| {
        let mut blocks = l.blocks.iter().map(|b| &body.blocks[b.index()]);
        blocks.any(|b| b.stmts.iter().any(|s| stores(&s.kind)))
    });
    // What does not write in its turns reads its place in front of them.
    let is_load = |kind: &StmtKind| {
        matches!(
            kind,
            StmtKind::Assign {
                value: Rvalue::Load { .. },
                ..
            }
        )
    };
    assert!(rest.is_empty() || body.stmts().any(|s| is_load(&s.kind)));
    (write.len(), rest.len())
}

#[test]
fn sums_stay_in_locals_where_nothing_else_reaches_them() {
    for body in [
        "for i in 0..n { for j in 0..k { a[i] += b[j]; } }",
        "for j in 0..k { a[n] = a[n].wrapping_mul(b[j]); }",
        "for i in 0..n { for j in 0..k { a[i] += b[j]; if b[j] == 7 { break; } } }",
        "for i in 0..n { for j in 0..k { c[i].x += b[j]; c[i].y ^= c[i].x; } }",
        "for i in 0..n { for j in 0..k { let old = a[i]; if b[j] > old { a[i] = b[j]; } } }",
    ] {
        assert_eq!(writing(body), (1, 1), "{body}");
    }
    // Without a check there is one loop.
    for body in [
        "for x in a.iter_mut() { for y in b.iter() { *x += y; } }",
        "let mut sums = [0u64; 40]; for i in 0..40 { for y in b.iter() { sums[i] += y; } } a[0] = sums[n & 31];",
    ] {
        assert_eq!(writing(body), (0, 1), "{body}");
    }
}

#[test]
fn what_others_may_reach_stays_in_memory() {
    for body in [
        // The same slice.
        "for i in 0..n { for j in 0..k { a[i] += a[j]; } }",
        "let (x, y) = a.split_at_mut(k); for i in 0..n { for v in y.iter() { x[i] += v; } }",
        // Another place each turn.
        "for i in 0..n { a[i] += b[k]; }",
        // A check would end the run with what is in memory.
        "for j in 0..k { a[n] += b[b[j] as usize]; }",
        // One of two slices, and not always the same.
        "let (mut x, mut y) = (a, b); for i in 0..n { x[0] += y[0]; (x, y) = (y, x); }",
        // The loop's own condition asks for it.
        "while a[n] < 100 { a[n] += 7; }",
        // Not read in each turn: it may not be there.
        "for j in 0..k { if b[j] > 5 { a[n] += b[j]; } }",
    ] {
        assert_eq!(writing(body).1, 0, "{body}");
    }
}
