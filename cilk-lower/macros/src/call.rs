//! What makes a program callable: the layout of its structs, its text, and a typed call for each task.

use crate::{errors, kernel};
use millstream_cilk_lower::{
    ident, is_task_attribute,
    rust::{
        quiet,
        types::{Writer, is_passable},
    },
};
use millstream_graph::{
    ir::{Function, Program},
    text::print_program,
    ty::{Structs, Type},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Item, ItemFn, ItemMod};

pub(crate) fn writer(structs: &Structs, path: TokenStream, lifetime: TokenStream) -> Writer<'_> {
    Writer {
        structs,
        path,
        lifetime,
    }
}

/// `program()`, and the module `call` with a function for each task.
pub(crate) fn module(module: &ItemMod, program: &Program) -> TokenStream {
    let (text, name) = (print_program(program), &program.name);
    let calls = program.callable().map(|(_, task)| {
        match task
            .params
            .iter()
            .all(|p| is_passable(&p.ty, &program.structs))
        {
            true => call(task, module, program),
            false => refused(task, module, program),
        }
    });
    let about = format!("The program `{name}`, lowered when it is first used.");
    let quiet = quiet();
    quote! {
        #[doc = #about]
        #quiet
        pub fn program() -> &'static ::millstream::Program {
            static PROGRAM: ::millstream::Program = ::millstream::Program::from_text(#text);
            &PROGRAM
        }

        /// Calls of this program's tasks, for a device to run.
        #quiet
        pub mod call {
            #(#calls)*
        }
    }
}

/// The user's items that have a name which the macro needs.
fn taken(module: &ItemMod) -> impl Iterator<Item = &Ident> {
    let items = module.content.iter().flat_map(|(_, items)| items);
    items.filter_map(|item| match item {
        Item::Fn(f) if f.sig.ident == "program" => Some(&f.sig.ident),
        Item::Struct(s) if s.ident == "call" || s.ident == "kernel" => Some(&s.ident),
        Item::Type(t) if t.ident == "call" || t.ident == "kernel" => Some(&t.ident),
        _ => None,
    })
}

/// An error for each name of the user's that the macro needs.
pub(crate) fn taken_names(module: &ItemMod) -> TokenStream {
    let message = |name: &Ident| {
        format!(
            "the name `{name}` is taken: the macro puts an item of that name here\nhelp: choose another"
        )
    };
    taken(module)
        .map(|name| errors::compile_error(name.span(), &message(name)))
        .collect()
}

pub(crate) fn find<'a>(module: &'a ItemMod, name: &str) -> Option<&'a ItemFn> {
    module
        .content
        .iter()
        .flat_map(|(_, items)| items)
        .find_map(|item| match item {
            Item::Fn(f) if f.sig.ident == name => Some(f),
            _ => None,
        })
}

