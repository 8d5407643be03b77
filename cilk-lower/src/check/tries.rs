//! `u8::try_from(x)`, `x.try_into()` and `a[..4].try_into()`: a `Result` whose error says nothing, `()`.

use super::{Checker, chains::own, places::strip};
use crate::{
    hir::Expr,
    items::Item,
    ty::{Class, Ty},
};
use millstream_graph::ty::Scalar;
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{parse_quote_spanned, spanned::Spanned};

/// A slice of that many elements as a reference to an array of them.
pub(super) const AS_ARRAY: &str = "_as_array";
/// and what makes a slice of arrays of so many elements of one of as many as these have.
pub(super) const AS_ARRAYS: &str = "_as_arrays";

/// What is asked of a result and comes to its value.
const TAKE: &[&str] = &[
    "unwrap",
    "expect",
    "unwrap_or",
    "unwrap_or_else",
    "unwrap_or_default",
];

/// Methods of slices that give a part of them as an array.
const CHUNKS: &[&str] = &[
    "first_chunk",
    "last_chunk",
    "first_chunk_mut",
    "last_chunk_mut",
    "split_first_chunk",
    "split_last_chunk",
    "as_chunks",
    "as_chunks_mut",
    "as_rchunks",
];

/// `x.try_into()`
pub(super) fn try_into(e: &syn::Expr) -> Option<&syn::Expr> {
    match strip(e) {
        syn::Expr::MethodCall(m) if m.method == "try_into" && m.args.is_empty() => {
            Some(&m.receiver)
        }
        _ => None,
    }
}

/// What borrows it so.
fn borrowing(mutable: bool, span: Span) -> TokenStream {
    match mutable {
        true => quote_spanned!(span=> &mut),
        false => quote_spanned!(span=> &),
    }
}

