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
        let made = match (&*m.method.to_string(), m.args.first()) {
            ("sort" | "sort_unstable", None) => Ok(sorted(m)),
            ("partition_point", Some(f)) if m.args.len() == 1 => parted(m, f),
            _ => return None,
        };
        if self.is_own_method(m) {
            return None;
        }
        if m.args.is_empty() && self.m.has_methods("partial_cmp") {
            let of = self.type_ahead(&m.receiver);
            // Values that are equal need not be the same then.
            if self.has_own("partial_cmp", &of) {
                let name = own("sort", m.method.span());
                let sorted = syn::ExprMethodCall {
                    method: name,
                    ..m.clone()
                };
                return Some(self.method_call(&sorted, want));
            }
        }
        Some(match made {
            Ok(block) => self.expr(&parse_quote_spanned!(m.span()=> #block), want),
            Err(why) => self.refuse_why(why),
        })
    }
}

/// A heap sort: it needs no memory, and of values that are equal as a whole nobody sees the order.
fn sorted(m: &syn::ExprMethodCall) -> TokenStream {
    let (span, of) = (m.span(), &m.receiver);
    let [all, first, end, root, child] =
        ["all", "first", "end", "root", "child"].map(|name| own(name, span));
    quote_spanned!(span=> {
        let #all = &mut (#of)[..];
        let (mut #first, mut #end) = (#all.len() / 2, #all.len());
        while #end > 1 {
            if #first > 0 { #first -= 1; } else { #end -= 1; #all.swap(0, #end); }
            let mut #root = #first;
            loop {
                let mut #child = 2 * #root + 1;
                if #child >= #end { break; }
                if #child + 1 < #end && #all[#child] < #all[#child + 1] { #child += 1; }
                if #all[#root] >= #all[#child] { break; }
                #all.swap(#root, #child);
                #root = #child;
            }
        }
    })
}

/// A binary search for the first element that a closure does not hold of.
fn parted(m: &syn::ExprMethodCall, f: &syn::Expr) -> Result<TokenStream, Refused> {
    let (span, of) = (m.span(), &m.receiver);
    let [all, low, high, middle, one] =
        ["all", "low", "high", "middle", "one"].map(|name| own(name, span));
    let test = apply(f, &[(&one, false)])?;
    Ok(quote_spanned!(span=> {
        let #all = &(#of)[..];
        let (mut #low, mut #high) = (0, #all.len());
        while #low < #high {
            let #middle = #low + (#high - #low) / 2;
            let #one = &#all[#middle];
            if #test { #low = #middle + 1; } else { #high = #middle; }
        }
        #low
    }))
}
