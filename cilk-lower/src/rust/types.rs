//! Types of a program as Rust writes them, with one lifetime for all that they borrow.

use crate::ident;
use millstream_graph::ty::{Scalar, Structs, Type};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::visit_mut::{self, VisitMut};

/// How types are written.
#[derive(Debug)]
pub struct Writer<'a> {
    /// Its structs.
    pub structs: &'a Structs,
    /// What stands before the name of a struct: nothing in the program's module, `super::` in one within.
    pub path: TokenStream,
    /// The lifetime of all borrows.
    pub lifetime: TokenStream,
}

fn scalar(scalar: Scalar) -> TokenStream {
    let name = Ident::new(scalar.name(), Span::mixed_site());
    quote!(::core::primitive::#name)
}

fn wide(signed: bool) -> TokenStream {
    match signed {
        true => quote!(::core::primitive::i128),
        false => quote!(::core::primitive::u128),
    }
}

impl Writer<'_> {
    /// The type.
    #[must_use]
    pub fn ty(&self, ty: &Type) -> TokenStream {
        let lifetime = &self.lifetime;
        match ty {
            Type::Scalar(s) => scalar(*s),
            Type::Tuple(fields) => {
                let fields = fields.iter().map(|t| self.ty(t));
                quote!((#(#fields,)*))
            }
            Type::Array(elem, len) => {
                let (elem, len) = (self.ty(elem), proc_macro2::Literal::u64_unsuffixed(*len));
                quote!([#elem; #len])
            }
            Type::Struct(id) if self.structs[*id].is_range() => {
                let def = &self.structs[*id];
                let ends = def.fields.first().map(|(_, ty)| self.ty(ty));
                let name = Ident::new(def.ident(), Span::mixed_site());
                quote!(::core::ops::#name<#ends>)
            }
            Type::Struct(id) if let Some(signed) = self.structs[*id].wide() => wide(signed),
            Type::Struct(id) if self.structs[*id].is_function() => {
                self.structs[*id].name.parse().unwrap_or_default()
            }
            Type::Struct(id) if self.structs[*id].is_foreign() => {
                let path = self.structs[*id].name.split("::");
                let path = path.map(|part| Ident::new(part, Span::mixed_site()));
                quote!(#(::#path)*)
            }
            Type::Struct(id) => self.named(&self.structs[*id].shown()),
            Type::Option(some) => {
                let some = self.ty(some);
                quote!(::core::option::Option<#some>)
            }
            Type::Result(ok, err) => {
                let (ok, err) = (self.ty(ok), self.ty(err));
                quote!(::core::result::Result<#ok, #err>)
            }
            Type::Slice { mutable, elem } => {
                let (elem, mutable) = (self.ty(elem), mutable.then(|| quote!(mut)));
                quote!(& #lifetime #mutable [#elem])
            }
            Type::Ref { mutable, target } => {
                let (target, mutable) = (self.ty(target), mutable.then(|| quote!(mut)));
                quote!(& #lifetime #mutable #target)
            }
            Type::Mat { mutable, elem } => {
                let (elem, name) = (
                    self.ty(elem),
                    Ident::new(if *mutable { "MatMut" } else { "Mat" }, Span::mixed_site()),
                );
                quote!(::millstream::#name<#lifetime, #elem>)
            }
            Type::Channel(elem) => {
                let elem = self.ty(elem);
                quote!(::millstream::Channel<#elem>)
            }
            Type::Atomic(s) => {
                let name = s.name();
                let name = Ident::new(
                    &format!("Atomic{}{}", name[..1].to_uppercase(), &name[1..]),
                    Span::mixed_site(),
                );
                quote!(::core::sync::atomic::#name)
            }
        }
    }
}

impl Writer<'_> {
    /// The type of a struct's name, which is a path from the top of the program, perhaps with arguments.
    fn named(&self, name: &str) -> TokenStream {
        let path = &self.path;
        match syn::parse_str::<syn::Type>(name) {
            Ok(mut ty) => {
                InProgram(self).visit_type_mut(&mut ty);
                quote!(#ty)
            }
            Err(_) => {
                let name = ident(name, Span::mixed_site());
                quote!(#path #name)
            }
        }
    }
}

/// Makes types of a program that are written without what stands around it hold where the writer writes.
struct InProgram<'a, 'w>(&'a Writer<'w>);

impl VisitMut for InProgram<'_, '_> {
    fn visit_lifetime_mut(&mut self, lifetime: &mut syn::Lifetime) {
        if let Ok(all) = syn::parse2(self.0.lifetime.clone()) {
            *lifetime = all;
        }
    }

    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        visit_mut::visit_type_mut(self, ty);
        let Writer {
            structs,
            path,
            lifetime,
        } = self.0;
        match ty {
            syn::Type::Reference(r) => {
                let (target, mutable) = (&r.elem, &r.mutability);
                *ty = syn::Type::Verbatim(quote!(& #lifetime #mutable #target));
            }
            syn::Type::Path(p) => {
                let name = p.path.get_ident().map(ToString::to_string);
                let of = name.as_deref().and_then(Scalar::from_name);
                let first = p.path.segments.first().map(|s| s.ident.to_string());
                let own = structs.iter().any(|(_, d)| {
                    let first = first.as_deref().unwrap_or_default();
                    d.name.split(['<', ':']).next() == Some(first)
                });
                let written = match (of, first.as_deref()) {
                    (Some(of), _) => scalar(of),
                    (_, Some(of @ ("u128" | "i128"))) if !own => wide(of == "i128"),
                    (_, Some("Option")) if !own => quote!(::core::option::#p),
                    (_, Some("Result")) if !own => quote!(::core::result::#p),
                    (_, Some("std")) if !own => quote!(::#p),
                    _ => quote!(#path #p),
                };
                *ty = syn::Type::Verbatim(written);
            }
            _ => {}
        }
    }
}

/// Whether Rust lays the type out as the task language does, so that memory of the host can hold it: everything but integers of 128 bits, tuples, `Option`s
/// and enums with data, whose layout Rust does not promise, and what points elsewhere.
#[must_use]
pub fn is_pod(ty: &Type, structs: &Structs) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Array(elem, _) => is_pod(elem, structs),
        Type::Struct(id) => {
            !structs[*id].has_data()
                && structs[*id].wide().is_none()
                && ty.fields(structs).iter().all(|(t, _)| is_pod(t, structs))
        }
        Type::Tuple(_)
        | Type::Option(_)
        | Type::Result(..)
        | Type::Slice { .. }
        | Type::Ref { .. }
        | Type::Mat { .. }
        | Type::Atomic(_)
        | Type::Channel(_) => false,
    }
}

/// Whether the host can pass a value of the type: plain data, and memory that holds what Rust lays out in the same way, atomics and arrays of
/// them too.
#[must_use]
pub fn is_passable(ty: &Type, structs: &Structs) -> bool {
    match ty {
        Type::Scalar(_) | Type::Mat { .. } => true,
        Type::Struct(_) => {
            let fields = ty.fields(structs);
            !ty.has_addresses(structs) || fields.iter().all(|(t, _)| is_passable(t, structs))
        }
        Type::Array(elem, _) | Type::Option(elem) => is_plain(elem, structs),
        Type::Result(ok, err) => is_plain(ok, structs) && is_plain(err, structs),
        Type::Tuple(fields) => fields.len() <= 12 && fields.iter().all(|t| is_passable(t, structs)),
        Type::Slice { elem: target, .. } | Type::Ref { target, .. } => {
            let elem = match &**target {
                Type::Array(elem, _) => elem,
                other => other,
            };
            matches!(elem, Type::Atomic(_)) || is_pod(target, structs)
        }
        Type::Atomic(_) | Type::Channel(_) => false,
    }
}

/// Whether values of the type hold no address and no atomic, and no tuple that is too long for the host.
fn is_plain(ty: &Type, structs: &Structs) -> bool {
    match ty {
        Type::Tuple(fields) => fields.len() <= 12 && fields.iter().all(|t| is_plain(t, structs)),
        Type::Array(elem, _) | Type::Option(elem) => is_plain(elem, structs),
        Type::Result(ok, err) => is_plain(ok, structs) && is_plain(err, structs),
        Type::Struct(_) | Type::Scalar(_) => !ty.has_addresses(structs),
        Type::Slice { .. }
        | Type::Ref { .. }
        | Type::Mat { .. }
        | Type::Atomic(_)
        | Type::Channel(_) => false,
    }
}
