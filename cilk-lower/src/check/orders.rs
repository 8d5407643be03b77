//! `std::cmp::Ordering`: what compares two values as a whole, and what is asked of the outcome. It is an enum like the program's, which the module has once something names it.

use super::{
    Binding, Checker,
    chains::{apply, own, total_key},
};
use crate::{
    enums::ORDERING,
    hir::{Expr, ExprKind, Pat, Stmt},
    ty::{BOOL, Class, Ty},
};
use millstream_graph::{ir::BinOp, ty::Scalar};
use proc_macro2::Span;
use quote::quote_spanned;
use syn::{parse_quote_spanned, spanned::Spanned};

/// Methods that compare two values.
pub(super) const COMPARE: &[&str] = &["cmp", "partial_cmp", "total_cmp"];

/// The methods of an `Ordering`, beside these.
const OF_ORDERING: &[&str] = &[
    "reverse",
    "then",
    "then_with",
    "is_lt",
    "is_le",
    "is_gt",
    "is_ge",
    "is_eq",
    "is_ne",
];

impl Checker<'_> {
    /// `a.cmp(&b)`, `a.partial_cmp(&b)` or `a.total_cmp(&b)`.
    pub(super) fn compared(
        &mut self,
        name: &str,
        receiver: Expr,
        other: &syn::Expr,
        at: Span,
    ) -> Expr {
        let left = self.behind_refs(receiver);
        let (ty, span) = (left.ty.clone(), left.span);
        if let Some(own) = self.operator_named(name, &left, &[other], span) {
            return own;
        }
        let want = Ty::Ref {
            mutable: false,
            target: Box::new(ty.clone()),
        };
        let right = self.expr_as(other, &want);
        let right = match *right.kind {
            ExprKind::AddrOf(place) => place,
            _ => self.behind_refs(right),
        };
        match (name, self.shallow(&ty)) {
            (_, Ty::Error | Ty::Never) => return Self::broken(span),
            (_, Ty::Var(v)) if self.table.class(v) == Class::Any => {
                return self.unknown_here(span);
            }
            ("total_cmp", Ty::Scalar(s)) if s.is_float() => return self.total_cmp(left, right),
            ("cmp", _) if self.lacks_cmp(&ty) => {
                return self.refuse(
                    at,
                    "floats have no `cmp`: a NaN has no place in an order",
                    "use `partial_cmp` or `total_cmp`",
                );
            }
            ("cmp" | "partial_cmp", Ty::Scalar(_) | Ty::Var(_)) => {}
            ("cmp" | "partial_cmp", Ty::Array(..)) => {
                return self.elements_compared(name, left, right);
            }
            ("cmp" | "partial_cmp", _) if self.has_own(name, &ty) => {
                return self.ordered_by_own(name, left, right);
            }
            ("cmp" | "partial_cmp", _) if self.ordered_parts(&ty).is_some() => {}
            _ => {
                let shown = self.show(&ty);
                return self.refuse(
                    at,
                    format!("`{shown}` has no method `{name}`"),
                    "numbers, bools and tuples of them have an order, and structs and enums that derive it; floats have `total_cmp`",
                );
            }
        }
        let float = self.has_floats(&ty);
        let id = self.m.ordering();
        let ([left, right], stmts) = self.named([left, right]);
        let greater = self.by_parts(BinOp::Gt, &left, &right);
        let less = self.by_parts(BinOp::Lt, &left, &right);
        let i8 = Ty::Scalar(Scalar::I8);
        let [above, below] =
            [&greater, &less].map(|test| Expr::new(ExprKind::Cast(test.clone()), i8.clone(), span));
        let number = Expr::new(ExprKind::RawBinary(BinOp::Sub, above, below), i8, span);
        let mut value = Expr::structure(id, vec![(0, number)], span);
        if name == "partial_cmp" {
            let has = match float {
                true => {
                    let same = self.same_parts(left, right);
                    let either = |left, right| {
                        let and = false;
                        Expr::new(ExprKind::Lazy { and, left, right }, BOOL, span)
                    };
                    either(greater, either(less, same))
                }
                false => Expr::new(ExprKind::Bool(true), BOOL, span),
            };
            let ty = Ty::option(value.ty.clone());
            value = Expr::new(ExprKind::Tuple(vec![has, value]), ty, span);
        }
        let ty = value.ty.clone();
        Expr::new(ExprKind::Block(stmts, Some(value)), ty, span)
    }

    /// That of floats, which is one of their bits.
    fn total_cmp(&mut self, left: Expr, right: Expr) -> Expr {
        let span = left.span;
        let ([left, right], stmts) = self.named([left, right]);
        let [a, b] = ["left", "right"].map(|name| own(name, span));
        let value = self.scoped(|c| {
            c.bind(&a.to_string(), Binding::Place(left));
            c.bind(&b.to_string(), Binding::Place(right));
            let keys = [&a, &b].map(|name| total_key(&parse_quote_spanned!(span=> #name), span));
            let ([a, b], cmp) = (keys, own("cmp", span));
            c.expr(&parse_quote_spanned!(span=> (#a).#cmp(&(#b))), None)
        });
        let ty = value.ty.clone();
        Expr::new(ExprKind::Block(stmts, Some(value)), ty, span)
    }

    /// Whether there are floats in it that an order would ask for their `cmp`.
    pub(super) fn lacks_cmp(&mut self, ty: &Ty) -> bool {
        match self.shallow(ty) {
            Ty::Array(elem, _) | Ty::Slice { elem, .. } => self.lacks_cmp(&elem),
            ty if self.parts_of(&ty).is_empty() => self.has_floats(&ty),
            ty => {
                self.operator("cmp", &[&ty, &ty], &[]).is_none()
                    && self.parts_of(&ty).iter().any(|part| self.lacks_cmp(part))
            }
        }
    }

    pub(super) fn has_floats(&self, ty: &Ty) -> bool {
        match self.shallow(ty) {
            Ty::Scalar(s) => s.is_float(),
            Ty::Var(v) => self.table.class(v) == Class::Float,
            Ty::Array(elem, _) => self.has_floats(&elem),
            ty => self.parts_of(&ty).iter().any(|part| self.has_floats(part)),
        }
    }

    /// Whether a type is `Ordering`.
    pub(super) fn is_ordering(&self, ty: &Ty) -> bool {
        matches!(self.shallow(ty), Ty::Struct(id) if self.m.structs[id].name == ORDERING)
    }

    /// A method of an `Ordering`.
    pub(super) fn ordering_method(&mut self, m: &syn::ExprMethodCall, receiver: Expr) -> Expr {
        let (span, name) = (m.span(), m.method.to_string());
        let receiver = self.behind_refs(receiver);
        let (ty, i8) = (receiver.ty.clone(), Ty::Scalar(Scalar::I8));
        let args: Vec<&syn::Expr> = m.args.iter().collect();
        if let ("reverse", [], Ty::Struct(id)) = (&*name, &args[..], self.shallow(&ty)) {
            let number = Expr::new(ExprKind::Field(receiver, 0), i8.clone(), span);
            let zero = Expr::new(ExprKind::Int(0), i8.clone(), span);
            let number = Expr::new(ExprKind::RawBinary(BinOp::Sub, zero, number), i8, span);
            return Expr::structure(id, vec![(0, number)], span);
        }
        let (order, other) = (own("order", span), own("other", span));
        let number = quote_spanned!(span=> (#order as i8));
        let block = match (&*name, &args[..]) {
            ("then", [then]) => quote_spanned!(span=> {
                let #other = #then;
                if #number == 0 { #other } else { #order }
            }),
            ("then_with", [f]) => match apply(f, &[]) {
                Ok(made) => quote_spanned!(span=> { if #number == 0 { #made } else { #order } }),
                Err(why) => return self.refuse_why(why),
            },
            ("is_lt", []) => quote_spanned!(span=> { #number < 0 }),
            ("is_le", []) => quote_spanned!(span=> { #number <= 0 }),
            ("is_gt", []) => quote_spanned!(span=> { #number > 0 }),
            ("is_ge", []) => quote_spanned!(span=> { #number >= 0 }),
            ("is_eq", []) => quote_spanned!(span=> { #number == 0 }),
            ("is_ne", []) => quote_spanned!(span=> { #number != 0 }),
            _ => {
                let near = super::nearest(&name, OF_ORDERING.iter().copied());
                let help = near.map_or_else(
                    || format!("there are `{}`", OF_ORDERING.join("`, `")),
                    |near| format!("did you mean `{near}`?"),
                );
                return self.refuse(
                    m.method.span(),
                    format!("`{ORDERING}` has no method `{name}`"),
                    help,
                );
            }
        };
        let var = self.add_var("order", ty.clone());
        let value = self.scoped(|c| {
            c.bind(&order.to_string(), Binding::Var(var));
            c.expr(&parse_quote_spanned!(span=> #block), None)
        });
        let ty = value.ty.clone();
        let stmts = vec![Stmt::Let(Pat::Var(var), Some(receiver))];
        Expr::new(ExprKind::Block(stmts, Some(value)), ty, span)
    }
}
