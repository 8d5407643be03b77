//! A run that only counts goes where it is decided how much is pushed.

use super::super::{Options, Plan, generate};
use millstream_cilk_lower::{lower::lower, parse_file};

/// How many loops it leaves out of such a task, how many branches are the same to it, and whether it checks anything.
fn leaves_out(body: &str) -> (usize, usize, bool) {
    let text = format!(
        "#[millstream::program] mod program {{
            #[task] pub fn leaf(out: &mut [u32], x: usize) {{ out[0] = x as u32; }}
            #[task] pub fn run(a: &[u32], out: &mut [u32], n: usize) {{ {body} }}
        }}"
    );
    let program = parse_file(&text, "p.rs", None).unwrap_or_else(|e| panic!("{e}"));
    let plan = Plan::new(&lower(&program).unwrap(), 1 << 30);
    let options = Options {
        lines: false,
        ..Options::default()
    };
    let text = generate(&plan, options).source;
    let run = &text[text.find("struct t1_run_entry {").unwrap()..];
    let run = &run[..run.find("\n};").unwrap()];
    let how_often = |what: &str| run.matches(what).count();
    (
        how_often("nothing to count in here"),
        how_often("all the same to who counts"),
        run.contains("\n    { if (!"),
    )
}

const SEARCH: &str =
    "let mut i = 0; while i < n { if a[i] > 7 { i += 3; } else { i += a[i] as usize; } }";

#[test]
fn a_search_that_is_handed_on_is_left_out() {
    let handed_on = format!("{SEARCH} spawn!(leaf(out, i));");
    assert_eq!(leaves_out(&handed_on), (1, 0, false));
}

#[test]
fn a_search_that_decides_is_not() {
    let decides = format!("{SEARCH} if i > 100 {{ spawn!(leaf(out, i)); }}");
    assert_eq!(leaves_out(&decides), (0, 0, true));
}

#[test]
fn what_memory_holds_may_decide_on_what_is_handed_on() {
    let value = "let x = if a[0] > 7 { a[1] } else { a[2] }; spawn!(leaf(out, x as usize));";
    assert_eq!(leaves_out(value), (0, 1, false));
    let number = "if a[0] > 7 { spawn!(leaf(out, 1)); }";
    assert_eq!(leaves_out(number), (0, 0, true));
}

#[test]
fn turns_are_counted_where_they_spawn() {
    let turns =
        "for i in 0..n { let (low, _) = out.split_at_mut(1); spawn!(leaf(low, i)); sync!(); }";
    let (left_out, _, _) = leaves_out(turns);
    assert_eq!(left_out, 0);
}
