//! Helpers with parallel loops. A task that calls one waits for it as for a child, so that the loop inside is shared out too.
//!
//! Such a helper becomes a task, and the call a spawn and a sync. What returns a reference stays a function, and its loops run one round
//! after the other; so do those of a helper that a kernel calls.

use super::{make::Make, settle};
use crate::{
    hir::{Body, Expr, ExprKind, FnId, Pat, Stmt, Var},
    items::{Module, is_plain},
    ty::Ty,
};
use millstream_graph::ir::{Combine, FunctionKind};
use std::collections::BTreeSet;

/// The functions that a function calls or spawns.
pub(super) fn callees(body: &mut Body) -> BTreeSet<FnId> {
    fn look(e: &mut Expr, found: &mut BTreeSet<FnId>) {
        if let ExprKind::Call(func, _) | ExprKind::Spawn { func, .. } = &*e.kind {
            found.insert(*func);
        }
        e.children_mut(&mut |child| look(child, found));
    }
    let mut found = BTreeSet::new();
    look(&mut body.root, &mut found);
    found
}

/// Makes tasks of the helpers that have parallel loops or call such helpers, and children of the calls of these in tasks.
pub(super) fn promote(m: &mut Module, bodies: &mut [Body]) {
    let mut wide: BTreeSet<FnId> = (0..bodies.len())
        .filter(|i| !bodies[*i].parallel.is_empty())
        .map(FnId)
        .collect();
    if wide.is_empty() {
        return;
    }
    let is_helper = |m: &Module, f: FnId| m.fns[f.0].kind == FunctionKind::Helper;
    wide.retain(|f| is_helper(m, *f));
    let calls: Vec<_> = bodies.iter_mut().map(callees).collect();
    loop {
        let more = (0..bodies.len())
            .map(FnId)
            .filter(|f| is_helper(m, *f) && !wide.contains(f) && !calls[f.0].is_disjoint(&wide));
        let more: Vec<FnId> = more.collect();
        if more.is_empty() {
            break;
        }
        wide.extend(more);
    }
    wide.retain(|f| is_plain(&m.fns[f.0].ret, &m.structs));
    for f in &wide {
        let item = &mut m.fns[f.0];
        item.kind = FunctionKind::Task;
        item.name.push_str(".task");
    }
    for (item, body) in m.fns.iter().zip(bodies) {
        if item.kind == FunctionKind::Task {
            children(&mut body.root, &wide, &mut body.vars);
            settle(&mut body.root, &m.structs);
        }
    }
}

/// Lets calls of some functions be spawns that are waited for.
fn children(e: &mut Expr, wide: &BTreeSet<FnId>, vars: &mut Vec<Var>) {
    e.children_mut(&mut |child| children(child, wide, vars));
    let ExprKind::Call(func, args) = &mut *e.kind else {
        return;
    };
    if !wide.contains(func) {
        return;
    }
    let (make, func, args) = (Make(e.span), *func, std::mem::take(args));
    let mut stmts = Vec::new();
    let result = (!e.ty.is_unit()).then(|| {
        let var = make.fresh(vars, "called", e.ty.clone());
        vars[var.0].awaits = true;
        stmts.push(Stmt::Let(Pat::Var(var), None));
        make.var(var, &e.ty)
    });
    let dest = result.clone().map(|place| (place, Combine::Store));
    stmts.push(make.spawn(func, args, dest));
    stmts.push(make.sync());
    let nothing = || Expr::new(ExprKind::Tuple(Vec::new()), Ty::unit(), e.span);
    *e = make.valued(stmts, result.unwrap_or_else(nothing));
}
