//! Methods of slices that are loops of their own: what a chain's closures are to these, they are here.

use super::{super::Checker, Refused, apply, own};
use crate::{hir::Expr, ty::Ty};
use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::{parse_quote_spanned, spanned::Spanned};

impl Checker<'_> {
    /// `a.sort()` and `a.partition_point(..)`; none if it is neither, or a method of the program's.
    pub(super) fn whole_slice(
        &mut self,
        m: &syn::ExprMethodCall,
        want: Option<&Ty>,
    ) -> Option<Expr> {
        let name = m.method.to_string();
        let sorts = matches!((&*name, m.args.len()), ("sort" | "sort_unstable", 0));
        let parts = name == "partition_point" && m.args.len() == 1;
        if !sorts && !parts || self.is_own_method(m) {
            return None;
        }
        if sorts {
            let own_order = self.m.has_methods("partial_cmp") && {
                let of = self.type_ahead(&m.receiver);
                self.has_own("partial_cmp", &of)
            };
            // Of values that are equal as a whole nobody sees the order.
            let way = match own_order {
                true => &*name,
                false => "sort_unstable",
            };
            let (span, of) = (m.method.span(), &m.receiver);
            let sorted = syn::ExprMethodCall {
                receiver: parse_quote_spanned!(span=> (&mut (#of)[..])),
                method: own(way, span),
                ..m.clone()
            };
            return Some(self.method_call(&sorted, want));
        }
        Some(match parted(m, &m.args[0]) {
            Ok(block) => self.expr(&parse_quote_spanned!(m.span()=> #block), want),
            Err(why) => self.refuse_why(why),
        })
    }
}

/// A binary search for the first element that a closure does not hold of, asked of the elements that Rust's asks. Where it goes on is selected: a processor guesses half of the
/// turns wrong.
fn parted(m: &syn::ExprMethodCall, f: &syn::Expr) -> Result<TokenStream, Refused> {
    let (span, of) = (m.span(), &m.receiver);
    let [all, base, size, half, one, holds] =
        ["all", "base", "size", "half", "one", "holds"].map(|name| own(name, span));
    let test = apply(f, &[(&one, false)])?;
    Ok(quote_spanned!(span=> {
        let #all = &(#of)[..];
        let (mut #base, mut #size) = (0, #all.len());
        while #size > 1 {
            let #half = #size / 2;
            let #one = &#all[#base + #half];
            let #holds = #test;
            #base = std::hint::select_unpredictable(#holds, #base + #half, #base);
            #size -= #half;
        }
        if #size == 1 {
            let #one = &#all[#base];
            if #test { #base += 1; }
        }
        #base
    }))
}
