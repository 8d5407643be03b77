//! What may find nothing, by its name: methods that end a chain, `a.get(i)` and its kin, `x.checked_add(y)`. Of each the statements behind which `some` tells
//! whether there is something, and `best` is that.

use super::{super::places::strip, Refused, apply, item, loops::Loop, own};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::parse_quote_spanned;
use syn::spanned::Spanned;

/// Whether a method of an iterator gives an `Option` of what it finds.
pub(super) fn is_search(m: &syn::ExprMethodCall) -> bool {
    matches!(
        (&*m.method.to_string(), m.args.len()),
        ("min" | "max" | "next" | "last", 0)
            | (
                "position"
                    | "rposition"
                    | "find"
                    | "find_map"
                    | "min_by_key"
                    | "max_by_key"
                    | "min_by"
                    | "max_by"
                    | "nth"
                    | "reduce",
                1
            )
    )
}

/// Whether a method of slices or numbers gives one.
pub(super) fn is_part(m: &syn::ExprMethodCall) -> bool {
    matches!(
        (&*m.method.to_string(), m.args.len()),
        (
            "first"
                | "first_mut"
                | "last"
                | "last_mut"
                | "split_first"
                | "split_first_mut"
                | "split_last"
                | "split_last_mut",
            0
        ) | (
            "get" | "get_mut" | "checked_add" | "checked_sub" | "checked_mul",
            1
        )
    )
}