impl Checker<'_> {
    /// An integer of another type, if it has that value.
    pub(super) fn try_from(&mut self, x: &syn::Expr, to: Scalar, span: Span) -> Expr {
        let ty = self.type_ahead(x);
        let ty = match self.shallow(&ty) {
            Ty::Ref { target, .. } => self.shallow(&target),
            ty => ty,
        };
        let from = match ty {
            Ty::Scalar(s) if s.is_int() => Some(s.name()),
            Ty::Var(v) if self.table.class(v) == Class::Int => Some(Scalar::I32.name()),
            _ => self
                .wide_sign(&ty)
                .map(|signed| if signed { "i128" } else { "u128" }),
        };
        let Some(from) = from else {
            let shown = self.show(&ty);
            return self.refuse(
                span,
                format!("`{to}::try_from` of `{shown}` is not part of the task language"),
                "it takes integers: write `.. as`, or a function of the program",
            );
        };
        let [value, made, ok, err] = ["value", "made", "Ok", "Err"].map(|name| own(name, span));
        let [from, to] = [from, to.name()].map(|name| syn::Ident::new(name, span));
        let tried: syn::Expr = parse_quote_spanned!(span=> {
            let #value: #from = #x;
            let #made = #value as #to;
            if #made as #from == #value && (#made < 0) == (#value < 0) { #ok(#made) } else { #err(()) }
        });
        self.expr(&tried, None)
    }

    /// `x.try_into()` where a value of that type is wanted; none if it is no such one.
    pub(super) fn tried_into(&mut self, e: &syn::Expr, into: &Ty) -> Option<syn::Expr> {
        let (of, span) = (try_into(e)?, e.span());
        let [all, ok, err] = ["all", "Ok", "Err"].map(|name| own(name, span));
        match self.shallow(into) {
            Ty::Scalar(s) if s.is_int() => {
                let ty = syn::Ident::new(s.name(), span);
                Some(parse_quote_spanned!(span=> #ty::try_from(#of)))
            }
            // What the program has an `impl TryFrom` of.
            Ty::Struct(id) => {
                let path: syn::Path = syn::parse_str(&self.m.structs[id].name).ok()?;
                (self.m.item(&path) == Some(Item::Struct(id)))
                    .then(|| parse_quote_spanned!(span=> #path::try_from(#of)))
            }
            into @ (Ty::Array(..) | Ty::Ref { .. }) => {
                let at = own("at", span);
                // The array itself, or what the slice refers to as one.
                let (len, mutable, array) = match into {
                    Ty::Array(_, len) => (
                        len,
                        false,
                        quote_spanned!(span=> std::array::from_fn::<_, { #len as usize }, _>(|#at| #all[#at])),
                    ),
                    Ty::Ref { mutable, target } => match self.shallow(&target) {
                        Ty::Array(_, len) => {
                            let as_array = own(AS_ARRAY, span);
                            (len, mutable, quote_spanned!(span=> #all.#as_array(#len)))
                        }
                        _ => return None,
                    },
                    _ => return None,
                };
                let ty = match strip(of) {
                    syn::Expr::Index(_) => None,
                    of => Some(self.type_ahead(of)),
                };
                let ty = ty.map(|ty| match self.shallow(&ty) {
                    Ty::Ref { target, .. } => self.shallow(&target),
                    ty => ty,
                });
                if !matches!(ty, None | Some(Ty::Slice { .. } | Ty::Array(..))) {
                    return None;
                }
                let by = borrowing(mutable, span);
                let of = match strip(of) {
                    syn::Expr::Index(_) => quote_spanned!(span=> #by #of),
                    _ => quote_spanned!(span=> #by (#of)[..]),
                };
                Some(parse_quote_spanned!(span=> {
                    let #all = #of;
                    if #all.len() as u64 == #len {
                        #ok(#array)
                    } else {
                        #err(())
                    }
                }))
            }
            _ => None,
        }
    }

    /// The same in front of a `?`, as it is or with what makes an error of the program's of its error.
    pub(super) fn tried_for(&mut self, e: &syn::Expr, want: Option<&Ty>) -> Option<syn::Expr> {
        if let Some(tried) = self.tried_into(e, want?) {
            return Some(tried);
        }
        match strip(e) {
            syn::Expr::MethodCall(m) if m.method == "ok" || m.method == "map_err" => {
                let tried = self.tried_into(&m.receiver, want?)?;
                let mut taken = m.clone();
                *taken.receiver = parse_quote_spanned!(m.span()=> (#tried));
                Some(syn::Expr::MethodCall(taken))
            }
            _ => None,
        }
    }

    /// `a.first_chunk::<4>()` and its kin: a reference to an array of as many elements as is written or wanted, if there are so many; or all as such arrays.
    pub(super) fn chunk_of(&mut self, m: &syn::ExprMethodCall, want: Option<&Ty>) -> Option<Expr> {
        let (span, name, of) = (m.span(), m.method.to_string(), &m.receiver);
        if !CHUNKS.contains(&&*name) || !m.args.is_empty() {
            return None;
        }
        let written = m.turbofish.as_ref().and_then(|t| t.args.first());
        let count = match written {
            Some(arg) => self.m.param_number(arg, Scalar::Usize),
            None => want.and_then(|want| self.wanted_length(want)),
        };
        let Some(count) = count else {
            if written.is_none() {
                self.error(
                    m.method.span(),
                    format!("how many elements `{name}` takes is not known here"),
                )
                .help(format!("write it, `{name}::<4>()`"));
            }
            return Some(Self::broken(span));
        };
        let [all, some, none, at, as_array] =
            ["all", "Some", "None", "at", AS_ARRAY].map(|name| own(name, span));
        if name.contains("chunks") {
            return Some(self.arrays_of(m, count, want));
        }
        let count = proc_macro2::Literal::u64_unsuffixed(count);
        let by = borrowing(name.ends_with("_mut"), span);
        let value = match &*name {
            "first_chunk" | "first_chunk_mut" => {
                quote_spanned!(span=> (#by #all[..#count]).#as_array(#count))
            }
            "last_chunk" | "last_chunk_mut" => {
                quote_spanned!(span=> (#by #all[#all.len() - #count..]).#as_array(#count))
            }
            "split_first_chunk" => {
                quote_spanned!(span=> ((&#all[..#count]).#as_array(#count), &#all[#count..]))
            }
            _ => quote_spanned!(span=> {
                let #at = #all.len() - #count;
                (&#all[..#at], (&#all[#at..]).#as_array(#count))
            }),
        };
        let chunk: syn::Expr = parse_quote_spanned!(span=> {
            let #all = #by (#of)[..];
            if #all.len() >= #count { #some(#value) } else { #none }
        });
        Some(self.expr(&chunk, want))
    }

    /// `a.as_chunks::<4>()` and its kin: whole arrays of so many elements, and what is left of them at one end.
    fn arrays_of(&mut self, m: &syn::ExprMethodCall, count: u64, want: Option<&Ty>) -> Expr {
        let (span, of) = (m.span(), &m.receiver);
        if count == 0 {
            return self.refuse(m.method.span(), "chunks of no elements", "write how many");
        }
        let [all, at, one, rest, as_arrays] =
            ["all", "at", "one", "rest", AS_ARRAYS].map(|name| own(name, span));
        let count = proc_macro2::Literal::u64_unsuffixed(count);
        let is_mutable = m.method == "as_chunks_mut";
        let by = borrowing(is_mutable, span);
        let split = if is_mutable {
            "split_at_mut"
        } else {
            "split_at"
        };
        let split = syn::Ident::new(split, span);
        let (cut, value) = match m.method == "as_rchunks" {
            true => (
                quote_spanned!(span=> #all.len() % #count),
                quote_spanned!(span=> (#one, #rest.#as_arrays(#count))),
            ),
            false => (
                quote_spanned!(span=> #all.len() / #count * #count),
                quote_spanned!(span=> (#one.#as_arrays(#count), #rest)),
            ),
        };
        let parts = parse_quote_spanned!(span=> {
            let #all = #by (#of)[..];
            let #at: usize = #cut;
            let (#one, #rest) = #all.#split(#at);
            #value
        });
        self.expr(&parts, want)
    }

    /// The length of the array that is wanted somewhere in a type.
    fn wanted_length(&self, want: &Ty) -> Option<u64> {
        match self.shallow(want) {
            Ty::Array(_, len) => Some(len),
            Ty::Option(of) | Ty::Ref { target: of, .. } | Ty::Slice { elem: of, .. } => {
                self.wanted_length(&of)
            }
            Ty::Tuple(parts) => parts.iter().find_map(|part| self.wanted_length(part)),
            _ => None,
        }
    }

    /// What takes the value of `x.try_into()` where it stands, `x.try_into().unwrap()`: what is wanted says which it is.
    pub(super) fn taken_into(
        &mut self,
        m: &syn::ExprMethodCall,
        want: Option<&Ty>,
    ) -> Option<syn::Expr> {
        if m.method == "try_into" && m.args.is_empty() {
            let Ty::Result(into, _) = self.shallow(want?) else {
                return None;
            };
            let whole = syn::Expr::MethodCall(m.clone());
            return self.tried_into(&whole, &into);
        }
        let wanted = match want.map(|want| self.shallow(want)) {
            Some(Ty::Option(into)) if m.method == "ok" => Some(*into),
            _ if m.method == "ok" => None,
            want => want,
        };
        if let syn::Expr::MethodCall(chunk) = strip(&m.receiver)
            && CHUNKS.iter().any(|name| chunk.method == name)
            && chunk.turbofish.is_none()
            && TAKE.iter().any(|name| m.method == name)
        {
            let count = proc_macro2::Literal::u64_unsuffixed(self.wanted_length(&wanted?)?);
            let mut taken = m.clone();
            let mut chunk = chunk.clone();
            chunk.turbofish = Some(parse_quote_spanned!(m.span()=> ::<#count>));
            *taken.receiver = syn::Expr::MethodCall(chunk);
            return Some(syn::Expr::MethodCall(taken));
        }
        try_into(&m.receiver)
            .filter(|_| m.method == "ok" || TAKE.iter().any(|name| m.method == name))?;
        let tried = self.tried_into(&m.receiver, &wanted?)?;
        let mut taken = m.clone();
        *taken.receiver = parse_quote_spanned!(m.span()=> (#tried));
        Some(syn::Expr::MethodCall(taken))
    }
}
