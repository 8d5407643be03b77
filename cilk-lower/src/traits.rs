//! A program's own traits. What an `impl` of one holds is known by the trait and the type, `<Square as Shape>::area`, beside what the type has by itself; what the trait says
//! for all is the block's where that leaves it out. A block with parameters is one for each type that is asked for.

use crate::{
    generics::{At, Bound, Env, Known, MemberItem, Param, TraitUse},
    impls::{self, full_name},
    items::{Item, Module},
    names::within,
};
use millstream_graph::ty::Type;
use proc_macro2::Ident;
use quote::ToTokens;
use std::rc::Rc;
use syn::{parse_quote_spanned, spanned::Spanned};

/// A trait.
#[derive(Clone, Debug)]
pub(crate) struct Trait {
    pub(crate) name: String,
    pub(crate) item: Rc<syn::ItemTrait>,
    pub(crate) params: Vec<Param>,
    /// The module that it stands in.
    pub(crate) here: String,
}

/// What a type does by a trait.
#[derive(Clone, Debug)]
pub(crate) struct Impl {
    pub(crate) of: TraitUse,
    ty: Type,
    /// `<Square as Shape>`
    name: String,
    /// Of a block with parameters: which, and what these are.
    open: Option<(usize, Env)>,
}

impl Impl {
    /// Whether it is of a block with parameters.
    pub(crate) const fn is_for_all(&self) -> bool {
        self.open.is_some()
    }
}

/// A block with parameters, whose members are copied when they are named.
#[derive(Clone, Debug)]
pub(crate) struct OpenImpl {
    id: usize,
    path: syn::Path,
    of: Rc<syn::Type>,
    params: Vec<Param>,
    at: At,
    items: Vec<(String, MemberItem)>,
}

/// Whether an item of a trait has that name.
fn is_named(item: &syn::TraitItem, name: &str) -> bool {
    match item {
        syn::TraitItem::Fn(f) => f.sig.ident == name,
        syn::TraitItem::Const(c) => c.ident == name,
        syn::TraitItem::Type(t) => t.ident == name,
        _ => false,
    }
}

impl Trait {
    /// What it says of an item.
    pub(crate) fn get(&self, name: &str) -> Option<&syn::TraitItem> {
        self.item.items.iter().find(|item| is_named(item, name))
    }

    /// The names of its types.
    pub(crate) fn types(&self) -> Vec<String> {
        let types = self.item.items.iter().filter_map(|item| match item {
            syn::TraitItem::Type(t) => Some(t.ident.to_string()),
            _ => None,
        });
        types.collect()
    }

    /// What it says of a function.
    pub(crate) fn function(&self, name: &str) -> Option<&syn::Signature> {
        match self.get(name)? {
            syn::TraitItem::Fn(f) => Some(&f.sig),
            _ => None,
        }
    }
}

impl Module {
    /// The trait of the program that a block is of.
    pub(crate) fn trait_of(&self, block: &syn::ItemImpl) -> Option<(usize, syn::Path)> {
        let (path, _) = block.trait_.as_ref()?;
        match self.item(path)? {
            Item::Trait(id) => Some((id, path.clone())),
            _ => None,
        }
    }

    /// Takes Rust's `From`, `TryFrom`, `Iterator` and what gathers these for traits of the program's, if it has blocks of them: then functions of theirs are found as others are.
    pub(crate) fn declare_rusts(&mut self, blocks: &[(syn::ItemImpl, At)]) {
        self.conversions = self.declare_rusts_trait(
            blocks,
            syn::parse_quote! {
                trait From<T> {
                    fn from(value: T) -> Self;
                }
            },
        );
        self.declare_rusts_trait(
            blocks,
            syn::parse_quote! {
                trait TryFrom<T> {
                    type Error;
                    fn try_from(value: T) -> Result<Self, Self::Error>;
                }
            },
        );
        self.iterators = self.declare_rusts_trait(
            blocks,
            syn::parse_quote! {
                trait Iterator {
                    type Item;
                    fn next(&mut self) -> Option<Self::Item>;
                }
            },
        );
        let gathering: [syn::ItemTrait; 4] = [
            syn::parse_quote! { trait Sum<A = Self> { fn sum<I>(iter: I) -> Self; } },
            syn::parse_quote! { trait Product<A = Self> { fn product<I>(iter: I) -> Self; } },
            syn::parse_quote! { trait FromIterator<A> { fn from_iter<I>(iter: I) -> Self; } },
            syn::parse_quote! {
                trait IntoIterator {
                    type Item;
                    type IntoIter;
                    fn into_iter(self) -> Self::IntoIter;
                }
            },
        ];
        for item in gathering {
            self.declare_rusts_trait(blocks, item);
        }
    }