/// The function that makes a call of a task.
fn call(task: &Function, module: &ItemMod, program: &Program) -> TokenStream {
    let item = find(module, &task.name);
    let span = item.map_or_else(Span::mixed_site, |f| f.sig.ident.span());
    let docs = item
        .into_iter()
        .flat_map(|f| &f.attrs)
        .filter(|a| a.path().is_ident("doc"));
    let (name, text) = (ident(&task.name, span), task.name.trim_start_matches("r#"));
    let about = format!("A call of the task `{text}`.");
    let writer = writer(&program.structs, quote!(super::), quote!('a));
    let ret = writer.ty(&task.ret);
    let params: Vec<Ident> = names(task);
    let types = task.params.iter().map(|p| param(&p.ty, &writer));
    let pushes = task.params.iter().zip(&params).map(|(p, name)| match &p.ty {
        Type::Slice { mutable: false, .. } => quote!(::millstream::__private::push_slice(::millstream::SliceArg::slice(#name), &mut args);),
        Type::Slice { .. } => quote!(::millstream::__private::push_slice(::millstream::SliceMutArg::slice_mut(#name), &mut args);),
        Type::Mat { mutable: false, .. } => quote!(::millstream::MatArg::push_mat(#name, &mut args);),
        Type::Mat { .. } => quote!(::millstream::MatMutArg::push_mat_mut(#name, &mut args);),
        _ => quote!(::millstream::Arg::push(#name, &mut args);),
    });
    let borrows = task
        .params
        .iter()
        .any(|p| p.ty.has_addresses(&program.structs));
    let (generics, lifetime) = if borrows {
        (Some(quote!(<'a>)), quote!('a))
    } else {
        (None, quote!('static))
    };
    quote! {
        #[doc = #about]
        #[doc = ""]
        #(#docs)*
        pub fn #name #generics(#(#params: #types),*) -> ::millstream::Call<#lifetime, #ret> {
            let mut args = ::std::vec::Vec::new();
            #(#pushes)*
            ::millstream::Call::new(super::program().levelized().clone(), #text, args)
        }
    }
}

/// For a task that takes what Rust does not lay out as devices do: a function that nothing can be passed to, and that says why.
fn refused(task: &Function, module: &ItemMod, program: &Program) -> TokenStream {
    let span = find(module, &task.name).map_or_else(Span::mixed_site, |f| f.sig.ident.span());
    let name = ident(&task.name, span);
    let about = format!(
        "The task `{}` is for other tasks to spawn: Rust does not promise how what it takes lies in memory.",
        task.name
    );
    let generics: Vec<Ident> = (0..task.params.len())
        .map(|i| format_ident!("T{i}"))
        .collect();
    let bounds = task
        .params
        .iter()
        .zip(&generics)
        .filter(|(p, _)| !is_passable(&p.ty, &program.structs))
        .map(|(_, t)| t);
    let params = names(task);
    let ret = writer(&program.structs, quote!(super::), quote!('static)).ty(&task.ret);
    quote! {
        #[doc = #about]
        pub fn #name<#(#generics),*>(#(#params: #generics),*) -> ::millstream::Call<'static, #ret>
        where
            #(#bounds: ::millstream::__private::LaidOut,)*
        {
            ::core::unreachable!()
        }
    }
}

/// The parameters' own names, or numbers for patterns and names that come twice.
fn names(task: &Function) -> Vec<Ident> {
    let count = |name: &str| task.params.iter().filter(|p| p.name == name).count();
    let plain = |name: &str| {
        syn::parse_str::<Ident>(name).is_ok() && name != "_" && name != "args" && count(name) == 1
    };
    let params = task.params.iter().enumerate();
    params
        .map(|(i, p)| {
            if plain(&p.name) {
                ident(&p.name, Span::call_site())
            } else {
                format_ident!("arg{i}")
            }
        })
        .collect()
}

fn param(ty: &Type, writer: &Writer<'_>) -> TokenStream {
    let elem = |elem: &Type| writer.ty(elem);
    match ty {
        Type::Slice {
            mutable: false,
            elem: e,
        } => {
            let e = elem(e);
            quote!(impl ::millstream::SliceArg<'a, #e>)
        }
        Type::Slice { elem: e, .. } => {
            let e = elem(e);
            quote!(impl ::millstream::SliceMutArg<'a, #e>)
        }
        Type::Mat {
            mutable: false,
            elem: e,
        } => {
            let e = elem(e);
            quote!(impl ::millstream::MatArg<'a, #e>)
        }
        Type::Mat { elem: e, .. } => {
            let e = elem(e);
            quote!(impl ::millstream::MatMutArg<'a, #e>)
        }
        _ => writer.ty(ty),
    }
}

/// For a program that is refused: calls that take anything, so that their uses elsewhere are not errors of their own.
pub(crate) fn stubs(module: &ItemMod) -> TokenStream {
    let items = module.content.iter().flat_map(|(_, items)| items);
    let tasks = items.filter_map(|item| match item {
        Item::Fn(f) if f.attrs.iter().any(is_task_attribute) => Some(f),
        _ => None,
    });
    let calls = tasks.map(|f| {
        let name = &f.sig.ident;
        let generics: Vec<Ident> = (0..f.sig.inputs.len())
            .map(|i| format_ident!("T{i}"))
            .collect();
        let ret = match &f.sig.output {
            syn::ReturnType::Type(_, ty) if !matches!(**ty, syn::Type::Never(_)) => quote!(#ty),
            _ => quote!(()),
        };
        quote! {
            pub fn #name<'a, #(#generics),*>(#(_: #generics),*) -> ::millstream::Call<'a, #ret> {
                ::core::unimplemented!()
            }
        }
    });
    let kernels = kernel::stubs(module);
    let is_free = |name: &str| taken(module).all(|t| t != name);
    let call = is_free("call").then(|| quote!(pub mod call { use super::*; #(#calls)* }));
    let program = is_free("program").then(|| {
        quote!(
            pub fn program() -> &'static ::millstream::Program {
                ::core::unimplemented!()
            }
        )
    });
    let kernels = is_free("kernel").then_some(kernels);
    quote!(#call #kernels #program)
}
