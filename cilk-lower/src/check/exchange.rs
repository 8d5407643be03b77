//! What a compare-exchange found: a `Result`, which is taken apart where it stands, `match a.compare_exchange(..) { Ok(old) => .., Err(now) => .. }`, or goes anywhere else.
//!
//! A device tells whether it succeeded. Where it did not, what it found is loaded; if that is what was expected after all, it is tried again, as if it came later. Nothing is
//! loaded where nobody asks what was found: `a.compare_exchange(..).is_ok()`, `a.compare_exchange(..);`.

use super::{
    Binding, Checker,
    chains::{apply, own},
    patterns::{ArmSyntax, BodySyntax},
    places::strip,
};
use crate::{
    hir::{Builtin, Expr, ExprKind},
    ty::Ty,
};
use millstream_graph::ty::Scalar;
use proc_macro2::{Span, TokenStream};
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

    /// `a.compare_exchange(..).is_ok()` or `.is_err()`.
    pub(super) fn asked_exchange(&mut self, m: &syn::ExprMethodCall) -> Option<Expr> {
        let builtin = match m.method.to_string().as_str() {
            "is_ok" if m.args.is_empty() => Builtin::CasOk,
            "is_err" if m.args.is_empty() => Builtin::CasErr,
            _ => return None,
        };
        let tried = self.dropped_exchange(&m.receiver)?;
        if !matches!(tried.ty, Ty::CasResult) {
            return Some(tried);
        }
        Some(Self::to_bool(
            ExprKind::Method(builtin, vec![tried]),
            m.span(),
        ))
    }

    /// A compare-exchange of which nobody asks what was found.
    pub(super) fn dropped_exchange(&mut self, e: &syn::Expr) -> Option<Expr> {
        let m = exchange(e)?;
        let before = self.m.diags.0.len();
        let receiver = self.receiver(&m.receiver, false);
        if self.m.diags.0.len() > before {
            return Some(Self::broken(m.span()));
        }
        self.tries(m, receiver)
    }

    /// Whether it succeeds.
    fn tries(&mut self, m: &syn::ExprMethodCall, receiver: Expr) -> Option<Expr> {
        let scalar = self.atomic(&receiver)?;
        let (name, at, span) = (m.method.to_string(), m.method.span(), m.span());
        let args: Vec<&syn::Expr> = m.args.iter().collect();
        Some(self.atomic_method(receiver, scalar, &name, &args, at, span))
    }

    /// `a.compare_exchange(..)` as a value: a `Result` of what was there.
    pub(super) fn compare_exchanged(&mut self, m: &syn::ExprMethodCall, receiver: Expr) -> Expr {
        let span = m.span();
        let [ok, err] = ["Ok", "Err"].map(|name| own(name, span));
        self.found_by(m, receiver, |succeeded, seen| match succeeded {
            true => quote_spanned!(span=> #ok(#seen)),
            false => quote_spanned!(span=> #err(#seen)),
        })
    }

    /// Such a `match`, or what is one under another name; none if it is of something else.
    pub(super) fn matched_exchange(
        &mut self,
        e: &syn::Expr,
        arms: &[ArmSyntax<'_>],
        want: Option<&Ty>,
        span: Span,
    ) -> Option<Expr> {
        let m = exchange(e)?;
        let pats: Option<Vec<syn::Pat>> = arms.iter().map(|arm| by_success(arm.pat)).collect();
        let pats = pats?;
        let before = self.m.diags.0.len();
        let receiver = self.receiver(&m.receiver, false);
        if self.m.diags.0.len() > before {
            return Some(Self::broken(span));
        }
        self.atomic(&receiver)?;
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
        let at = m.span();
        let value = self.found_by(m, receiver, |ok, seen| quote_spanned!(at=> (#ok, #seen)));
        Some(self.matching(value, &arms, want, span))
    }

    /// A compare-exchange, with what `found` makes of whether it succeeded and of what was there.
    fn found_by(
        &mut self,
        m: &syn::ExprMethodCall,
        receiver: Expr,
        found: impl Fn(bool, &syn::Ident) -> TokenStream,
    ) -> Expr {
        let (span, method) = (m.span(), &m.method);
        let args: Vec<&syn::Expr> = m.args.iter().collect();
        let [expected, new, success, failure] = args[..] else {
            return self
                .tries(m, receiver)
                .unwrap_or_else(|| Self::broken(span));
        };
        let [of, old, with, seen] = ["place", "old", "with", "seen"].map(|name| own(name, span));
        let (done, failed) = (found(true, &seen), found(false, &seen));
        let (lent, place) = self.lent(receiver, false, m.receiver.span());
        let value = self.scoped(|c| {
            c.bind(&of.to_string(), Binding::Place(place));
            let tried = syn::parse_quote_spanned!(span=> {
                let (#old, #with) = (#expected, #new);
                let mut #seen = #old;
                loop {
                    if #of.#method(#old, #with, #success, #failure).is_ok() { break #done; }
                    #seen = #of.load(#failure);
                    if #seen != #old { break #failed; }
                }
            });
            c.expr(&tried, None)
        });
        let ty = value.ty.clone();
        Expr::new(ExprKind::Block(vec![lent], Some(value)), ty, span)
    }

    /// What an atomic holds, or one that is referred to.
    fn atomic(&self, e: &Expr) -> Option<Scalar> {
        match self.shallow(&e.ty) {
            Ty::Ref { target, .. } => match self.shallow(&target) {
                Ty::Atomic(scalar) => Some(scalar),
                _ => None,
            },
            Ty::Atomic(scalar) => Some(scalar),
            _ => None,
        }
    }
}

/// The call, if this is a compare-exchange by its name.
fn exchange(e: &syn::Expr) -> Option<&syn::ExprMethodCall> {
    match strip(e) {
        syn::Expr::MethodCall(m) if is_exchange(&m.method) => Some(m),
        _ => None,
    }
}

/// Whether methods of this name are compare-exchanges, of atomics.
pub(super) fn is_exchange(name: &syn::Ident) -> bool {
    name == "compare_exchange" || name == "compare_exchange_weak"
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
