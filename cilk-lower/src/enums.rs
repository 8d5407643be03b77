//! Enums: a number, which says which of its variants a value is, and the data of all variants one behind another, zeros where the value is another variant. So every engine
//! has an enum for a struct. Without data it is the number alone, as Rust lays it out under `#[repr(u8)]`.

use crate::{
    diag::Diagnostics,
    generics::{self, FamilyId, FamilyItem, Known},
    items::{
        Item, Module, contains_struct, derives, ident, is_mutable, is_plain, split_path,
        with_lifetimes, without_lifetime,
    },
    names::within,
};
use millstream_graph::ty::{Scalar, StructDef, StructId, Type, Variant};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::rc::Rc;
use syn::spanned::Spanned;

/// What holds the numbers of an enum that does not say it, the first that can: in Rust their type is `isize`, and what a variant has of it is not said.
const HOLDS: [Scalar; 7] = [
    Scalar::U8,
    Scalar::I8,
    Scalar::U16,
    Scalar::I16,
    Scalar::U32,
    Scalar::I32,
    Scalar::I64,
];

/// The integer that holds an enum's number: what its `#[repr(..)]` says, else one that all its numbers fit. An error is the attribute, if it says something else.
pub(crate) fn integer(item: &syn::ItemEnum) -> Result<Scalar, &syn::Attribute> {
    let Some(attr) = item.attrs.iter().find(|a| a.path().is_ident("repr")) else {
        let mut next = 0;
        let mut number = |v: &syn::Variant| {
            let written = v.discriminant.as_ref().and_then(|(_, n)| literal(n));
            let number = written.unwrap_or(next);
            next = number + 1;
            number
        };
        let numbers: Vec<i128> = item.variants.iter().map(&mut number).collect();
        let holds = |s: &Scalar| numbers.iter().all(|n| crate::check::fits(*n, *s));
        return Ok(HOLDS.into_iter().find(holds).unwrap_or(Scalar::U8));
    };
    let name = attr.parse_args::<syn::Ident>().map_err(|_| attr)?;
    Scalar::from_name(&name.to_string())
        .filter(|s| s.is_int())
        .ok_or(attr)
}

/// Takes note of an enum, as a struct of the module, or a family of them. What it holds may be named before it is known.
pub(crate) fn declare(m: &mut Module, item: &syn::ItemEnum) -> Option<StructId> {
    let integer = match integer(item) {
        Ok(integer) => integer,
        Err(attr) => {
            m.diags
                .error(attr.span(), "an enum has the layout of an integer")
                .help("write `#[repr(u8)]` or another integer type, or leave it out");
            Scalar::U8
        }
    };
    let name = within(&m.at.here, &item.ident.to_string());
    m.note_derived(&name, &item.attrs, item.ident.span());
    if generics::has_params(&item.generics) {
        m.declare_family(
            &name,
            &item.generics,
            FamilyItem::Enum(Rc::new(item.clone())),
            item.ident.span(),
        );
        return None;
    }
    let shown = with_lifetimes(&name, &item.generics, "");
    let id = m
        .structs
        .push(StructDef::new_enum(&shown, Type::Scalar(integer)));
    m.note_derived(&shown, &item.attrs, item.ident.span());
    m.define(&name, item.ident.span(), Item::Struct(id));
    Some(id)
}

/// An enum of which no variant is known yet.
pub(crate) fn empty(name: &str, item: &syn::ItemEnum) -> StructDef {
    StructDef::new_enum(name, Type::Scalar(integer(item).unwrap_or(Scalar::U8)))
}

/// An enum's variants, with nothing for their types.
pub(crate) fn shape(name: &str, item: &syn::ItemEnum) -> StructDef {
    let (mut def, mut next) = (empty(name, item), 0);
    let integer = integer(item).unwrap_or(Scalar::U8);
    for variant in &item.variants {
        // What is wrong with it is said of its copies.
        let number = number(variant, next, integer, &mut Diagnostics::default());
        next = number + 1;
        let types = variant.fields.iter().map(|_| Type::unit()).collect();
        let names = variant.fields.iter().filter_map(|f| f.ident.as_ref());
        let names = names.map(ToString::to_string).collect();
        def.add_variant(
            &variant.ident.to_string(),
            bits(number, integer),
            types,
            names,
        );
    }
    def
}

/// The bits of a variant's number.
fn bits(number: i128, integer: Scalar) -> u64 {
    number as u64 & (u64::MAX >> (64 - integer.bits()))
}

