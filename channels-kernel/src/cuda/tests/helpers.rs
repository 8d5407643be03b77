//! Which helpers are put in the places of their calls, and which stand once.

use super::super::{Options, Plan, generate};
use millstream_cilk_lower::{lower::lower, parse_file};

/// Whether a helper of so many rounds of a hash, which so many statements call, stands once.
fn stands_once(rounds: usize, calls: usize) -> bool {
    let round = "h = (h ^ h >> 15).wrapping_mul(0x2c1b_3c6d).rotate_left(h % 7) + x;";
    let (rounds, calls) = (round.repeat(rounds), "h = mix(h, n);".repeat(calls));
    let text = format!(
        "#[millstream::program] mod program {{
            fn mix(x: u32, n: u32) -> u32 {{ let mut h = n; {rounds} h }}
            #[task] pub fn run(n: u32) -> u32 {{ let mut h = n; {calls} h }}
        }}"
    );
    let program = parse_file(&text, "p.rs", None).unwrap_or_else(|e| panic!("{e}"));
    let plan = Plan::new(&lower(&program).unwrap(), 1 << 30);
    let text = generate(&plan, Options::default()).source;
    let mut lines = text.lines().filter(|line| line.contains(" h0_mix("));
    let declared = lines.find(|line| line.contains("__device__"));
    declared.is_some_and(|line| line.contains("__noinline__"))
}

#[test]
fn a_large_helper_of_many_calls_stands_once() {
    assert!(stands_once(30, 8));
}

#[test]
fn a_large_helper_of_two_calls_is_copied() {
    assert!(!stands_once(30, 2));
}

#[test]
fn a_small_helper_is_copied() {
    assert!(!stands_once(3, 20));
}
