//! What a compare-exchange found, taken apart: `match a.compare_exchange(..) { Ok(old) => .., Err(now) => .. }`.
//!
//! A device tells whether it succeeded. Where it did not, what it found is loaded; if that is what was expected after all, it is tried again, as if it came later.

use super::{
    Binding, Checker,
    chains::{apply, own},
    patterns::{ArmSyntax, BodySyntax},
    places::strip,
};
use crate::{
    hir::{Expr, ExprKind},
    ty::Ty,
};
use quote::quote_spanned;
use syn::spanned::Spanned;

impl Checker<'_> {
    /// `a.fetch_update(..)`: a compare-exchange of what a closure makes of what is there, until one succeeds or the closure gives nothing.
    pub(super) fn updated(&mut self, m: &syn::ExprMethodCall, receiver: Expr) -> Expr {
        let span = m.span();
        let args: Vec<&syn::Expr> = m.args.iter().collect();
        let [success, failure, f] = args[..] else {
            return self.refuse(
                m.method.span(),
                format!("`fetch_update` takes 3 arguments, here are {}", args.len()),
                "two orderings, and a closure that gives `Some` of a new value or `None`",
            );
        };
        let names = ["place", "old", "new", "Some", "Ok", "Err"];
        let [of, old, new, some, ok, err] = names.map(|name| own(name, span));
        let next = match apply(f, &[(&old, false)]) {
            Ok(next) => next,
            Err(why) => return self.refuse_why(why),
        };
        let (lent, place) = self.lent(receiver, false, m.receiver.span());
        let value = self.scoped(|c| {
            c.bind(&of.to_string(), Binding::Place(place));
            let tried = syn::parse_quote_spanned!(span=> {
                let mut #old = #of.load(#failure);
                loop {
                    let #some(#new) = (#next) else { break #err(#old); };
                    if #of.compare_exchange_weak(#old, #new, #success, #failure).is_ok() { break #ok(#old); }
                    #old = #of.load(#failure);
                }
            });
            c.expr(&tried, None)
        });
        let ty = value.ty.clone();
        Expr::new(ExprKind::Block(vec![lent], Some(value)), ty, span)
    }

    /// Such a `match`, or what is one under another name; none if it is of something else.
    pub(super) fn matched_exchange(
        &mut self,
        e: &syn::Expr,
        arms: &[ArmSyntax<'_>],
        want: Option<&Ty>,
        span: proc_macro2::Span,
    ) -> Option<Expr> {
        let syn::Expr::MethodCall(m) = strip(e) else {
            return None;
        };
        let method = &m.method;
        if method != "compare_exchange" && method != "compare_exchange_weak" {
            return None;
        }
        let args: Vec<&syn::Expr> = m.args.iter().collect();
        let [expected, new, success, failure] = args[..] else {
            return None;
        };
        let pats: Option<Vec<syn::Pat>> = arms.iter().map(|arm| by_success(arm.pat)).collect();
        let Some(pats) = pats else {
            return Some(self.refuse(
                span,
                "what a compare-exchange gives is asked for `Ok(..)` and `Err(..)`",
                "write `Ok(old) => ..` and `Err(now) => ..`, or ask `.is_ok()`",
            ));
        };
        let at = m.span();
        let [place, old, with, seen] = ["place", "old", "with", "seen"].map(|name| own(name, at));
        let of = &m.receiver;
        let before = self.m.diags.0.len();
        let receiver = self.expr(of, None);
        if self.m.diags.0.len() > before {
            return Some(Self::broken(span));
        }
        let borrow = match self.shallow(&receiver.ty) {
            Ty::Ref { .. } => quote_spanned!(at=> #of),
            _ => quote_spanned!(at=> &(#of)),
        };
        let value: syn::Expr = syn::parse_quote_spanned!(at=> {
            let #place = #borrow;
            let (#old, #with) = (#expected, #new);
            let mut #seen = #old;
            loop {
                if #place.#method(#old, #with, #success, #failure).is_ok() { break (true, #seen); }
                #seen = #place.load(#failure);
                if #seen != #old { break (false, #seen); }
            }
        });
        let arms: Vec<ArmSyntax<'_>> = arms
            .iter()
            .zip(&pats)
            .map(|(arm, pat)| ArmSyntax {
                pat,
                guard: arm.guard,
                body: match arm.body {
                    BodySyntax::Expr(e) => BodySyntax::Expr(e),
                    BodySyntax::Block(b) => BodySyntax::Block(b),
                },
            })
            .collect();
        let value = self.expr(&value, None);
        Some(self.matching(value, &arms, want, span))
    }
}

/// The pattern of whether it succeeded, and of what was found.
fn by_success(pat: &syn::Pat) -> Option<syn::Pat> {
    let span = pat.span();
    match pat {
        syn::Pat::Wild(_) => Some(pat.clone()),
        syn::Pat::TupleStruct(t) if t.elems.len() == 1 => {
            let found = &t.elems[0];
            let name = &t.path.segments.last()?.ident;
            let ok = match name.to_string().as_str() {
                "Ok" => quote_spanned!(span=> true),
                "Err" => quote_spanned!(span=> false),
                _ => return None,
            };
            Some(syn::parse_quote_spanned!(span=> (#ok, #found)))
        }
        _ => None,
    }
}
