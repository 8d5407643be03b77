//! Answers [`Rvalue::Wide`] before anything else looks at the program, so that no pass sees both ways of a call: what only the other way needs
//! is gone when tests are moved, sums gathered and frames made.
//!
//! How many [lanes](Rvalue::Lanes) there are for the rounds of a loop only a wide device's generator knows, which has a text for each number.

use millstream_graph::{
    ir::{Function, FunctionKind, Operand, Program, Rvalue, StmtKind},
    ty::Scalar,
};

/// Whether a program asks if the device is wide, or how many lanes it has: then other tasks run on such devices.
#[must_use]
pub fn asks(program: &Program) -> bool {
    let mut stmts = program.functions.iter().flat_map(Function::stmts);
    stmts.any(|s| {
        let asks = |value: &Rvalue| matches!(value, Rvalue::Wide | Rvalue::Lanes);
        matches!(&s.kind, StmtKind::Assign { value, .. } if asks(value))
    })
}

/// The program with the answer in place of the question.
#[must_use]
pub fn decide(program: &Program, wide: bool) -> Program {
    let mut out = program.clone();
    for function in &mut out.functions {
        // Elsewhere helpers whose rounds may run side by side are as others are.
        function.rounds &= wide || function.kind != FunctionKind::Helper;
        function.team = function.team.filter(|_| function.rounds);
        for stmt in function.blocks.iter_mut().flat_map(|b| &mut b.stmts) {
            if let StmtKind::Assign { value, .. } = &mut stmt.kind {
                match value {
                    Rvalue::Wide => *value = Rvalue::Use(Operand::bool(wide)),
                    Rvalue::Lanes if !wide => {
                        *value = Rvalue::Use(Operand::Const(Scalar::Usize, 1));
                    }
                    _ => {}
                }
            }
        }
    }
    out
}