/// The statements of one of these of a slice or number.
pub(super) fn part(
    m: &syn::ExprMethodCall,
    some: &Ident,
    best: &Ident,
) -> Result<TokenStream, Refused> {
    let (span, of, name) = (m.span(), &m.receiver, m.method.to_string());
    if let Some(operator) = name.strip_prefix("checked_") {
        let (arg, over) = (&m.args[0], own("over", span));
        let method = own(&format!("overflowing_{operator}"), m.method.span());
        return Ok(
            quote_spanned!(span=> let (#best, #over) = (#of).#method(#arg); let #some = !#over;),
        );
    }
    let (all, len, at) = (own("all", span), own("len", span), own("at", span));
    let (name, by, split) = match name.strip_suffix("_mut") {
        Some(name) => (name, quote_spanned!(span=> &mut), "split_at_mut"),
        None => (&*name, quote_spanned!(span=> &), "split_at"),
    };
    let split = Ident::new(split, span);
    let (one, rest) = (own("one", span), own("rest", span));
    let value = match (name, m.args.first()) {
        ("get", Some(index)) => {
            if let syn::Expr::Range(range) = strip(index) {
                let (low, high) = (own("low", span), own("high", span));
                let lo = range
                    .start
                    .as_deref()
                    .map_or_else(|| quote_spanned!(span=> 0), ToTokens::to_token_stream);
                let hi = range.end.as_deref().map_or_else(
                    || quote_spanned!(span=> #all.len()),
                    ToTokens::to_token_stream,
                );
                let (fits, part) = match range.limits {
                    syn::RangeLimits::HalfOpen(_) => (
                        quote_spanned!(span=> #low <= #high && #high <= #all.len()),
                        quote_spanned!(span=> #low..#high),
                    ),
                    syn::RangeLimits::Closed(_) => (
                        quote_spanned!(span=> #high < #all.len() && #low <= #high + 1),
                        quote_spanned!(span=> #low..#high + 1),
                    ),
                };
                return Ok(quote_spanned!(span=>
                    let #all = #by(#of)[..]; let (#low, #high): (usize, usize) = (#lo, #hi);
                    let #some = #fits;
                    let mut #best; if #some { #best = #by #all[#part]; }));
            }
            return Ok(quote_spanned!(span=>
                let #all = #by(#of)[..]; let #at: usize = #index; let #some = #at < #all.len();
                let mut #best; if #some { #best = #by #all[#at]; }));
        }
        ("first", _) => quote_spanned!(span=> #by #all[0]),
        ("last", _) => quote_spanned!(span=> #by #all[#len - 1]),
        ("split_first", _) => {
            quote_spanned!(span=> { let (#one, #rest) = #all.#split(1); (#by #one[0], #rest) })
        }
        _ => {
            quote_spanned!(span=> { let (#rest, #one) = #all.#split(#len - 1); (#by #one[0], #rest) })
        }
    };
    Ok(quote_spanned!(span=>
        let #all = #by(#of)[..]; let #len = #all.len(); let #some = #len > 0;
        let mut #best; if #some { #best = #value; }))
}

impl Loop {
    /// The loop that finds it, and what stands before that.
    pub(super) fn finding(
        &self,
        end: &syn::ExprMethodCall,
        some: &Ident,
        best: &Ident,
        own_orders: bool,
    ) -> Result<TokenStream, Refused> {
        let (span, item, key) = (self.span, item(self.span), own("key", self.span));
        let leave = self.leave();
        let mut before = quote_spanned!(span=> let mut #some = false; let mut #best;);
        let take = |found: &Ident| quote_spanned!(span=> #best = #found; #some = true;);
        let body = match (&*end.method.to_string(), end.args.first()) {
            ("position", Some(f)) => {
                let (test, at) = (apply(f, &[(&item, false)])?, own("position", span));
                before.extend(quote_spanned!(span=> let mut #at = 0usize;));
                let take = take(&at);
                quote_spanned!(span=> if #test { #take #leave; } #at += 1;)
            }
            // Over the items with their numbers, from behind.
            ("rposition", Some(f)) => {
                let (test, at) = (apply(f, &[(&item, false)])?, own("position", span));
                let take = take(&at);
                quote_spanned!(span=> let (#at, #item) = #item; if #test { #take #leave; })
            }
            ("find", Some(f)) => {
                let (test, take) = (apply(f, &[(&item, true)])?, take(&item));
                quote_spanned!(span=> if #test { #take #leave; })
            }
            ("find_map", Some(f)) => {
                let (value, is_some) = (apply(f, &[(&item, false)])?, own("Some", span));
                let take = take(&item);
                quote_spanned!(span=> if let #is_some(#item) = (#value) { #take #leave; })
            }
            ("next", _) => {
                let take = take(&item);
                quote_spanned!(span=> #take #leave;)
            }
            ("last", _) => take(&item),
            ("nth", Some(count)) => {
                let (left, take) = (own("left", span), take(&item));
                before.extend(quote_spanned!(span=> let mut #left: usize = #count;));
                quote_spanned!(span=> if #left == 0 { #take #leave; } #left -= 1;)
            }
            ("reduce", Some(f)) => {
                let next = apply(f, &[(best, false), (&item, false)])?;
                let take = take(&item);
                quote_spanned!(span=> if !#some { #take } else { #best = #next; })
            }
            // As in Rust: the first of the least, the last of the greatest.
            (name @ ("min_by" | "max_by"), Some(f)) => {
                let greater = apply(&greater(f, own_orders)?, &[(best, true), (&item, true)])?;
                let better = match name {
                    "min_by" => greater,
                    _ => quote_spanned!(span=> !#greater),
                };
                let take = take(&item);
                quote_spanned!(span=> if !#some { #take } else if #better { #take })
            }
            (name, by) => {
                let of = match by {
                    Some(f) => apply(f, &[(&item, true)])?,
                    // By value, where items are references.
                    None if self.refers => quote_spanned!(span=> *#item),
                    None => item.to_token_stream(),
                };
                let least = own("least", span);
                before.extend(quote_spanned!(span=> let mut #least;));
                let [cmp, is_lt, is_ge] = ["cmp", "is_lt", "is_ge"].map(|name| own(name, span));
                let better = match (name.starts_with("min"), own_orders) {
                    (true, true) => quote_spanned!(span=> #key.#cmp(&#least).#is_lt()),
                    (false, true) => quote_spanned!(span=> #key.#cmp(&#least).#is_ge()),
                    (true, false) => quote_spanned!(span=> #key < #least),
                    (false, false) => quote_spanned!(span=> #key >= #least),
                };
                let take = take(&item);
                quote_spanned!(span=> let #key = #of;
                    if !#some { #take #least = #key; } else if #better { #take #least = #key; })
            }
        };
        let (own, run) = (&self.before, self.with(None, &body));
        Ok(quote_spanned!(span=> #own #before #run))
    }
}

/// Of a closure that compares, `|a, b| a.cmp(b)`, the one that tells whether that is `Greater`. Where the program has orders of its own, the methods say themselves which they are.
fn greater(f: &syn::Expr, own_orders: bool) -> Result<syn::Expr, Refused> {
    let span = f.span();
    let syn::Expr::Closure(closure) = strip(f) else {
        let (a, b) = (own("left", span), own("right", span));
        return Ok(parse_quote_spanned!(span=> |#a, #b| (#f)(#a, #b).is_gt()));
    };
    let (span, mut body) = (closure.body.span(), strip(&closure.body));
    let unwrapped = match body {
        syn::Expr::MethodCall(m) if m.method == "unwrap" || m.method == "expect" => {
            body = strip(&m.receiver);
            true
        }
        _ => false,
    };
    let mut greater = closure.clone();
    // What is asked where it stands is no `Ordering` first.
    *greater.body = match body {
        syn::Expr::MethodCall(m) if m.args.len() == 1 && !own_orders => {
            let other = match strip(&m.args[0]) {
                syn::Expr::Reference(r) => &r.expr,
                other => other,
            };
            match &*m.method.to_string() {
                by @ ("cmp" | "total_cmp") if !unwrapped => compared(by, &m.receiver, other, span),
                by @ "partial_cmp" if unwrapped => compared(by, &m.receiver, other, span),
                _ => as_number(&closure.body),
            }
        }
        _ => as_number(&closure.body),
    };
    Ok(syn::Expr::Closure(greater))
}

/// Whether an `Ordering` is `Greater`.
fn as_number(e: &syn::Expr) -> syn::Expr {
    let span = e.span();
    parse_quote_spanned!(span=> (#e).is_gt())
}

/// Whether `a` is greater than `b` by that method.
fn compared(by: &str, a: &syn::Expr, b: &syn::Expr, span: Span) -> syn::Expr {
    let (left, right) = (own("left", span), own("right", span));
    match by {
        "cmp" => parse_quote_spanned!(span=> (#a) > (#b)),
        "partial_cmp" => parse_quote_spanned!(span=> {
            let (#left, #right) = (#a, #b);
            if !(#left <= #right || #left > #right) { panic!("these cannot be compared"); }
            #left > #right
        }),
        _ => {
            let (left, right) = (total_key(a, span), total_key(b, span));
            parse_quote_spanned!(span=> (#left > #right))
        }
    }
}

/// An integer for a float, in the order of `total_cmp`: its bits, with the sign's turned, and all of them where it is set.
pub(in super::super) fn total_key(x: &syn::Expr, span: Span) -> TokenStream {
    let bits = own("bits", span);
    quote_spanned!(span=> {
        let #bits = (#x).to_bits();
        if #bits.leading_zeros() == 0 { !#bits } else { #bits | (#bits ^ #bits | 1).rotate_right(1) }
    })
}
