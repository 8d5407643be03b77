//! Unary and binary operators, casts, assignment.

use super::{
    Checker, overloads, own_orders,
    places::{mismatch_help, strip},
};
use crate::{
    hir::{Expr, ExprKind, Pat, Stmt},
    items::split_path,
    ty::{BOOL, Class, Ty, USIZE},
};
use millstream_graph::{
    ir::{BinOp, UnOp},
    ty::Scalar,
};
use proc_macro2::Span;
use syn::spanned::Spanned;

/// What an operator of the syntax does.
enum Operator {
    Plain(BinOp),
    Lazy { and: bool },
    Assign(BinOp),
}

fn operator(op: &syn::BinOp) -> Option<Operator> {
    use BinOp::{Add, And, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Or, Rem, Shl, Shr, Sub, Xor};
    Some(match op {
        syn::BinOp::Add(_) => Operator::Plain(Add),
        syn::BinOp::Sub(_) => Operator::Plain(Sub),
        syn::BinOp::Mul(_) => Operator::Plain(Mul),
        syn::BinOp::Div(_) => Operator::Plain(Div),
        syn::BinOp::Rem(_) => Operator::Plain(Rem),
        syn::BinOp::BitXor(_) => Operator::Plain(Xor),
        syn::BinOp::BitAnd(_) => Operator::Plain(And),
        syn::BinOp::BitOr(_) => Operator::Plain(Or),
        syn::BinOp::Shl(_) => Operator::Plain(Shl),
        syn::BinOp::Shr(_) => Operator::Plain(Shr),
        syn::BinOp::Eq(_) => Operator::Plain(Eq),
        syn::BinOp::Lt(_) => Operator::Plain(Lt),
        syn::BinOp::Le(_) => Operator::Plain(Le),
        syn::BinOp::Ne(_) => Operator::Plain(Ne),
        syn::BinOp::Ge(_) => Operator::Plain(Ge),
        syn::BinOp::Gt(_) => Operator::Plain(Gt),
        syn::BinOp::And(_) => Operator::Lazy { and: true },
        syn::BinOp::Or(_) => Operator::Lazy { and: false },
        syn::BinOp::AddAssign(_) => Operator::Assign(Add),
        syn::BinOp::SubAssign(_) => Operator::Assign(Sub),
        syn::BinOp::MulAssign(_) => Operator::Assign(Mul),
        syn::BinOp::DivAssign(_) => Operator::Assign(Div),
        syn::BinOp::RemAssign(_) => Operator::Assign(Rem),
        syn::BinOp::BitXorAssign(_) => Operator::Assign(Xor),
        syn::BinOp::BitAndAssign(_) => Operator::Assign(And),
        syn::BinOp::BitOrAssign(_) => Operator::Assign(Or),
        syn::BinOp::ShlAssign(_) => Operator::Assign(Shl),
        syn::BinOp::ShrAssign(_) => Operator::Assign(Shr),
        _ => return None,
    })
}

const fn is_shift(op: BinOp) -> bool {
    matches!(op, BinOp::Shl | BinOp::Shr)
}

