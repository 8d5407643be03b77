//! What makes a program's kernels nodes of a graph: a typed definition of each.

use crate::call::{find, writer};
use millstream_cilk_lower::{
    ident,
    rust::{quiet, types::Writer},
};
use millstream_graph::{
    ir::{Function, Program},
    ty::Type,
};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ItemMod;

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
