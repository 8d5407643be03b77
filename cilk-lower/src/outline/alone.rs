//! Tasks that are run once and spawn nothing but the rounds of parallel loops. A device that is [wide](ExprKind::Wide) runs such a task as a function: one
//! lane does what stands between the loops, and all lanes of the device share the rounds of each loop out where it stands, which costs a barrier and no
//! children.
//!
//! ```text
//! task heat { .. }      =>      task heat { if wide { return heat(..) } .. }
//! ```
//!
//! The function is the task's serial version, as of every task that is called: in it a loop is a call of the loop's own serial version, whose rounds may
//! still run side by side ([`Function::rounds`](millstream_graph::ir::Function)). [`kept`](super::kept) says
//! what is done where the order shows in which they gather.

use super::{make::Make, promote::callees, settle, spawning};
use crate::{
    hir::{Body, Expr, ExprKind, FnId, Stmt, VarId},
    items::Module,
    ty::{BOOL, Ty},
};
use millstream_graph::{
    ir::FunctionKind,
    ty::{PieceKind, Type},
};
use std::collections::BTreeSet;

/// So many scalars there may be of what rounds know, and so many variables that they gather in.
const MOST_PARAMS: usize = 31;
const MOST_GATHERS: usize = 15;

/// The tasks that may be run so, as the source has them.
pub(super) fn find(m: &Module, bodies: &mut [Body]) -> Vec<FnId> {
    if bodies.iter().all(|b| b.parallel.is_empty()) {
        return Vec::new();
    }
    let reach = spawning::recursive(bodies);
    let called: BTreeSet<FnId> = bodies.iter_mut().flat_map(callees).collect();
    let plain: Vec<bool> = bodies.iter_mut().map(|b| is_plain(&mut b.root)).collect();
    let has_loops = |f: FnId| {
        let mut all = reach[f.0].iter().chain([&f]);
        all.any(|f| !bodies[f.0].parallel.is_empty())
    };
    // What comes to a loop has memory that all lanes look at, and so there is one call of it at a time.
    let is_one = |f: FnId| plain[f.0] && !(reach[f.0].contains(&f) && has_loops(f));
    let is_alone = |f: &FnId| {
        m.fns[f.0].kind == FunctionKind::Task
            && !called.contains(f)
            && has_loops(*f)
            && reach[f.0].iter().chain([f]).all(|f| is_one(*f))
    };
    (0..bodies.len()).map(FnId).filter(is_alone).collect()
}

/// Whether nothing is spawned, and nothing depends on the device.
fn is_plain(e: &mut Expr) -> bool {
    let mut plain = !matches!(
        &*e.kind,
        ExprKind::Spawn { .. } | ExprKind::Sync | ExprKind::Emit(..) | ExprKind::Wide
    );
    e.children_mut(&mut |child| plain &= is_plain(child));
    plain
}

/// Whether something is spawned where the device is wide that is called elsewhere.
fn asks(e: &mut Expr) -> bool {
    let mut found = match &mut *e.kind {
        ExprKind::If(cond, then, _) => matches!(*cond.kind, ExprKind::Wide) && spawns(then),
        _ => false,
    };
    e.children_mut(&mut |child| found |= asks(child));
    found
}

fn spawns(e: &mut Expr) -> bool {
    let mut found = matches!(&*e.kind, ExprKind::Spawn { .. });
    e.children_mut(&mut |child| found |= spawns(child));
    found
}

/// Lets them be functions where the device is wide.
pub(super) fn call(alone: &[FnId], m: &mut Module, bodies: &mut [Body]) {
    for task in alone {
        let reached = reached(*task, bodies);
        // Calls that such a device spawns it does not spawn in a function.
        let asks = reached.iter().any(|f| asks(&mut bodies[f.0].root));
        if asks || !reached.iter().all(|f| is_handed_out(m, *f)) {
            continue;
        }
        let (item, body) = (&m.fns[task.0], &mut bodies[task.0]);
        let make = Make(body.root.span);
        let args = (0..item.params.len()).map(|i| make.var(VarId(i), &body.vars[i].ty));
        let call = ExprKind::Call(*task, args.collect());
        let call = Expr::new(call, Ty::from_type(&item.ret), make.0);
        let unit = call.ty.is_unit();
        let (run, value) = if unit {
            (Some(Stmt::Expr(call)), None)
        } else {
            (None, Some(call))
        };
        let there = run.into_iter().chain([make.give(value)]).collect();
        let wide = Expr::new(ExprKind::Wide, BOOL, make.0);
        let first = Stmt::Expr(make.choose(wide, make.block(there), None));
        let root = std::mem::replace(&mut body.root, make.block(Vec::new()));
        body.root = make.valued(vec![first], root);
        settle(&mut body.root, &m.structs);
        for f in reached {
            m.fns[f.0].alone = true;
        }
    }
}

/// All that a task comes to: a loop in a loop is one of the rounds' own.
fn reached(task: FnId, bodies: &mut [Body]) -> BTreeSet<FnId> {
    let mut reached = BTreeSet::from([task]);
    let mut more = vec![task];
    while let Some(f) = more.pop() {
        let callees = callees(&mut bodies[f.0]).into_iter();
        more.extend(callees.filter(|f| reached.insert(*f)));
    }
    reached
}

/// Whether what the rounds of a loop know and gather finds room where it is written down for those who share them out. True of other functions.
fn is_handed_out(m: &Module, f: FnId) -> bool {
    let item = &m.fns[f.0];
    let scalars = |ty: &Type, most: usize| {
        let pieces = ty.pieces(&m.structs);
        let all = pieces
            .iter()
            .all(|p| matches!(p.kind, PieceKind::Scalar(_)));
        (all && pieces.len() <= most).then_some(pieces.len())
    };
    let params = item.params.iter().map(|(_, ty)| scalars(ty, MOST_PARAMS));
    let params: Option<usize> = params.sum();
    let fits =
        params.is_some_and(|n| n <= MOST_PARAMS) && scalars(&item.ret, MOST_GATHERS).is_some();
    !item.rounds || fits
}