    fn declare_rusts_trait(
        &mut self,
        blocks: &[(syn::ItemImpl, At)],
        item: syn::ItemTrait,
    ) -> Option<usize> {
        let is_of = |(block, _): &&(syn::ItemImpl, At)| match &block.trait_ {
            Some((path, _)) => path.segments.last().is_some_and(|s| s.ident == item.ident),
            None => false,
        };
        let (_, at) = blocks.iter().find(is_of)?;
        let name = item.ident.to_string();
        if self.elsewhere(at, |m| m.named(&name).is_some()) {
            return None;
        }
        let params = self.params(&item.generics);
        self.traits.push(Trait {
            name,
            item: Rc::new(item),
            params,
            here: String::new(),
        });
        self.rusts_traits.push(self.traits.len() - 1);
        self.rusts_traits.last().copied()
    }

    /// Whether what a type does is said of any type: `impl<T> Shape for T`.
    pub(crate) fn is_for_any(&self, of: &Impl) -> bool {
        let block = of.open.as_ref().map(|(open, _)| &self.open_impls[*open]);
        block.is_some_and(|block| match &*block.of {
            syn::Type::Path(p) => block
                .params
                .iter()
                .any(|param| p.path.is_ident(&param.name)),
            _ => false,
        })
    }

    /// What a trait says for all and a block of it leaves out, as a block of its own.
    pub(crate) fn left_out(&mut self, block: &syn::ItemImpl, id: usize) -> syn::ItemImpl {
        let of = Rc::clone(&self.traits[id].item);
        let has = |name: &Ident| {
            let named = |item| impls::name_of(item).is_some_and(|n| n == name);
            block.items.iter().any(named)
        };
        let mut left = syn::ItemImpl {
            items: Vec::new(),
            self_ty: Box::new(syn::parse_quote!(Self)),
            ..block.clone()
        };
        for item in &block.items {
            if let Some(name) = impls::name_of(item)
                && self.traits[id].get(&name.to_string()).is_none()
            {
                let message = format!("the trait `{}` has no `{name}`", of.ident);
                let help = "write it in an `impl` block of the type's own";
                self.diags.error(name.span(), message).help(help);
            }
        }
        for item in &of.items {
            match item {
                syn::TraitItem::Fn(f) if !has(&f.sig.ident) => match &f.default {
                    Some(body) => {
                        let sig = &f.sig;
                        let item = parse_quote_spanned!(f.span()=> #sig #body);
                        left.items.push(item);
                    }
                    None => self.lacks(block, id, &f.sig.ident),
                },
                syn::TraitItem::Const(c) if !has(&c.ident) => match &c.default {
                    Some((_, value)) => {
                        let (ident, ty) = (&c.ident, &c.ty);
                        let item = parse_quote_spanned!(c.span()=> const #ident: #ty = #value;);
                        left.items.push(item);
                    }
                    None => self.lacks(block, id, &c.ident),
                },
                syn::TraitItem::Type(t) if !has(&t.ident) => self.lacks(block, id, &t.ident),
                _ => {}
            }
        }
        left
    }

    fn lacks(&mut self, block: &syn::ItemImpl, id: usize, name: &Ident) {
        let of = block.self_ty.to_token_stream().to_string();
        let is_rusts = self.rusts_traits.contains(&id);
        let lacks = self.diags.error(
            block.self_ty.span(),
            format!("this `impl` for `{of}` lacks `{name}`"),
        );
        match is_rusts {
            true => lacks.help("write it here"),
            false => lacks
                .note(name.span(), "the trait asks for it")
                .help("write it here, or let the trait say what it is for all"),
        };
    }

    /// Takes note of a block for a type, and says by what name its members are known; none if there is one already, which is said.
    pub(crate) fn implement(
        &mut self,
        of: &TraitUse,
        ty: &Type,
        block: &syn::ItemImpl,
    ) -> Option<String> {
        if self.impls.iter().any(|i| i.of == *of && i.ty == *ty) {
            let shown = ty.display(&self.structs).to_string();
            let name = &self.traits[of.id].name;
            let message = format!("the trait `{name}` is there for `{shown}` already");
            self.diags
                .error(block.self_ty.span(), message)
                .help("leave out one of the blocks");
            return None;
        }
        let made = self.new_impl(of.clone(), ty.clone(), None);
        let name = made.name.clone();
        self.impls.push(made);
        Some(name)
    }

    fn new_impl(&self, of: TraitUse, ty: Type, open: Option<(usize, Env)>) -> Impl {
        let by = self.trait_name(&of);
        let name = format!("<{} as {by}>", ty.display(&self.structs));
        Impl { of, ty, name, open }
    }

    /// Takes note of a block with parameters.
    pub(crate) fn implement_open(
        &mut self,
        id: usize,
        path: syn::Path,
        block: &syn::ItemImpl,
        items: Vec<(String, MemberItem)>,
    ) {
        let params = self.params(&block.generics);
        let of = Rc::new((*block.self_ty).clone());
        let at = self.at.bounded(&block.generics).of(&of);
        self.open_impls.push(OpenImpl {
            id,
            path,
            of,
            params,
            at,
            items,
        });
    }

    /// What a type does by a trait, once for each of the parameters that the trait has there.
    pub(crate) fn impls_of(&mut self, id: usize, ty: &Type) -> Vec<Impl> {
        for open in 0..self.open_impls.len() {
            let is_open = |i: &Impl| i.open.as_ref().is_some_and(|(of, _)| *of == open);
            if self.open_impls[open].id == id
                && !self.impls.iter().any(|i| is_open(i) && i.ty == *ty)
            {
                self.close_impl(open, ty, None);
            }
        }
        let here = self.impls.iter().filter(|i| i.of.id == id && i.ty == *ty);
        here.cloned().collect()
    }

    /// What a type does by a trait with these parameters.
    pub(crate) fn impl_by(&mut self, of: &TraitUse, ty: &Type) -> Option<Impl> {
        let impls = self.impls_of(of.id, ty);
        let known = impls.into_iter().find(|i| i.of == *of);
        // Some blocks' parameters are told by those of the trait alone.
        known.or_else(|| {
            let blocks = 0..self.open_impls.len();
            let blocks = blocks.filter(|open| self.open_impls[*open].id == of.id);
            for open in blocks.collect::<Vec<_>>() {
                self.close_impl(open, ty, Some(of));
            }
            let mut impls = self.impls.iter();
            impls.find(|i| i.of == *of && i.ty == *ty).cloned()
        })
    }

    /// Takes note of a block with parameters for a type, if it is for that.
    fn close_impl(&mut self, open: usize, ty: &Type, by: Option<&TraitUse>) {
        let block = self.open_impls[open].clone();
        let mut env = Env::new();
        let fits = |m: &mut Self| {
            m.fits(&block.of, ty, &block.params, &mut env)
                && by.is_none_or(|by| m.args_fit(&block, by, &mut env))
        };
        if !self.elsewhere(&block.at, fits) {
            return;
        }
        if !block.params.iter().all(|p| env.contains_key(&p.name)) {
            return;
        }
        env.insert("Self".to_owned(), Known::Type(ty.clone()));
        let at = block.at.with(env.clone());
        // A block for all types with a trait is for these alone.
        for param in &block.params {
            let Some(Known::Type(of)) = env.get(&param.name).cloned() else {
                continue;
            };
            let paths = block.at.bounds.get(&param.name).unwrap_or_default();
            for path in paths {
                if !self.elsewhere(&at, |m| m.has_trait(path, &of)) {
                    return;
                }
            }
        }
        let Some(of) = self.elsewhere(&at, |m| m.trait_use(block.id, &block.path, ty)) else {
            return;
        };
        if !self.impls.iter().any(|i| i.of == of && i.ty == *ty) {
            let made = self.new_impl(of, ty.clone(), Some((open, env)));
            self.impls.push(made);
        }
    }

    /// Whether a trait's parameters are as a block has them, and what the block's are then.
    fn args_fit(&mut self, block: &OpenImpl, by: &TraitUse, env: &mut Env) -> bool {
        let args = match block.path.segments.last().map(|s| &s.arguments) {
            Some(syn::PathArguments::AngleBracketed(args)) => args.args.iter(),
            _ => return true,
        };
        args.zip(by.args.clone())
            .all(|(arg, known)| self.arg_fits(arg, known, &block.params, env))
    }

    /// Whether a type has a trait of the program; of Rust's that is rustc's affair.
    fn has_trait(&mut self, path: &syn::Path, ty: &Type) -> bool {
        let mut said = Vec::new();
        self.said_by(path, ty, &mut said);
        said.into_iter().all(|bound| match bound {
            Bound::Own(of) => self.impl_by(&of, ty).is_some(),
            Bound::Rusts(..) => true,
        })
    }

    /// The item of that name that a type has by a trait.
    pub(crate) fn given(&mut self, by: &Impl, name: &str) -> Option<Item> {
        let full = full_name(&by.name, name);
        if let Some(item) = self.names.get(&full) {
            return Some(*item);
        }
        let (open, env) = by.open.clone()?;
        let block = &self.open_impls[open];
        if let Some((_, item)) = block.items.iter().find(|(n, _)| n == name) {
            let (item, at) = (item.clone(), block.at.with(env).by(&by.of));
            return Some(self.copy_item(&item, at, full));
        }
        // What the trait says for all.
        let item = match self.traits[by.of.id].get(name)? {
            syn::TraitItem::Fn(f) => {
                let (sig, body) = (&f.sig, f.default.as_ref()?);
                let item: syn::ImplItemFn = parse_quote_spanned!(f.span()=> #sig #body);
                MemberItem::Fn(Rc::new(impls::function_of_self(item)))
            }
            syn::TraitItem::Const(c) => {
                let (ident, ty, (_, value)) = (&c.ident, &c.ty, c.default.as_ref()?);
                MemberItem::Const(Rc::new(
                    parse_quote_spanned!(c.span()=> const #ident: #ty = #value;),
                ))
            }
            _ => return None,
        };
        let at = self.trait_at(&by.of, &by.ty);
        Some(self.copy_item(&item, at, full))
    }

    /// The type of that name that a type has by a trait.
    pub(crate) fn type_given(&mut self, by: &Impl, name: &str) -> Option<Type> {
        match self.given(by, name)? {
            Item::Alias(id) => Some(self.resolve_named(id)),
            _ => None,
        }
    }

    /// What a type has of that name by the program's traits.
    pub(crate) fn given_to(&mut self, ty: &Type, name: &str) -> Vec<Impl> {
        let named = self.traits.iter().enumerate();
        let ids: Vec<usize> = named
            .filter(|(_, t)| t.get(name).is_some())
            .map(|(id, _)| id)
            .collect();
        ids.into_iter()
            .flat_map(|id| self.impls_of(id, ty))
            .collect()
    }

    /// Whether there is any function of that name for a type or in a trait.
    pub(crate) fn has_methods(&self, name: &str) -> bool {
        let end = full_name("", name);
        self.names.keys().any(|known| known.ends_with(&end))
            || self.members.iter().any(|m| m.name == name)
            || self.traits.iter().any(|t| t.function(name).is_some())
    }

    /// A trait as it is written.
    pub(crate) fn trait_name(&self, of: &TraitUse) -> String {
        let name = &self.traits[of.id].name;
        match of.args.as_slice() {
            [] => name.clone(),
            args => format!("{name}<{}>", self.shown(args)),
        }
    }

    /// Whether a trait is in sight, so that its functions are called as methods.
    pub(crate) fn sees(&self, id: usize) -> bool {
        if self.rusts_traits.contains(&id) {
            return true;
        }
        let of = &self.traits[id];
        let mut here = Some(self.at.here.as_str());
        while let Some(at) = here {
            if at == of.here {
                return true;
            }
            let is_it =
                |names: &[String]| self.full_in(at, names).is_some_and(|full| full == of.name);
            let start = within(at, "");
            let brought = self.imports.iter().any(|(name, path)| {
                name.strip_prefix(&start).is_some_and(|n| !n.contains("::")) && is_it(path)
            });
            let in_all = self.globs.iter().any(|(here, path)| {
                let mut path = path.clone();
                path.push(of.item.ident.to_string());
                here == at && is_it(&path)
            });
            if brought || in_all {
                return true;
            }
            here = self.inside.get(at).map(String::as_str);
        }
        false
    }
}
