//! What is known of a function before it is compiled: its control flow, and whether calls of it can fail or are worth inlining.

use millstream_graph::ir::{BlockId, FuncId, Function, FunctionKind, Program, StmtKind};
use std::collections::BTreeSet;

/// A helper costs at most so many statements, those of the helpers inlined into it included, to be inlined itself.
const INLINE_COST: usize = 80;

/// The blocks that can be reached, and the edges that close loops.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// In reverse postorder: the entry first, each block before those that only it leads to.
    pub(super) order: Vec<BlockId>,
    /// Edges (from, to) to a block that is on the path to `from`.
    pub(super) back_edges: BTreeSet<(BlockId, BlockId)>,
}

impl Flow {
    pub(super) fn new(func: &Function) -> Self {
        let mut flow = Self::default();
        // 0: unseen, 1: on the path, 2: done.
        let mut state = vec![0u8; func.blocks.len()];
        let mut path = vec![(BlockId(0), func.blocks[0].term.targets(), 0usize)];
        state[0] = 1;
        while let Some((block, targets, next)) = path.last_mut() {
            let block = *block;
            let Some(&to) = targets.get(*next) else {
                state[block.index()] = 2;
                flow.order.push(block);
                path.pop();
                continue;
            };
            *next += 1;
            match state[to.index()] {
                0 => {
                    state[to.index()] = 1;
                    path.push((to, func.blocks[to.index()].term.targets(), 0));
                }
                1 => {
                    flow.back_edges.insert((block, to));
                }
                _ => {}
            }
        }
        flow.order.reverse();
        flow
    }
}

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

fn callees(func: &Function) -> Vec<FuncId> {
    let stmts = func.blocks.iter().flat_map(|b| &b.stmts);
    let calls = stmts.filter_map(|s| match &s.kind {
        StmtKind::Call { func, .. } => Some(*func),
        _ => None,
    });
    calls.collect()
}

/// The facts of all functions of a program.
pub(super) fn facts(program: &Program) -> Vec<Facts> {
    let graph: Vec<Vec<FuncId>> = program.functions.iter().map(callees).collect();
    let mut facts = vec![Facts::default(); graph.len()];
    for (i, fact) in facts.iter_mut().enumerate() {
        fact.recursive = reaches(&graph, FuncId::new(i));
    }
    let mut done = vec![false; graph.len()];
    for i in 0..graph.len() {
        if program.functions[i].kind == FunctionKind::Helper {
            visit(program, &graph, FuncId::new(i), &mut facts, &mut done);
        }
    }
    facts
}

/// Whether a call of `func` can lead to a call of `func`.
fn reaches(graph: &[Vec<FuncId>], func: FuncId) -> bool {
    let mut seen = vec![false; graph.len()];
    let mut todo = graph[func.index()].clone();
    while let Some(next) = todo.pop() {
        if next == func {
            return true;
        }
        if !std::mem::replace(&mut seen[next.index()], true) {
            todo.extend(&graph[next.index()]);
        }
    }
    false
}

/// Callees first; a cycle ends at `done`, and its members can fail whatever their callees do.
fn visit(
    program: &Program,
    graph: &[Vec<FuncId>],
    id: FuncId,
    facts: &mut [Facts],
    done: &mut [bool],
) {
    if std::mem::replace(&mut done[id.index()], true) {
        return;
    }
    for &callee in &graph[id.index()] {
        visit(program, graph, callee, facts, done);
    }
    let own = of_body(&program[id], facts);
    let recursive = facts[id.index()].recursive;
    let inline = !recursive && own.cost <= INLINE_COST;
    facts[id.index()] = Facts {
        recursive,
        can_fail: recursive || own.can_fail,
        polls: own.polls,
        inline,
        cost: own.cost,
    };
}

/// The facts of a body from those of the functions it calls. Of use for segments too, which nobody calls.
pub(super) fn of_body(func: &Function, facts: &[Facts]) -> Facts {
    let mut out = Facts {
        polls: !Flow::new(func).back_edges.is_empty(),
        ..Facts::default()
    };
    for stmt in func.blocks.iter().flat_map(|b| &b.stmts) {
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
