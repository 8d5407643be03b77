//! What makes a program's kernels nodes of a graph: a typed definition of each.

use crate::call::{find, writer};
use millstream_cilk_lower::{
    ident, is_kernel_attribute,
    rust::{quiet, types::Writer},
};
use millstream_graph::{
    ir::{Function, Program},
    ty::Type,
};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{FnArg, GenericArgument, Item, ItemFn, ItemMod, PathArguments};

/// The module `kernel` with a definition of each kernel; nothing if there is none.
pub(crate) fn module(module: &ItemMod, program: &Program) -> TokenStream {
    if program.kernels().next().is_none() {
        return TokenStream::new();
    }
    let definitions = program
        .kernels()
        .map(|(_, k)| definition(k, module, program));
    let quiet = quiet();
    quote! {
        /// This program's kernels, for the nodes of a graph.
        #quiet
        pub mod kernel {
            #(#definitions)*
        }
    }
}

fn definition(kernel: &Function, module: &ItemMod, program: &Program) -> TokenStream {
    let item = find(module, &kernel.name);
    let span = item.map_or_else(Span::mixed_site, |f| f.sig.ident.span());
    let docs = item
        .into_iter()
        .flat_map(|f| &f.attrs)
        .filter(|a| a.path().is_ident("doc"));
    let (name, text) = (ident(&kernel.name, span), &kernel.name);
    let about = format!("The kernel `{}`.", text.trim_start_matches("r#"));
    let writer = writer(&program.structs, quote!(super::), quote!('static));
    let element = writer.ty(&kernel.params[0].ty);
    let ports = list(kernel.ports().map(|ty| writer.ty(ty)).collect());
    let bound = kernel.params[1..].iter();
    let bound = bound.filter(|p| !matches!(p.ty, Type::Channel(_)));
    let bound = list(bound.map(|p| given(&p.ty, &writer)).collect());
    quote! {
        #[doc = #about]
        #[doc = ""]
        #(#docs)*
        pub const #name: ::millstream::Kernel<#element, #ports, #bound> =
            ::millstream::Kernel::new(super::program, #text);
    }
}

/// Types as a list: each with those behind it.
fn list(types: Vec<TokenStream>) -> TokenStream {
    let add = |rest: TokenStream, ty: TokenStream| quote!((#ty, #rest));
    types.into_iter().rev().fold(quote!(()), add)
}

/// How a parameter is given.
fn given(ty: &Type, writer: &Writer<'_>) -> TokenStream {
    let (how, of) = match ty {
        Type::Slice { elem, .. } => (quote!(BySlice), elem),
        Type::Ref { target, .. } => (quote!(ByRef), target),
        Type::Mat { elem, .. } => (quote!(ByMat), elem),
        other => {
            let ty = writer.ty(other);
            return quote!(::millstream::__private::ByValue<#ty>);
        }
    };
    let of = writer.ty(of);
    quote!(::millstream::__private::#how<#of>)
}

/// For a program that is refused: definitions as far as the types can be told by their names, so that their uses elsewhere are not errors of
/// their own.
pub(crate) fn stubs(module: &ItemMod) -> TokenStream {
    let items = module.content.iter().flat_map(|(_, items)| items);
    let kernels: Vec<&ItemFn> = items
        .filter_map(|item| match item {
            Item::Fn(f) if f.attrs.iter().any(is_kernel_attribute) => Some(f),
            _ => None,
        })
        .collect();
    if kernels.is_empty() {
        return TokenStream::new();
    }
    let definitions = kernels.into_iter().map(stub);
    quote!(pub mod kernel { use super::*; #(#definitions)* })
}

fn stub(kernel: &ItemFn) -> TokenStream {
    let name = &kernel.sig.ident;
    let (mut element, mut ports, mut bound) = (quote!(()), Vec::new(), Vec::new());
    for (i, input) in kernel.sig.inputs.iter().enumerate() {
        let FnArg::Typed(param) = input else { continue };
        match (i, &*param.ty) {
            (0, ty) => element = held(ty, "Element").unwrap_or_else(|| quote!(#ty)),
            (_, ty) => match held(ty, "Channel") {
                Some(elem) => ports.push(elem),
                None => bound.push(by_name(ty)),
            },
        }
    }
    let (ports, bound) = (list(ports), list(bound));
    let text = name.to_string();
    quote! {
        pub const #name: ::millstream::Kernel<#element, #ports, #bound> =
            ::millstream::Kernel::new(super::program, #text);
    }
}

/// How a parameter is given, by the type as it is written.
fn by_name(ty: &syn::Type) -> TokenStream {
    let (how, of) = match ty {
        syn::Type::Reference(r) => match &*r.elem {
            syn::Type::Slice(s) => {
                let elem = &s.elem;
                (quote!(BySlice), quote!(#elem))
            }
            target => (quote!(ByRef), quote!(#target)),
        },
        ty => match held(ty, "Mat") {
            Some(elem) => (quote!(ByMat), elem),
            None => (quote!(ByValue), quote!(#ty)),
        },
    };
    quote!(::millstream::__private::#how<#of>)
}

/// The type that a generic type of this name holds.
fn held(ty: &syn::Type, name: &str) -> Option<TokenStream> {
    let syn::Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last().filter(|s| s.ident == name)?;
    let PathArguments::AngleBracketed(args) = &last.arguments else {
        return None;
    };
    args.args.iter().find_map(|a| match a {
        GenericArgument::Type(ty) => Some(quote!(#ty)),
        _ => None,
    })
}
