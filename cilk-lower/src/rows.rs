//! Constants that hold references, `const NEAR: [&[usize]; 3] = [&[1], &[0, 2], &[1]];`: a constant of plain data that says where each slice lies, and has what
//! others refer to in their place; and one with what lies in all slices, for each type of that. Of a struct with references the plain data are a tuple of its fields'.

use crate::{
    consts::Lent,
    generics::Known,
    hir::ConstId,
    items::{ConstState, Item, Module},
};
use millstream_graph::ty::Type;
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::rc::Rc;
use syn::{parse_quote, spanned::Spanned};

/// How deep structs that hold references lie in each other.
const DEEPEST: usize = 8;

/// What such a constant is made of.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// The same with the ends of each slice in its place, and what they refer to in that of other references.
    pub(crate) plain: ConstId,
    /// What lies in the slices, and of which elements.
    pub(crate) data: Vec<(syn::Type, ConstId)>,
    /// Its type as it is written, behind a `&`.
    pub(crate) ty: syn::Type,
    /// Whether there is a `&` in front, of structs or of one.
    pub(crate) lent: Option<Lent>,
}

/// What lies in slices of one type of elements.
struct Data {
    elem: syn::Type,
    all: Vec<syn::Expr>,
}

/// The constants that one is made of which holds references: that of plain data, and those with what lies in the slices. None if it holds none, or if they are not
/// written there.
fn parts(m: &Module, item: &syn::ItemConst) -> Option<(syn::Type, syn::ItemConst, Vec<Data>)> {
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
    if !matches!(
        ty,
        syn::Type::Array(_) | syn::Type::Tuple(_) | syn::Type::Path(_)
    ) {
        return None;
    }
    if !m.holds_references(&ty) {
        return None;
    }
    let mut data = Vec::new();
    let (plain_ty, plain) = part(m, &mut ty, value, &mut data)?;
    let item = syn::ItemConst {
        ty: Box::new(syn::parse2(plain_ty).ok()?),
        expr: Box::new(syn::parse2(plain).ok()?),
        ..item.clone()
    };
    Some((ty, item, data))
}

