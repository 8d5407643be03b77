//! What is known of a function before it is compiled: whether calls of it can fail or are worth inlining.

use millstream_graph::{
    flow::{CallGraph, Flow},
    ir::{Function, FunctionKind, Program, StmtKind},
};

/// A helper costs at most so many statements, those of the helpers inlined into it included, to be inlined itself.
const INLINE_COST: usize = 80;

/// What callers need to know of a function.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// It calls itself, through others perhaps.
    pub(super) recursive: bool,
    /// A call may return with a status that is not OK: it has checks, loops or recursion, or calls what has.
    pub(super) can_fail: bool,
    /// It has loops of its own, or inlines what has: its code polls the cancel flag.
    pub(super) polls: bool,
    /// Its body replaces its calls.
    pub(super) inline: bool,
    cost: usize,
}

/// The facts of all functions of a program.
pub(super) fn facts(program: &Program) -> Vec<Facts> {
    let graph = CallGraph::of_calls(program);
    let mut facts = vec![Facts::default(); program.functions.len()];
    // In a cycle not all callees come first; its members can fail whatever their callees do.
    for &id in graph.callees_first() {
        if program[id].kind != FunctionKind::Helper {
            continue;
        }
        let own = of_body(&program[id], &facts);
        let recursive = graph.is_recursive(id);
        facts[id.index()] = Facts {
            recursive,
            can_fail: recursive || own.can_fail,
            polls: own.polls,
            inline: !recursive && own.cost <= INLINE_COST,
            cost: own.cost,
        };
    }
    facts
}

/// The facts of a body from those of the functions it calls. Of use for segments too, which nobody calls.
pub(super) fn of_body(func: &Function, facts: &[Facts]) -> Facts {
    let mut out = Facts {
        polls: !Flow::new(func).back_edges().is_empty(),
        ..Facts::default()
    };
    for stmt in func.stmts() {
        out.cost += 1;
        match &stmt.kind {
            StmtKind::Check { .. } => out.can_fail = true,
            StmtKind::Call { func, .. } => {
                let callee = facts[func.index()];
                out.can_fail |= callee.can_fail;
                if callee.inline {
                    out.cost += callee.cost;
                    out.polls |= callee.polls;
                }
            }
            _ => {}
        }
    }
    out.can_fail |= out.polls;
    out
}
