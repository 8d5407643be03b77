//! The end of checking a body: every inference variable gets its type, and what could only be judged then is judged.

use super::Checker;
use crate::{
    generics::Known,
    hir::{Body, Expr, ExprKind, For, Given, LaterCall, Stmt, Var},
    library::is_nowhere,
    ty::Ty,
};
use millstream_graph::{
    ir::{BinOp, UnOp},
    ty::{Scalar, Structs, Type},
};
use proc_macro2::Span;
use std::collections::BTreeSet;

/// Whether what a function is lent to write to may get references to what holds references.
pub(super) fn lends_holder(ty: &Type, structs: &Structs) -> bool {
    match ty {
        Type::Slice { mutable, elem: ty }
        | Type::Ref {
            mutable,
            target: ty,
        } => *mutable && refers_to_holder(ty, structs),
        _ => false,
    }
}

/// Whether what a value of a type refers to holds references.
fn refers_to_holder(ty: &Type, structs: &Structs) -> bool {
    match ty {
        Type::Slice { elem: of, .. } | Type::Ref { target: of, .. } => of.has_addresses(structs),
        Type::Array(elem, _) => refers_to_holder(elem, structs),
        _ => {
            let fields = ty.fields(structs);
            fields.iter().any(|(ty, _)| refers_to_holder(ty, structs))
        }
    }
}

