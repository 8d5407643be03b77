//! Integers of two halves, `u128` and `i128`: literals of them, and what `as`, `from` and `into` make of other numbers and of them.

use super::{Checker, chains::own, places::strip};
use crate::{
    beside,
    hir::{Expr, ExprKind, Stmt},
    ty::{Class, Ty},
};
use millstream_graph::{ir::BinOp, ty::Scalar};
use proc_macro2::Span;
use syn::parse_quote_spanned;

impl Checker<'_> {
    /// Whether a type is one of these, and whether it has a sign then.
    pub(super) fn wide_sign(&self, ty: &Ty) -> Option<bool> {
        match self.shallow(ty) {
            Ty::Struct(id) => self.m.structs[id].wide(),
            _ => None,
        }
    }

    /// One of these of its halves.
    fn of_halves(low: Expr, high: Expr, ty: &Ty, span: Span) -> Expr {
        let Ty::Struct(id) = *ty else {
            return Self::broken(span);
        };
        let kind = ExprKind::Struct {
            id,
            fields: vec![(0, low), (1, high)],
            base: None,
        };
        Expr::new(kind, ty.clone(), span)
    }

    /// A literal of this type, or of that of its suffix.
    pub(super) fn wide_literal(
        &mut self,
        lit: &syn::LitInt,
        value: u128,
        want: Option<&Ty>,
        span: Span,
    ) -> Option<Expr> {
        let suffix = lit.suffix();
        let ty = match suffix.is_empty() {
            true => self.shallow(want?),
            false if beside::is_wide(suffix) => {
                let name = syn::Ident::new(suffix, span);
                Ty::from_type(&self.m.resolve_type(&parse_quote_spanned!(span=> #name)))
            }
            false => return None,
        };
        self.wide_sign(&ty)?;
        Some(Self::of_bits(value, &ty, span))
    }

    fn of_bits(value: u128, ty: &Ty, span: Span) -> Expr {
        let half = |bits: u128| {
            let bits = bits & u128::from(u64::MAX);
            Expr::new(ExprKind::Int(bits), Ty::Scalar(Scalar::U64), span)
        };
        Self::of_halves(half(value), half(value >> 64), ty, span)
    }

    /// A literal that was checked before what says that it is one of these, as on a way of a condition: `if c { 0 } else { x >> 64 }`.
    pub(super) fn literal_as_wide(&self, e: &Expr, ty: &Ty) -> Option<Expr> {
        self.wide_sign(ty)?;
        match &*e.kind {
            ExprKind::Int(value) if matches!(self.shallow(&e.ty), Ty::Var(_)) => {
                Some(Self::of_bits(*value, &self.shallow(ty), e.span))
            }
            ExprKind::Block(stmts, Some(value)) if stmts.is_empty() => {
                self.literal_as_wide(value, ty)
            }
            _ => None,
        }
    }

    /// Whether what is done later with variables, the last ones, may say that the literals in them are such ones.
    pub(super) fn may_be_wide(&self, local: &syn::Local, first: usize) -> bool {
        let is_literal = |init: &syn::LocalInit| made_of_literals(&init.expr);
        let mut vars = self.vars.iter().skip(first);
        self.m.wide().is_some()
            && local.init.as_ref().is_some_and(is_literal)
            && vars.any(|var| !self.open_integers(&var.ty).is_empty())
    }

    /// Lets those integers of a type be such ones that met them, and says whether there are any.
    pub(super) fn met_wide(&mut self, ty: &Ty) -> bool {
        let met = self.open_integers(ty).into_iter().filter_map(|var| {
            let id = self.table.met(&Ty::Var(var))?;
            self.wide_sign(&Ty::Struct(id)).map(|_| (var, id))
        });
        let met: Vec<_> = met.collect();
        met.iter().for_each(|(var, id)| self.table.be(*var, *id));
        !met.is_empty()
    }

    /// Integers in a type that nothing has decided on.
    fn open_integers(&self, ty: &Ty) -> Vec<usize> {
        match self.shallow(ty) {
            Ty::Var(var) if self.table.class(var) == Class::Int => vec![var],
            Ty::Array(of, _) => self.open_integers(&of),
            Ty::Tuple(parts) => parts.iter().flat_map(|ty| self.open_integers(ty)).collect(),
            _ => Vec::new(),
        }
    }

    /// A number as one of these.
    pub(super) fn widened(&mut self, e: Expr, ty: &Ty, span: Span) -> Option<Expr> {
        self.wide_sign(ty)?;
        let e = self.behind_refs(e);
        let u64 = Ty::Scalar(Scalar::U64);
        let from = self.shallow(&e.ty);
        let is_open = matches!(from, Ty::Var(v) if self.table.class(v) == Class::Int);
        let var = self.add_var(&own("wide", span).to_string(), from.clone());
        let value = Expr::new(ExprKind::Var(var), from.clone(), span);
        let (low, high) = match (from.scalar(), self.wide_sign(&from)) {
            (_, Some(_)) => {
                let half = |i| Expr::new(ExprKind::Field(value.clone(), i), u64.clone(), span);
                (half(0), half(1))
            }
            // Which integer it is may be decided later, and with it whether any is below zero.
            (None, None) if is_open => {
                let number = |n: u128, ty: &Ty| Expr::new(ExprKind::Int(n), ty.clone(), span);
                let is_below = ExprKind::Binary(BinOp::Lt, value.clone(), number(0, &from));
                let is_below = Expr::new(is_below, Ty::Scalar(Scalar::Bool), span);
                let (ones, none) = (number(u64::MAX.into(), &u64), number(0, &u64));
                let high = ExprKind::If(is_below, ones, Some(none));
                let low = ExprKind::Cast(value);
                (
                    Expr::new(low, u64.clone(), span),
                    Expr::new(high, u64, span),
                )
            }
            (Some(s), None) if s.is_int() || s == Scalar::Bool => {
                let cast = |e: Expr, ty: Ty| Expr::new(ExprKind::Cast(e), ty, span);
                let high = match s.is_signed() {
                    true => {
                        let i64 = Ty::Scalar(Scalar::I64);
                        let by = Expr::new(ExprKind::Int(63), Ty::Scalar(Scalar::U32), span);
                        let signed = cast(value.clone(), i64.clone());
                        let kind = ExprKind::Binary(BinOp::Shr, signed, by);
                        cast(Expr::new(kind, i64, span), u64.clone())
                    }
                    false => Expr::new(ExprKind::Int(0), u64.clone(), span),
                };
                (cast(value, u64), high)
            }
            _ => {
                let shown = self.show(&from);
                let message = format!("`{shown}` is not made an integer of 128 bits by `as`");
                return Some(self.refuse(
                    span,
                    message,
                    "go by an integer of 64 bits: `x as u64 as u128`",
                ));
            }
        };
        let made = Self::of_halves(low, high, ty, span);
        let first = Stmt::Let(crate::hir::Pat::Var(var), Some(e));
        let kind = ExprKind::Block(vec![first], Some(made));
        Some(Expr::new(kind, ty.clone(), span))
    }

    /// One of these as a number.
    pub(super) fn narrowed(
        &mut self,
        e: &syn::Expr,
        from: &Ty,
        to: Scalar,
        span: Span,
    ) -> Option<Expr> {
        self.wide_sign(from)?;
        let e: syn::Expr = match to {
            Scalar::F32 => parse_quote_spanned!(span=> (#e).as_f32()),
            Scalar::F64 => parse_quote_spanned!(span=> (#e).as_f64()),
            Scalar::Bool => return None,
            to => {
                let ty = syn::Ident::new(to.name(), span);
                parse_quote_spanned!(span=> ((#e).low as #ty))
            }
        };
        Some(self.expr(&e, None))
    }

    /// `u128::from(x)` and `x.into()` of a number of which no value is lost.
    pub(super) fn widened_from(&mut self, arg: &syn::Expr, ty: &Ty, span: Span) -> Option<Expr> {
        let signed = self.wide_sign(ty)?;
        let value = self.expr(arg, None);
        let from = self.shallow(&value.ty);
        let fits = match from.scalar() {
            Some(s) => {
                s == Scalar::Bool
                    || s.is_int()
                        && (signed || !s.is_signed())
                        && s.name() != "usize"
                        && s.name() != "isize"
            }
            None => matches!(from, Ty::Var(_)) || from == *ty,
        };
        if !fits {
            let shown = self.show(&from);
            let name = if signed { "i128" } else { "u128" };
            let message = format!("`{name}::from` does not take `{shown}`: a value could be lost");
            return Some(self.refuse(span, message, format!("write `.. as {name}`")));
        }
        self.widened(value, ty, span)
    }
}

/// Whether a value is of literals alone.
fn made_of_literals(e: &syn::Expr) -> bool {
    match strip(e) {
        syn::Expr::Lit(_) => true,
        syn::Expr::Unary(u) => made_of_literals(&u.expr),
        syn::Expr::Tuple(t) => t.elems.iter().all(made_of_literals),
        syn::Expr::Array(a) => a.elems.iter().all(made_of_literals),
        syn::Expr::Repeat(r) => made_of_literals(&r.expr),
        _ => false,
    }
}