impl Checker<'_> {
    pub(super) fn binary(&mut self, b: &syn::ExprBinary, want: Option<&Ty>) -> Expr {
        let span = b.span();
        match operator(&b.op) {
            Some(Operator::Plain(op)) => self.plain(op, &b.left, &b.right, want, b.op.span(), span),
            Some(Operator::Lazy { and }) => {
                let left = self.expr_as(&b.left, &BOOL);
                let right = self.expr_as(&b.right, &BOOL);
                Expr::new(ExprKind::Lazy { and, left, right }, BOOL, span)
            }
            Some(Operator::Assign(op)) => self.assign_op(op, b),
            None => self.refuse(
                b.op.span(),
                "this operator is not part of the task language",
                "docs/language.md lists what there is",
            ),
        }
    }

    fn plain(
        &mut self,
        op: BinOp,
        left: &syn::Expr,
        right: &syn::Expr,
        want: Option<&Ty>,
        at: Span,
        span: Span,
    ) -> Expr {
        let hint = want.filter(|_| !op.is_comparison());
        let left_syntax = left;
        let compares = op.is_comparison();
        let as_right = self.made_as_right(left, right);
        let hint = as_right.as_ref().or(hint);
        let left = if compares {
            self.compared_part(left, hint)
        } else {
            self.expr(left, hint)
        };
        let mut lent = [self.is_reference(&left), false];
        let left = self.behind_refs(left);
        let right_hint = (!is_shift(op)).then(|| left.ty.clone());
        let right_hint = right_hint.filter(|of| compares || self.may_be_made_as(right, of));
        let right = if compares {
            self.compared_part(right, right_hint.as_ref())
        } else {
            self.expr(right, right_hint.as_ref())
        };
        lent[1] = self.is_reference(&right);
        let right = self.behind_refs(right);
        // `1 + x`, of a wide `x`.
        let left = match is_literal(left_syntax) && self.wide_sign(&right.ty).is_some() {
            true if !is_shift(op) => self.expr(left_syntax, Some(&right.ty)),
            _ => left,
        };
        let method = overloads::method(op);
        let sides = [&left, &right];
        if let Some(call) = method.and_then(|name| self.overloaded_by(name, &sides, &lent, span)) {
            return self.output_said(call, method, &left, Some(&right));
        }
        if op.is_comparison() {
            return self.comparison(op, left, right, at, span);
        }
        if is_shift(op) {
            let ty = left.ty.clone();
            return Expr::new(ExprKind::Binary(op, left, right), ty, span);
        }
        if matches!(self.shallow(&left.ty), Ty::Error)
            || matches!(self.shallow(&right.ty), Ty::Error)
        {
            return Self::broken(span);
        }
        if let Some(atomic) = self.atomic_operand(&left, &right) {
            return self.refuse_atomic(&atomic, at);
        }
        if !self.table.unify(&left.ty, &right.ty) {
            return self.sides_differ(&left, &right, false, at);
        }
        let ty = if matches!(self.shallow(&left.ty), Ty::Never) {
            right.ty.clone()
        } else {
            left.ty.clone()
        };
        let kind = ExprKind::Binary(op, left.clone(), right.clone());
        let value = Expr::new(kind, ty, span);
        self.output_said(value, method, &left, Some(&right))
    }

    /// Whether a value that is made there may be of the left side's type. `a * M([[1], [2]])` of matrices has another copy of `M` on its right.
    fn may_be_made_as(&mut self, right: &syn::Expr, left: &Ty) -> bool {
        let is_copy = match self.shallow(left) {
            Ty::Struct(id) => self.family_of(id).is_some(),
            _ => false,
        };
        let is_made = matches!(strip(right), syn::Expr::Call(_) | syn::Expr::Struct(_));
        !is_copy || !is_made || self.goes_as(right, left)
    }

    /// The type of the right side, if a value of a struct is made on the left whose parameters only that says: `F(5) * w`.
    fn made_as_right(&mut self, left: &syn::Expr, right: &syn::Expr) -> Option<Ty> {
        let path = match strip(left) {
            syn::Expr::Struct(s) => s.path.clone(),
            syn::Expr::Call(call) => match strip(&call.func) {
                syn::Expr::Path(p) if p.qself.is_none() => p.path.clone(),
                _ => return None,
            },
            _ => return None,
        };
        let of = split_path(&path).map(|(of, _)| of);
        let family = (self.family_at(&path)).or_else(|| self.family_at(&of?))?;
        let said = self.type_ahead(left);
        if self.closed(&said).is_some() {
            return None;
        }
        let ty = self.type_ahead(right);
        let ty = match self.shallow(&ty) {
            Ty::Ref { target, .. } => self.shallow(&target),
            ty => ty,
        };
        let Ty::Struct(id) = ty else { return None };
        (self.family_of(id) == Some(family) && self.goes_as(left, &ty)).then_some(ty)
    }

    fn sides_differ(&mut self, left: &Expr, right: &Expr, equality: bool, at: Span) -> Expr {
        let (l, r) = (self.show(&left.ty), self.show(&right.ty));
        let literal = |have: &str, want: &str, e: &Expr| {
            mismatch_help(have, want, e).filter(|h| h.starts_with("write"))
        };
        let help = literal(&r, &l, right).or_else(|| literal(&l, &r, left));
        let option = [&left.ty, &right.ty]
            .into_iter()
            .any(|ty| matches!(self.shallow(ty), Ty::Option(_) | Ty::Result(..)));
        let help = match help {
            Some(help) if equality || !option => help,
            _ if option => super::sums::TAKE_APART.to_owned(),
            _ => "convert one of them with `as`".to_owned(),
        };
        self.refuse(at, format!("the two sides differ: `{l}` and `{r}`"), help)
    }

    /// `==`, `<` and the others of two values.
    pub(super) fn comparison(
        &mut self,
        op: BinOp,
        left: Expr,
        right: Expr,
        at: Span,
        span: Span,
    ) -> Expr {
        if let Some(own) = self.compared_by_own(op, &left, &right, span) {
            return own;
        }
        let is_broken = |c: &Self, e: &Expr| matches!(c.shallow(&e.ty), Ty::Error);
        if is_broken(self, &left) || is_broken(self, &right) {
            return Self::broken(span);
        }
        if let Some(atomic) = self.atomic_operand(&left, &right) {
            return self.refuse_atomic(&atomic, at);
        }
        let equality = matches!(op, BinOp::Eq | BinOp::Ne);
        let (left, right) = self.compared_sides(left, right);
        let slices = match (self.shallow(&left.ty), self.shallow(&right.ty)) {
            (Ty::Slice { elem: l, .. }, Ty::Slice { elem: r, .. }) => self.table.unify(&l, &r),
            _ => false,
        };
        if !slices && !self.table.unify(&left.ty, &right.ty) {
            return self.sides_differ(&left, &right, equality, at);
        }
        if let Some(own) = self.compared_in_parts(op, &left, &right) {
            return own;
        }
        let has_parts = matches!(
            self.shallow(&left.ty),
            Ty::Tuple(_)
                | Ty::Struct(_)
                | Ty::Array(..)
                | Ty::Slice { .. }
                | Ty::Option(_)
                | Ty::Result(..)
        );
        if equality && has_parts {
            let equal = op == BinOp::Eq;
            return Expr::new(ExprKind::SameFields { equal, left, right }, BOOL, span);
        }
        if let (Ty::Array(..) | Ty::Slice { .. }, Some(name)) =
            (self.shallow(&left.ty), own_orders::method(op))
        {
            return self.elements_compared(name, left, right);
        }
        match self.ordered(op, &left, &right) {
            Some(ordered) => ordered,
            None => Expr::new(ExprKind::Binary(op, left, right), BOOL, span),
        }
    }

    fn refuse_atomic(&mut self, atomic: &str, at: Span) -> Expr {
        self.refuse(
            at,
            format!("`{atomic}` has no operators"),
            "use its methods: `load`, `store`, `fetch_add`, ..",
        )
    }

    /// Two values as a comparison looks at them.
    fn compared_sides(&mut self, left: Expr, right: Expr) -> (Expr, Expr) {
        let (left, right) = self.as_slices(left, right);
        self.table.unify(&left.ty, &right.ty);
        (self.without_refs(left), self.without_refs(right))
    }

    /// The same value with what its references refer to in their place: what a comparison looks at.
    pub(super) fn without_refs(&mut self, e: Expr) -> Expr {
        let (ty, span) = (self.shallow(&e.ty), e.span);
        if let Ty::Ref { .. } = ty {
            let target = self.behind_refs(e);
            return self.without_refs(target);
        }
        if !self.has_refs(&ty) {
            return e;
        }
        let var = self.add_var("compared", ty.clone());
        let stmts = vec![Stmt::Let(Pat::Var(var), Some(e))];
        let whole = Expr::new(ExprKind::Var(var), ty.clone(), span);
        let parts = self.parts_of(&ty).into_iter().enumerate();
        let parts: Vec<Expr> = parts
            .map(|(i, part)| {
                self.without_refs(Expr::new(ExprKind::Field(whole.clone(), i), part, span))
            })
            .collect();
        let value = match (ty, &parts[..]) {
            (Ty::Option(_), [has, some]) => {
                let (none, ty) = (
                    self.none_of(&some.ty.clone(), span),
                    Ty::option(some.ty.clone()),
                );
                let there = Expr::new(ExprKind::Tuple(parts.clone()), ty.clone(), span);
                Expr::new(ExprKind::If(has.clone(), there, Some(none)), ty, span)
            }
            _ => {
                let ty = Ty::Tuple(parts.iter().map(|part| part.ty.clone()).collect());
                Expr::new(ExprKind::Tuple(parts), ty, span)
            }
        };
        let ty = value.ty.clone();
        Expr::new(ExprKind::Block(stmts, Some(value)), ty, span)
    }

    /// Whether an `Option` or a tuple has references in it.
    fn has_refs(&self, ty: &Ty) -> bool {
        match self.shallow(ty) {
            Ty::Ref { .. } => true,
            Ty::Option(some) => self.has_refs(&some),
            Ty::Tuple(types) => types.iter().any(|ty| self.has_refs(ty)),
            _ => false,
        }
    }

    /// An array that is compared with a slice becomes a slice.
    fn as_slices(&mut self, left: Expr, right: Expr) -> (Expr, Expr) {
        match (self.shallow(&left.ty), self.shallow(&right.ty)) {
            (Ty::Slice { .. }, Ty::Array(..)) => {
                let slice = self
                    .as_slice(right.clone(), false)
                    .map_or(right, |(slice, _)| slice);
                (left, slice)
            }
            (Ty::Array(..), Ty::Slice { .. }) => {
                let slice = self
                    .as_slice(left.clone(), false)
                    .map_or(left, |(slice, _)| slice);
                (slice, right)
            }
            _ => (left, right),
        }
    }

    fn atomic_operand(&self, left: &Expr, right: &Expr) -> Option<String> {
        let atomic = [left, right]
            .into_iter()
            .find(|e| matches!(self.shallow(&e.ty), Ty::Atomic(_)))?;
        Some(self.show(&atomic.ty))
    }

    /// The value behind references: operators look through them, as Rust's do.
    pub(super) fn behind_refs(&mut self, e: Expr) -> Expr {
        let mut e = e;
        while let Ty::Ref { target, .. } = self.shallow(&e.ty) {
            let span = e.span;
            e = Expr::new(ExprKind::Deref(e), *target, span);
        }
        e
    }

    /// Whether an expression is the name of what its syntax takes for a reference to it.
    pub(super) fn is_lent(&self, syntax: &syn::Expr, e: &Expr) -> bool {
        matches!(strip(syntax), syn::Expr::Path(_))
            && matches!(*e.kind, ExprKind::Var(v) if self.vars[v.0].lent)
    }

    pub(super) fn unary(&mut self, u: &syn::ExprUnary, want: Option<&Ty>) -> Expr {
        let span = u.span();
        match u.op {
            syn::UnOp::Deref(_) => {
                let e = self.expr(&u.expr, None);
                if self.is_lent(&u.expr, &e) {
                    return e;
                }
                match self.shallow(&e.ty) {
                    Ty::Ref { target, .. } => Expr::new(ExprKind::Deref(e), *target, span),
                    Ty::Error => Self::broken(span),
                    // `*slice` only ever stands behind `&` or in front of an index; the slice itself serves.
                    Ty::Slice { .. } => e,
                    other => {
                        if let Some(behind) = self.dereferenced(&e) {
                            return behind;
                        }
                        let shown = self.show(&other);
                        self.refuse(
                            span,
                            format!("`{shown}` is not a reference"),
                            "leave out the `*`",
                        )
                    }
                }
            }
            syn::UnOp::Neg(_) => {
                let e = self.expr(&u.expr, want);
                let lent = [self.is_reference(&e)];
                let e = self.behind_refs(e);
                if let Some(call) = self.overloaded_by("neg", &[&e], &lent, span) {
                    return self.output_said(call, Some("neg"), &e, None);
                }
                let value = Expr::new(ExprKind::Unary(UnOp::Neg, e.clone()), e.ty.clone(), span);
                self.output_said(value, Some("neg"), &e, None)
            }
            syn::UnOp::Not(_) => {
                let e = self.expr(&u.expr, want);
                let lent = [self.is_reference(&e)];
                let e = self.behind_refs(e);
                if let Some(call) = self.overloaded_by("not", &[&e], &lent, span) {
                    return self.output_said(call, Some("not"), &e, None);
                }
                let value = Expr::new(ExprKind::Unary(UnOp::Not, e.clone()), e.ty.clone(), span);
                self.output_said(value, Some("not"), &e, None)
            }
            _ => self.refuse(
                span,
                "this operator is not part of the task language",
                "docs/language.md lists what there is",
            ),
        }
    }

    pub(super) fn cast(&mut self, c: &syn::ExprCast) -> Expr {
        let span = c.span();
        if let syn::Type::Infer(_) = *c.ty {
            let e = self.expr(&c.expr, None);
            return self.refuse(
                span,
                format!("`{} as _` leaves the type open", self.show(&e.ty)),
                "write the type",
            );
        }
        let before = self.m.diags.0.len();
        let ty = Ty::from_type(&self.m.resolve_type(&c.ty));
        if self.m.diags.0.len() > before {
            return Self::broken(span);
        }
        if self.pointer_of(&ty).is_some() {
            return self.expr_as(&c.expr, &ty);
        }
        if let syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Char(c),
            ..
        }) = strip(&c.expr)
            && ty.scalar().is_some_and(Scalar::is_int)
        {
            let kind = ExprKind::Int(u128::from(u32::from(c.value())));
            let code = Expr::new(kind, Ty::Scalar(Scalar::U32), span);
            return Expr::new(ExprKind::Cast(code), ty, span);
        }
        // Rust lets the target decide the type of a bare literal, and of nothing else.
        let hint = is_literal(&c.expr).then_some(&ty);
        let e = self.expr(&c.expr, hint);
        let e = if ty.is_scalar() {
            self.behind_refs_if_scalar(e)
        } else {
            e
        };
        let e = match self.shallow(&e.ty) {
            Ty::Struct(id)
                if self.m.structs[id].is_enum()
                    && !self.m.structs[id].has_data()
                    && ty.is_scalar() =>
            {
                let integer = Ty::from_type(&self.m.structs[id].fields[0].1);
                Expr::new(ExprKind::Field(e, 0), integer, span)
            }
            _ => e,
        };
        if let Some(wide) = self.widened(e.clone(), &ty, span) {
            return wide;
        }
        if let Some(to) = ty.scalar()
            && let Some(narrow) = self.narrowed(&c.expr, &e.ty.clone(), to, span)
        {
            return narrow;
        }
        let Some(to) = ty.scalar() else {
            if self.table.unify(&e.ty, &ty) {
                return e;
            }
            let shown = self.show(&ty);
            return self.refuse(
                span,
                format!("`as {shown}` does not convert anything"),
                "`as` converts numbers and bools",
            );
        };
        let from = self.shallow(&e.ty);
        let wrong = match from.scalar() {
            Some(from) if to == millstream_graph::ty::Scalar::Bool => from != to,
            Some(from) => from == millstream_graph::ty::Scalar::Bool && to.is_float(),
            None => !matches!(from, Ty::Var(_) | Ty::Error | Ty::Never),
        };
        if wrong {
            let shown = self.show(&from);
            let help = if ty == BOOL {
                "compare with zero: `x != 0`"
            } else {
                "`as` converts numbers, and bools to integers"
            };
            return self.refuse(
                span,
                format!("`{shown}` cannot be converted to `{to}` by `as`"),
                help,
            );
        }
        Expr::new(ExprKind::Cast(e), ty, span)
    }

    fn behind_refs_if_scalar(&mut self, e: Expr) -> Expr {
        match self.shallow(&e.ty) {
            Ty::Ref { target, .. } if target.is_scalar() => self.behind_refs(e),
            _ => e,
        }
    }

    pub(super) fn assign(&mut self, a: &syn::ExprAssign) -> Expr {
        let span = a.span();
        if let syn::Expr::Infer(_) = *a.left {
            let right = self.expr(&a.right, None);
            return Expr::new(
                ExprKind::Block(vec![Stmt::Expr(right)], None),
                Ty::unit(),
                span,
            );
        }
        if let Some(each) = self.assigned_each(a) {
            return each;
        }
        if let syn::Expr::Tuple(t) = &*a.left {
            let types = t.elems.iter().map(|_| self.table.fresh(Class::Any));
            let whole = Ty::Tuple(types.collect());
            let part = |all, i| ExprKind::Field(all, i);
            return self.assign_parts(&t.elems, &a.right, whole, &part, span);
        }
        if let syn::Expr::Array(t) = &*a.left {
            let elem = Box::new(self.table.fresh(Class::Any));
            let whole = Ty::Array(elem, t.elems.len() as u64);
            let index = |i| Expr::new(ExprKind::Int(i as u128), USIZE, span);
            let part = |all, i| ExprKind::Index(all, index(i));
            return self.assign_parts(&t.elems, &a.right, whole, &part, span);
        }
        if let Some(spawn) = self.assigned_spawn(a) {
            return spawn;
        }
        let place = self.place(&a.left);
        let ty = place.ty.clone();
        let value = self.expr_as(&a.right, &ty);
        Expr::new(ExprKind::Assign(place, value), Ty::unit(), span)
    }

    /// `(a, b) = value` or `[a, b] = value`: the value first, then each place. `part` makes one of the parts of what is of the type `whole`.
    fn assign_parts(
        &mut self,
        elems: &Elements,
        value: &syn::Expr,
        whole: Ty,
        part: &dyn Fn(Expr, usize) -> ExprKind,
        span: Span,
    ) -> Expr {
        let value = self.expr(value, None);
        let value = self.coerce(value, &whole);
        let hidden = self.add_var("parts", whole.clone());
        let types = match &whole {
            Ty::Tuple(types) => types.clone(),
            Ty::Array(elem, _) => vec![(**elem).clone(); elems.len()],
            _ => Vec::new(),
        };
        let mut stmts = vec![Stmt::Let(Pat::Var(hidden), Some(value))];
        for (i, (elem, ty)) in elems.iter().zip(types).enumerate() {
            if matches!(elem, syn::Expr::Infer(_)) {
                continue;
            }
            let place = self.place(elem);
            let all = Expr::new(ExprKind::Var(hidden), whole.clone(), span);
            let part = Expr::new(part(all, i), ty, span);
            let want = place.ty.clone();
            let part = self.coerce(part, &want);
            stmts.push(Stmt::Expr(Expr::new(
                ExprKind::Assign(place, part),
                Ty::unit(),
                span,
            )));
        }
        Expr::new(ExprKind::Block(stmts, None), Ty::unit(), span)
    }

    fn assign_op(&mut self, op: BinOp, b: &syn::ExprBinary) -> Expr {
        let span = b.span();
        if let Some(spawn) = self.gathered_spawn(op, b) {
            return spawn;
        }
        let place = self.place(&b.left);
        let place = self.behind_refs(place);
        let hint = (!is_shift(op)).then(|| place.ty.clone());
        let value = self.expr(&b.right, hint.as_ref());
        let lent = [true, self.is_reference(&value)];
        let mut value = self.behind_refs(value);
        if let Some(atomic) = self.atomic_operand(&place, &value) {
            return self.refuse_atomic(&atomic, b.op.span());
        }
        if let Some(name) = overloads::method(op) {
            let name = format!("{name}_assign");
            if let Some(call) = self.overloaded_by(&name, &[&place, &value], &lent, span) {
                return call;
            }
        }
        if !is_shift(op) {
            let ty = place.ty.clone();
            value = self.coerce(value, &ty);
        }
        Expr::new(ExprKind::AssignOp(op, place, value), Ty::unit(), span)
    }
}

/// What stands between the brackets.
type Elements = syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>;

fn is_literal(e: &syn::Expr) -> bool {
    match e {
        syn::Expr::Lit(_) => true,
        syn::Expr::Paren(p) => is_literal(&p.expr),
        syn::Expr::Group(g) => is_literal(&g.expr),
        syn::Expr::Unary(u) => is_literal(&u.expr),
        _ => false,
    }
}
