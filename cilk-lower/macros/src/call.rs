//! What makes a program callable: the layout of its structs, its text, and a typed call for each task.

use crate::{errors, kernel};
use millstream_cilk_lower::{
    ident, is_task_attribute,
    rust::{
        pod, quiet,
        types::{Writer, is_passable},
    },
};
use millstream_graph::{
    ir::{Function, Program},
    text::print_program,
    ty::{StructId, Structs, Type},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Item, ItemEnum, ItemFn, ItemMod};

/// How a struct lies in memory and becomes an argument.
pub(crate) fn layout(id: StructId, program: &Program) -> TokenStream {
    let def = &program.structs[id];
    let name = ident(&def.name, Span::mixed_site());
    let writer = writer(&program.structs, quote!(), quote!('static));
    let types: Vec<TokenStream> = def.fields.iter().map(|(_, ty)| writer.ty(ty)).collect();
    let fields: Vec<syn::Member> = def
        .fields
        .iter()
        .map(|(name, _)| {
            name.parse().map_or_else(
                |_| ident(name, Span::mixed_site()).into(),
                |i: usize| i.into(),
            )
        })
        .collect();
    let quiet = quiet();
    let pod = pod(id, program).then(|| {
        quote! {
            #quiet
            const _: () = {
                const fn is_pod<T: ::millstream::Pod>() {}
                #(is_pod::<#types>();)*
            };
            // A struct in C's layout whose fields are such data, as is asserted above.
            #quiet
            unsafe impl ::millstream::Pod for #name {}
        }
    });
    quote! {
        #pod
        #quiet
        impl ::millstream::TaskValue for #name {
            const SIZE: usize = ::millstream::__private::Record::EMPTY #(.and::<#types>())* .size();
            const ALIGN: usize = ::millstream::__private::Record::EMPTY #(.and::<#types>())* .align();

            fn read(memory: &[u8]) -> Self {
                let mut at = ::millstream::__private::Record::EMPTY;
                Self { #(#fields: at.read::<#types>(memory),)* }
            }

            fn write(&self, memory: &mut [u8]) {
                let mut at = ::millstream::__private::Record::EMPTY;
                #(at.write(&self.#fields, memory);)*
            }
        }
        #quiet
        impl<'a> ::millstream::Arg<'a> for #name {
            fn push(self, args: &mut ::std::vec::Vec<::millstream::__private::ErasedArg<'a>>) {
                #(::millstream::Arg::push(self.#fields, args);)*
            }
        }
    }
}

/// The same of an enum: its number lies there, and the data of all variants, zeros where it is another variant.
pub(crate) fn enum_layout(item: &ItemEnum, id: StructId, program: &Program) -> TokenStream {
    let (name, quiet, def) = (&item.ident, quiet(), &program.structs[id]);
    let writer = writer(&program.structs, quote!(), quote!('static));
    let types: Vec<TokenStream> = def.fields.iter().map(|(_, ty)| writer.ty(ty)).collect();
    let Some((integer, data)) = types.split_first() else {
        return TokenStream::new();
    };
    let parts: Vec<Ident> = (0..data.len()).map(|i| format_ident!("part{i}")).collect();
    let variants: Vec<TokenStream> = def
        .variants
        .iter()
        .map(|v| {
            let variant = ident(&v.name, Span::mixed_site());
            let own = v.fields.clone().map(|i| &parts[i - 1]);
            if v.names.is_empty() {
                let data = (!v.fields.is_empty()).then(|| quote!((#(#own),*)));
                return quote!(#name::#variant #data);
            }
            let names = v.names.iter().map(|n| ident(n, Span::mixed_site()));
            quote!(#name::#variant { #(#names: #own),* })
        })
        .collect();
    let numbers: Vec<TokenStream> = def
        .variants
        .iter()
        .map(|v| {
            let bits = v.number;
            quote!((#bits as #integer))
        })
        .collect();
    let taken = def.variants.iter().map(|v| {
        let all = parts.iter().zip(data).enumerate();
        let all = all.map(|(i, (part, ty))| match v.fields.contains(&(i + 1)) {
            true => quote!(#part),
            false => quote!(::millstream::__private::zeroed::<#ty>()),
        });
        quote!(#(#all,)*)
    });
    let pod = pod(id, program).then(|| {
        quote! {
            // Its integer is all of it, and one of its variants has the number 0.
            #quiet
            unsafe impl ::millstream::Pod for #name {}
        }
    });
    quote! {
        #pod
        #quiet
        const _: () = {
            fn parts(of: #name) -> (#integer, #(#data,)*) {
                match of {
                    #(#variants => (#numbers, #taken),)*
                }
            }

            impl ::millstream::TaskValue for #name {
                const SIZE: usize = ::millstream::__private::Record::EMPTY #(.and::<#types>())* .size();
                const ALIGN: usize = ::millstream::__private::Record::EMPTY #(.and::<#types>())* .align();

                fn read(memory: &[u8]) -> Self {
                    let mut at = ::millstream::__private::Record::EMPTY;
                    let number = at.read::<#integer>(memory);
                    #(let #parts = at.read::<#data>(memory);)*
                    #(if number == #numbers { return #variants; })*
                    // No program makes another.
                    ::core::unreachable!()
                }

                fn write(&self, memory: &mut [u8]) {
                    let mut at = ::millstream::__private::Record::EMPTY;
                    let (number, #(#parts,)*) = parts(*self);
                    at.write(&number, memory);
                    #(at.write(&#parts, memory);)*
                }
            }

            impl<'a> ::millstream::Arg<'a> for #name {
                fn push(self, args: &mut ::std::vec::Vec<::millstream::__private::ErasedArg<'a>>) {
                    let (number, #(#parts,)*) = parts(self);
                    ::millstream::Arg::push(number, args);
                    #(::millstream::Arg::push(#parts, args);)*
                }
            }
        };
    }
}

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
    let borrows = task.params.iter().any(|p| borrows(&p.ty));
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

fn borrows(ty: &Type) -> bool {
    match ty {
        Type::Slice { .. } | Type::Ref { .. } | Type::Mat { .. } => true,
        Type::Tuple(fields) => fields.iter().any(borrows),
        Type::Array(elem, _) | Type::Option(elem) => borrows(elem),
        Type::Result(ok, err) => borrows(ok) || borrows(err),
        Type::Scalar(_) | Type::Struct(_) | Type::Atomic(_) | Type::Channel(_) => false,
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
