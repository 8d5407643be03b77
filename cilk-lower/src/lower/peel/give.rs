//! Where the sums of leaves go: to what the task returns, and until it does, to its frame.

use crate::lower::edit;
use millstream_graph::{
    ir::{
        BinOp, BlockId, FieldId, Function, LocalId, Operand, Rvalue, Span, Stmt, StmtKind,
        Terminator,
    },
    levelized::{Field, LoweredTask},
    ty::{PieceKind, Scalar},
};

/// Gives what the leaves of each segment are summed up in, by its number, to what the task returns. A segment that the task may come to
/// with a sum begins with it. Says which segments it changed.
pub(super) fn give(task: &mut LoweredTask, sums: &[Option<LocalId>], changed: &mut [bool]) {
    let found = sums.iter().zip(&task.segments);
    let mut ty = found.filter_map(|(sum, s)| Some(s.body.locals[(*sum)?.index()].ty));
    let Some((ty, op)) = ty.next().zip(task.combine.op()) else {
        return;
    };
    let Some(neutral) = task.combine.neutral(ty) else {
        return;
    };
    let begun = begun(task, sums);
    let field = begun.contains(&true).then(|| add_field(task, ty));
    for (s, segment) in task.segments.iter_mut().enumerate() {
        let carries = sums[s].is_some() || begun[s];
        if !carries && !goes_on(&segment.body).any(|(_, to)| begun[to]) {
            continue;
        }
        changed[s] = true;
        let body = &mut segment.body;
        let sum = sums[s].unwrap_or_else(|| edit::add_local(body, None, ty));
        let first = match field {
            Some(field) if begun[s] => Rvalue::FrameLoad(field),
            _ => Rvalue::Use(Operand::Const(ty, neutral)),
        };
        begin(body, sum, first);
        if let Some(field) = field {
            keep(body, sum, field, &begun);
        }
        if carries {
            add(body, sum, ty, op);
        }
    }
}

/// The segments that the task may come to when leaves have given something.
fn begun(task: &LoweredTask, sums: &[Option<LocalId>]) -> Vec<bool> {
    let mut out = vec![false; sums.len()];
    let mut todo: Vec<usize> = (0..sums.len()).filter(|s| sums[*s].is_some()).collect();
    while let Some(s) = todo.pop() {
        for (_, to) in goes_on(&task.segments[s].body) {
            if !std::mem::replace(&mut out[to], true) {
                todo.push(to);
            }
        }
    }
    out
}

/// The blocks at which a task goes on to another segment, and to which.
fn goes_on(body: &Function) -> impl Iterator<Item = (usize, usize)> {
    let blocks = body.blocks.iter().enumerate();
    blocks.filter_map(|(b, block)| match block.term {
        Terminator::Continue(to) => Some((b, to.index())),
        _ => None,
    })
}

/// A field of the frame for the sum.
fn add_field(task: &mut LoweredTask, ty: Scalar) -> FieldId {
    let names = |name: &str| task.frame.iter().any(|f| f.name == name);
    let mut tried = (0..).map(|n| match n {
        0 => "leaves".to_owned(),
        n => format!("leaves.{n}"),
    });
    let name = tried.find(|name| !names(name)).unwrap_or_default();
    task.frame.push(Field {
        name,
        kind: PieceKind::Scalar(ty),
    });
    FieldId::new(task.frame.len() - 1)
}

fn begin(body: &mut Function, dst: LocalId, value: Rvalue) {
    let kind = StmtKind::Assign { dst, value };
    let span = Span::default();
    body.blocks[0].stmts.insert(0, Stmt { kind, span });
}

/// Keeps the sum where the task goes on to a segment that begins with it.
fn keep(body: &mut Function, sum: LocalId, field: FieldId, begun: &[bool]) {
    let value = Operand::Local(sum);
    let ends: Vec<usize> = goes_on(body)
        .filter_map(|(b, to)| begun[to].then_some(b))
        .collect();
    for b in ends {
        let kind = StmtKind::FrameStore { field, value };
        let block = &mut body.blocks[b];
        let span = block.span;
        block.stmts.push(Stmt { kind, span });
    }
}

/// Adds the sum to what the task returns.
fn add(body: &mut Function, sum: LocalId, ty: Scalar, op: BinOp) {
    for b in (0..body.blocks.len()).map(BlockId::new) {
        let Terminator::Return(values) = &body.blocks[b.index()].term else {
            continue;
        };
        let value = Rvalue::Binary(op, values[0], Operand::Local(sum));
        let dst = edit::add_local(body, None, ty);
        let block = &mut body.blocks[b.index()];
        let kind = StmtKind::Assign { dst, value };
        let span = block.span;
        block.stmts.push(Stmt { kind, span });
        block.term = Terminator::Return(vec![Operand::Local(dst)]);
    }
}
