#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod abi;
mod compile;
mod counting;
mod helpers;
mod memory;
mod programs;
#[path = "../../../../cilk-lower/tests/lower/programs.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod shared;
mod teams;

use super::{Generated, Options, Plan, generate};
use millstream_cilk_lower::lower::lower;
use millstream_graph::text::parse_program;

/// Every program of these tests: its name and its text.
fn all() -> Vec<(&'static str, &'static str)> {
    let mut out = vec![
        ("fib", shared::FIB),
        ("syncs", shared::SYNCS),
        ("sync_loop", shared::SYNC_LOOP),
        ("gather", shared::GATHER),
        ("branch", shared::BRANCH),
        ("early", shared::EARLY),
        ("lent", shared::LENT),
        ("elements", shared::ELEMENTS),
        ("mutual", shared::MUTUAL),
        ("queens_array", shared::QUEENS),
        ("param_array", shared::PARAM_ARRAY),
        ("pairs", shared::PAIRS),
        ("tail", shared::TAIL),
        ("shadow", shared::SHADOW),
    ];
    out.extend(programs::ALL);
    out
}

fn planned(text: &str, memory: u64) -> (millstream_graph::ir::Program, Plan) {
    let program = parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    if let Err(errors) = millstream_graph::verify::verify(&program) {
        panic!(
            "{}",
            errors.iter().map(|e| format!("{e}\n")).collect::<String>()
        );
    }
    let plan = Plan::new(&lower(&program).unwrap(), memory);
    (program, plan)
}

fn generated(text: &str) -> (Plan, Generated) {
    let (_, plan) = planned(text, 1 << 30);
    let generated = generate(&plan, Options::default());
    (plan, generated)
}
