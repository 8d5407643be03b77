//! Ranges behind `&mut`: who takes items of one leaves it without these, as if it were lent by `by_ref`.

use super::{
    super::{Checker, places::strip},
    given::begun,
};
use crate::ty::Ty;
use syn::{parse_quote_spanned, spanned::Spanned};

/// Adaptors that have as many items as what they are called on.
const EACH: &[&str] = &["map", "copied", "cloned", "enumerate", "rev"];

impl Checker<'_> {
    /// Whether that is a range behind `&mut`.
    pub(super) fn is_lent_range(&self, e: &syn::Expr) -> bool {
        let e = strip(e);
        !matches!(e, syn::Expr::Range(_) | syn::Expr::MethodCall(_))
            && self.range_of(e).is_some()
            && matches!(self.type_of_place(e), Some(Ty::Ref { mutable: true, .. }))
    }

    /// Whether that is what takes items from a range which has the others afterwards: `r.by_ref()`.
    pub(super) fn takes_from_range(&self, e: &syn::Expr) -> bool {
        matches!(strip(e), syn::Expr::MethodCall(m) if m.method == "by_ref" && self.range_of(&m.receiver).is_some())
    }

    /// A chain that begins with such a range as one that takes from it; none if it begins with something else.
    pub(super) fn lent_chain(&mut self, chain: &syn::Expr) -> Option<syn::Expr> {
        let base = self.links(chain, &mut Vec::new())?.clone();
        self.is_lent_range(&base).then(|| {
            let from = parse_quote_spanned!(base.span()=> #base.by_ref());
            begun(chain, &base, &from)
        })
    }

    /// The range of which a chain has one item for each number that it takes from it.
    pub(super) fn range_taken_beside(&mut self, chain: &syn::Expr) -> Option<syn::Expr> {
        let mut adaptors = Vec::new();
        let base = self.links(chain, &mut adaptors)?;
        let keeps = |m: &&syn::ExprMethodCall| EACH.iter().any(|name| m.method == name);
        match strip(base) {
            syn::Expr::MethodCall(m) if self.takes_from_range(base) => {
                adaptors.iter().all(keeps).then(|| (*m.receiver).clone())
            }
            _ => None,
        }
    }

    /// What is left of a range whose owner has it afterwards, as one of its own: what asks for a number alone takes nothing.
    pub(super) fn copied_chain(&mut self, chain: &syn::Expr) -> syn::Expr {
        let Some(base) = self.links(chain, &mut Vec::new()).cloned() else {
            return chain.clone();
        };
        let of = match strip(&base) {
            syn::Expr::MethodCall(m) if self.takes_from_range(&base) => &*m.receiver,
            of if self.is_lent_range(of) => of,
            _ => return chain.clone(),
        };
        let Some(range) = self.range_of(of) else {
            return chain.clone();
        };
        let copy = parse_quote_spanned!(base.span()=> (#range));
        begun(chain, &base, &copy)
    }
}
