//! Gathers that are not written as such: `if x > most { most = x; }` is `most = most.max(x)`, and `found = true` is `found |= true`.

use super::make::Make;
use crate::hir::{Expr, ExprKind, Stmt, VarId};
use millstream_graph::{ir::BinOp, ty::Scalar};

/// `if r > best { best = r; }` as `best = best.max(r)`, and `found = true` as `found |= true`, of variables from around: they have a value.
pub(super) fn respell(e: &mut Expr, is_around: &impl Fn(VarId) -> bool) {
    e.children_mut(&mut |child| respell(child, is_around));
    let make = Make(e.span);
    let gathered = match &*e.kind {
        ExprKind::Assign(place, value) => match (&*place.kind, &*value.kind) {
            (ExprKind::Var(var), ExprKind::Bool(is)) if is_around(*var) => {
                let op = if *is { BinOp::Or } else { BinOp::And };
                Some((place.clone(), op, value.clone()))
            }
            _ => None,
        },
        ExprKind::If(test, then, None) => greater(test, then).or_else(|| told(test, then)),
        _ => None,
    };
    if let Some((place, op, value)) = gathered {
        *e.kind = ExprKind::Assign(place.clone(), make.raw(op, place, value));
    }
}

/// The same of `if test { variable = true; }`, which was respelled inside: the value is the test.
fn told(test: &Expr, then: &Expr) -> Option<(Expr, BinOp, Expr)> {
    let ExprKind::Assign(place, value) = &*only(then)?.kind else {
        return None;
    };
    match &*value.kind {
        ExprKind::RawBinary(BinOp::Or, _, of) if matches!(*of.kind, ExprKind::Bool(true)) => {
            Some((place.clone(), BinOp::Or, test.clone()))
        }
        _ => None,
    }
}

/// The one statement of a block.
fn only(block: &Expr) -> Option<&Expr> {
    match &*block.kind {
        ExprKind::Block(stmts, None) => match &stmts[..] {
            [Stmt::Expr(e)] => Some(e),
            _ => None,
        },
        ExprKind::Block(stmts, Some(e)) if stmts.is_empty() => Some(e),
        _ => None,
    }
}

/// The variable, the way and the value of `if value > variable { variable = value; }` and its kin.
fn greater(test: &Expr, then: &Expr) -> Option<(Expr, BinOp, Expr)> {
    let (ExprKind::Binary(op, a, b) | ExprKind::RawBinary(op, a, b)) = &*test.kind else {
        return None;
    };
    let ExprKind::Assign(place, value) = &*only(then)?.kind else {
        return None;
    };
    let ExprKind::Var(var) = *place.kind else {
        return None;
    };
    if !place.ty.scalar().is_some_and(Scalar::is_int) {
        return None;
    }
    let is_place = |e: &Expr| matches!(*e.kind, ExprKind::Var(v) if v == var);
    let is_value = |e: &Expr| same(e, value);
    let is_greater = match op {
        BinOp::Gt | BinOp::Ge => true,
        BinOp::Lt | BinOp::Le => false,
        _ => return None,
    };
    let op = match (is_value(a) && is_place(b), is_place(a) && is_value(b)) {
        (true, _) => is_greater,
        (_, true) => !is_greater,
        _ => return None,
    };
    let op = if op { BinOp::Max } else { BinOp::Min };
    Some((place.clone(), op, value.clone()))
}

/// Whether two expressions name the same part of a variable.
fn same(a: &Expr, b: &Expr) -> bool {
    match (&*a.kind, &*b.kind) {
        (ExprKind::Var(a), ExprKind::Var(b)) => a == b,
        (ExprKind::Field(a, i), ExprKind::Field(b, j)) => i == j && same(a, b),
        _ => false,
    }
}
