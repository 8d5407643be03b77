//! For each rule, programs that break it and what the verifier says.

mod functions;
mod kernels;
mod segments;
mod statements;

use millstream_graph::{ir::*, levelized::*, text::parse_program, ty::*, verify::*};

fn parse(items: &str) -> Program {
    parse_program(&format!("program p in \"p.rs\"\n{items}"))
        .unwrap_or_else(|e| panic!("{e}\n{items}"))
}

fn messages(result: Result<(), Vec<VerifyError>>) -> Vec<String> {
    result
        .err()
        .unwrap_or_default()
        .into_iter()
        .map(|e| e.message)
        .collect()
}

/// The one thing that is wrong with this program.
fn wrong(program: &Program) -> String {
    let errors = messages(verify(program));
    assert_eq!(
        errors.len(),
        1,
        "{errors:?}\n{}",
        millstream_graph::text::print_program(program)
    );
    errors.into_iter().next().unwrap()
}

fn reject(items: &str) -> String {
    wrong(&parse(items))
}

/// Helpers and tasks to call, and the statements in the first block of task `t`; the last has to end the block. All locals but `%9` are set.
fn source(body: &str) -> String {
    format!(
        "struct One(0: u32)
        struct Two {{ a: u32, b: [u8; 4] }}
        data d0 D align 1 \"00\"
        fn nothing() {{ b0: return }}
        fn one(a: u32) -> One takes %0 {{ let %0: u32 b0: return %0 }}
        fn two(a: Two) -> Two takes %0, $0 {{ let %0: u32, %1: ptr slot $0: 4 align 1 b0: %1 = addr $0 return %0, %1 }}
        task quiet() {{ b0: return }}
        task flag() -> bool {{ b0: return true }}
        task pair() -> Two {{ let %0: ptr slot $0: 4 align 1 b0: %0 = addr $0 return 1u32, %0 }}
        task t(a: u32, b: bool, c: f32, d: usize, p: &[u8], q: i32, r: u8) -> u32 takes %0, %1, %2, %3, %4, %5, %6, %7 {{
            let %0: u32, %1: bool, %2: f32, %3: usize, %4: ptr, %5: usize, %6: i32, %7: u8, %8: ptr, %9: u32
            slot $0 x: u32, $1: 8 align 4
        b0:
            {body}
        }}"
    )
}

fn body(body: &str) -> String {
    reject(&source(body))
}

/// Statements in front of a `return`.
fn stmts(stmts: &str) -> String {
    body(&format!("{stmts} return %0"))
}

fn accept(stmts: &str) {
    verify(&parse(&source(&format!("{stmts} return %0"))))
        .unwrap_or_else(|e| panic!("{stmts}: {e:?}"));
}
