//! Methods of iterators that are others: comparisons of two, sums of what may be missing, and what takes some numbers of a range that has a name.

use super::{
    super::{Checker, iteration::PARTS, places::strip, sums::Sum},
    given::is_drawn_once,
    own,
};
use crate::ty::Ty;
use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::{parse_quote_spanned, spanned::Spanned};

impl Checker<'_> {
    /// What a method is in terms of others, if it is one of these.
    pub(super) fn rewritten(
        &mut self,
        m: &syn::ExprMethodCall,
        want: Option<&Ty>,
    ) -> Option<syn::Expr> {
        match (m.method.to_string().as_str(), m.args.first()) {
            ("eq" | "ne" | "cmp" | "partial_cmp" | "lt" | "le" | "gt" | "ge", Some(other)) => {
                self.iterators_compared(m, other)
            }
            ("sum" | "product", None) => self.sum_of_sums(m, want),
            ("is_sorted", None) => self.in_order(m),
            ("count", None) => self.length_of(&m.receiver),
            ("rfind" | "rfold" | "nth_back", Some(_)) | ("next_back" | "len", None) => {
                self.asked_from_behind(m)
            }
            ("find" | "find_map" | "position" | "any" | "all" | "nth", Some(_)) => {
                let (span, of) = (m.span(), strip(&m.receiver));
                let range = self.range_of(of).filter(|_| self.is_held(of))?;
                let mut taking = m.clone();
                *taking.receiver = parse_quote_spanned!(span=> #of.by_ref());
                let is_open = matches!(range.limits, syn::RangeLimits::HalfOpen(_));
                Some(match m.method == "nth" && is_open {
                    // One that has fewer is at its end, even if it began behind that.
                    true => {
                        let found = own("found", span);
                        parse_quote_spanned!(span=> {
                            let #found = #taking;
                            if #found.is_none() { #of.start = #of.end; }
                            #found
                        })
                    }
                    false => syn::Expr::MethodCall(taking),
                })
            }
            _ => None,
        }
    }

    /// What asks for items from behind, or how many there are, of what has no name: the others that they are.
    fn asked_from_behind(&mut self, m: &syn::ExprMethodCall) -> Option<syn::Expr> {
        let (span, of, args) = (m.span(), strip(&m.receiver), &m.args);
        if matches!(of, syn::Expr::Path(_) | syn::Expr::Field(_)) || self.is_held(of) {
            return None;
        }
        let base = self.links(of, &mut Vec::new())?;
        if self.is_own_iterator(base) && self.is_own_method(m) {
            return None;
        }
        Some(match &*m.method.to_string() {
            "rfind" => parse_quote_spanned!(span=> (#of).rev().find(#args)),
            "rfold" => parse_quote_spanned!(span=> (#of).rev().fold(#args)),
            "nth_back" => parse_quote_spanned!(span=> (#of).rev().nth(#args)),
            "next_back" => parse_quote_spanned!(span=> (#of).rev().next()),
            // What has a length is asked without making an item.
            _ if is_drawn_once(of) => return None,
            _ => {
                let of = self.unmade(of);
                parse_quote_spanned!(span=> (#of).count())
            }
        })
    }

    /// What runs over the value of an `Option` or `Result`, if it has one; none if it is no such one.
    pub(super) fn over_optional(&mut self, e: &syn::Expr) -> Option<syn::Expr> {
        if self.links(e, &mut Vec::new()).is_some() {
            return None;
        }
        let (span, ty) = (e.span(), self.type_ahead(e));
        match self.shallow(&ty) {
            Ty::Option(_) | Ty::Result(..) => {
                Some(parse_quote_spanned!(span=> [#e].into_iter().flatten()))
            }
            Ty::Ref { mutable, target }
                if Sum::of(&target, self)
                    .is_some_and(|of| of == Sum::Option || of == Sum::Result) =>
            {
                let lent = own(if mutable { "as_mut" } else { "as_ref" }, span);
                Some(parse_quote_spanned!(span=> [(#e).#lent()].into_iter().flatten()))
            }
            _ => None,
        }
    }

    /// The `Option` whose value `o.iter()` and its kin run over; of a `Result` what it is without its error.
    pub(super) fn begins_optional(&mut self, e: &syn::Expr) -> Option<syn::Expr> {
        let syn::Expr::MethodCall(m) = strip(e) else {
            return None;
        };
        let name = m.method.to_string();
        if !m.args.is_empty() || !matches!(&*name, "iter" | "iter_mut" | "into_iter") {
            return None;
        }
        let (span, of) = (m.span(), strip(&m.receiver));
        let ty = self.type_ahead(of);
        let (ty, lent) = match self.shallow(&ty) {
            Ty::Ref { mutable, target } => (self.shallow(&target), Some(mutable)),
            ty => (ty, None),
        };
        if !matches!(ty, Ty::Option(_) | Ty::Result(..)) {
            return None;
        }
        let [as_ref, as_mut, ok] = ["as_ref", "as_mut", "ok"].map(|name| own(name, span));
        let one = match (&*name, lent) {
            ("into_iter", None) => quote_spanned!(span=> (#of)),
            ("iter", _) | ("into_iter", Some(false)) => quote_spanned!(span=> (#of).#as_ref()),
            _ => quote_spanned!(span=> (#of).#as_mut()),
        };
        Some(match ty {
            Ty::Result(..) => parse_quote_spanned!(span=> #one.#ok()),
            _ => parse_quote_spanned!(span=> #one),
        })
    }

    /// `a.iter().rev().is_sorted()`: each item beside the one before it.
    fn in_order(&mut self, m: &syn::ExprMethodCall) -> Option<syn::Expr> {
        let (span, of) = (m.span(), &m.receiver);
        let mut adaptors = Vec::new();
        self.links(of, &mut adaptors)?;
        if adaptors.is_empty() && !matches!(strip(of), syn::Expr::MethodCall(_)) {
            return None;
        }
        let behind = self.behind_item(of, span);
        let [last, before, one, some, none] =
            ["last", "before", "one", "Some", "None"].map(|name| own(name, span));
        Some(parse_quote_spanned!(span=> {
            let mut #last = #none;
            (#of).all(|#one| {
                let #one = #behind #one;
                if let #some(#before) = #last && !(#before <= #one) { return false; }
                #last = #some(#one);
                true
            })
        }))
    }

    /// What stands in front of an item of a chain for what it refers to.
    pub(super) fn behind_item(&mut self, of: &syn::Expr, span: proc_macro2::Span) -> TokenStream {
        let mut ty = self.item_of_chain(of);
        let mut derefs = TokenStream::new();
        while let Ty::Ref { target, .. } = self.shallow(&ty) {
            (ty, derefs) = (*target, quote_spanned!(span=> *#derefs));
        }
        derefs
    }

    /// The sum of `Option`s or `Result`s: that of what they hold, if none lacks it.
    fn sum_of_sums(&mut self, m: &syn::ExprMethodCall, want: Option<&Ty>) -> Option<syn::Expr> {
        let span = m.span();
        let ty = match m.turbofish.as_ref().and_then(|t| t.args.first()) {
            Some(syn::GenericArgument::Type(ty)) => self.annotated(ty),
            _ => want?.clone(),
        };
        let sum = Sum::of(&ty, self)?;
        let inner = match self.shallow(&ty) {
            Ty::Option(inner) | Ty::Result(inner, _) => self.shallow(&inner),
            _ => return None,
        };
        self.links(&m.receiver, &mut Vec::new())?;
        let scalar = inner.scalar()?;
        let (of, scalar_name) = (&m.receiver, syn::Ident::new(scalar.name(), span));
        let is_sum = m.method == "sum";
        let first = match (is_sum, scalar.is_float()) {
            (true, true) => quote_spanned!(span=> -0.0),
            (true, false) => quote_spanned!(span=> 0),
            (false, true) => quote_spanned!(span=> 1.0),
            (false, false) => quote_spanned!(span=> 1),
        };
        let wrap = own(
            if matches!(sum, Sum::Result) {
                "Ok"
            } else {
                "Some"
            },
            span,
        );
        let [all, one, first_name] = ["whole", "one", "begin"].map(|name| own(name, span));
        let next = match is_sum {
            true => quote_spanned!(span=> #all + #one?),
            false => quote_spanned!(span=> #all * #one?),
        };
        Some(parse_quote_spanned!(span=> {
            let #first_name: #scalar_name = #first;
            (#of).try_fold(#first_name, |#all, #one| #wrap(#next))
        }))
    }

    /// Whether a chain begins with parts of a slice that have numbers, from which `rposition` counts.
    pub(super) fn has_numbers(of: &syn::Expr) -> bool {
        match strip(of) {
            syn::Expr::MethodCall(m) => {
                m.method == "iter" && m.args.is_empty() || PARTS.iter().any(|name| m.method == name)
            }
            _ => false,
        }
    }
}
