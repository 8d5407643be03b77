//! How a loop's task divides its rounds among children: whole pieces, as many in each part, and what they gather.

use super::{
    gather::{self, Gather},
    make::Make,
    rounds::Rounds,
};
use crate::{
    hir::{Expr, ExprKind, FnId, Pat, Stmt, Var, VarId},
    ty::{Ty, USIZE},
};
use millstream_graph::ir::{BinOp, Combine};
use std::ops::Range;

/// A task divides its rounds among at most so many children: three levels of them make a quarter of a million pieces.
const PARTS: u64 = 64;

/// The same where their results are kept until they are joined.
pub(super) const ORDERED_PARTS: u64 = 16;

/// Children with parts of a task's rounds.
pub(super) struct Parts<'a> {
    pub(super) id: FnId,
    pub(super) grain: Option<VarId>,
    pub(super) count: VarId,
    /// So many rounds are not worth several children of a device that is not wide, if that is known.
    pub(super) worth: Option<u64>,
    pub(super) rounds: &'a Rounds,
    /// The parameters that are passed on.
    pub(super) captured: Range<usize>,
}

impl Parts<'_> {
    /// Spawns them, where there are more rounds than one piece has.
    pub(super) fn spawn(&self, gathers: &[Gather], vars: &mut Vec<Var>, make: &Make) -> Expr {
        let count = make.var(self.count, &USIZE);
        let grain = self.grain.map(|g| make.var(g, &USIZE));
        let each = grain.clone().unwrap_or_else(|| make.count(1));
        let ordered = gather::is_kept(gathers);
        let most = if ordered { ORDERED_PARTS } else { PARTS };
        // Of whole pieces, as many in each part.
        let pieces = make.up(make.up(count.clone(), each.clone()), make.count(most));
        let size = make.fresh(vars, "part", USIZE);
        let parts = make.fresh(vars, "parts", USIZE);
        let mut stmts = vec![make.bind(size, make.raw(BinOp::Mul, pieces, each.clone()))];
        let size = make.var(size, &USIZE);
        stmts.push(make.bind(parts, make.up(count.clone(), size.clone())));
        let parts = make.var(parts, &USIZE);
        let number = make.fresh(vars, "number", USIZE);
        let (from, rounds) = (
            make.fresh(vars, "from", USIZE),
            make.fresh(vars, "rounds", USIZE),
        );
        let number = (number, make.var(number, &USIZE));
        let start = make.raw(BinOp::Mul, number.1.clone(), size.clone());
        let mut child = vec![make.bind(from, start)];
        let from = make.var(from, &USIZE);
        let rest = make.raw(BinOp::Sub, count.clone(), from.clone());
        child.push(make.bind(rounds, make.raw(BinOp::Min, size, rest)));
        let rounds = make.var(rounds, &USIZE);
        let which = self.rounds.part(&from, &rounds, make);
        let passed = self.captured.clone();
        let passed = passed.map(|i| make.var(VarId(i), &vars[i].ty));
        let args = grain.into_iter().chain([rounds]);
        let args: Vec<Expr> = args.chain(which).chain(passed).collect();
        if ordered {
            let results = Results::new(gathers, &parts, vars, make);
            stmts.push(results.declared());
            child.push(make.spawn(self.id, args, Some((results.of(number.1), Combine::Store))));
            stmts.push(make.times(number.0, parts, child));
            stmts.push(make.sync());
            results.join(gathers, vars, make, &mut stmts);
        } else if let Some(gather) = gathers.first() {
            let (start, own) = gather::start(gathers, make, vars, |_| true);
            stmts.extend(start);
            let place = gather::value(gathers, make, &own);
            let dest = gather.combine().map(|combine| (place.clone(), combine));
            child.push(make.spawn(self.id, args, dest));
            stmts.push(make.times(number.0, parts, child));
            stmts.push(make.sync());
            stmts.push(make.give(Some(place)));
        } else {
            child.push(make.spawn(self.id, args, None));
            stmts.push(make.times(number.0, parts, child));
            stmts.push(make.give(None));
        }
        let many = make.compare(BinOp::Gt, count.clone(), each);
        // What is called runs all of its rounds where they are, but for the order of additions.
        if gathers.iter().all(Gather::joins) {
            let many = make.raw(BinOp::And, many, make.spawns());
            return make.choose(many, make.block(stmts), None);
        }
        if let Some(worth) = self.worth {
            let called = self.called(gathers, vars, make);
            let few = make.compare(BinOp::Le, count, make.count(worth));
            let few = make.narrow(few, make.bool(false));
            stmts.insert(0, Stmt::Expr(make.choose(few, called, None)));
        }
        make.choose(many, make.block(stmts), None)
    }

    /// Gives what a call with the same parameters gives, which adds in the same order.
    fn called(&self, gathers: &[Gather], vars: &[Var], make: &Make) -> Expr {
        let args = (0..self.captured.end).map(|i| make.var(VarId(i), &vars[i].ty));
        let call = ExprKind::Call(self.id, args.collect());
        let call = Expr::new(call, gather::result(gathers), make.0);
        make.block(vec![make.give(Some(call))])
    }
}

/// The results of parts, kept until they are joined in their order.
struct Results {
    array: VarId,
    ty: Ty,
    each: Ty,
    count: Expr,
}

impl Results {
    fn new(gathers: &[Gather], count: &Expr, vars: &mut Vec<Var>, make: &Make) -> Self {
        let each = gather::result(gathers);
        let ty = Ty::Array(Box::new(each.clone()), ORDERED_PARTS);
        let array = make.fresh(vars, "results", ty.clone());
        vars[array.0].awaits = true;
        Self {
            array,
            ty,
            each,
            count: count.clone(),
        }
    }

    fn declared(&self) -> Stmt {
        Stmt::Let(Pat::Var(self.array), None)
    }

    /// The place of a part's result.
    fn of(&self, number: Expr) -> Expr {
        let span = number.span;
        let array = Expr::new(ExprKind::Var(self.array), self.ty.clone(), span);
        Expr::new(ExprKind::Index(array, number), self.each.clone(), span)
    }

    /// Gives the first result with all others joined to it.
    fn join(&self, gathers: &[Gather], vars: &mut Vec<Var>, make: &Make, stmts: &mut Vec<Stmt>) {
        let sum = make.fresh(vars, "gathered", self.each.clone());
        let number = make.fresh(vars, "number", USIZE);
        stmts.push(make.bind(sum, self.of(make.count(0))));
        let sum = make.var(sum, &self.each);
        let next = make.raw(BinOp::Add, make.var(number, &USIZE), make.count(1));
        let joined = gather::join(gathers, make, [sum.clone(), self.of(next)]);
        let others = make.raw(BinOp::Sub, self.count.clone(), make.count(1));
        let add = make.assign(sum.clone(), joined);
        stmts.push(make.times(number, others, vec![add]));
        stmts.push(make.give(Some(sum)));
    }
}
