//! How many children a segment spawns at most, where a loop does.

use super::{apart::task, source::program};
use millstream_cilk_lower::lower::lower;
use millstream_graph::{
    ir::StmtKind,
    levelized::{Levelized, StackRole},
};

/// What the loop of a task spawns at most, by the first segment of the form that spawns into a sum. The loop is the body of
/// `fn walk(n: u64, k: u64) -> u64`, and `go!()` in it spawns.
fn most(body: &str) -> Option<u32> {
    most_in(&lowered(body))
}

fn lowered(body: &str) -> Levelized {
    let body = body.replace("go!()", "sum += spawn!(walk(n - 1, k))");
    let text = format!(
        "#[task]
        pub fn walk(n: u64, k: u64) -> u64 {{
            if n == 0 {{ return 1; }}
            let mut sum = 0;
            {body}
            sync!();
            sum
        }}"
    );
    lower(&program(&text)).unwrap()
}

fn most_in(lowered: &Levelized) -> Option<u32> {
    let combining = task(lowered, "walk+add");
    let mut pushes = combining.segments[0].pushes.iter();
    let entries = pushes.find(|p| matches!(p.stack, StackRole::Entry(_)));
    let most = entries.unwrap().max;
    // Who knows that asks for no room on the way, and keeps nothing for it.
    let restarts = combining
        .segments
        .iter()
        .any(|s| s.body.restarts().is_some());
    assert_eq!(most.is_none(), restarts);
    assert!(restarts || combining.frame.is_empty());
    most
}

#[test]
fn what_turns_are_known_of_is_counted() {
    for (body, turns) in [
        ("for _ in 0..5 { go!(); }", 5),
        ("for i in 2..=4u8 { if k > i as u64 { go!(); } }", 3),
        ("for i in -2..2 { if i != 0 { go!(); } }", 4),
        ("for i in [3, 5, 9] { if k % i == 0 { go!(); } }", 3),
        ("let mut i = 1; while i < 10 { go!(); i += 3; }", 3),
        (
            "let mut i = 0; while i <= 4 { i += 2; if k == 2 { continue; } go!(); }",
            3,
        ),
        ("for i in 0..9 { if k == i { break; } go!(); }", 9),
        ("for i in (0..4).rev() { if k > i { go!(); } }", 4),
        ("for i in (1..=3).rev() { if k > i { go!(); } }", 3),
        (
            "let mut i = 6u32; while i >= 2 { i -= 2; if k > 3 { go!(); } }",
            3,
        ),
        (
            "let mut i = 3; while i >= -1 { if k > 3 { go!(); } i -= 1; }",
            5,
        ),
        ("for i in (0..8).step_by(3) { if k > i { go!(); } }", 3),
        (
            "for i in 0..3 { for j in 0..4 { if i * 4 + j != k { go!(); } } }",
            12,
        ),
        (
            "for dy in -1..=1 { for dx in -1..=1 { if (dx, dy) != (0, 0) { go!(); } } }",
            9,
        ),
        ("for i in 0..2 { go!(); if k == i { go!(); } }", 4),
    ] {
        let most = most(body).unwrap_or_else(|| panic!("{body}"));
        // One of the two copies of a loop, before and behind the first child, knows less than both.
        assert!(
            (turns..=turns + turns / 2 + 2).contains(&most),
            "{most}: {body}"
        );
    }
}

#[test]
fn what_nobody_knows_is_not_counted() {
    for body in [
        "for _ in 0..k { go!(); }",
        "for i in k..4 { if i != 2 { go!(); } }",
        "for _ in 0..k { for _ in 0..2 { go!(); } }",
        "for _ in 0..1000 { go!(); }",
        // Set back, changed elsewhere, too far, never at its end.
        "let mut i = 0; while i < 4 { go!(); i += 1; if k == 2 { i = 0; } }",
        "let mut i = 0; while i < 4 { go!(); i += k; }",
        "let mut i = 0; while i < 4 { if k == 3 { i += 1; } go!(); }",
        "let mut i = 0u8; while i < 250 { go!(); i = i.wrapping_add(10); }",
        "let mut i = 0u8; while i != 3 { go!(); i = i.wrapping_add(2); }",
        "let mut i = 3u8; while i != 5 { go!(); i = i.wrapping_sub(1); }",
        "let mut i = 200u8; while i > 10 { go!(); i = i.wrapping_sub(20); }",
        "let mut i = 4; while i > 0 { go!(); i -= 1; if k == 2 { i += 1; } }",
        "let mut i = 5u8; while i != 3 { go!(); i = i.wrapping_add(1); }",
        "let mut i = 0; while i < 4 { i += 1; while i < 4 + k { go!(); i += 1; } i = 1; }",
        "let mut i = 0; loop { if i == 4 { break; } go!(); i += 1; if k == 9 { i += 1; } }",
    ] {
        assert_eq!(most(body), None, "{body}");
    }
}

/// A wide device reserves for each element what it may spawn at most: there that would keep the others out.
#[test]
fn a_wide_device_counts_what_is_spawned() {
    let lowered = lowered("for i in 0..6 { if k != i { go!(); } }");
    assert!(most_in(&lowered).is_some());
    let wide = task(lowered.on_wide(), "walk+add");
    let mut pushes = wide.segments[0].pushes.iter();
    assert!(pushes.any(|p| p.max.is_none()));
}

/// What is much is asked for child by child.
#[test]
fn large_children_are_not_counted() {
    let text = "
        #[task]
        pub fn large(n: u64, part: [u64; 40]) -> u64 {
            if n == 0 { return part[0]; }
            let mut sum = 0;
            for i in 0..6 {
                let mut next = part;
                next[i] += 1;
                sum += spawn!(large(n - 1, next));
            }
            sync!();
            sum
        }";
    let lowered = lower(&program(text)).unwrap();
    let combining = task(&lowered, "large+add");
    assert!(combining.segments[0].body.restarts().is_some());
}

/// A task that nothing waits in goes the same ways whether it has spawned something or not.
#[test]
fn a_loop_that_spawns_stands_once_where_nothing_waits() {
    for body in [
        "let mut x = k; while x != 0 { if x % 5 == 2 { x /= 3; continue; } go!(); x &= x - 1; }",
        "for i in 0..k { if i % 3 == 1 || i * i > n { continue; } go!(); }",
        "let mut i = 0; loop { if i % 7 == k { i += 2; continue; } if i > n { break; } go!(); i += 1; }",
    ] {
        let lowered = lowered(body);
        let spawns = |name: &str| {
            let task = task(&lowered, name);
            let stmts = task.segments[0].body.stmts();
            stmts
                .filter(|s| matches!(s.kind, StmtKind::Spawn { .. }))
                .count()
        };
        assert_eq!(spawns("walk+add"), 1, "{body}");
    }
}
