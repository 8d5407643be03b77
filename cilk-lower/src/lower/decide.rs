//! Answers [`Rvalue::Wide`] before anything else looks at the program, so that no pass sees both ways of a call: what only the other way needs
//! is gone when tests are moved, sums gathered and frames made.

use millstream_graph::ir::{Function, Operand, Program, Rvalue, StmtKind};

/// Whether a program asks if the device is wide.
pub(crate) fn asks(program: &Program) -> bool {
    let mut stmts = program.functions.iter().flat_map(Function::stmts);
    stmts.any(|s| {
        let wide = |value: &Rvalue| matches!(value, Rvalue::Wide);
        matches!(&s.kind, StmtKind::Assign { value, .. } if wide(value))
    })
}

/// The program with the answer in place of the question.
pub(crate) fn decide(program: &Program, wide: bool) -> Program {
    let mut out = program.clone();
    let blocks = out.functions.iter_mut().flat_map(|f| &mut f.blocks);
    for stmt in blocks.flat_map(|b| &mut b.stmts) {
        if let StmtKind::Assign { value, .. } = &mut stmt.kind
            && matches!(value, Rvalue::Wide)
        {
            *value = Rvalue::Use(Operand::bool(wide));
        }
    }
    out
}
