//! Calls of methods that the program has written.

use super::Checker;
use crate::{
    hir::{Expr, ExprKind},
    impls::takes_self,
    items::Item,
    ty::Ty,
};
use millstream_graph::ty::Type;
use proc_macro2::Span;
use std::rc::Rc;
use syn::spanned::Spanned;

impl Checker<'_> {
    /// A method that the program has written. Its receiver is borrowed as the method takes it.
    pub(super) fn own_method(
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
                let template = Rc::clone(&self.m.templates[of.0]);
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
}
