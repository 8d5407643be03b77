//! What is asked of typed trees: what lies right below, what they name, and what they may change.

use super::{Builtin, By, Expr, ExprKind, For, Pat, Stmt, VarId};
use crate::ty::Ty;
use millstream_graph::{
    ir::Combine,
    ty::{Scalar, Structs},
};

impl Pat {
    /// Calls `f` on each variable that it declares.
    pub(crate) fn vars(&mut self, f: &mut dyn FnMut(&mut VarId)) {
        match self {
            Self::Wild => {}
            Self::Var(var) => f(var),
            Self::Fields(fields) => fields.iter_mut().for_each(|(_, pat)| pat.vars(f)),
            Self::Elements(pats) => pats.iter_mut().for_each(|pat| pat.vars(f)),
            Self::Deref(pat) | Self::Behind(pat) => pat.vars(f),
        }
    }
}

impl ExprKind {
    const fn var(&self) -> Option<VarId> {
        match self {
            Self::Var(var) => Some(*var),
            _ => None,
        }
    }
}

impl Expr {
    /// The variable that a place is part of, and whether a reference lies in between.
    pub(crate) fn root(&self) -> Option<(VarId, bool)> {
        match &*self.kind {
            ExprKind::Var(v) => Some((*v, false)),
            ExprKind::Field(base, _) => base.root(),
            ExprKind::Index(base, _) => match base.ty {
                Ty::Slice { .. } => base.root().map(|(v, _)| (v, true)),
                _ => base.root(),
            },
            ExprKind::MatIndex(base, ..) | ExprKind::Deref(base) => {
                base.root().map(|(v, _)| (v, true))
            }
            ExprKind::SubSlice { base, .. } | ExprKind::AddrOf(base) | ExprKind::Unsize(base) => {
                base.root()
            }
            _ => None,
        }
    }