impl Checker<'_> {
    pub(super) fn finish(mut self, mut root: Expr) -> Option<Body> {
        let before = self.m.diags.0.len();
        let mut vars = std::mem::take(&mut self.vars);
        self.finish_expr(&mut root, &mut vars);
        for var in &mut vars {
            var.ty = self.table.finish(&var.ty).unwrap_or(Ty::Error);
        }
        let parallel = std::mem::take(&mut self.parallel);
        let ways = std::mem::take(&mut self.ways);
        // What is wrong has been said where it stands; of a constant perhaps that is another constant.
        let broken = self.broken && self.kind.is_none();
        (self.m.diags.0.len() == before && !broken).then_some(Body {
            vars,
            root,
            parallel,
            ways,
            adds: BTreeSet::new(),
        })
    }

    fn finish_expr(&mut self, e: &mut Expr, vars: &mut [Var]) {
        self.broken |= matches!(&*e.kind, ExprKind::Error);
        match self.table.finish(&e.ty) {
            Some(ty) => e.ty = ty,
            None => {
                self.error(e.span, "the type of this is not known")
                    .help("write it: `let x: u32 = ..`")
                    .may_follow();
                e.ty = Ty::Error;
                return;
            }
        }
        if let ExprKind::Later(call) = &*e.kind {
            let Some(kind) = self.call_now(&call.clone(), e.span) else {
                e.ty = Ty::Error;
                return;
            };
            *e.kind = kind;
        }
        if let ExprKind::Unary(UnOp::Neg, inner) = &mut *e.kind
            && let ExprKind::Int(value) = &*inner.kind
        {
            // The least value of a type has no positive counterpart: judge literal and sign together.
            let value = *value;
            inner.ty = self.table.finish(&inner.ty).unwrap_or(Ty::Error);
            self.negative_literal(value, e);
            return;
        }
        let mut assigns = false;
        e.children_mut(&mut |child| {
            self.finish_expr(child, vars);
            assigns |= child.assigns;
        });
        end_early(e);
        e.assigns = assigns || e.writes(&self.m.structs);
        keep_if_changed(e);
        let mut mark = |place: &Expr, f: fn(&mut Var)| {
            if let Some((var, false)) = place.root() {
                f(&mut vars[var.0]);
            }
        };
        match &*e.kind {
            // A part of a slice is computed from its address and length; only an array is itself the memory.
            ExprKind::SubSlice { base, .. } if matches!(base.ty, Ty::Slice { .. }) => {}
            ExprKind::AddrOf(place)
            | ExprKind::SubSlice { base: place, .. }
            | ExprKind::Atomic { place, .. } => {
                mark(place, |v| v.addressed = true);
            }
            ExprKind::Spawn {
                dest: Some((place, _)),
                ..
            } => mark(place, |v| v.awaits = true),
            _ => {}
        }
        self.judge(e);
    }

    /// A call whose parameters are known at the end.
    fn call_now(&mut self, call: &LaterCall, span: Span) -> Option<ExprKind> {
        let mut known = Vec::new();
        for (given, param) in call.given.iter().zip(&call.template.params) {
            known.push(match given {
                Given::Number(s, bits) => Known::Number(*s, *bits),
                Given::Type(ty) => match self.table.finish(ty) {
                    Some(ty) => Known::Type(ty.to_type()),
                    None => {
                        let (of, name) = (&param.name, &call.template.name);
                        self.error(
                            span,
                            format!("what the parameter `{of}` of `{name}` is, is not known"),
                        )
                        .help("write it, as in `name::<u32>(..)`");
                        return None;
                    }
                },
            });
        }
        let id = self.m.copy_fn(&call.template, &known, span);
        Some(ExprKind::Call(id, call.args.clone()))
    }

    fn negative_literal(&mut self, value: u128, e: &mut Expr) {
        let Ty::Scalar(s) = e.ty else { return };
        if !s.is_signed() {
            self.error(e.span, format!("`{s}` has no negative values"));
        } else if value > 1 << (s.bits() - 1) {
            self.error(e.span, format!("-{value} does not fit `{s}`"));
        } else {
            *e.kind = ExprKind::Int((value as i128).wrapping_neg() as u128);
        }
    }

    fn judge(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Int(value) => {
                if let Ty::Scalar(s) = e.ty
                    && *value >> s.bits() != 0
                    && (*value as i128) >= 0
                {
                    self.error(e.span, format!("{value} does not fit `{s}`"));
                } else if let Ty::Scalar(s) = e.ty
                    && s.is_signed()
                    && *value >> (s.bits() - 1) == 1
                    && *value != 1 << (s.bits() - 1)
                {
                    self.error(e.span, format!("{value} does not fit `{s}`"));
                }
            }
            ExprKind::Unary(op, a) | ExprKind::RawUnary(op, a) => self.judge_unary(*op, a, e),
            ExprKind::Binary(op, a, b) | ExprKind::RawBinary(op, a, b) => {
                self.judge_binary(*op, a, b, e)
            }
            ExprKind::AssignOp(op, place, value) => self.judge_binary(*op, place, value, e),
            ExprKind::SameFields { left, .. } => self.comparable(&left.ty, e),
            ExprKind::AssertCmp { left, .. } => self.comparable(&left.ty, e),
            ExprKind::Cast(a) => self.judge_cast(a, e),
            ExprKind::AddrOf(of) if !of.is_place() => {
                let span = if is_nowhere(e.span) { of.span } else { e.span };
                self.judge_kept(of, span);
            }
            ExprKind::Match(value, arms) => self.covers_all(value, arms, e.span),
            ExprKind::Spawn {
                dest: Some((place, combine)),
                ..
            } => {
                let ok = combine
                    .op()
                    .is_none_or(|op| place.ty.scalar().is_some_and(|s| op.accepts(s)));
                if !ok {
                    let shown = self.show(&place.ty);
                    self.error(e.span, format!("results of type `{shown}` cannot be gathered this way"))
                        .help("integers take all ways, floats `+=`, `min` and `max`, bools `|=`, `&=` and `^=`");
                }
            }
            _ => {}
        }
    }

    /// A reference to a value that is made there, and holds references. In Rust it may refer to a constant, and leave the function.
    fn judge_kept(&mut self, of: &Expr, span: Span) {
        let structs = &self.m.structs;
        let holds = of.ty.to_type().has_addresses(structs);
        let gives = self.lends_holders || refers_to_holder(&self.ret.to_type(), structs);
        if holds && gives {
            self.error(
                span,
                "a reference to a constant that holds references, in a function that gives such ones",
            )
            .help("give what it refers to itself: it is copied");
        }
    }

    fn judge_unary(&mut self, op: UnOp, a: &Expr, e: &Expr) {
        let Ty::Scalar(s) = a.ty else {
            self.not_for(op.name(), &a.ty, e);
            return;
        };
        if !op.accepts(s)
            || op == UnOp::Neg
                && !s.is_signed()
                && !s.is_float()
                && matches!(*e.kind, ExprKind::Unary(..))
        {
            let name = match op {
                UnOp::Neg => "-",
                UnOp::Not => "!",
                other => other.name(),
            };
            let d = self.error(e.span, format!("`{name}` cannot be applied to `{s}`"));
            if op == UnOp::Neg && s.is_int() {
                d.help("use `wrapping_neg`, or a signed type");
            }
        }
    }

    fn judge_binary(&mut self, op: BinOp, a: &Expr, b: &Expr, e: &Expr) {
        if matches!(a.ty, Ty::Error | Ty::Never) || matches!(b.ty, Ty::Error | Ty::Never) {
            return;
        }
        let shift = matches!(op, BinOp::Shl | BinOp::Shr);
        match (a.ty.scalar(), b.ty.scalar()) {
            (Some(x), Some(y)) if op.accepts(x) && (!shift || y.is_int()) => {}
            (Some(x), Some(y)) => {
                let shown = if op.accepts(x) { y } else { x };
                self.not_for(symbol(op), &Ty::Scalar(shown), e);
            }
            _ => self.not_for(symbol(op), &a.ty.clone(), e),
        }
    }

    fn not_for(&mut self, name: &str, ty: &Ty, e: &Expr) {
        if matches!(ty, Ty::Error | Ty::Never) {
            return;
        }
        let shown = self.show(ty);
        let d = self.error(e.span, format!("`{name}` cannot be applied to `{shown}`"));
        match ty {
            Ty::Tuple(_) | Ty::Array(..) => {
                d.help("write it for the parts, one by one");
            }
            Ty::Option(_) | Ty::Result(..) => {
                d.help(super::sums::TAKE_APART);
            }
            Ty::Struct(_) => {
                d.help("write an `impl` of the operator's trait, as `std::ops::Add`; for an order, derive `PartialOrd`");
            }
            _ => {}
        }
    }

    fn comparable(&mut self, ty: &Ty, e: &Expr) {
        fn is_plain(ty: &Ty, structs: &Structs) -> bool {
            match ty {
                Ty::Struct(_) => !ty.to_type().has_addresses(structs),
                Ty::Scalar(_) | Ty::Error | Ty::Never => true,
                Ty::Tuple(fields) => fields.iter().all(|t| is_plain(t, structs)),
                Ty::Array(elem, _) | Ty::Option(elem) | Ty::Slice { elem, .. } => {
                    is_plain(elem, structs)
                }
                Ty::Result(ok, err) => is_plain(ok, structs) && is_plain(err, structs),
                _ => false,
            }
        }
        if self.has_own("eq", ty) {
            self.error(e.span, "the type must be known where values are compared")
                .help("write the type where the variable is declared");
        } else if !is_plain(ty, &self.m.structs) {
            let shown = self.show(ty);
            self.error(e.span, format!("`{shown}` cannot be compared as a whole"))
                .help(match ty {
                    Ty::Struct(_) => "write `impl PartialEq` for it, or compare its parts in a function, by `match`",
                    _ => "compare its elements in a loop",
                });
        }
    }

    fn judge_cast(&mut self, a: &Expr, e: &Expr) {
        if let (Ty::Scalar(from), Ty::Scalar(to)) = (&a.ty, &e.ty)
            && *from == Scalar::Bool
            && to.is_float()
        {
            self.error(
                e.span,
                format!("`bool` cannot be converted to `{to}` by `as`"),
            )
            .help("write `if b { 1.0 } else { 0.0 }`");
        }
    }
}

