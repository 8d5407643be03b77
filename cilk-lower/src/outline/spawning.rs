//! Loops whose rounds only spawn. Where there are many rounds, they are shared out as those of a parallel loop are: one lane of a GPU would
//! take seconds for ten million children, and all of them would have to find room at once.
//!
//! The loop must be the last thing before a sync or the function's end, so that what its rounds read stays as it is; they write to no atomics; and no child
//! may come back to the function that spawns it: what recurses is wide by itself, and a second task would only make it larger. A loop with which the
//! rounds of such a loop end is shared out too: few rows may have very many columns.

use super::{
    LEAST_LIGHT, Outliner,
    gather::{self, Gather},
    promote::callees,
    uses,
};
use crate::{
    diag::Diagnostics,
    hir::{Body, Expr, ExprKind, FnId, For, LoopId, Stmt, VarId},
};
use millstream_graph::ir::{AtomicOp, Combine};
use std::collections::BTreeSet;

/// So many rounds spawn where the loop stands.
const FEW: u64 = 256;

/// So many where a loop in them spawns: each may have as many children.
const FEW_OF_LOOPS: u64 = 16;

/// How many rounds spawn where the loop stands.
pub(super) fn few(body: &mut Expr) -> u64 {
    match spawns(body, true) {
        true => FEW_OF_LOOPS,
        false => FEW,
    }
}

/// Whether a child is spawned in it, or `in_loops` of it.
fn spawns(e: &mut Expr, in_loops: bool) -> bool {
    let is_loop = matches!(
        &*e.kind,
        ExprKind::For(..) | ExprKind::While(..) | ExprKind::Loop(..)
    );
    let in_loops = in_loops && !is_loop;
    let mut found = !in_loops && matches!(&*e.kind, ExprKind::Spawn { .. });
    e.children_mut(&mut |child| found |= spawns(child, in_loops));
    found
}

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
                    if let Stmt::Expr(e) | Stmt::Let(_, Some(e)) = &mut stmts[i] {
                        self.share_or_look(e, reach, ends, synced || ends);
                    }
                }
                if let Some(e) = tail {
                    self.share_or_look(e, reach, ends, ends);
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

    /// Shares out a loop that is followed by a sync, or what is in an expression that is none.
    fn share_or_look(
        &mut self,
        e: &mut Expr,
        reach: &[BTreeSet<FnId>],
        ends: bool,
        followed: bool,
    ) {
        let Some(gathers) = followed.then(|| self.only_spawns(e, reach)).flatten() else {
            return self.share(e, reach, ends);
        };
        let mut own = BTreeSet::new();
        self.declared(e, &mut own);
        // A piece that gathers in several variables has a frame.
        let least = if gathers.len() > 1 { LEAST_LIGHT } else { 1 };
        self.share_with_last(e, gathers, least, reach, own);
    }

    /// Shares out a loop that only spawns, and the loops with which its rounds end. What it gathers is known while they stand as they were written.
    fn share_with_last(
        &mut self,
        e: &mut Expr,
        gathers: Vec<Gather>,
        least: u64,
        reach: &[BTreeSet<FnId>],
        own: BTreeSet<VarId>,
    ) {
        if let ExprKind::For(id, _, body) = &mut *e.kind {
            self.share_last(body, reach, own);
            self.gathered.insert(*id, Some(gathers));
        }
        if let Some(outlined) = self.outline(e, Some(least)) {
            *e = outlined;
        }
    }

    /// Shares out the loop with which the rounds of a loop end that only spawns. `own`: variables that may lead to memory of a round, which is the next
    /// round's too, so that no child may look at it later.
    fn share_last(&mut self, e: &mut Expr, reach: &[BTreeSet<FnId>], mut own: BTreeSet<VarId>) {
        self.declared(e, &mut own);
        match &mut *e.kind {
            ExprKind::Block(stmts, tail) => match (tail, stmts.last_mut()) {
                (Some(last), _) | (None, Some(Stmt::Expr(last))) => {
                    self.share_last(last, reach, own);
                }
                _ => {}
            },
            ExprKind::If(_, then, other) => {
                self.share_last(then, reach, own.clone());
                other
                    .iter_mut()
                    .for_each(|e| self.share_last(e, reach, own.clone()));
            }
            ExprKind::For(..) => {
                let mut used = Vec::new();
                uses(&mut e.clone(), &mut BTreeSet::new(), &mut used);
                let Some(gathers) = self.only_spawns(e, reach) else {
                    return;
                };
                // What is gathered in several variables is added up behind a sync, and here is none.
                if gathers.len() <= 1 && !used.iter().any(|v| own.contains(v)) {
                    self.share_with_last(e, gathers, LEAST_LIGHT, reach, own);
                }
            }
            _ => {}
        }
    }

    /// Adds the variables of this expression that may lead to memory of a round. An item of a slice leads to where the slice lies.
    fn declared(&self, e: &mut Expr, own: &mut BTreeSet<VarId>) {
        let items = matches!(&*e.kind, ExprKind::For(..));
        e.declares(&mut |v| {
            let ty = &self.vars[v.0].ty;
            if self.by_reference(ty) || (!items && ty.to_type().has_addresses(&self.m.structs)) {
                own.insert(*v);
            }
        });
    }

    /// What the rounds of a loop gather that only spawns.
    fn only_spawns(&mut self, e: &Expr, reach: &[BTreeSet<FnId>]) -> Option<Vec<Gather>> {
        let ExprKind::For(id, over, body) = &*e.kind else {
            return None;
        };
        let in_turn = match over {
            For::Range { rev, step, .. } => *rev || step.as_ref().is_some_and(|s| s.then_rev),
            For::Slices { rev, parts, .. } => *rev || parts.iter().any(|p| p.keep || p.rev),
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
        let gathers = gather::find(&mut body, &used, &self.vars, &self.m.structs, &mut wrong);
        let by_children = gathers.iter().all(|g| g.by_children && !g.is_ordered());
        let right = !in_turn && rounds.spawns && rounds.only && wrong.is_empty() && by_children;
        right.then_some(gathers)
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
