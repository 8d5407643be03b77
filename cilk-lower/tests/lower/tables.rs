//! What is known of tables when a program is lowered.

use super::{apart::task, source::program};
use millstream_cilk_lower::lower::lower;
use millstream_graph::ir::{Function, Rvalue, StmtKind};

/// What `fn at(i: u32, k: u32) -> u32` with this body becomes.
fn lowered(body: &str) -> Function {
    let text = format!(
        "const ROWS: [[u32; 3]; 4] = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 1, 1]];
        const LONG: [u32; 200] = [3; 200];
        #[task]
        pub fn at(i: u32, k: u32) -> u32 {{ {body} }}"
    );
    let lowered = lower(&program(&text)).unwrap();
    task(&lowered, "at").segments.remove(0).body
}

fn reads_tables(body: &str) -> bool {
    let of = |value: &Rvalue| matches!(value, Rvalue::DataAddr(_));
    let function = lowered(body);
    let mut stmts = function.stmts();
    stmts.any(|s| matches!(&s.kind, StmtKind::Assign { value, .. } if of(value)))
}

#[test]
fn tables_that_loops_go_over_are_known() {
    for body in [
        "ROWS[2][1] + k",
        "let mut sum = k; for row in ROWS { sum = sum * row[0] + row[2]; } sum",
        "let mut sum = k; for row in &ROWS { for x in row { sum = sum * 3 + x; } } sum",
        "let mut sum = k; for j in (0..4).rev() { sum ^= ROWS[j][j % 3] * k; } sum",
        "for (n, [a, _, c]) in ROWS.into_iter().enumerate() { if a * i + c == k { return n as u32; } } 9",
        "ROWS.iter().map(|r| r[1]).max().unwrap() + k",
    ] {
        assert!(!reads_tables(body), "{body}");
    }
}

#[test]
fn what_nobody_knows_is_looked_up() {
    for body in [
        "ROWS[i as usize % 4][1]",
        "let mut sum = k; for x in LONG { sum = sum * 3 + x; } sum",
        "let mut sum = k; for j in 0..4 { sum = sum * 3 + LONG[(sum % 200) as usize]; } sum",
    ] {
        assert!(reads_tables(body), "{body}");
    }
}

#[test]
fn a_copy_that_nothing_changes_is_no_copy() {
    let copies = |body| {
        let function = lowered(body);
        function
            .stmts()
            .any(|s| matches!(s.kind, StmtKind::Copy { .. }))
    };
    assert!(!copies(
        "let table = LONG; table[i as usize % 200] + table[k as usize % 200]"
    ));
    assert!(copies(
        "let mut table = LONG; table[i as usize % 200] = k; table[k as usize % 200]"
    ));
}
