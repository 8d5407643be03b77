//! Turns in strips: the children of some turns run at once, and then what each turn makes of its results is done in the order of the turns.
//!
//! ```text
//! for (i, x) in items.iter().enumerate() {      let (mut scores, mut is, mut n) = ([_; 16], [_; 16], 0);
//!     let score = spawn!(f(*x));                for (i, x) in items.iter().enumerate() {
//!     sync!();                             =>       (is[n], scores[n]) = (i, spawn!(f(*x))); n += 1;
//!     if score > best {                             if n == 16 { sync!(); .. n = 0; }
//!         best = score;                         }
//!         chosen = i;                           sync!();
//!     }                                         for k in 0..n { if scores[k] > best { best = scores[k]; chosen = is[k]; } }
//! }
//! ```
//!
//! As in [`super`] nobody can tell the difference; what is done with the results may be anything that stays in the task, as long as no turn goes by what it changes.

use super::{
    Child, Finder, Stays, count, declared, does_more, is, is_in_order, is_spawn, is_sync, leaves,
    mentions, named,
};
use crate::{
    hir::{Expr, ExprKind, For, Pat, Stmt, VarId},
    outline::{Known, gather, make::Make, replace, settle},
    ty::{Ty, USIZE},
};
use millstream_graph::ir::{BinOp, Combine};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes that the turns of a strip keep at most, in the frame that waits for the children, and how many turns it has.
const BYTES: u64 = 192;
const MOST: u64 = 16;
const LEAST: u64 = 4;

/// What is kept of each turn of a strip.
struct Kept {
    /// The variable that has it in its turn, and the one that has it when the turn goes on.
    var: VarId,
    value: VarId,
    /// An element for each turn.
    array: Expr,
}

