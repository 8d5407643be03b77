//! Ranges behind `&mut`: who takes items of one leaves it without these, as if it were lent by `by_ref`.

use super::{
    super::{Checker, places::strip},
    given::begun,
};
use crate::ty::Ty;
use syn::{parse_quote_spanned, spanned::Spanned};

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

    /// What is left of a range behind `&mut`, as one of its own: what asks for a number alone takes nothing.
    pub(super) fn copied_chain(&mut self, chain: &syn::Expr) -> syn::Expr {
        match self.links(chain, &mut Vec::new()).cloned() {
            Some(base) if self.is_lent_range(&base) => {
                let copy = parse_quote_spanned!(base.span()=> #base.clone());
                begun(chain, &base, &copy)
            }
            _ => chain.clone(),
        }
    }
}