/// Reads an enum's variants.
pub(crate) fn resolve(m: &mut Module, id: StructId, item: &syn::ItemEnum) {
    let integer = integer(item).unwrap_or(Scalar::U8);
    let (mut next, mut default) = (0i128, None);
    let mut def = m.structs[id].clone();
    for variant in &item.variants {
        let number = number(variant, next, integer, &mut m.diags);
        next = number + 1;
        let bits = bits(number, integer);
        let (data, names) = data(m, id, item, variant);
        if variant.attrs.iter().any(|a| a.path().is_ident("default")) {
            default = Some(bits);
            if !data.is_empty() {
                m.diags
                    .error(variant.span(), "the default variant has data")
                    .help("write an `impl Default` that gives them");
            }
        }
        let name = variant.ident.to_string();
        is_new(&def, &name, bits, variant.span(), &mut m.diags);
        def.add_variant(&name, bits, data, names);
    }
    if def.numbered(0).is_none() {
        m.diags
            .error(
                item.ident.span(),
                format!("the enum `{}` has no variant with the number 0", item.ident),
            )
            .help("memory begins as zeros: give one of them this number");
    }
    m.structs[id] = def;
    if derives(&item.attrs, "Default") {
        m.defaults.insert(id);
        m.enum_defaults.insert(id, default.unwrap_or(0));
    }
}

/// The number of a variant, if it is the next one where it says none.
fn number(
    variant: &syn::Variant,
    mut next: i128,
    integer: Scalar,
    diags: &mut Diagnostics,
) -> i128 {
    if let Some((_, number)) = &variant.discriminant {
        match literal(number) {
            Some(number) => next = number,
            None => {
                _ = diags
                    .error(
                        number.span(),
                        "the number of a variant is written in numbers",
                    )
                    .help("write it out")
            }
        }
    }
    if !crate::check::fits(next, integer) {
        diags
            .error(variant.span(), format!("{next} does not fit `{integer}`"))
            .help("say which integer holds it: `#[repr(u32)]` in front of the enum");
    }
    next
}

/// The types of a variant's data, and their names, if they have names.
fn data(
    m: &mut Module,
    id: StructId,
    item: &syn::ItemEnum,
    variant: &syn::Variant,
) -> (Vec<Type>, Vec<String>) {
    if variant.fields.is_empty() && !matches!(variant.fields, syn::Fields::Unit) {
        m.diags
            .error(
                variant.fields.span(),
                format!(
                    "the variant `{}` has no data in its brackets",
                    variant.ident
                ),
            )
            .help("leave them out");
    }
    let (mut types, mut names) = (Vec::new(), Vec::new());
    for field in &variant.fields {
        let mut ty = m.resolve_type(&field.ty);
        let borrows = without_lifetime(&field.ty).is_none()
            && !ty.has_atomics(&m.structs)
            && !is_mutable(&ty, &m.structs);
        if !is_plain(&ty, &m.structs) && !borrows {
            let shown = ty.display(&m.structs).to_string();
            m.diags
                .error(field.ty.span(), format!("a variant cannot hold `{shown}`"))
                .help("enums hold plain data and, with a lifetime, what they share: `enum Part<'a> { Of(&'a [u32]) }`; what is written to is an argument beside it");
            ty = Type::unit();
        }
        if contains_struct(&ty, id, &m.structs) {
            m.diags
                .error(
                    field.ty.span(),
                    format!("the enum `{}` would contain itself", item.ident),
                )
                .help("keep the other element's index into a slice instead");
            ty = Type::unit();
        }
        types.push(ty);
        names.extend(field.ident.as_ref().map(ToString::to_string));
    }
    (types, names)
}

/// Says so if a variant has the name or the number of another.
fn is_new(def: &StructDef, name: &str, bits: u64, span: Span, diags: &mut Diagnostics) {
    let same = |v: &&Variant| v.name == name || v.number == bits;
    let Some(other) = def.variants.iter().find(same) else {
        return;
    };
    let (message, help) = match other.name == name {
        true => (
            format!("two variants are called `{name}`"),
            "give it another name",
        ),
        false => (
            format!("`{name}` has the number of the variant `{}`", other.name),
            "give it another number",
        ),
    };
    diags.error(span, message).help(help);
}