impl Finder<'_> {
    /// A loop whose turns run in strips; none if it makes a difference.
    pub(super) fn in_strips(&mut self, e: &Expr) -> Option<Expr> {
        let mut whole = e.clone();
        let may_return = |e: &Expr| matches!(*e.kind, ExprKind::Return(_));
        let one_way = count(&mut whole, is_sync) == 1 && count(&mut whole, may_return) == 0;
        if !one_way || leaves(&mut whole, &mut Vec::new()) {
            return None;
        }
        let known = self.vars.clone();
        let strips = self.strips(whole, Make(e.span));
        if strips.is_none() {
            self.vars = known;
        }
        strips
    }

    fn strips(&mut self, mut whole: Expr, make: Make) -> Option<Expr> {
        let spawns = count(&mut whole, is_spawn);
        let mut site = None;
        waiting(&mut whole, &mut |block| {
            if let ExprKind::Block(stmts, tail) = &*block.kind {
                site = self.site(stmts, tail.as_ref(), make);
            }
        });
        let mut site = site?;
        let mut inside = BTreeMap::new();
        declared(&mut whole, &mut inside);
        let lent = |e: &&Expr| e.ty.to_type().has_addresses(&self.m.structs);
        let args = site.children.iter().flat_map(|(_, _, args)| args);
        let mut stays = Stays {
            finder: self,
            whole: whole.clone(),
            inside: inside.clone(),
            known: BTreeMap::new(),
        };
        if spawns != site.children.len() || !args.filter(lent).all(|e| stays.all(e)) {
            return None;
        }
        let changed = self.take_in(&mut site.rest, &site.children, make)?;
        let after = make.block(site.meanwhile());
        let (made, others): (Vec<_>, Vec<_>) = site.rest.into_iter().partition(|(made, _)| *made);
        let [made, others] = [made, others].map(|s| s.into_iter().map(|(_, s)| s));
        let mut made = make.block(made.collect());
        // What a turn changes when it goes on is named then alone, and where the loop begins.
        let alone = |v: &VarId| {
            let begins = match &mut *whole.kind {
                ExprKind::For(_, For::Range { lo, hi, .. }, _) => {
                    gather::mentions(lo, *v) + gather::mentions(hi, *v)
                }
                _ => 0,
            };
            gather::mentions(&mut whole, *v) == gather::mentions(&mut made, *v) + begins
        };
        if changed.is_empty() || !changed.iter().all(alone) || count(&mut made, does_more) > 0 {
            return None;
        }
        if changed.iter().any(|v| inside.contains_key(v)) {
            return None;
        }
        let results = site.children.iter().map(|(_, result, _)| *result);
        let known: BTreeSet<VarId> = changed.into_iter().chain(results.clone()).collect();
        let mut vars = self.saved(&mut made, &mut whole, (&inside, &known), after)?;
        let saved = vars.len();
        vars.extend(results);
        let turns = self.turns(&vars)?;
        let kept: Vec<Kept> = vars.iter().map(|v| self.kept(*v, turns, make)).collect();
        let number = make.fresh(&mut self.vars, "turns", USIZE);
        let at = make.var(number, &USIZE);
        let mut turn = site.before;
        for kept in &kept[..saved] {
            let value = make.var(kept.var, &self.vars[kept.var.0].ty);
            turn.push(make.assign(element(&kept.array, &at), value));
        }
        for ((func, _, args), kept) in site.children.into_iter().zip(&kept[saved..]) {
            let dest = (element(&kept.array, &at), Combine::Store);
            turn.push(make.spawn(func, args, Some(dest)));
        }
        let next = make.raw(BinOp::Add, at.clone(), make.count(1));
        turn.push(make.assign(at.clone(), next));
        let go_on = self.go_on(&made, &kept, &at, make);
        let full = make.compare(BinOp::Eq, at.clone(), make.count(turns));
        turn.push(Stmt::Expr(make.choose(full, go_on.clone(), None)));
        turn.extend(others);
        waiting(&mut whole, &mut |block| {
            *block.kind = ExprKind::Block(std::mem::take(&mut turn), None);
        });
        // Those that may be on their way here were waited for by the first turn.
        let mut all: Vec<Stmt> = (spawns < self.children)
            .then(|| make.sync())
            .into_iter()
            .collect();
        all.extend(kept.iter().filter_map(|kept| match *kept.array.kind {
            ExprKind::Var(array) => Some(Stmt::Let(Pat::Var(array), None)),
            _ => None,
        }));
        all.extend([
            make.bind(number, make.count(0)),
            Stmt::Expr(whole),
            Stmt::Expr(go_on),
        ]);
        let mut strips = make.block(all);
        settle(&mut strips, &self.m.structs);
        Some(strips)
    }

    /// Takes what stands behind a sync, and goes by what the turn changes when it goes on, for a part of that; gives the variables that it changes. None if some of it
    /// is left out in some turns.
    fn take_in(
        &self,
        rest: &mut [(bool, Stmt)],
        children: &[Child],
        make: Make,
    ) -> Option<BTreeSet<VarId>> {
        loop {
            let made = rest.iter().filter(|(made, _)| *made);
            let mut made = make.block(made.map(|(_, stmt)| stmt.clone()).collect());
            let (mut own, mut vars) = (BTreeMap::new(), Vec::new());
            declared(&mut made, &mut own);
            named(&mut made, &mut vars);
            vars.retain(|v| !own.contains_key(v) && !children.iter().any(|(_, r, _)| r == v));
            vars.retain(|v| self.changes(&mut made, *v));
            let mut more = false;
            for (made, stmt) in rest.iter_mut().filter(|(made, _)| !*made) {
                *made = vars.iter().chain(own.keys()).any(|v| mentions(stmt, *v));
                more |= *made;
            }
            if !more {
                return is_in_order(rest, make).then(|| vars.into_iter().collect());
            }
        }
    }

    /// The variables whose values a turn that goes on needs as they were: what lies outside the loop and stays as it is may be looked at then. None if that is not all.
    /// `known`: what it changes, and the results.
    fn saved(
        &self,
        made: &mut Expr,
        whole: &mut Expr,
        (inside, known): (&BTreeMap<VarId, Option<Expr>>, &BTreeSet<VarId>),
        mut after: Expr,
    ) -> Option<Vec<VarId>> {
        let (mut own, mut vars, mut new) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        declared(made, &mut own);
        named(made, &mut vars);
        declared(&mut after, &mut new);
        let mut out = Vec::new();
        for var in vars {
            if own.contains_key(&var) || known.contains(&var) {
                continue;
            }
            let ty = self.vars[var.0].ty.to_type();
            let stays = !inside.contains_key(&var) && !self.changes(whole, var);
            if ty.shares_atomics(&self.m.structs) {
                return None;
            }
            if stays {
                continue;
            }
            if ty.has_addresses(&self.m.structs) || new.contains_key(&var) || after.changes(var) {
                return None;
            }
            out.push(var);
        }
        Some(out)
    }

    /// How many turns a strip has that keeps these variables of each; none if they take too much.
    fn turns(&self, vars: &[VarId]) -> Option<u64> {
        let size = |v: &VarId| self.vars[v.0].ty.to_type().layout(&self.m.structs).size;
        let bytes: u64 = vars.iter().map(size).sum();
        let turns = (BYTES / bytes.max(1)).min(MOST);
        (turns >= LEAST).then_some(turns)
    }

    fn kept(&mut self, var: VarId, turns: u64, make: Make) -> Kept {
        let of = self.vars[var.0].clone();
        let value = make.fresh(&mut self.vars, &of.name, of.ty.clone());
        self.vars[value.0].addressed = of.addressed;
        let ty = Ty::Array(Box::new(of.ty), turns);
        let array = make.fresh(&mut self.vars, &of.name, ty.clone());
        self.vars[array.0].awaits = of.awaits;
        let array = make.var(array, &ty);
        Kept { var, value, array }
    }

    /// The turns of a strip, so many, go on in their order when their children are done.
    fn go_on(&mut self, made: &Expr, kept: &[Kept], count: &Expr, make: Make) -> Expr {
        let number = make.fresh(&mut self.vars, "turn", USIZE);
        let at = make.var(number, &USIZE);
        let value = |kept: &Kept| make.bind(kept.value, element(&kept.array, &at));
        let mut turn: Vec<Stmt> = kept.iter().map(value).collect();
        let known = kept.iter().map(|kept| (kept.var, Known::As(kept.value)));
        let mut made = made.clone();
        replace(&mut made, &known.collect(), &self.vars);
        turn.push(Stmt::Expr(made));
        let turns = make.times(number, count.clone(), turn);
        make.block(vec![
            make.sync(),
            turns,
            make.assign(count.clone(), make.count(0)),
        ])
    }
}

/// Calls `f` on the block in a loop that waits.
fn waiting(e: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    match &*e.kind {
        ExprKind::Block(stmts, _) if stmts.iter().any(|s| is(s, is_sync)) => f(e),
        _ => e.children_mut(&mut |child| waiting(child, f)),
    }
}

/// An element of an array.
fn element(array: &Expr, at: &Expr) -> Expr {
    let ty = match &array.ty {
        Ty::Array(of, _) => (**of).clone(),
        other => other.clone(),
    };
    Expr::new(ExprKind::Index(array.clone(), at.clone()), ty, array.span)
}
