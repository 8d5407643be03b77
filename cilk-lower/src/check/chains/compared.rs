//! Two iterators that are compared: by how many items they have, if Rust knows that, and item by item.

use super::{
    super::{Checker, places::strip},
    loops::ADAPTORS,
    own,
};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::{
    parse_quote_spanned,
    spanned::Spanned,
    visit::{self, Visit},
};

impl Checker<'_> {
    /// `a.iter().eq(b)` and its kin. Rust makes no item of two that are not equal because one has more of them, if it knows how many.
    pub(super) fn iterators_compared(
        &mut self,
        m: &syn::ExprMethodCall,
        other: &syn::Expr,
    ) -> Option<syn::Expr> {
        let items = self.items_compared(m, other)?;
        let Some([of, beside]) = self.lengths_compared(m, other) else {
            return Some(items);
        };
        let differ = m.method == "ne";
        Some(parse_quote_spanned!(m.span()=>
            if (#of).count() != (#beside).count() { #differ } else { #items }))
    }

    /// What has as many items as each of the two, where Rust asks for that and it shows: an item that is not made changes nothing, or its range has it afterwards.
    fn lengths_compared(
        &mut self,
        m: &syn::ExprMethodCall,
        other: &syn::Expr,
    ) -> Option<[syn::Expr; 2]> {
        let asks = (m.method == "eq" || m.method == "ne") && !self.is_lent_range(&m.receiver);
        let sides = [&*m.receiver, other].map(|side| match self.lent_chain(side) {
            Some(lent) => lent,
            None if self.links(side, &mut Vec::new()).is_some() => side.clone(),
            None => parse_quote_spanned!(side.span()=> (#side).into_iter()),
        });
        let shows = sides.iter().any(|side| self.makes_visibly(side));
        if !asks || !shows || !sides.iter().all(|side| self.is_trusted(side)) {
            return None;
        }
        let counted = sides.map(|side| self.unmade(&side));
        let mut ends = |chain: &syn::Expr| {
            let base = self.links(chain, &mut Vec::new());
            base.is_none_or(|base| self.range_of(base).is_none_or(|range| range.end.is_some()))
        };
        // They are written twice.
        let is_twice = counted
            .iter()
            .all(|chain| ends(chain) && Calls::none_in(chain));
        is_twice.then_some(counted)
    }

    /// `a.iter().eq(b)` and its kin: item by item.
    fn items_compared(&mut self, m: &syn::ExprMethodCall, other: &syn::Expr) -> Option<syn::Expr> {
        if (m.method == "eq" || m.method == "ne") && self.is_lent_range(&m.receiver) {
            let (mut m, of) = (m.clone(), &m.receiver);
            *m.receiver = parse_quote_spanned!(m.span()=> #of.by_ref());
            return Some(syn::Expr::MethodCall(m));
        }
        let (span, mut adaptors) = (m.span(), Vec::new());
        let base = self.links(&m.receiver, &mut adaptors)?;
        let is_value = adaptors.is_empty() && !matches!(strip(base), syn::Expr::MethodCall(_));
        if is_value && self.is_own_iterator(base) {
            return None;
        }
        let [left, right, x, y, order] =
            ["left", "right", "x", "y", "order"].map(|name| own(name, span));
        let [some, none] = ["Some", "None"].map(|name| own(name, span));
        let of = &m.receiver;
        let other = self.with_held(other).unwrap_or_else(|| other.clone());
        let other = match self.links(&other, &mut Vec::new()) {
            Some(_) => other,
            None => parse_quote_spanned!(span=> (#other).into_iter()),
        };
        let [x_refs, y_refs] = [of, &other].map(|e| self.behind_item(e, span));
        // What cannot be taken one by one is run over, beside the other.
        let runs_over = !self.is_drawable(of) && self.is_drawable(&other);
        let label = syn::Lifetime::new("'__chain_compared", span);
        let leave = match runs_over {
            true => quote_spanned!(span=> break #label),
            false => quote_spanned!(span=> break),
        };
        // What comes of a pair of items, of two ends, of an end on the left and of one on the right.
        let name = m.method.to_string();
        let [pair, both, less, greater]: [TokenStream; 4] = match name.as_str() {
            "eq" | "ne" => {
                let equal = name == "eq";
                let differ = !equal;
                [
                    quote_spanned!(span=> if !(#x == #y) { #leave #differ; }),
                    equal.to_token_stream(),
                    differ.to_token_stream(),
                    differ.to_token_stream(),
                ]
            }
            "cmp" => [
                quote_spanned!(span=> let #order = (#x_refs #x).cmp(&#y_refs #y); if #order.is_ne() { #leave #order; }),
                quote_spanned!(span=> ::std::cmp::Ordering::Equal),
                quote_spanned!(span=> ::std::cmp::Ordering::Less),
                quote_spanned!(span=> ::std::cmp::Ordering::Greater),
            ],
            "partial_cmp" => [
                quote_spanned!(span=> let #order = (#x_refs #x).partial_cmp(&#y_refs #y); if #order != #some(::std::cmp::Ordering::Equal) { #leave #order; }),
                quote_spanned!(span=> #some(::std::cmp::Ordering::Equal)),
                quote_spanned!(span=> #some(::std::cmp::Ordering::Less)),
                quote_spanned!(span=> #some(::std::cmp::Ordering::Greater)),
            ],
            name => {
                let (is_less, is_equal) = (name.starts_with('l'), name.ends_with('e'));
                let is_greater = !is_less;
                let test = match is_less {
                    true => quote_spanned!(span=> #x < #y),
                    false => quote_spanned!(span=> #x > #y),
                };
                [
                    quote_spanned!(span=> if !(#x == #y) { #leave #test; }),
                    is_equal.to_token_stream(),
                    is_less.to_token_stream(),
                    is_greater.to_token_stream(),
                ]
            }
        };
        if runs_over {
            return Some(parse_quote_spanned!(span=> #label: {
                let mut #right = #other;
                for #x in (#of) {
                    let #some(#y) = #right.next() else { #leave #greater; };
                    #pair
                }
                if #right.next().is_none() { #both } else { #less }
            }));
        }
        Some(parse_quote_spanned!(span=> {
            let mut #left = #of;
            let mut #right = #other;
            loop {
                match (#left.next(), #right.next()) {
                    (#some(#x), #some(#y)) => { #pair }
                    (#none, #none) => break #both,
                    (#none, #some(_)) => break #less,
                    (#some(_), #none) => break #greater,
                }
            }
        }))
    }
}

/// Whether anything is called, but for what makes iterators.
#[derive(Default)]
struct Calls {
    any: bool,
}

impl Calls {
    fn none_in(e: &syn::Expr) -> bool {
        let mut calls = Self::default();
        calls.visit_expr(e);
        !calls.any
    }
}

impl<'e> Visit<'e> for Calls {
    fn visit_expr(&mut self, e: &'e syn::Expr) {
        self.any |= match e {
            syn::Expr::MethodCall(m) => {
                let name = m.method.to_string();
                !ADAPTORS.contains(&&*name) && !MAKING.contains(&&*name)
            }
            syn::Expr::Call(_) | syn::Expr::Macro(_) | syn::Expr::Block(_) => true,
            syn::Expr::Assign(_) => true,
            _ => false,
        };
        visit::visit_expr(self, e);
    }
}

/// Methods that change nothing: those which iterators begin with, and what says how much they have.
const MAKING: &[&str] = &[
    "iter",
    "iter_mut",
    "into_iter",
    "chunks",
    "chunks_exact",
    "windows",
    "clone",
    "len",
];
