//! Tasks that are called, as a wide device spawns them: what only the other way needs is gone.

use super::{In, agrees, apart::task, number, source::program};
use millstream_cilk_lower::lower::lower;
use millstream_graph::{
    ir::{Program, StmtKind, Terminator},
    levelized::Levelized,
    text::{parse_program, print_function},
};

const CUT: &str = "
    #[task]
    pub fn fib(n: u32, cut: u32) -> u64 {
        if n < 2 { return n as u64; }
        if n <= cut { return fib(n - 1, cut) + fib(n - 2, cut); }
        let x = spawn!(fib(n - 1, cut));
        let y = spawn!(fib(n - 2, cut));
        sync!();
        x + y
    }
";

const PLAIN: &str = "
    #[task]
    pub fn fib(n: u32) -> u64 {
        if n < 2 { return n as u64; }
        let x = spawn!(fib(n - 1));
        let y = spawn!(fib(n - 2));
        sync!();
        x + y
    }
";

const TO: &str = "
    #[task]
    pub fn place(all: u32, columns: u32, left: u32, right: u32) -> u64 {
        if columns == all { return 1; }
        let mut total = 0;
        let mut free = all & !(columns | left | right);
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            total += spawn!(place(all, columns | queen, (left | queen) << 1, (right | queen) >> 1));
        }
        sync!();
        total
    }
    #[task]
    pub fn place_to(rows: u32, all: u32, columns: u32, left: u32, right: u32) -> u64 {
        if rows == 0 { return place(all, columns, left, right); }
        let mut total = 0;
        let mut free = all & !(columns | left | right);
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            total += spawn!(place_to(rows - 1, all, columns | queen, (left | queen) << 1, (right | queen) >> 1));
        }
        sync!();
        total
    }
";

/// The code of a task that has one segment, without places.
fn code(lowered: &Levelized, name: &str) -> String {
    let [segment] = &task(lowered, name).segments[..] else {
        panic!("{name} has several segments")
    };
    let text = print_function(&lowered.program, &segment.body);
    let place = |w: &str| {
        w.strip_prefix('@')
            .is_some_and(|w| w.starts_with(|c: char| c.is_ascii_digit()))
    };
    let words = text.split_whitespace().filter(|w| !place(w));
    words.collect::<Vec<_>>().join(" ")
}

fn calls(lowered: &Levelized) -> usize {
    let stmts = lowered.all_segments().flat_map(|(_, s)| s.body.stmts());
    stmts
        .filter(|s| matches!(s.kind, StmtKind::Call { .. }))
        .count()
}

/// The fields of elements and frames of a task.
fn fields<'a>(lowered: &'a Levelized, name: &str) -> [Vec<&'a str>; 2] {
    let task = lowered.find(name).unwrap();
    [lowered.element(task), lowered.frame(task)]
        .map(|f| f.iter().map(|f| f.name.as_str()).collect())
}

#[test]
fn a_cut_off_leaves_nothing_on_a_wide_device() {
    let (cut, plain) = (program(CUT), program(PLAIN));
    let lowered = lower(&cut).unwrap();
    let wide = lowered.on_wide();
    assert!(calls(&lowered) > 0);
    assert_eq!(calls(wide), 0);
    // The cut-off decides nothing there, so no child is told of it.
    assert_eq!(fields(wide, "fib+add"), [vec!["n", "return"], vec![]]);
    assert_eq!(fields(&lowered, "fib+add")[0], ["n", "cut", "return"]);
    assert_eq!(
        code(wide, "fib+add"),
        code(&lower(&plain).unwrap(), "fib+add")
    );
    for n in 0..10 {
        let values = [In::Bits(n), In::Bits(4)];
        let found = number(&agrees(&cut, "fib", &values));
        assert_eq!(found, number(&agrees(&plain, "fib", &values[..1])));
    }
}

#[test]
fn a_call_whose_value_is_the_tasks_is_a_child_that_adds() {
    let program = program(TO);
    let lowered = lower(&program).unwrap();
    let wide = lowered.on_wide();
    assert_eq!(calls(wide), 0);
    assert_eq!(fields(wide, "place_to+add")[1], [""; 0]);
    for rows in 0..4 {
        let values = [rows, (1 << 5) - 1, 0, 0, 0].map(In::Bits);
        assert_eq!(number(&agrees(&program, "place_to", &values)), 10);
    }
}