/// A `for` by value over an array runs over the array as it was; a copy is needed only if the body may change it.
fn keep_if_changed(e: &mut Expr) {
    if let ExprKind::For(_, For::Slices { parts, .. }, body) = &mut *e.kind {
        for part in parts {
            part.keep &= match part.slice.root() {
                Some((var, false)) => body.changes(var),
                Some((_, true)) => body.assigns,
                None => false,
            };
        }
    }
}

fn symbol(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Rem => "%",
        BinOp::And => "&",
        BinOp::Or => "|",
        BinOp::Xor => "^",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
        other => other.name(),
    }
}

/// An operation of which an operand has no value, as the task or the run ends there, is what comes before it and that: `sum += return 0`.
fn end_early(e: &mut Expr) {
    use ExprKind as K;
    let mut operands: Vec<&mut Expr> = match &mut *e.kind {
        K::Unary(_, a) | K::RawUnary(_, a) | K::Cast(a) | K::Bitcast(a) => vec![a],
        K::Binary(_, a, b) | K::RawBinary(_, a, b) => vec![a, b],
        K::MulAdd(a, b, c) => vec![a, b, c],
        K::Call(_, args) | K::Method(_, args) | K::Tuple(args) | K::Array(args) => {
            args.iter_mut().collect()
        }
        // The place is come to when there is a value.
        K::Assign(place, value) | K::AssignOp(_, place, value) => vec![value, place],
        K::Index(base, at) => vec![base, at],
        K::Field(base, _) | K::Deref(base) | K::AddrOf(base) | K::Unsize(base) => vec![base],
        _ => return,
    };
    let ends = |a: &&mut Expr| matches!(a.ty, Ty::Never);
    let Some(at) = operands.iter().position(ends) else {
        return;
    };
    operands.truncate(at + 1);
    let last = operands.pop().map(|a| a.clone());
    let before = operands.into_iter().map(|a| Stmt::Expr(a.clone()));
    *e.kind = K::Block(before.collect(), last);
    e.ty = Ty::Never;
}
