//! Enums: names for a few values of an integer. On a device an enum is a struct of one such integer, the number of its variant, as Rust lays it out under
//! `#[repr(u8)]`. Variants with data are not part of the language.

use crate::{
    diag::Diagnostics,
    generics::Known,
    items::{Item, Module, derives, ident, split_path},
    names::within,
};
use millstream_graph::ty::{Scalar, StructDef, StructId, Type};
use proc_macro2::Span;
use syn::spanned::Spanned;

/// The integer that holds an enum's number: what its `#[repr(..)]` says, else a byte.
///
/// # Errors
/// The attribute, if it says something else.
pub fn integer(item: &syn::ItemEnum) -> Result<Scalar, &syn::Attribute> {
    let Some(attr) = item.attrs.iter().find(|a| a.path().is_ident("repr")) else {
        return Ok(Scalar::U8);
    };
    let name = attr.parse_args::<syn::Ident>().map_err(|_| attr)?;
    Scalar::from_name(&name.to_string())
        .filter(|s| s.is_int())
        .ok_or(attr)
}

/// Reads an enum, as a struct of the module.
pub(crate) fn declare(m: &mut Module, item: &syn::ItemEnum) {
    let id = m.structs.push(StructDef {
        name: within(&m.at.here, &item.ident.to_string()),
        fields: Vec::new(),
        tuple: true,
        variants: Vec::new(),
    });
    let name = m.structs[id].name.clone();
    m.define(&name, item.ident.span(), Item::Struct(id));
    let integer = match integer(item) {
        Ok(integer) => integer,
        Err(attr) => {
            m.diags
                .error(attr.span(), "an enum has the layout of an integer")
                .help("write `#[repr(u8)]` or another integer type, or leave it out");
            Scalar::U8
        }
    };
    m.structs[id].fields = vec![("0".to_owned(), Type::Scalar(integer))];
    if let Some(p) = item.generics.params.first() {
        m.diags
            .error(
                p.span(),
                format!("the enum `{}` has parameters", item.ident),
            )
            .help("leave them out: variants have no data");
    }
    let (variants, default) = variants(item, integer, &mut m.diags);
    m.structs[id].variants = variants;
    if derives(&item.attrs, "PartialOrd") {
        m.ordered.insert(id);
    }
    if derives(&item.attrs, "Default") {
        m.defaults.insert(id);
        m.enum_defaults.insert(id, default);
    }
}

/// The variants, each with the bits of its number, and those of the default.
fn variants(
    item: &syn::ItemEnum,
    integer: Scalar,
    diags: &mut Diagnostics,
) -> (Vec<(String, u64)>, u64) {
    let (mut out, mut default): (Vec<(String, u64)>, u64) = (Vec::new(), 0);
    let mask = u64::MAX >> (64 - integer.bits());
    let mut next = 0i128;
    for variant in &item.variants {
        if !matches!(variant.fields, syn::Fields::Unit) {
            diags
                .error(
                    variant.span(),
                    format!("the variant `{}` has data", variant.ident),
                )
                .help("variants are names alone; put data beside them, in a struct with the enum as a field");
            continue;
        }
        if let Some((_, number)) = &variant.discriminant {
            match literal(number) {
                Some(number) => next = number,
                None => {
                    _ = diags
                        .error(number.span(), "the number of a variant is a literal")
                        .help("write it out")
                }
            }
        }
        if !crate::check::fits(next, integer) {
            diags
                .error(variant.span(), format!("{next} does not fit `{integer}`"))
                .help("say which integer holds it: `#[repr(u32)]` in front of the enum");
        }
        if variant.attrs.iter().any(|a| a.path().is_ident("default")) {
            default = next as u64 & mask;
        }
        let (name, number) = (variant.ident.to_string(), next as u64 & mask);
        if let Some((other, _)) = out.iter().find(|(n, bits)| *n == name || *bits == number) {
            let (message, help) = match *other == name {
                true => (
                    format!("two variants are called `{name}`"),
                    "give it another name",
                ),
                false => (
                    format!("`{name}` has the number of the variant `{other}`"),
                    "give it another number",
                ),
            };
            diags.error(variant.span(), message).help(help);
        }
        out.push((name, number));
        next += 1;
    }
    if out.iter().all(|(_, number)| *number != 0) {
        diags
            .error(
                item.ident.span(),
                format!("the enum `{}` has no variant with the number 0", item.ident),
            )
            .help("memory begins as zeros: give one of them this number");
    }
    (out, default)
}

fn literal(e: &syn::Expr) -> Option<i128> {
    match e {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Int(i),
            ..
        }) => i.base10_parse().ok(),
        syn::Expr::Unary(u) if matches!(u.op, syn::UnOp::Neg(_)) => Some(-literal(&u.expr)?),
        syn::Expr::Paren(p) => literal(&p.expr),
        syn::Expr::Group(g) => literal(&g.expr),
        _ => None,
    }
}

impl Module {
    /// The variant that a path names, `Colour::Red` or what `use` brings in: the enum, and the bits of its number.
    pub(crate) fn variant(&self, path: &syn::Path) -> Option<(StructId, u64)> {
        let whole = self.whole_path(path).unwrap_or_else(|| path.clone());
        if let Some((owner, name)) = split_path(&whole) {
            return self.variant_of(&owner, &name.ident.to_string());
        }
        let name = path.get_ident()?.to_string();
        if self.named(&name).is_some() {
            return None;
        }
        // By `use Colour::*`.
        let here = self.globs.iter().filter(|(at, _)| *at == self.at.here);
        here.filter_map(|(_, path)| {
            let owner: Vec<syn::Ident> = path.iter().map(|n| ident(n, Span::call_site())).collect();
            self.variant_of(&syn::parse_quote!(#(#owner)::*), &name)
        })
        .next()
    }

    /// The number of a variant that has these bits.
    pub(crate) fn number(&self, id: StructId, bits: u64) -> i128 {
        match self.structs[id].fields[0].1.scalar() {
            Some(integer) => self.signed(bits, integer),
            None => bits.into(),
        }
    }

    /// The integer of these bits.
    pub(crate) fn signed(&self, bits: u64, integer: Scalar) -> i128 {
        match integer.is_signed() {
            true => {
                let above = 64 - integer.bits();
                i128::from((bits << above).cast_signed() >> above)
            }
            false => bits.into(),
        }
    }

    fn variant_of(&self, owner: &syn::Path, name: &str) -> Option<(StructId, u64)> {
        let id = match (self.known(owner), self.item(owner)) {
            (Some(Known::Type(Type::Struct(id))), _) => *id,
            (_, Some(Item::Struct(id))) => id,
            (_, Some(Item::Alias(alias))) => match &*self.aliases[alias].ty {
                syn::Type::Path(p) => match self.item(&p.path)? {
                    Item::Struct(id) => id,
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        Some((id, self.structs[id].number_of(name)?))
    }
}
