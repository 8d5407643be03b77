//! How a program's structs and enums lie in memory, and become arguments. What is said of a type stands in its own module, which sees its fields.

use crate::call::writer;
use millstream_cilk_lower::{
    ident,
    rust::{pod, quiet},
};
use millstream_graph::{
    ir::Program,
    ty::{StructId, Type},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use std::collections::BTreeSet;
use syn::{Item, ItemEnum, ItemMod};

/// The layouts of what a module has, whose path in the program is `here`. Of what has parameters, of what other modules have, and of what borrows, only what tasks and kernels are given
/// or give.
pub(crate) fn of(module: &ItemMod, here: &str, program: &Program) -> TokenStream {
    let items = module.content.iter().flat_map(|(_, items)| items);
    let enums: Vec<&ItemEnum> = items
        .filter_map(|item| match item {
            Item::Enum(e) => Some(e),
            _ => None,
        })
        .collect();
    let given = given(program);
    let depth = here.split("::").filter(|name| !name.is_empty()).count();
    let out: TokenStream = (0..depth).map(|_| quote!(super::)).collect();
    // A type of Rust's own has its layout already.
    let own = program.structs.iter().filter(|(_, def)| !def.is_foreign());
    let mine = own.filter(|(id, def)| {
        let family = def.name.split('<').next().unwrap_or_default();
        let (of, _) = family.rsplit_once("::").unwrap_or_default();
        let ty = Type::Struct(*id);
        let stays = ty.has_addresses(&program.structs)
            || ty.has_functions(&program.structs)
            || holds_rusts(&ty, program);
        of == here && (given.contains(id) || family == def.name && here.is_empty() && !stays)
    });
    let layouts = mine.map(|(id, def)| {
        let of_enum = enums.iter().find(|e| e.ident == def.ident());
        of_enum.map_or_else(
            || layout(id, out.clone(), program),
            |e| enum_layout(e, id, out.clone(), program),
        )
    });
    layouts.collect()
}

/// Whether values of a type have a part of a type of Rust's that the language makes of others, as `Wrapping`: these stay within tasks.
fn holds_rusts(ty: &Type, program: &Program) -> bool {
    match ty {
        Type::Struct(id) => {
            let def = &program.structs[*id];
            let is_one = def.name.starts_with("std::") && def.name.contains('<');
            is_one || def.fields.iter().any(|(_, ty)| holds_rusts(ty, program))
        }
        Type::Tuple(types) => types.iter().any(|ty| holds_rusts(ty, program)),
        Type::Array(ty, _) | Type::Option(ty) => holds_rusts(ty, program),
        Type::Result(ok, err) => holds_rusts(ok, program) || holds_rusts(err, program),
        _ => false,
    }
}

/// Whether values of a type have ranges in them.
fn holds_ranges(ty: &Type, program: &Program) -> bool {
    match ty {
        Type::Struct(id) => {
            let def = &program.structs[*id];
            def.is_range() || def.fields.iter().any(|(_, ty)| holds_ranges(ty, program))
        }
        Type::Tuple(types) => types.iter().any(|ty| holds_ranges(ty, program)),
        Type::Array(ty, _) | Type::Option(ty) => holds_ranges(ty, program),
        Type::Result(ok, err) => holds_ranges(ok, program) || holds_ranges(err, program),
        _ => false,
    }
}

/// Adds them to the modules within.
pub(crate) fn add_within(module: &mut ItemMod, here: &str, program: &Program) {
    let items = module.content.iter_mut().flat_map(|(_, items)| items);
    for item in items {
        let Item::Mod(within) = item else { continue };
        let path = match here {
            "" => within.ident.to_string(),
            here => format!("{here}::{}", within.ident),
        };
        add_within(within, &path, program);
        let layouts = of(within, &path, program);
        if let Some((_, items)) = &mut within.content {
            items.push(Item::Verbatim(layouts));
        }
    }
}

/// The structs that tasks and kernels are given or give.
fn given(program: &Program) -> BTreeSet<StructId> {
    let mut out = BTreeSet::new();
    for (_, function) in program.callable().chain(program.kernels()) {
        let params = function.params.iter().map(|p| &p.ty);
        params
            .chain([&function.ret])
            .for_each(|ty| gather(ty, program, &mut out));
    }
    out
}

fn gather(ty: &Type, program: &Program, out: &mut BTreeSet<StructId>) {
    match ty {
        Type::Struct(id) => {
            if out.insert(*id) {
                let fields = program.structs[*id].fields.iter();
                fields.for_each(|(_, ty)| gather(ty, program, out));
            }
        }
        Type::Tuple(types) => types.iter().for_each(|ty| gather(ty, program, out)),
        Type::Array(ty, _)
        | Type::Option(ty)
        | Type::Channel(ty)
        | Type::Slice { elem: ty, .. }
        | Type::Ref { target: ty, .. }
        | Type::Mat { elem: ty, .. } => gather(ty, program, out),
        Type::Result(ok, err) => [ok, err]
            .into_iter()
            .for_each(|ty| gather(ty, program, out)),
        Type::Scalar(_) | Type::Atomic(_) => {}
    }
}

/// How a struct lies in memory and becomes an argument.
fn layout(id: StructId, path: TokenStream, program: &Program) -> TokenStream {
    let def = &program.structs[id];
    let borrows = Type::Struct(id).has_addresses(&program.structs);
    let lifetime = if borrows { quote!('a) } else { quote!('static) };
    let writer = writer(&program.structs, path, lifetime);
    let name = writer.ty(&Type::Struct(id));
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
    let arg = quote! {
        #quiet
        impl<'a> ::millstream::Arg<'a> for #name {
            fn push(self, args: &mut ::std::vec::Vec<::millstream::__private::ErasedArg<'a>>) {
                #(::millstream::Arg::push(self.#fields, args);)*
            }
        }
    };
    // Ranges are no data that lies in memory.
    if borrows || holds_ranges(&Type::Struct(id), program) {
        return arg;
    }
    quote! {
        #pod
        #arg
        #quiet
        impl ::millstream::TaskValue for #name {
            const SIZE: usize = ::millstream::__private::Record::EMPTY #(.and::<#types>())* .size();
            const ALIGN: usize = ::millstream::__private::Record::EMPTY #(.and::<#types>())* .align();

            fn read(memory: &[u8]) -> Self {
                let mut at = ::millstream::__private::Record::EMPTY;
                Self { #(#fields: at.read(memory),)* }
            }

            fn write(&self, memory: &mut [u8]) {
                let mut at = ::millstream::__private::Record::EMPTY;
                #(at.write(&self.#fields, memory);)*
            }
        }
    }
}

