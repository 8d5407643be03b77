//! Constants that hold references, `const NEAR: [&[usize]; 3] = [&[1], &[0, 2], &[1]];`: a constant of plain data that says where each slice lies, and has what
//! others refer to in their place; and one with what lies in all slices, for each type of that.

use crate::{hir::ConstId, items::Module};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{parse_quote, spanned::Spanned};

/// What such a constant is made of.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// The same with the ends of each slice in its place, and what they refer to in that of other references.
    pub(crate) plain: ConstId,
    /// What lies in the slices, and of which elements.
    pub(crate) data: Vec<(syn::Type, ConstId)>,
    /// Its type as it is written, behind a `&`.
    pub(crate) ty: syn::Type,
}

/// What lies in slices of one type of elements.
struct Data {
    elem: syn::Type,
    all: Vec<syn::Expr>,
}

/// The constants that one is made of which holds references: that of plain data, and those with what lies in the slices. None if it holds none, or if they are not
/// written there.
fn parts(item: &syn::ItemConst) -> Option<(syn::Type, syn::ItemConst, Vec<Data>)> {
    let (mut ty, mut value) = ((*item.ty).clone(), &*item.expr);
    if let (syn::Type::Reference(r), syn::Expr::Reference(v)) = (&*item.ty, &*item.expr)
        && let syn::Expr::Array(array) = &*v.expr
    {
        value = &v.expr;
        let len = Literal::usize_unsuffixed(array.elems.len());
        ty = match &*r.elem {
            syn::Type::Slice(s) => {
                let elem = &s.elem;
                parse_quote!([#elem; #len])
            }
            whole => whole.clone(),
        };
    }
    // What is a slice as a whole is a constant of its own.
    if !matches!(ty, syn::Type::Array(_) | syn::Type::Tuple(_)) {
        return None;
    }
    let mut data = Vec::new();
    let (plain_ty, plain) = part(&mut ty, value, &mut data)?;
    let item = syn::ItemConst {
        ty: Box::new(syn::parse2(plain_ty).ok()?),
        expr: Box::new(syn::parse2(plain).ok()?),
        ..item.clone()
    };
    holds_references(&ty).then_some((ty, item, data))
}

/// A type and a value of it with ends in place of slices, and without other references. Lengths of arrays in the type become numbers.
fn part(
    ty: &mut syn::Type,
    value: &syn::Expr,
    data: &mut Vec<Data>,
) -> Option<(TokenStream, TokenStream)> {
    let span = value.span();
    match (ty, value) {
        (ty, syn::Expr::Paren(p)) => part(ty, &p.expr, data),
        (syn::Type::Reference(r), value) => {
            let syn::Type::Slice(s) = &*r.elem else {
                if holds_references(&r.elem) {
                    return None;
                }
                let value = match value {
                    syn::Expr::Reference(v) if v.mutability.is_none() => v.expr.to_token_stream(),
                    syn::Expr::Lit(l) => quote_spanned!(span=> *#l),
                    _ => return None,
                };
                return Some((r.elem.to_token_stream(), value));
            };
            let items = elements(value)?;
            let same = |d: &&mut Data| d.elem == *s.elem;
            let of = match data.iter_mut().find(same) {
                Some(of) => of,
                None => {
                    data.push(Data {
                        elem: (*s.elem).clone(),
                        all: Vec::new(),
                    });
                    data.last_mut()?
                }
            };
            let (low, high) = (of.all.len(), of.all.len() + items.len());
            of.all.extend(items);
            let (low, high) = (
                Literal::usize_unsuffixed(low),
                Literal::usize_unsuffixed(high),
            );
            Some((quote!([usize; 2]), quote_spanned!(span=> [#low, #high])))
        }
        (syn::Type::Tuple(t), syn::Expr::Tuple(v)) if t.elems.len() == v.elems.len() => {
            let parts = t.elems.iter_mut().zip(&v.elems);
            let parts: Option<Vec<_>> = parts.map(|(t, v)| part(t, v, data)).collect();
            let (types, values): (Vec<_>, Vec<_>) = parts?.into_iter().unzip();
            Some((quote!((#(#types,)*)), quote_spanned!(span=> (#(#values,)*))))
        }
        (syn::Type::Array(t), syn::Expr::Array(v)) => {
            let parts = v.elems.iter().map(|v| part(&mut t.elem, v, data));
            let parts: Vec<_> = parts.collect::<Option<_>>()?;
            let ty = parts.first()?.0.clone();
            let (values, count) = (parts.iter().map(|(_, value)| value), v.elems.len());
            let len = std::mem::replace(&mut t.len, parse_quote!(#count));
            Some((quote!([#ty; #len]), quote_spanned!(span=> [#(#values,)*])))
        }
        (ty, value) => Some((ty.to_token_stream(), value.to_token_stream())),
    }
}

/// What is written in a slice: `&[1, 2]`, `b"text"`.
fn elements(value: &syn::Expr) -> Option<Vec<syn::Expr>> {
    match value {
        syn::Expr::Reference(r) if r.mutability.is_none() => match &*r.expr {
            syn::Expr::Array(a) => Some(a.elems.iter().cloned().collect()),
            _ => None,
        },
        syn::Expr::Lit(l) => match &l.lit {
            syn::Lit::ByteStr(text) => {
                let span = l.span();
                let byte = |b: u8| {
                    let b = Literal::u8_suffixed(b);
                    syn::parse_quote_spanned!(span=> #b)
                };
                Some(text.value().into_iter().map(byte).collect())
            }
            _ => None,
        },
        _ => None,
    }
}

impl Module {
    /// Declares what a constant is made of, if it holds references.
    pub(crate) fn declare_rows(&mut self, name: &str, item: &syn::ItemConst) -> Option<Rows> {
        let (ty, plain, data) = parts(item)?;
        let plain = self.push_const(format!("{name}.ends"), plain);
        let data = data.into_iter().map(|Data { elem, all }| {
            let len = Literal::usize_unsuffixed(all.len());
            let of = syn::ItemConst {
                ty: parse_quote!([#elem; #len]),
                expr: parse_quote!([#(#all),*]),
                ..item.clone()
            };
            (elem, self.push_const(format!("{name}.data"), of))
        });
        Some(Rows {
            plain,
            data: data.collect(),
            ty,
        })
    }
}

/// The value of such a type, of the place that has its plain data: `data` gives the name of what lies in the slices of a type.
pub(crate) fn value(
    ty: &syn::Type,
    place: &TokenStream,
    data: &impl Fn(&syn::Type) -> Option<syn::Ident>,
) -> TokenStream {
    match ty {
        syn::Type::Reference(r) => match &*r.elem {
            syn::Type::Slice(s) => match data(&s.elem) {
                Some(data) => quote!(&#data[#place[0]..#place[1]]),
                None => place.clone(),
            },
            _ => quote!(&#place),
        },
        syn::Type::Tuple(t) if holds_references(ty) => {
            let parts = t.elems.iter().enumerate().map(|(i, t)| {
                let i = Literal::usize_unsuffixed(i);
                value(t, &quote!(#place.#i), data)
            });
            quote!((#(#parts,)*))
        }
        syn::Type::Array(a) if holds_references(ty) => {
            let count = match &a.len {
                syn::Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Int(count),
                    ..
                }) => count.base10_parse().unwrap_or(0),
                _ => 0,
            };
            let parts = (0..count).map(|i: usize| value(&a.elem, &quote!(#place[#i]), data));
            quote!([#(#parts),*])
        }
        _ => place.clone(),
    }
}

/// Whether a type has references in it.
pub(crate) fn holds_references(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Reference(_) => true,
        syn::Type::Tuple(t) => t.elems.iter().any(holds_references),
        syn::Type::Array(a) => holds_references(&a.elem),
        _ => false,
    }
}