fn literal(e: &syn::Expr) -> Option<i128> {
    match e {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Int(i),
            ..
        }) => i.base10_parse().ok(),
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Byte(b),
            ..
        }) => Some(b.value().into()),
        syn::Expr::Unary(u) if matches!(u.op, syn::UnOp::Neg(_)) => Some(-literal(&u.expr)?),
        syn::Expr::Binary(b) => {
            let (left, right) = (literal(&b.left)?, literal(&b.right)?);
            match b.op {
                syn::BinOp::Add(_) => left.checked_add(right),
                syn::BinOp::Sub(_) => left.checked_sub(right),
                syn::BinOp::Mul(_) => left.checked_mul(right),
                syn::BinOp::BitOr(_) => Some(left | right),
                // Numbers have 64 bits at most.
                syn::BinOp::Shl(_) => (0..64)
                    .contains(&right)
                    .then(|| left.checked_mul(1 << right))?,
                _ => None,
            }
        }
        syn::Expr::Paren(p) => literal(&p.expr),
        syn::Expr::Group(g) => literal(&g.expr),
        _ => None,
    }
}

/// The name of Rust's own order, which a program has once it names or makes one.
pub(crate) const ORDERING: &str = "std::cmp::Ordering";

/// Whose variant one is.
#[derive(Clone, Debug)]
pub(crate) enum Owner {
    Enum(StructId),
    /// An enum with parameters, with those that are written.
    Family(FamilyId, syn::PathArguments),
}

/// Whether a path leads to the other `Ordering`.
pub(crate) fn is_of_atomics(path: &syn::Path) -> bool {
    path.segments.iter().any(|s| s.ident == "atomic")
}

/// Whether items name what an order may be.
pub(crate) fn names_ordering(items: &[syn::Item]) -> bool {
    fn names(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(name) => name == "Less" || name == "Equal" || name == "Greater",
            TokenTree::Group(group) => names(group.stream()),
            _ => false,
        })
    }
    items.iter().any(|item| names(item.to_token_stream()))
}

impl Module {
    /// Rust's own order; there is one from the first time on that this is asked.
    pub(crate) fn ordering(&mut self) -> StructId {
        if let Some(id) = self.structs.find(ORDERING) {
            return id;
        }
        let mut def = StructDef::new_enum(ORDERING, Type::Scalar(Scalar::I8));
        for (name, number) in [("Less", 0xff), ("Equal", 0), ("Greater", 1)] {
            def.add_variant(name, number, Vec::new(), Vec::new());
        }
        let id = self.structs.push(def);
        let attr = syn::parse_quote!(#[derive(PartialEq, Eq, PartialOrd, Ord)]);
        self.note_derived(ORDERING, &[attr], Span::call_site());
        id
    }

    /// The variant that a path names, `Colour::Red` or what `use` brings in, and its enum.
    pub(crate) fn variant(&self, path: &syn::Path) -> Option<(Owner, Variant)> {
        let whole = self.whole_path(path).unwrap_or_else(|| path.clone());
        if is_of_atomics(&whole) {
            return None;
        }
        if let Some((owner, name)) = split_path(&whole) {
            return self.variant_of(&owner, &name.ident.to_string());
        }
        let name = path.get_ident()?.to_string();
        if self.named(&name).is_some() {
            return None;
        }
        // By `use Colour::*`.
        let here = self.globs.iter().filter(|(at, _)| *at == self.at.here);
        let mut owners = here.map(|(_, path)| {
            let owner: Vec<syn::Ident> = path.iter().map(|n| ident(n, Span::call_site())).collect();
            syn::parse_quote!(#(#owner)::*)
        });
        owners.find_map(|owner| self.variant_of(&owner, &name))
    }

    fn variant_of(&self, owner: &syn::Path, name: &str) -> Option<(Owner, Variant)> {
        let is_ordering = || owner.segments.last().is_some_and(|s| s.ident == "Ordering");
        let id = match (self.known(owner), self.item(owner)) {
            (Some(Known::Type(Type::Struct(id))), _) => *id,
            (_, Some(Item::Struct(id))) => id,
            (_, None) if is_ordering() => self.structs.find(ORDERING)?,
            (_, Some(Item::Family(id))) => {
                let shape = self.families[id.0].shape()?;
                let args = owner.segments.last()?.arguments.clone();
                return Some((Owner::Family(id, args), shape.named(name)?.clone()));
            }
            (_, Some(Item::Alias(alias))) => match &*self.aliases[alias].ty {
                syn::Type::Path(p) => match self.item(&p.path) {
                    Some(Item::Struct(id)) => id,
                    // What it gives the enum is known where it stands.
                    Some(Item::Family(_)) if self.aliases[alias].at.here == self.at.here => {
                        return self.variant_of(&p.path, name);
                    }
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        Some((Owner::Enum(id), self.structs[id].named(name)?.clone()))
    }
}
