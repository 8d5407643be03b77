//! Loops whose rounds only spawn. Where there are many rounds, they are shared out as those of a parallel loop are: one lane of a GPU would
//! take seconds for ten million children, and all of them would have to find room at once.
//!
//! The loop must be the last thing before a sync or the function's end, so that what its rounds read stays as it is; they write to no atomics and
//! gather in one variable at most; and no child may come back to the function that spawns it: what recurses is wide by itself, and a second task would only make it larger.

use super::{Outliner, gather, promote::callees};
use crate::{
    diag::Diagnostics,
    hir::{Body, Expr, ExprKind, FnId, For, LoopId, Stmt},
};
use millstream_graph::ir::{AtomicOp, Combine};
use std::collections::BTreeSet;

/// So many rounds spawn where the loop stands.
pub(super) const FEW: u64 = 256;

/// The functions from which each function of the program can be reached.
pub(super) fn recursive(bodies: &mut [Body]) -> Vec<BTreeSet<FnId>> {
    let mut reach: Vec<BTreeSet<FnId>> = bodies.iter_mut().map(callees).collect();
    loop {
        let mut more = false;
        for i in 0..reach.len() {
            let beyond = reach[i].iter().filter_map(|f| reach.get(f.0));
            let beyond: BTreeSet<FnId> = beyond.flatten().copied().collect();
            let before = reach[i].len();
            reach[i].extend(beyond);
            more |= reach[i].len() > before;
        }
        if !more {
            return reach;
        }
    }
}

impl Outliner<'_> {
    /// Shares out the rounds of such loops in an expression. `ends`: the function ends with it.
    pub(super) fn share(&mut self, e: &mut Expr, reach: &[BTreeSet<FnId>], ends: bool) {
        match &mut *e.kind {
            ExprKind::Block(stmts, tail) => {
                let last = stmts.len().wrapping_sub(1);
                for i in 0..stmts.len() {
                    let ends = ends && tail.is_none() && i == last;
                    let next = stmts.get(i + 1);
                    let synced =
                        matches!(next, Some(Stmt::Expr(e)) if matches!(*e.kind, ExprKind::Sync));
                    let (Stmt::Expr(e) | Stmt::Let(_, Some(e))) = &mut stmts[i] else {
                        continue;
                    };
                    self.share(e, reach, ends);
                    if (synced || ends)
                        && self.only_spawns(e, reach)
                        && let Some(outlined) = self.outline(e, true)
                    {
                        *e = outlined;
                    }
                }
                if let Some(e) = tail {
                    self.share(e, reach, ends);
                    if ends
                        && self.only_spawns(e, reach)
                        && let Some(outlined) = self.outline(e, true)
                    {
                        *e = outlined;
                    }
                }
            }
            ExprKind::If(_, then, other) => {
                self.share(then, reach, ends);
                other.iter_mut().for_each(|e| self.share(e, reach, ends));
            }
            ExprKind::Match(_, arms) => {
                arms.iter_mut()
                    .for_each(|arm| self.share(&mut arm.body, reach, ends));
            }
            _ => e.children_mut(&mut |child| self.share(child, reach, false)),
        }
    }

    fn only_spawns(&mut self, e: &Expr, reach: &[BTreeSet<FnId>]) -> bool {
        let ExprKind::For(id, over, body) = &*e.kind else {
            return false;
        };
        let in_turn = match over {
            For::Range { rev, step, .. } => *rev || step.as_ref().is_some_and(|s| s.then_rev),
            For::Slices { rev, parts, .. } => *rev || parts.iter().any(|p| p.keep),
        };
        let used = self.used_from_around(&mut e.clone());
        let mut body = body.clone();
        let mut rounds = Rounds {
            owner: self.id,
            reach,
            loops: vec![*id],
            spawns: false,
            only: true,
        };
        rounds.look(&mut body);
        let mut wrong = Diagnostics::default();
        let gathers = gather::find(&mut body, &used, &self.vars, &mut wrong);
        let by_children = gathers.iter().all(|g| g.by_children && !g.is_ordered());
        !in_turn
            && rounds.spawns
            && rounds.only
            && wrong.is_empty()
            && by_children
            && gathers.len() <= 1
    }
}

/// What rounds do.
struct Rounds<'a> {
    owner: FnId,
    reach: &'a [BTreeSet<FnId>],
    /// The loop, and those in it: what may be continued.
    loops: Vec<LoopId>,
    spawns: bool,
    only: bool,
}

impl Rounds<'_> {
    fn look(&mut self, e: &mut Expr) {
        match &*e.kind {
            ExprKind::Spawn { func, dest, .. } => {
                self.spawns = true;
                let comes_back = |f: &FnId| {
                    *f == self.owner || self.reach.get(f.0).is_none_or(|r| r.contains(&self.owner))
                };
                self.only &= !comes_back(func);
                // A variable of the round's own would be looked at before its child is done.
                let own = |place: &Expr| place.root().is_some_and(|(_, behind)| !behind);
                let stores = |how| how == Combine::Store;
                self.only &= !dest
                    .as_ref()
                    .is_some_and(|(place, how)| stores(*how) && own(place));
            }
            ExprKind::Sync | ExprKind::Emit(..) | ExprKind::Return(_) => self.only = false,
            // Rounds that count in an atomic may want the numbers in their order.
            ExprKind::Atomic { op, .. } => self.only &= *op == AtomicOp::Load,
            ExprKind::For(id, ..) | ExprKind::While(id, ..) | ExprKind::Loop(id, _) => {
                self.loops.push(*id);
            }
            ExprKind::Labelled(id, _) => self.loops.push(*id),
            ExprKind::Break(id, _) => {
                self.only &= self.loops[1..].contains(id);
            }
            ExprKind::Continue(id) => self.only &= self.loops.contains(id),
            _ => {}
        }
        e.children_mut(&mut |child| self.look(child));
    }
}
