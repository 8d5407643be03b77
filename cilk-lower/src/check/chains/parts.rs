//! Parts of a slice that no `for` knows by itself: between elements, from behind, as long as neighbours belong together.

use super::own;
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::parse_quote_spanned;

/// Methods of slices that cut where a closure says so, and how many elements that is given.
const BY_CLOSURE: &[(&str, usize)] = &[
    ("split", 1),
    ("split_inclusive", 1),
    ("rsplit", 1),
    ("chunk_by", 2),
];

/// Those that cut into parts of so many elements.
const BY_NUMBER: &[&str] = &["rchunks", "rchunks_exact"];

/// How many elements the closure of such a method is given: none where it takes a number.
pub(super) fn takes(method: &str) -> Option<usize> {
    let by_closure = BY_CLOSURE.iter().find(|(name, _)| *name == method);
    let by_number = || BY_NUMBER.contains(&method).then_some(0);
    by_closure.map(|(_, takes)| *takes).or_else(by_number)
}

/// What stands before the closure that gives the next part, and that closure.
pub(super) fn source(
    method: &str,
    of: &syn::Expr,
    by: &syn::Expr,
    span: Span,
) -> (TokenStream, syn::Expr) {
    let [left, part, end, test, all] =
        ["parts", "part", "end", "test", "whole"].map(|name| own(name, span));
    let [some, none] = ["Some", "None"].map(|name| own(name, span));
    let all_left = quote_spanned!(span=> let #all = &(#of)[..]; let mut #left = #some(#all););
    if takes(method) == Some(0) {
        let closure = match method {
            "rchunks_exact" => parse_quote_spanned!(span=> || {
                if #left.len() < #test { return #none; }
                let #end = #left.len() - #test;
                let #part = &#left[#end..];
                #left = &#left[..#end];
                #some(#part)
            }),
            _ => parse_quote_spanned!(span=> || {
                if #left.is_empty() { return #none; }
                let #end = #left.len().saturating_sub(#test);
                let #part = &#left[#end..];
                #left = &#left[..#end];
                #some(#part)
            }),
        };
        let before = quote_spanned!(span=>
            let mut #left = &(#of)[..]; let #test: usize = #by; assert!(#test != 0););
        return (before, closure);
    }
    let closure = match method {
        "split" => parse_quote_spanned!(span=> || {
            let #part = #left?;
            let #end = #part.iter().position(#test);
            #left = #end.map(|#end| &#part[#end + 1..]);
            #some(#end.map_or(#part, |#end| &#part[..#end]))
        }),
        "rsplit" => parse_quote_spanned!(span=> || {
            let #part = #left?;
            let #end = #part.iter().rposition(#test);
            #left = #end.map(|#end| &#part[..#end]);
            #some(#end.map_or(#part, |#end| &#part[#end + 1..]))
        }),
        "split_inclusive" => parse_quote_spanned!(span=> || {
            let #part = #left.filter(|#part| !#part.is_empty())?;
            let #end = #part.iter().position(#test).map_or(#part.len(), |#end| #end + 1);
            #left = #some(&#part[#end..]);
            #some(&#part[..#end])
        }),
        _ => parse_quote_spanned!(span=> || {
            let #part = #left.filter(|#part| !#part.is_empty())?;
            let #end = (1..#part.len()).find(|&#end| !#test(&#part[#end - 1], &#part[#end]));
            let #end = #end.unwrap_or(#part.len());
            #left = #some(&#part[#end..]);
            #some(&#part[..#end])
        }),
    };
    (quote_spanned!(span=> #all_left let #test = #by;), closure)
}