/// A type and a value of it with ends in place of slices, and without other references. Lengths of arrays in the type become numbers.
fn part(
    m: &Module,
    ty: &mut syn::Type,
    value: &syn::Expr,
    data: &mut Vec<Data>,
) -> Option<(TokenStream, TokenStream)> {
    let span = value.span();
    match (ty, value) {
        (ty, syn::Expr::Paren(p)) => part(m, ty, &p.expr, data),
        (syn::Type::Reference(r), value) => {
            let syn::Type::Slice(s) = &*r.elem else {
                if m.holds_references(&r.elem) {
                    return None;
                }
                let value = match value {
                    syn::Expr::Reference(v) if v.mutability.is_none() => v.expr.to_token_stream(),
                    syn::Expr::Lit(l) => quote_spanned!(span=> *#l),
                    _ => return None,
                };
                return Some((r.elem.to_token_stream(), value));
            };
            if m.holds_references(&s.elem) {
                return None;
            }
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
            let parts: Option<Vec<_>> = parts.map(|(t, v)| part(m, t, v, data)).collect();
            let (types, values): (Vec<_>, Vec<_>) = parts?.into_iter().unzip();
            Some((quote!((#(#types,)*)), quote_spanned!(span=> (#(#values,)*))))
        }
        (syn::Type::Array(t), syn::Expr::Array(v)) => {
            let parts = v.elems.iter().map(|v| part(m, &mut t.elem, v, data));
            let parts: Vec<_> = parts.collect::<Option<_>>()?;
            let ty = parts.first()?.0.clone();
            let (values, count) = (parts.iter().map(|(_, value)| value), v.elems.len());
            let len = std::mem::replace(&mut t.len, parse_quote!(#count));
            Some((quote!([#ty; #len]), quote_spanned!(span=> [#(#values,)*])))
        }
        (syn::Type::Path(p), value) if m.held_fields(&p.path).is_some() => {
            let fields = m.held_fields(&p.path)?;
            structure(m, &fields, value, data)
        }
        (ty, value) => Some((ty.to_token_stream(), value.to_token_stream())),
    }
}

/// The same of a struct that is written out, or of a constant that is one.
fn structure(
    m: &Module,
    fields: &syn::Fields,
    value: &syn::Expr,
    data: &mut Vec<Data>,
) -> Option<(TokenStream, TokenStream)> {
    let span = value.span();
    let given: Vec<&syn::Expr> = match value {
        syn::Expr::Paren(p) => return structure(m, fields, &p.expr, data),
        syn::Expr::Path(p) => {
            let Some(Item::Const(id)) = m.item(&p.path) else {
                return None;
            };
            let of = &m.consts[id.0];
            return match &of.state {
                ConstState::Source(item) if of.at.here == m.at.here && of.lent.is_none() => {
                    structure(m, fields, &item.expr, data)
                }
                _ => None,
            };
        }
        syn::Expr::Struct(s) if s.rest.is_none() => {
            let of = |member: syn::Member| s.fields.iter().find(|f| f.member == member);
            let given = fields.members().map(|member| Some(&of(member)?.expr));
            given.collect::<Option<_>>()?
        }
        syn::Expr::Call(call) => call.args.iter().collect(),
        _ => return None,
    };
    if given.len() != fields.len() || !fields.iter().all(|f| has_plain_lengths(&f.ty)) {
        return None;
    }
    let mut types: Vec<syn::Type> = fields.iter().map(|f| f.ty.clone()).collect();
    let parts = types.iter_mut().zip(given);
    let parts: Option<Vec<_>> = parts.map(|(t, v)| part(m, t, v, data)).collect();
    let (types, values): (Vec<_>, Vec<_>) = parts?.into_iter().unzip();
    Some((quote!((#(#types,)*)), quote_spanned!(span=> (#(#values,)*))))
}

/// Whether the lengths of arrays in a type are numbers, which no name has to be looked up for.
fn has_plain_lengths(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Array(a) => matches!(&a.len, syn::Expr::Lit(_)) && has_plain_lengths(&a.elem),
        syn::Type::Tuple(t) => t.elems.iter().all(has_plain_lengths),
        _ => true,
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
    pub(crate) fn declare_rows(
        &mut self,
        name: &str,
        item: &syn::ItemConst,
        is_lent: bool,
    ) -> Option<Rows> {
        let (ty, plain, data) = parts(self, item)?;
        let is_struct = |ty: &syn::Type| matches!(ty, syn::Type::Path(_));
        let lent = match &ty {
            syn::Type::Array(a) if is_struct(&a.elem) => Some(Lent::Slice),
            ty => is_struct(ty).then_some(Lent::Whole),
        };
        let lent = lent.filter(|_| is_lent || matches!(*item.ty, syn::Type::Reference(_)));
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
            lent,
        })
    }
}

impl Module {
    /// Declares the same of constants that stand before what they name.
    pub(crate) fn declare_late_rows(&mut self) {
        for i in 0..self.consts.len() {
            let of = &self.consts[i];
            let ConstState::Source(item) = &of.state else {
                continue;
            };
            let (item, name, at) = (Rc::clone(item), of.name.clone(), of.at.clone());
            let is_lent = of.lent.is_some();
            if of.rows.is_none()
                && let Some(rows) = self.elsewhere(&at, |m| m.declare_rows(&name, &item, is_lent))
            {
                self.consts[i].rows = Some(Rc::new(rows));
            }
        }
    }

    /// The fields of the struct that a path names, if that holds references.
    pub(crate) fn held_fields(&self, path: &syn::Path) -> Option<Rc<syn::Fields>> {
        self.held_at(path, 0)
    }

    /// Whether a type has references in it.
    pub(crate) fn holds_references(&self, ty: &syn::Type) -> bool {
        self.holds_at(ty, 0)
    }

    fn held_at(&self, path: &syn::Path, depth: usize) -> Option<Rc<syn::Fields>> {
        let id = match (self.known(path), self.item(path)) {
            (Some(Known::Type(Type::Struct(id))), _) => *id,
            (None, Some(Item::Struct(id))) => id,
            _ => return None,
        };
        let fields = self.written_fields.get(&id)?;
        // One that contains itself is refused elsewhere.
        let holds = depth < DEEPEST && fields.iter().any(|f| self.holds_at(&f.ty, depth + 1));
        holds.then(|| Rc::clone(fields))
    }

    fn holds_at(&self, ty: &syn::Type, depth: usize) -> bool {
        match ty {
            syn::Type::Reference(_) => true,
            syn::Type::Tuple(t) => t.elems.iter().any(|ty| self.holds_at(ty, depth)),
            syn::Type::Array(a) => self.holds_at(&a.elem, depth),
            syn::Type::Path(p) => self.held_at(&p.path, depth).is_some(),
            _ => false,
        }
    }
}

/// The value of such a type, of the place that has its plain data: `data` gives the name of what lies in the slices of a type.
pub(crate) fn value(
    m: &Module,
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
        syn::Type::Tuple(t) if m.holds_references(ty) => {
            let parts = t.elems.iter().enumerate().map(|(i, t)| {
                let i = Literal::usize_unsuffixed(i);
                value(m, t, &quote!(#place.#i), data)
            });
            quote!((#(#parts,)*))
        }
        syn::Type::Path(p) if let Some(fields) = m.held_fields(&p.path) => {
            let parts = fields.iter().zip(fields.members()).enumerate();
            let parts = parts.map(|(i, (field, member))| {
                let i = Literal::usize_unsuffixed(i);
                let value = value(m, &field.ty, &quote!(#place.#i), data);
                quote!(#member: #value)
            });
            let mut path = p.path.clone();
            for segment in &mut path.segments {
                segment.arguments = syn::PathArguments::None;
            }
            quote!(#path { #(#parts),* })
        }
        syn::Type::Array(a) if m.holds_references(ty) => {
            let count = match &a.len {
                syn::Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Int(count),
                    ..
                }) => count.base10_parse().unwrap_or(0),
                _ => 0,
            };
            let parts = (0..count).map(|i: usize| value(m, &a.elem, &quote!(#place[#i]), data));
            quote!([#(#parts),*])
        }
        _ => place.clone(),
    }
}
