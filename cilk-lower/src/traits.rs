//! A program's own traits. What an `impl` of one holds is its type's own, and what the trait says for all is the block's where that leaves it out; so which
//! function is called is known from the type, as it is where that is a parameter's.

use crate::items::{Item, Module};
use quote::ToTokens;
use syn::{parse_quote_spanned, spanned::Spanned};

impl Module {
    /// What the trait of a block says for all and the block leaves out, as a block of its own, and where the trait stands; none if it is no trait of the program.
    pub(crate) fn defaults_of(&mut self, block: &syn::ItemImpl) -> Option<(syn::ItemImpl, String)> {
        let (path, _) = block.trait_.as_ref()?;
        let Some(Item::Trait(id)) = self.item(path) else {
            return None;
        };
        let (of, here) = self.traits[id].clone();
        if crate::generics::has_params(&of.generics) {
            self.diags
                .error(
                    of.generics.span(),
                    format!("the trait `{}` has parameters", of.ident),
                )
                .help("let it have a type, `type Other;`, or write a trait for each");
        }
        let has = |name: &syn::Ident| {
            block.items.iter().any(|item| match item {
                syn::ImplItem::Fn(f) => f.sig.ident == *name,
                syn::ImplItem::Const(c) => c.ident == *name,
                _ => false,
            })
        };
        let mut defaults = syn::ItemImpl {
            items: Vec::new(),
            ..block.clone()
        };
        for item in &of.items {
            match item {
                syn::TraitItem::Fn(f) if !has(&f.sig.ident) => match &f.default {
                    Some(body) => {
                        let sig = &f.sig;
                        let item = parse_quote_spanned!(f.span()=> #sig #body);
                        defaults.items.push(item);
                    }
                    None => self.lacks(block, &f.sig.ident),
                },
                syn::TraitItem::Const(c) if !has(&c.ident) => match &c.default {
                    Some((_, value)) => {
                        let (ident, ty) = (&c.ident, &c.ty);
                        let item = parse_quote_spanned!(c.span()=> const #ident: #ty = #value;);
                        defaults.items.push(item);
                    }
                    None => self.lacks(block, &c.ident),
                },
                _ => {}
            }
        }
        Some((defaults, here))
    }

    fn lacks(&mut self, block: &syn::ItemImpl, name: &syn::Ident) {
        let of = block.self_ty.to_token_stream().to_string();
        self.diags
            .error(
                block.self_ty.span(),
                format!("this `impl` for `{of}` lacks `{name}`"),
            )
            .note(name.span(), "the trait asks for it")
            .help("write it here, or let the trait say what it is for all");
    }
}
