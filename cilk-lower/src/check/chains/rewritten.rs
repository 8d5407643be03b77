//! Methods of iterators that are others: comparisons of two, sums of what may be missing, and what takes some numbers of a range that has a name.

use super::{
    super::{Checker, iteration::PARTS, places::strip, sums::Sum},
    given::is_drawn_once,
    own,
};
use crate::ty::Ty;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
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
                let of = self.copied_chain(&of);
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
    fn behind_item(&mut self, of: &syn::Expr, span: proc_macro2::Span) -> TokenStream {
        let mut ty = self.item_of_chain(of);
        let mut derefs = TokenStream::new();
        while let Ty::Ref { target, .. } = self.shallow(&ty) {
            (ty, derefs) = (*target, quote_spanned!(span=> *#derefs));
        }
        derefs
    }

    /// `a.iter().eq(b)` and its kin: item by item.
    fn iterators_compared(
        &mut self,
        m: &syn::ExprMethodCall,
        other: &syn::Expr,
    ) -> Option<syn::Expr> {
        // Rust compares how many items there are first, and takes none of a range behind `&mut` if these differ.
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
