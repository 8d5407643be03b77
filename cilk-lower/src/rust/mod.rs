//! A program as Rust: what the attribute macro makes of it, and what the command shows rustc.
//!
//! - this file: the serial elision, which is the module as plain Rust
//! - `rounds`: parallel loops
//! - `race`: a version of each task and kernel in which rustc's borrow checker finds data races
//! - `types`: types as Rust writes them
//! - `borrows`: a whole crate of these for rustc alone, and the way back from its places to the program's

pub mod borrows;
pub mod race;
mod rounds;
pub mod types;

pub(crate) use rounds::Gathered;
pub use rounds::ParallelLoop;

use crate::{items::derives, kernels::is_role_attribute};
use millstream_graph::{
    ir::Program,
    ty::{Scalar, StructId},
};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use std::collections::BTreeSet;
use syn::{
    Attribute, Item, ItemEnum, ItemMod, ItemStruct, parse_quote, visit::Visit, visit_mut::VisitMut,
};

/// Makes plain Rust of a module that is a program.
pub fn elision(module: &mut ItemMod, loops: &[ParallelLoop]) {
    rounds::elide(module, loops);
    let mut layout = LayOut::of(module);
    plain(module, &mut layout);
}

fn plain(module: &mut ItemMod, layout: &mut LayOut) {
    let (_, items) = module.content.get_or_insert_with(Default::default);
    for item in items.iter_mut() {
        match item {
            Item::Fn(f) if f.attrs.iter().any(is_role_attribute) => {
                f.attrs.retain(|a| !is_role_attribute(a));
                // It is used by its calls, though rustc does not see that.
                f.attrs.push(parse_quote!(#[allow(dead_code)]));
            }
            Item::Struct(s) => layout.lay_out(s),
            Item::Enum(e) => layout.lay_out_enum(e),
            Item::Mod(m) => {
                // What has all of the module around it has these names from there, and those of the program that stand before them.
                let imports = match takes_all(m, "super::*") {
                    true => TokenStream::new(),
                    false => imports(m),
                };
                plain(m, layout);
                if let Some((_, items)) = &mut m.content {
                    items.push(Item::Verbatim(imports));
                }
            }
            _ => {}
        }
        if let Item::Fn(_) | Item::Impl(_) | Item::Trait(_) = item {
            layout.visit_item_mut(item);
        }
    }
}

/// Lays out the structs and enums of a module.
#[derive(Debug)]
pub struct LayOut {
    /// The structs and enums by which something is written, or which hold ranges: there are no copies of these.
    moved: BTreeSet<String>,
    /// Of which traits there are blocks, by the type's name: what these say is not derived.
    by_hand: BTreeSet<(String, String)>,
}

impl LayOut {
    /// What it needs to know of the module's structs and enums, wherever they stand.
    #[must_use]
    pub fn of(module: &ItemMod) -> Self {
        let mut all = Fields::default();
        all.visit_item_mod(module);
        let mut moved = BTreeSet::new();
        let moves = |words: &BTreeSet<String>, moved: &BTreeSet<String>| {
            MOVED.iter().any(|word| words.contains(*word)) || !words.is_disjoint(moved)
        };
        // Each round finds those that hold what the one before found.
        while let Some((name, _)) = all
            .words
            .iter()
            .find(|(name, words)| !moved.contains(name) && moves(words, &moved))
        {
            moved.insert(name.clone());
        }
        Self {
            moved,
            by_hand: all.by_hand,
        }
    }

    /// Whether a trait that copies is to be derived.
    fn lacks(&self, name: &Ident, attrs: &[Attribute], of: &str) -> bool {
        let name = name.to_string();
        let is_by_hand = self.by_hand.contains(&(name.clone(), of.to_owned()));
        !self.moved.contains(&name) && !is_by_hand && !derives(attrs, of)
    }

    /// Adds `#[repr(C)]`, and `Clone` and `Copy` where they are missing and can be.
    pub fn lay_out(&self, item: &mut ItemStruct) {
        self.attributes(&item.ident, &mut item.attrs, &parse_quote!(#[repr(C)]));
    }

    /// Adds `#[repr(u8)]`, `Clone` and `Copy` where they are missing and can be. A program need not make every variant.
    pub fn lay_out_enum(&self, item: &mut ItemEnum) {
        let integer = crate::enums::integer(item).unwrap_or(Scalar::U8).name();
        let integer = Ident::new(integer, proc_macro2::Span::call_site());
        self.attributes(
            &item.ident,
            &mut item.attrs,
            &parse_quote!(#[repr(#integer)]),
        );
        item.attrs.push(parse_quote!(#[allow(dead_code)]));
    }

    fn attributes(&self, name: &Ident, attrs: &mut Vec<Attribute>, repr: &Attribute) {
        let has_repr = attrs.iter().any(|a| a.path().is_ident("repr"));
        if !has_repr {
            attrs.push(repr.clone());
        }
        let missing: Vec<TokenStream> = [
            ("Clone", quote!(::core::clone::Clone)),
            ("Copy", quote!(::core::marker::Copy)),
        ]
        .into_iter()
        .filter(|(of, _)| self.lacks(name, attrs, of))
        .map(|(_, path)| path)
        .collect();
        if !missing.is_empty() {
            attrs.push(parse_quote!(#[derive(#(#missing),*)]));
        }
    }
}

/// Words of types whose values Rust does not copy.
const MOVED: [&str; 4] = ["mut", "MatMut", "Range", "RangeInclusive"];

/// Structs and enums by name, with the words of their fields' types, and what is said by hand of how they are copied.
#[derive(Default)]
struct Fields {
    words: Vec<(String, BTreeSet<String>)>,
    by_hand: BTreeSet<(String, String)>,
}

impl Visit<'_> for Fields {
    fn visit_item_struct(&mut self, item: &ItemStruct) {
        self.note(&item.ident, item.fields.iter());
    }

    fn visit_item_enum(&mut self, item: &ItemEnum) {
        self.note(&item.ident, item.variants.iter().flat_map(|v| &v.fields));
    }

    fn visit_item_impl(&mut self, item: &syn::ItemImpl) {
        let of = item.trait_.as_ref();
        let of = of.and_then(|(path, _)| path.segments.last());
        if let (syn::Type::Path(p), Some(of)) = (&*item.self_ty, of)
            && let Some(name) = p.path.segments.last()
        {
            let names = (name.ident.to_string(), of.ident.to_string());
            self.by_hand.insert(names);
        }
        syn::visit::visit_item_impl(self, item);
    }
}

impl Fields {
    fn note<'f>(&mut self, name: &Ident, fields: impl Iterator<Item = &'f syn::Field>) {
        let mut words = BTreeSet::new();
        for field in fields {
            let ty = field.ty.to_token_stream().to_string();
            let of = ty.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.extend(of.map(ToOwned::to_owned));
        }
        self.words.push((name.to_string(), words));
    }
}

impl VisitMut for LayOut {
    fn visit_item_struct_mut(&mut self, item: &mut ItemStruct) {
        self.lay_out(item);
    }

    fn visit_item_enum_mut(&mut self, item: &mut ItemEnum) {
        self.lay_out_enum(item);
    }
}

/// `spawn!`, `sync!`, `Mat`, `MatMut`, `Channel` and `Element`, unless the module takes them from the prelude itself.
#[must_use]
pub fn imports(module: &ItemMod) -> TokenStream {
    if takes_all(module, "millstream::prelude::*") {
        return TokenStream::new();
    }
    quote! {
        #[allow(unused_imports)]
        use ::millstream::prelude::*;
    }
}

/// Whether a module takes all names that a path stands for.
fn takes_all(module: &ItemMod, path: &str) -> bool {
    let mut items = module.content.iter().flat_map(|(_, items)| items);
    items.any(|item| match item {
        Item::Use(u) => {
            let tree = u.tree.to_token_stream().to_string();
            tree.replace(' ', "").contains(path)
        }
        _ => false,
    })
}

/// What is allowed in code that the user did not write.
#[must_use]
pub fn quiet() -> TokenStream {
    quote!(#[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)])
}

/// Whether a struct's memory may be shared with Rust.
#[must_use]
pub fn pod(id: StructId, program: &Program) -> bool {
    types::is_pod(&millstream_graph::ty::Type::Struct(id), &program.structs)
}
