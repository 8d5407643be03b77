//! The way from a method call to the type that has the method.

use super::{Checker, nearest};
use crate::{
    hir::{Builtin, Expr, ExprKind},
    impls::{full_name, takes_self},
    items::Item,
    ty::{Class, Ty},
};
use millstream_graph::{ir::BinOp, ty::Type};
use proc_macro2::Span;
use syn::{parse_quote_spanned, spanned::Spanned};

impl Checker<'_> {
    pub(super) fn method_call(&mut self, m: &syn::ExprMethodCall, want: Option<&Ty>) -> Expr {
        let (span, at, name) = (m.span(), m.method.span(), m.method.to_string());
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
        let receiver = self.receiver(
            &m.receiver,
            super::memory::WRITING_METHODS.contains(&name.as_str()),
        );
        let ty = match self.shallow(&receiver.ty) {
            Ty::Ref { target, .. } => self.shallow(&target),
            other => other,
        };
        if name == "clone" && args.is_empty() && !matches!(ty, Ty::Slice { .. }) {
            return Self::copied(self.behind_refs(receiver));
        }
        if let ("min" | "max", [other], Ty::Ref { .. }) =
            (name.as_str(), &args[..], self.shallow(&receiver.ty))
            && !self.has_method(&ty, &name)
            && !self.has_floats(&ty)
        {
            return self.greater_reference(&name, receiver, other);
        }
        if let ("min" | "max", [other]) = (name.as_str(), &args[..])
            && let Some(greater) = self.greater_of(&name, &receiver, &ty, other)
        {
            return greater;
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
        if let Ty::Scalar(s) = &ty
            && let Some(item) = self.m.names.get(&full_name(s.name(), &name)).copied()
        {
            return self.own_method(m, receiver, s.name(), Some(item), want);
        }
        if let (true, [other]) = (super::orders::COMPARE.contains(&&*name), &args[..])
            && !matches!(ty, Ty::Slice { .. } | Ty::Mat { .. } | Ty::Atomic(_))
            && !self.has_method(&ty, &name)
        {
            return self.compared(&name, receiver, other, at);
        }
        if self.is_ordering(&ty) {
            return self.ordering_method(m, receiver);
        }
        match ty {
            Ty::Error | Ty::Never => Self::broken(span),
            Ty::Slice { .. } | Ty::Array(..) => self.slice_method(receiver, &name, &args, at, span),
            Ty::Mat { .. } => self.mat_method(receiver, &name, &args, at, span),
            Ty::Atomic(scalar) => self.atomic_method(receiver, scalar, &name, &args, at, span),
            Ty::CasResult(_) if args.is_empty() && (name == "is_ok" || name == "is_err") => {
                let builtin = if name == "is_ok" {
                    Builtin::CasOk
                } else {
                    Builtin::CasErr
                };
                Self::to_bool(ExprKind::Method(builtin, vec![receiver]), span)
            }
            Ty::CasResult(_) => self.refuse(
                at,
                format!("there is no `{name}` of a compare-exchange"),
                "ask it `.is_ok()` or `.is_err()`",
            ),
            Ty::Scalar(_) => {
                let receiver = self.behind_refs(receiver);
                self.scalar_method(receiver, &name, &args, at, span)
            }
            Ty::Var(v) if self.table.class(v) != Class::Any => {
                let receiver = self.behind_refs(receiver);
                self.scalar_method(receiver, &name, &args, at, span)
            }
            Ty::Struct(id) => {
                let (of, item) = (self.m.structs[id].name.clone(), self.m.member(id, &name));
                self.own_method(m, receiver, &of, item, want)
            }
            Ty::Option(_) | Ty::Result(..) => self.option_method(m, receiver),
            Ty::Var(_) => self.refuse(
                m.receiver.span(),
                "the type must be known here",
                "write the type where the variable is declared",
            ),
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

    /// Whether the program has a method of that name for a type.
    fn has_method(&mut self, ty: &Ty, name: &str) -> bool {
        match ty {
            Ty::Struct(id) => self.m.member(*id, name).is_some(),
            _ => false,
        }
    }

    /// `max` or `min` of values that have several parts and an order, and no method of their own of that name.
    fn greater_of(
        &mut self,
        name: &str,
        receiver: &Expr,
        ty: &Ty,
        other: &syn::Expr,
    ) -> Option<Expr> {
        if !matches!(ty, Ty::Struct(_) | Ty::Tuple(_) | Ty::Option(_)) || self.has_method(ty, name)
        {
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
        let greater = self.by_parts(BinOp::Gt, &a, &b);
        let (then, other) = match name {
            "max" => (left, right),
            _ => (right, left),
        };
        let value = Expr::new(ExprKind::If(greater, then, Some(other)), want.clone(), span);
        Expr::new(ExprKind::Block(stmts, Some(value)), want, span)
    }

    /// A value of its own in the place of a place: what is borrowed or changed is not the original.
    pub(super) fn copied(e: Expr) -> Expr {
        if !e.is_place() {
            return e;
        }
        let (ty, span) = (e.ty.clone(), e.span);
        Expr::new(ExprKind::Block(Vec::new(), Some(e)), ty, span)
    }

    /// A method that the program has written. Its receiver is borrowed as the method takes it.
    fn own_method(
        &mut self,
        m: &syn::ExprMethodCall,
        receiver: Expr,
        shown: &str,
        item: Option<Item>,
        want: Option<&Ty>,
    ) -> Expr {
        let (span, at, name) = (m.span(), m.method.span(), m.method.to_string());
        let args: Vec<&syn::Expr> = m.args.iter().collect();
        let id = match item {
            Some(Item::Fn(id)) if self.kind.is_some() => id,
            Some(item @ (Item::Fn(_) | Item::Template(_))) => {
                let of = match item {
                    Item::Template(id) => Some(id),
                    Item::Fn(id) => self.m.const_fns.get(&id).copied(),
                    _ => None,
                };
                let Some(of) = of else {
                    return self.refuse_in_constant(span);
                };
                let template = std::rc::Rc::clone(&self.m.templates[of.0]);
                let Some((_, this)) = template.inputs().next() else {
                    return self.refuse(
                        at,
                        format!("`{shown}::{name}` does not take `self`"),
                        "call it by the type's name",
                    );
                };
                let this = self.there(&template.at, |c| c.m.resolve_type(this));
                let this = self.receive(receiver, &this, m.receiver.span());
                let written = match &m.turbofish {
                    Some(args) => syn::PathArguments::AngleBracketed(args.clone()),
                    None => syn::PathArguments::None,
                };
                return self.call_template(of, &written, Some(this), &args, want, span);
            }
            _ => {
                let help =
                    self.member_help(shown, &name, "write it in an `impl` block of the struct");
                return self.refuse(at, format!("`{shown}` has no method `{name}`"), help);
            }
        };
        let item = self.m.fns[id.0].clone();
        let Some(((_, this), rest)) = item
            .params
            .split_first()
            .filter(|_| takes_self(&item.params))
        else {
            return self.refuse(
                at,
                format!("`{shown}::{name}` does not take `self`"),
                format!("call it by the struct's name: `{shown}::{name}(..)`"),
            );
        };
        let this = self.receive(receiver, this, m.receiver.span());
        let types: Vec<Type> = rest.iter().map(|(_, t)| t.clone()).collect();
        let args = std::iter::once(this)
            .chain(self.arguments(&item.name, &types, &args, span))
            .collect();
        Expr::new(ExprKind::Call(id, args), Ty::from_type(&item.ret), span)
    }

    /// What a method is called on, as its `self` is.
    fn receive(&mut self, receiver: Expr, this: &Type, span: Span) -> Expr {
        let want = Ty::from_type(this);
        let is_reference = matches!(self.shallow(&receiver.ty), Ty::Ref { .. });
        match this {
            Type::Ref { .. } if is_reference => self.coerce(receiver, &want),
            Type::Ref { mutable, .. } => {
                let this = self.borrow(receiver, *mutable, span);
                self.coerce(this, &want)
            }
            _ => {
                let value = self.behind_refs(receiver);
                self.coerce(value, &want)
            }
        }
    }

    /// What to do about a name that a struct does not have.
    pub(super) fn member_help(&self, owner: &str, name: &str, otherwise: &str) -> String {
        let start = full_name(owner, "");
        let members = self.m.names.keys().filter_map(|n| n.strip_prefix(&start));
        nearest(name, members)
            .map_or_else(|| otherwise.to_owned(), |n| format!("did you mean `{n}`?"))
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