    /// A variable that a scalar is added to, or combined with in another way in which results are gathered, and that scalar: `x += 1`, `x = x.max(y)`.
    pub(crate) fn added(&self) -> Option<(VarId, Combine, Scalar, &Self)> {
        let (place, op, value) = match &*self.kind {
            ExprKind::AssignOp(op, place, value) => (place, op, value),
            ExprKind::Assign(place, value) => {
                let (ExprKind::Binary(op, a, b) | ExprKind::RawBinary(op, a, b)) = &*value.kind
                else {
                    return None;
                };
                let is_it = |e: &Self| e.kind.var().is_some() && e.kind.var() == place.kind.var();
                // Which side comes first makes no difference to scalars that are combined so.
                match (is_it(a), is_it(b)) {
                    (true, _) => (place, op, b),
                    (_, true) => (place, op, a),
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some((
            place.kind.var()?,
            Combine::by(*op)?,
            value.ty.scalar()?,
            value,
        ))
    }

    /// Whether it may, by itself, change a variable or what one refers to: what stands below it aside.
    pub(crate) fn writes(&self, structs: &Structs) -> bool {
        match &*self.kind {
            ExprKind::Assign(..)
            | ExprKind::AssignOp(..)
            | ExprKind::For(..)
            | ExprKind::Spawn { .. } => true,
            ExprKind::Call(_, args) => args.iter().any(|a| a.ty.is_mutable(structs)),
            ExprKind::Method(builtin, _) => {
                use Builtin::{
                    CopyFromSlice, Fill, MemReplace, MemSwap, Reverse, RotateLeft, RotateRight,
                    Swap,
                };
                matches!(
                    builtin,
                    Swap | Fill
                        | CopyFromSlice
                        | Reverse
                        | RotateLeft
                        | RotateRight
                        | MemSwap
                        | MemReplace
                )
            }
            _ => false,
        }
    }

    /// Whether a variable occurs in it.
    pub(crate) fn mentions(&mut self, var: VarId) -> bool {
        let mut found = matches!(*self.kind, ExprKind::Var(v) if v == var);
        self.children_mut(&mut |child| found = found || child.mentions(var));
        found
    }

    /// Whether it may change a variable's own memory: assigns to it, or borrows it to write.
    pub(crate) fn changes(&mut self, var: VarId) -> bool {
        let mut found = match &*self.kind {
            ExprKind::Assign(place, _)
            | ExprKind::AssignOp(_, place, _)
            | ExprKind::Spawn {
                dest: Some((place, _)),
                ..
            } => place.root() == Some((var, false)),
            ExprKind::AddrOf(place) | ExprKind::SubSlice { base: place, .. } => {
                let writes = matches!(
                    self.ty,
                    Ty::Ref { mutable: true, .. } | Ty::Slice { mutable: true, .. }
                );
                writes && place.root() == Some((var, false))
            }
            _ => false,
        };
        self.children_mut(&mut |child| found = found || child.changes(var));
        found
    }

    /// Calls `f` on each expression right below this one.
    pub(crate) fn children_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        use ExprKind as K;
        match &mut *self.kind {
            K::Int(_)
            | K::Float(_)
            | K::Bool(_)
            | K::Var(_)
            | K::Const(_)
            | K::Continue(_)
            | K::Sync
            | K::Wide
            | K::Spawns
            | K::Lanes
            | K::Panic(_)
            | K::Error => {}
            K::Field(a, _)
            | K::Deref(a)
            | K::AddrOf(a)
            | K::Unsize(a)
            | K::Unary(_, a)
            | K::RawUnary(_, a) => f(a),
            K::Cast(a) | K::Bitcast(a) | K::Repeat(a, _) | K::Labelled(_, a) | K::Loop(_, a) => {
                f(a)
            }
            K::Emit(_, a) => f(a),
            K::Assert { cond: a, .. } => f(a),
            K::Index(a, b) | K::Binary(_, a, b) | K::RawBinary(_, a, b) | K::While(_, a, b) => {
                [a, b].into_iter().for_each(f)
            }
            K::Assign(a, b) | K::AssignOp(_, a, b) => [a, b].into_iter().for_each(f),
            K::SameFields { left, right, .. }
            | K::Lazy { left, right, .. }
            | K::AssertCmp { left, right, .. } => {
                [left, right].into_iter().for_each(f);
            }
            K::MatIndex(a, b, c) | K::MulAdd(a, b, c) => [a, b, c].into_iter().for_each(f),
            K::SubSlice { base, range } => {
                f(base);
                range.lo.iter_mut().chain(&mut range.hi).for_each(f);
            }
            K::Call(_, args) | K::Method(_, args) | K::Tuple(args) | K::Array(args) => {
                args.iter_mut().for_each(f)
            }
            K::Later(call) => call.args.iter_mut().for_each(f),
            K::Atomic { place, args, .. } => {
                f(place);
                args.iter_mut().for_each(f);
            }
            K::Struct { fields, base, .. } => {
                fields.iter_mut().map(|(_, e)| e).chain(base).for_each(f)
            }
            K::If(a, b, c) => [a, b].into_iter().chain(c).for_each(f),
            K::Match(value, arms) => {
                f(value);
                for arm in arms {
                    arm.guard.iter_mut().for_each(&mut *f);
                    f(&mut arm.body);
                }
            }
            K::Block(stmts, tail) => {
                for stmt in stmts {
                    match stmt {
                        Stmt::Let(_, init) => init.iter_mut().for_each(&mut *f),
                        Stmt::Expr(e) => f(e),
                    }
                }
                tail.iter_mut().for_each(f);
            }
            K::For(_, over, body) => {
                match over {
                    For::Range { lo, hi, step, .. } => {
                        [lo, hi]
                            .into_iter()
                            .chain(step.as_mut().map(|s| &mut s.by))
                            .for_each(&mut *f);
                    }
                    For::Slices { parts, .. } => parts.iter_mut().for_each(|part| {
                        f(&mut part.slice);
                        if let By::Chunks(n) | By::ExactChunks(n) | By::Windows(n) = &mut part.by {
                            f(n);
                        }
                    }),
                }
                f(body);
            }
            K::Break(_, value) | K::Return(value) => value.iter_mut().for_each(f),
            K::Spawn {
                args, dest, then, ..
            } => args
                .iter_mut()
                .chain(dest.as_mut().map(|(d, _)| d))
                .chain(then.as_mut().map(|t| &mut t.value))
                .for_each(f),
        }
    }

    /// Calls `f` on each variable that a pattern of this very expression declares.
    pub(crate) fn declares(&mut self, f: &mut dyn FnMut(&mut VarId)) {
        match &mut *self.kind {
            ExprKind::Block(stmts, _) => {
                for stmt in stmts {
                    if let Stmt::Let(pat, _) = stmt {
                        pat.vars(f);
                    }
                }
            }
            ExprKind::For(_, For::Range { var, .. }, _) => var.vars(f),
            ExprKind::For(_, For::Slices { parts, index, .. }, _) => {
                parts.iter_mut().for_each(|part| part.item.vars(f));
                index.iter_mut().for_each(f);
            }
            ExprKind::Match(_, arms) => {
                let cases = arms.iter_mut().flat_map(|arm| &mut arm.cases);
                let binds = cases.flat_map(|case| &mut case.binds);
                binds.for_each(|(pat, _)| pat.vars(f));
            }
            _ => {}
        }
    }

    /// Whether it names memory rather than a value.
    pub(crate) fn is_place(&self) -> bool {
        use ExprKind::{Const, Deref, Field, Index, MatIndex, Var};
        match &*self.kind {
            Var(_) | Index(..) | MatIndex(..) | Deref(_) | Const(_) => true,
            Field(base, _) => base.is_place(),
            _ => false,
        }
    }
}