/// The same of an enum: its number lies there, and the data of all variants, zeros where it is another variant.
fn enum_layout(item: &ItemEnum, id: StructId, path: TokenStream, program: &Program) -> TokenStream {
    let (ident, quiet, def) = (&item.ident, quiet(), &program.structs[id]);
    let writer = writer(&program.structs, path, quote!('static));
    let name = writer.ty(&Type::Struct(id));
    let types: Vec<TokenStream> = def.fields.iter().map(|(_, ty)| writer.ty(ty)).collect();
    let Some((integer, data)) = types.split_first() else {
        return TokenStream::new();
    };
    let parts: Vec<Ident> = (0..data.len()).map(|i| format_ident!("part{i}")).collect();
    let variants: Vec<TokenStream> = def
        .variants
        .iter()
        .map(|v| {
            let variant = millstream_cilk_lower::ident(&v.name, Span::mixed_site());
            let own = v.fields.clone().map(|i| &parts[i - 1]);
            if v.names.is_empty() {
                let data = (!v.fields.is_empty()).then(|| quote!((#(#own),*)));
                return quote!(#ident::#variant #data);
            }
            let names = v
                .names
                .iter()
                .map(|n| millstream_cilk_lower::ident(n, Span::mixed_site()));
            quote!(#ident::#variant { #(#names: #own),* })
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
