//! The way from a method call to the type that has the method.

use super::{
    Binding, Checker, chains::own, dispatch::Meant, exchange::is_exchange, nearest, own_orders,
};
use crate::{
    hir::{Expr, ExprKind, Pat, Stmt},
    impls::full_name,
    items::Item,
    ty::{Class, Ty},
};
use millstream_graph::{
    ir::BinOp,
    ty::{StructId, Type},
};
use proc_macro2::Span;
use quote::ToTokens;
use syn::{parse_quote_spanned, spanned::Spanned};

impl Checker<'_> {
    pub(super) fn method_call(&mut self, m: &syn::ExprMethodCall, want: Option<&Ty>) -> Expr {
        let (at, name) = (m.method.span(), m.method.to_string());
        if let Some(call) = self.handle_method(m) {
            return call;
        }
        let args: Vec<&syn::Expr> = m.args.iter().collect();
        if let syn::Expr::Range(range) = super::places::strip(&m.receiver) {
            if let ("contains", [item]) = (name.as_str(), &args[..]) {
                let test = range_contains(range, item, m.span());
                return self.expr(&test, None);
            }
            return self.refuse(
                at,
                format!("`{name}` of a range is not part of the task language"),
                "write a `for` loop, with what is done to each number in its body",
            );
        }
        if let Some(asked) = self.asked_exchange(m) {
            return asked;
        }
        let bound = self.bound_conversion(m, want);
        let want = bound.as_ref().or(want);
        if let Some(value) = self.converted_as_wanted(m, want) {
            return value;
        }
        let writes = self.is_writing(&name);
        let mut receiver = self.receiver(&m.receiver, writes);
        // A method is looked for behind all references; a reference has a `clone` of its own.
        while let Ty::Ref { target, .. } = self.shallow(&receiver.ty)
            && matches!(self.shallow(&target), Ty::Ref { .. })
            && name != "clone"
        {
            let span = receiver.span;
            receiver = Expr::new(ExprKind::Deref(receiver), *target, span);
        }
        if let Some(call) = self.method_of_hole(m, &receiver.ty) {
            return call;
        }
        if let Some(method) = super::chains::rusts_name(&m.method) {
            let m = syn::ExprMethodCall {
                method,
                ..m.clone()
            };
            return self.rusts_method(&m, receiver, want);
        }
        self.method_of(m, receiver, want)
    }

    /// The same of what it is called on.
    fn method_of(&mut self, m: &syn::ExprMethodCall, receiver: Expr, want: Option<&Ty>) -> Expr {
        let (span, name) = (m.span(), m.method.to_string());
        match self.meant(m, &receiver, want) {
            Meant::Own(item, by) => {
                let said = match self.shallow(&receiver.ty) {
                    Ty::Ref { target, .. } => *target,
                    _ => receiver.ty.clone(),
                };
                let shown = self.show(&said);
                let value = self.own_method(m, receiver, &shown, Some(item), want);
                self.as_said(value, &name, by.as_ref(), &said)
            }
            Meant::Rusts => self.rusts_method(m, receiver, want),
            Meant::Refused => Self::broken(span),
        }
    }

    /// A method that Rust's own types have, or that Rust's traits give.
    pub(super) fn rusts_method(
        &mut self,
        m: &syn::ExprMethodCall,
        receiver: Expr,
        want: Option<&Ty>,
    ) -> Expr {
        let (span, at, name) = (m.span(), m.method.span(), m.method.to_string());
        let args: Vec<&syn::Expr> = m.args.iter().collect();
        let (ty, said) = match self.shallow(&receiver.ty) {
            Ty::Ref { target, .. } => (self.shallow(&target), self.has_bounds(&target)),
            other => (other, self.has_bounds(&receiver.ty)),
        };
        if name == "clone" && args.is_empty() && !matches!(ty, Ty::Slice { .. }) {
            // What holds a `&mut` is no `Clone`: what it stands for may be.
            let behind = matches!(ty, Ty::Struct(_)) && ty.is_mutable(&self.m.structs);
            if behind && let Some(of) = self.dereferenced(&receiver) {
                return self.method_of(m, of, want);
            }
            return Self::copied(self.behind_refs(receiver));
        }
        if let Some(value) = self.order_method(m, &receiver, &ty) {
            return value;
        }
        if let (Ty::Slice { .. } | Ty::Array(..), Some(chunk)) = (&ty, self.chunk_of(m, want)) {
            return chunk;
        }
        if let Some(turbofish) = &m.turbofish
            && !matches!(ty, Ty::Struct(_) | Ty::Scalar(_))
        {
            self.error(
                turbofish.span(),
                "type arguments of a method are not part of the task language",
            );
        }
        if let (Ty::Scalar(_), "into", [], Some(Ty::Scalar(to))) =
            (&ty, name.as_str(), &args[..], want.map(|w| self.shallow(w)))
        {
            let value = self.behind_refs(receiver);
            self.lossless(&value, to);
            return Expr::new(ExprKind::Cast(value), Ty::Scalar(to), span);
        }
        if let ("into", [], Some(into)) =
            (&*name, &args[..], want.and_then(|want| self.closed(want)))
            && !matches!(into, Type::Scalar(_))
            && !matches!(ty, Ty::Error | Ty::Never)
        {
            return self.not_converted(&receiver.ty, &into, at);
        }
        if let (true, [other]) = (super::orders::COMPARE.contains(&&*name), &args[..])
            && !matches!(ty, Ty::Slice { .. } | Ty::Mat { .. } | Ty::Atomic(_))
        {
            return self.compared(&name, receiver, other, at);
        }
        if self.is_ordering(&ty) {
            return self.ordering_method(m, receiver);
        }
        match ty {
            Ty::Error | Ty::Never => Self::broken(span),
            Ty::Slice { .. } | Ty::Array(..) => {
                self.slice_method(receiver, &name, &args, want, (at, span))
            }
            Ty::Mat { .. } => self.mat_method(receiver, &name, &args, at, span),
            Ty::Atomic(_) if name == "fetch_update" => self.updated(m, receiver),
            Ty::Atomic(_) if is_exchange(&m.method) => self.compare_exchanged(m, receiver),
            Ty::Atomic(scalar) => self.atomic_method(receiver, scalar, &name, &args, at, span),
            Ty::Scalar(_) => {
                let receiver = self.behind_refs(receiver);
                self.scalar_method(receiver, &name, &args, want, (at, span))
            }
            Ty::Var(v) if self.table.class(v) != Class::Any => {
                let receiver = self.behind_refs(receiver);
                self.scalar_method(receiver, &name, &args, want, (at, span))
            }
            Ty::Struct(id) => {
                let of = self.m.structs[id].name.clone();
                if let Some(call) = self.operator_named(&name, &receiver, &args, span) {
                    return call;
                }
                if self.m.member(id, &name).is_none()
                    && let Some(ends) = self.ends_of_range(id)
                {
                    return self.refuse(
                        at,
                        format!("a range that is held in a variable has no `{name}` here"),
                        format!(
                            "write the range where it is needed: `({ends}).{name}(..)`, or a `for`"
                        ),
                    );
                }
                if self.m.member(id, &name).is_none()
                    && let Some(behind) = self.dereferenced(&receiver)
                {
                    return self.method_of(m, behind, want);
                }
                // Of what it has by itself this is no method.
                let item = self.m.member(id, &name).filter(|_| !said);
                self.own_method(m, receiver, &of, item, want)
            }
            Ty::Option(_) | Ty::Result(..) => self.option_method(m, receiver),
            Ty::Var(_) => self.unknown_here(m.receiver.span()),
            other => {
                let shown = self.show(&other);
                self.refuse(
                    at,
                    format!("`{shown}` has no method `{name}`"),
                    "write a function that takes it as an argument",
                )
            }
        }
    }

    /// A method that compares and gives a `bool` or one of the values; none if it is no such one, or the numbers'.
    fn order_method(&mut self, m: &syn::ExprMethodCall, receiver: &Expr, ty: &Ty) -> Option<Expr> {
        let (span, at, name) = (m.span(), m.method.span(), m.method.to_string());
        let args: Vec<&syn::Expr> = m.args.iter().collect();
        let refers = matches!(self.shallow(&receiver.ty), Ty::Ref { .. });
        match (&*name, &args[..]) {
            ("min" | "max", [other]) if refers && !self.lacks_cmp(ty) => {
                Some(self.greater_reference(&name, receiver.clone(), other))
            }
            ("min" | "max", [other]) => self.greater_of(&name, receiver, ty, other),
            ("clamp", [low, high])
                if matches!(
                    ty,
                    Ty::Struct(_) | Ty::Tuple(_) | Ty::Array(..) | Ty::Option(_)
                ) =>
            {
                Some(self.clamped(receiver.clone(), low, high, span))
            }
            (name, [other]) if !matches!(ty, Ty::Slice { .. } | Ty::Error) => {
                let op = own_orders::comparison(name)?;
                let right = self.expr(other, Some(&receiver.ty));
                let left = self.behind_refs(receiver.clone());
                let right = self.behind_refs(right);
                Some(self.comparison(op, left, right, at, span))
            }
            _ => None,
        }
    }

    /// How a range is written whose ends are those of one that is held in a variable; none if it is of no such type.
    fn ends_of_range(&self, id: StructId) -> Option<&'static str> {
        let closed = self.m.ranges?.is_closed(self.family_of(id)?)?;
        Some(match closed {
            false => "r.start..r.end",
            true => "*r.start()..=*r.end()",
        })
    }

    /// `max` or `min` of values that have several parts and an order, and no method of their own of that name.
    pub(super) fn greater_of(
        &mut self,
        name: &str,
        receiver: &Expr,
        ty: &Ty,
        other: &syn::Expr,
    ) -> Option<Expr> {
        if !matches!(
            ty,
            Ty::Struct(_) | Ty::Tuple(_) | Ty::Array(..) | Ty::Option(_) | Ty::Result(..)
        ) {
            return None;
        }
        let other = self.expr_as(other, ty);
        let receiver = self.behind_refs(receiver.clone());
        self.greater(name, receiver, other)
    }

    /// `max` or `min` of two references: the one that refers to that value.
    fn greater_reference(&mut self, name: &str, receiver: Expr, other: &syn::Expr) -> Expr {
        let want = match self.shallow(&receiver.ty) {
            Ty::Ref { target, .. } => Ty::Ref {
                mutable: false,
                target,
            },
            other => other,
        };
        let (receiver, other) = (self.coerce(receiver, &want), self.expr_as(other, &want));
        let span = receiver.span;
        let ([left, right], stmts) = self.named([receiver, other]);
        let [a, b] = [&left, &right].map(|side| self.behind_refs(side.clone()));
        let greater = self.comparison(BinOp::Gt, a, b, span, span);
        let (then, other) = match name {
            "max" => (left, right),
            _ => (right, left),
        };
        let value = Expr::new(ExprKind::If(greater, then, Some(other)), want.clone(), span);
        Expr::new(ExprKind::Block(stmts, Some(value)), want, span)
    }

    /// `clamp` of values that have several parts and an order.
    fn clamped(&mut self, value: Expr, low: &syn::Expr, high: &syn::Expr, span: Span) -> Expr {
        let value = self.behind_refs(value);
        if let Some(own) = self.operator_named("clamp", &value, &[low, high], span) {
            return own;
        }
        let ty = value.ty.clone();
        let [low, high] = [low, high].map(|e| self.expr_as(e, &ty));
        let names = ["value", "low", "high"].map(|name| own(name, span));
        let mut stmts = Vec::new();
        let block = self.scoped(|c| {
            for (name, value) in names.iter().zip([value, low, high]) {
                let var = c.add_var("clamped", ty.clone());
                stmts.push(Stmt::Let(Pat::Var(var), Some(value)));
                c.bind(&name.to_string(), Binding::Var(var));
            }
            let [value, low, high] = &names;
            c.expr(
                &parse_quote_spanned!(span=> {
                    assert!(#low <= #high);
                    if #value < #low { #low } else if #value > #high { #high } else { #value }
                }),
                None,
            )
        });
        Expr::new(ExprKind::Block(stmts, Some(block)), ty, span)
    }

    /// A value of its own in the place of a place: what is borrowed or changed is not the original.
    pub(super) fn copied(e: Expr) -> Expr {
        if !e.is_place() {
            return e;
        }
        let (ty, span) = (e.ty.clone(), e.span);
        Expr::new(ExprKind::Block(Vec::new(), Some(e)), ty, span)
    }

    /// What to do about a name that a struct does not have.
    pub(super) fn member_help(&self, owner: &str, name: &str, otherwise: &str) -> String {
        let start = full_name(owner, "");
        let members = self.m.names.keys().filter_map(|n| n.strip_prefix(&start));
        if let Some(near) = nearest(name, members) {
            return format!("did you mean `{near}`?");
        }
        // Of the same family others may have it.
        let family = owner
            .split('<')
            .next()
            .and_then(|name| self.m.names.get(name));
        let Some(Item::Family(family)) = family else {
            return otherwise.to_owned();
        };
        let mut members = self.m.members.iter();
        let other = members.find(|m| m.family == *family && m.name == name);
        other.map_or_else(
            || otherwise.to_owned(),
            |m| {
                let of = m.of.to_token_stream().to_string().replace(' ', "");
                format!("`impl {of}` has it: say where the value is made that it is one of these, as by the suffix of a literal, `0.5f32`")
            },
        )
    }
}

/// `(from..to).contains(&item)` as comparisons. All three are evaluated once, where no name hides theirs.
fn range_contains(range: &syn::ExprRange, item: &syn::Expr, span: Span) -> syn::Expr {
    match (&range.start, &range.end, &range.limits) {
        (Some(from), Some(to), syn::RangeLimits::HalfOpen(_)) => parse_quote_spanned! { span=>
            { let (from, to, item) = (#from, #to, *#item); from <= item && item < to }
        },
        (Some(from), Some(to), syn::RangeLimits::Closed(_)) => parse_quote_spanned! { span=>
            { let (from, to, item) = (#from, #to, *#item); from <= item && item <= to }
        },
        (Some(from), None, _) => parse_quote_spanned! { span=>
            { let (from, item) = (#from, *#item); from <= item }
        },
        (None, Some(to), syn::RangeLimits::HalfOpen(_)) => parse_quote_spanned! { span=>
            { let (to, item) = (#to, *#item); item < to }
        },
        (None, Some(to), syn::RangeLimits::Closed(_)) => parse_quote_spanned! { span=>
            { let (to, item) = (#to, *#item); item <= to }
        },
        (None, None, _) => parse_quote_spanned!(span=> true),
    }
}
