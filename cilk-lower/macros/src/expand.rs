//! The module as plain Rust, and the layout of its structs.

use crate::{call, errors, kernel, layout};
use millstream_cilk_lower::{
    Parsed, expand, is_role_attribute, lower, nesting, parse_module, program_options, rust,
};
use millstream_graph::ir::Options;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Item, ItemMod, ItemStruct, parse_quote};

/// What the attribute makes of a module.
pub(crate) fn program(options: TokenStream, module: TokenStream) -> TokenStream {
    if let Some(span) = nesting::too_deep(module.clone()) {
        let text = format!("{}\nhelp: {}", nesting::TOO_DEEP, nesting::TOO_DEEP_HELP);
        return errors::compile_error(span, &text);
    }
    let mut module = match syn::parse2::<ItemMod>(module.clone()) {
        Ok(module) => module,
        Err(error) => {
            let help =
                "a program is a module\nhelp: write `#[millstream::program] mod name { .. }`";
            return [errors::compile_error(error.span(), help), module]
                .into_iter()
                .collect();
        }
    };
    if let Err(wrong) = expand(&mut module) {
        let (errors, signatures) = (errors::diagnostics(&wrong), signatures(module));
        return quote!(#errors #signatures);
    }
    match parse(options, &module) {
        Ok(parsed) => {
            complete(&mut module, &parsed);
            module.into_token_stream()
        }
        Err(errors) => {
            let signatures = signatures(module);
            quote!(#errors #signatures)
        }
    }
}

fn parse(options: TokenStream, module: &ItemMod) -> Result<Parsed, TokenStream> {
    let options: Options = program_options(options).map_err(|e| errors::diagnostics(&e))?;
    let file = module.ident.span().file();
    let parsed = parse_module(module, options, &file).map_err(|e| errors::source(&e))?;
    let ours: TokenStream = structs(module)
        .into_iter()
        .filter_map(foreign_layout)
        .chain([call::taken_names(module)])
        .collect();
    if !ours.is_empty() {
        return Err(ours);
    }
    // It is lowered when the program first runs; what could go wrong then is said now.
    lower::lower(&parsed.program)
        .map_err(|e| errors::compile_error(Span::call_site(), &e.to_string()))?;
    Ok(parsed)
}

/// Makes plain Rust of a module that is a program, and adds what belongs to it.
fn complete(module: &mut ItemMod, Parsed { program, loops }: &Parsed) {
    let races = rust::race::check(module, program, loops);
    rust::race::check_within(module, loops);
    let imports = rust::imports(module);
    rust::elision(module, loops);
    layout::add_within(module, "", program);
    let layouts = layout::of(module, "", program);
    let calls = call::module(module, program);
    let kernels = kernel::module(module, program);
    let (_, items) = module.content.get_or_insert_with(Default::default);
    items.extend([imports, layouts, calls, kernels, races].map(Item::Verbatim));
    if !module.attrs.iter().any(|a| a.path().is_ident("doc")) {
        let about = format!("The program `{}`.", program.name);
        module.attrs.push(parse_quote!(#[doc = #about]));
    }
}

/// The structs of a module and of those within.
fn structs(module: &ItemMod) -> Vec<&ItemStruct> {
    let items = module.content.iter().flat_map(|(_, items)| items);
    let of = items.flat_map(|item| match item {
        Item::Struct(s) => vec![s],
        Item::Mod(m) => structs(m),
        _ => Vec::new(),
    });
    of.collect()
}

/// An error if a struct asks for a layout of its own.
fn foreign_layout(item: &ItemStruct) -> Option<TokenStream> {
    let foreign = |a: &&syn::Attribute| {
        a.path().is_ident("repr")
            && a.meta.to_token_stream().to_string().replace(' ', "") != "repr(C)"
    };
    let attr = item.attrs.iter().find(foreign)?;
    let message = format!(
        "the struct `{}` has a layout of its own\nhelp: structs of a program are `#[repr(C)]`: leave this out",
        item.ident
    );
    Some(errors::compile_error(attr.pound_token.spans[0], &message))
}

/// The module of a program that is refused: its functions' bodies are left out, so that rustc does not say once more what is wrong
/// in them, and what is used elsewhere is still there.
fn signatures(mut module: ItemMod) -> TokenStream {
    let imports = rust::imports(&module);
    let calls = call::stubs(&module);
    let layout = rust::LayOut::of(&module);
    without_bodies(&mut module, &layout);
    let Some((_, items)) = &mut module.content else {
        return module.into_token_stream();
    };
    items.extend([imports, calls].map(Item::Verbatim));
    module.attrs.push(parse_quote!(#[allow(warnings)]));
    module.into_token_stream()
}

fn without_bodies(module: &mut ItemMod, layout: &rust::LayOut) {
    let items = module.content.iter_mut().flat_map(|(_, items)| items);
    for item in items {
        match item {
            Item::Fn(f) => {
                f.attrs.retain(|a| !is_role_attribute(a));
                *f.block = no_body();
            }
            Item::Impl(i) => {
                for member in &mut i.items {
                    if let syn::ImplItem::Fn(f) = member {
                        f.attrs.retain(|a| !is_role_attribute(a));
                        f.block = no_body();
                    }
                }
            }
            Item::Struct(s) => layout.lay_out(s),
            Item::Enum(e) => layout.lay_out_enum(e),
            Item::Mod(m) => without_bodies(m, layout),
            _ => {}
        }
    }
}

/// A body of any type, in a program that is not compiled for all that.
fn no_body() -> syn::Block {
    let unknown = quote_spanned!(Span::mixed_site()=> { ::core::unimplemented!() });
    parse_quote!(#unknown)
}
