//! Typed trees made here rather than read from a source; all stand where the loop does.

use crate::{
    hir::{Expr, ExprKind, FnId, For, LoopId, Pat, Stmt, Var, VarId},
    ty::{BOOL, Ty, USIZE},
};
use millstream_graph::ir::{BinOp, Combine};
use proc_macro2::Span;

/// Makes trees at a place.
#[derive(Clone, Copy)]
pub(super) struct Make(pub(super) Span);

impl Make {
    /// A new variable.
    pub(super) fn fresh(&self, vars: &mut Vec<Var>, name: &str, ty: Ty) -> VarId {
        vars.push(Var {
            name: name.to_owned(),
            ty,
            addressed: false,
            awaits: false,
            fixed: None,
            guarded: false,
            lent: false,
        });
        VarId(vars.len() - 1)
    }

    pub(super) fn var(&self, var: VarId, ty: &Ty) -> Expr {
        Expr::new(ExprKind::Var(var), ty.clone(), self.0)
    }

    pub(super) fn count(&self, n: u64) -> Expr {
        Expr::new(ExprKind::Int(u128::from(n)), USIZE, self.0)
    }

    /// An operation that never fails, on values of one type.
    pub(super) fn raw(&self, op: BinOp, a: Expr, b: Expr) -> Expr {
        let ty = a.ty.clone();
        Expr::new(ExprKind::RawBinary(op, a, b), ty, self.0)
    }

    /// A quotient, rounded up.
    pub(super) fn up(&self, n: Expr, by: Expr) -> Expr {
        let less = self.raw(BinOp::Sub, by.clone(), self.count(1));
        self.raw(BinOp::Div, self.raw(BinOp::Add, n, less), by)
    }

    /// Whether a spawn makes a child.
    pub(super) fn spawns(&self) -> Expr {
        Expr::new(ExprKind::Spawns, BOOL, self.0)
    }

    /// A value where children are made on a device that is not wide, and another elsewhere.
    pub(super) fn narrow(&self, there: Expr, elsewhere: Expr) -> Expr {
        let wide = Expr::new(ExprKind::Wide, BOOL, self.0);
        let spawned = self.choose(wide, elsewhere.clone(), Some(there));
        self.choose(self.spawns(), spawned, Some(elsewhere))
    }

    pub(super) fn bool(&self, value: bool) -> Expr {
        Expr::new(ExprKind::Bool(value), BOOL, self.0)
    }

    /// Whether more lanes than so many share out the rounds of loops.
    pub(super) fn more_lanes(&self, than: u64) -> Expr {
        let lanes = Expr::new(ExprKind::Lanes, USIZE, self.0);
        self.compare(BinOp::Gt, lanes, self.count(than))
    }

    pub(super) fn compare(&self, op: BinOp, a: Expr, b: Expr) -> Expr {
        Expr::new(ExprKind::RawBinary(op, a, b), BOOL, self.0)
    }

    pub(super) fn cast(&self, a: Expr, to: &Ty) -> Expr {
        match a.ty == *to {
            true => a,
            false => Expr::new(ExprKind::Cast(a), to.clone(), self.0),
        }
    }

    pub(super) fn reference(&self, ty: &Ty) -> Ty {
        Ty::Ref {
            mutable: false,
            target: Box::new(ty.clone()),
        }
    }

    pub(super) fn address(&self, place: Expr) -> Expr {
        let ty = self.reference(&place.ty);
        Expr::new(ExprKind::AddrOf(place), ty, self.0)
    }

    pub(super) fn bind(&self, var: VarId, value: Expr) -> Stmt {
        Stmt::Let(Pat::Var(var), Some(value))
    }

    pub(super) fn assign(&self, place: Expr, value: Expr) -> Stmt {
        self.unit(ExprKind::Assign(place, value))
    }

    pub(super) fn assert(&self, text: &str, cond: Expr) -> Stmt {
        let text = text.to_owned();
        self.unit(ExprKind::Assert {
            text,
            cond,
            debug: false,
        })
    }

    pub(super) fn spawn(&self, func: FnId, args: Vec<Expr>, dest: Option<(Expr, Combine)>) -> Stmt {
        let then = None;
        self.unit(ExprKind::Spawn {
            func,
            args,
            dest,
            then,
        })
    }

    pub(super) fn sync(&self) -> Stmt {
        self.unit(ExprKind::Sync)
    }

    fn unit(&self, kind: ExprKind) -> Stmt {
        Stmt::Expr(Expr::new(kind, Ty::unit(), self.0))
    }

    pub(super) fn give(&self, value: Option<Expr>) -> Stmt {
        Stmt::Expr(Expr::new(ExprKind::Return(value), Ty::Never, self.0))
    }

    pub(super) fn block(&self, stmts: Vec<Stmt>) -> Expr {
        Expr::new(ExprKind::Block(stmts, None), Ty::unit(), self.0)
    }

    /// A block with a value.
    pub(super) fn valued(&self, stmts: Vec<Stmt>, value: Expr) -> Expr {
        let ty = value.ty.clone();
        Expr::new(ExprKind::Block(stmts, Some(value)), ty, self.0)
    }

    /// A loop of so many rounds.
    pub(super) fn times(&self, number: VarId, count: Expr, body: Vec<Stmt>) -> Stmt {
        let over = For::Range {
            var: Pat::Var(number),
            lo: self.count(0),
            hi: count,
            inclusive: false,
            rev: false,
            step: None,
        };
        // Nothing leaves it but its end, so that no other loop is meant by its number.
        let kind = ExprKind::For(LoopId(usize::MAX), over, self.block(body));
        self.unit(kind)
    }

    pub(super) fn choose(&self, cond: Expr, then: Expr, other: Option<Expr>) -> Expr {
        let ty = then.ty.clone();
        Expr::new(ExprKind::If(cond, then, other), ty, self.0)
    }
}