/// Below the cut-off the same sum is gathered by calls, and returned by itself.
const EARLY: &str = "
    #[task]
    pub fn place(all: u32, columns: u32, left: u32, right: u32, rows: u32) -> u64 {
        if columns == all { return 1; }
        let mut total = 3;
        let mut free = all & !(columns | left | right);
        if rows == 0 {
            while free != 0 {
                let queen = free & free.wrapping_neg();
                free ^= queen;
                total += place(all, columns | queen, (left | queen) << 1, (right | queen) >> 1, 0);
            }
            return total - 3;
        }
        while free != 0 {
            let queen = free & free.wrapping_neg();
            free ^= queen;
            total += spawn!(place(all, columns | queen, (left | queen) << 1, (right | queen) >> 1, rows - 1));
        }
        sync!();
        total
    }
";

#[test]
fn a_sum_that_is_returned_in_several_places_needs_no_frame() {
    let same = EARLY
        .replace("total - 3", "total")
        .replace("total * 2", "total + 7");
    let lowered = lower(&program(&same)).unwrap();
    let wide = lowered.on_wide();
    assert_eq!(calls(wide), 0);
    assert_eq!(fields(wide, "place+add")[1], [""; 0]);
    assert_eq!(task(wide, "place+add").segments.len(), 1);
    // Where one of them makes something else of it, it needs one.
    let twice = EARLY.replace("total - 3", "total + total");
    for source in [EARLY, &twice] {
        let lowered = lower(&program(source)).unwrap();
        assert_ne!(fields(lowered.on_wide(), "place+add")[1], [""; 0]);
    }
    for source in [EARLY, &same, &twice] {
        let program = program(source);
        for rows in 0..4 {
            agrees(
                &program,
                "place",
                &[(1 << 5) - 1, 0, 0, 0, rows].map(In::Bits),
            );
        }
    }
}

/// Nobody asks whether the device is wide: there is one form.
#[test]
fn a_program_that_asks_nothing_is_lowered_once() {
    let plain: Program = program(PLAIN);
    assert!(lower(&plain).unwrap().wide.is_none());
}

/// How many branches the tasks have that come of it.
fn branches_left(source: &str) -> usize {
    let lowered = lower(&parse_program(source).unwrap()).unwrap();
    let blocks = lowered.all_segments().flat_map(|(_, s)| &s.body.blocks);
    blocks
        .filter(|b| matches!(b.term, Terminator::Branch { .. }))
        .count()
}

#[test]
fn sides_that_do_the_same_are_one() {
    let sides = |a: &str, b: &str| {
        format!(
            "program p in \"p.rs\"\n            task t(n: u64, k: u64) -> u64 takes %0, %1 {{
                let %0 n: u64, %1 k: u64, %2: bool, %3: u64, %4: u64, %5: ptr, %6: ptr, %7: u64, %8: bool
                slot $0: u64
                slot $1: u64
                b0: %2 = lt %0, %1 branch %2 b1 b2
                b1: {a} goto b3
                b2: {b} goto b3
                b3: %7 = add %7, 1u64 return %7
            }}"
        )
    };
    // The same in other locals and slots, which nobody else looks at.
    let own = |x: u32, p: u32, s: u32| {
        format!("%{p} = addr ${s} store %0 -> %{p} %{x} = load u64 %{p} %7 = add %{x}, 1u64")
    };
    assert_eq!(branches_left(&sides(&own(3, 5, 0), &own(4, 6, 1))), 0);
    assert_eq!(branches_left(&sides(&own(3, 5, 0), &own(3, 5, 0))), 0);
    // Another value, or another place for it that is looked at later.
    let add = |a: u32, b: u32| format!("%7 = add %{a}, %{b}");
    assert_eq!(branches_left(&sides(&add(0, 1), &add(0, 1))), 0);
    assert_eq!(branches_left(&sides(&add(0, 0), &add(0, 1))), 1);
    assert_eq!(branches_left(&sides(&add(1, 0), &add(0, 1))), 1);
    let swap = |a: u32, b: u32, c: u32| {
        format!("%{a} = add %0, 1u64 %{b} = add %1, 1u64 %7 = sub %{c}, %4")
    };
    assert_eq!(branches_left(&sides(&swap(3, 4, 3), &swap(3, 4, 3))), 0);
    assert_eq!(branches_left(&sides(&swap(3, 4, 3), &swap(4, 3, 3))), 1);
    // What is said of a fault names its place.
    let check =
        |line: u32| format!("%8 = eq %1, 0u64 check %8 division_by_zero(%0) @{line}:1 %7 = 1u64");
    assert_eq!(branches_left(&sides(&check(1), &check(1))), 0);
    assert_eq!(branches_left(&sides(&check(1), &check(2))), 1);
}
