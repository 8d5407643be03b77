//! Rust's traits by which values are compared: which structs and enums have them, derived or by a block of the program, and what such a block holds.

use crate::{
    impls,
    items::{Item, Module, derives},
};
use millstream_graph::ty::{StructId, Type};
use proc_macro2::Span;
use std::collections::BTreeMap;
use syn::spanned::Spanned;

/// What Rust says of one of these traits.
struct Order {
    name: &'static str,
    /// What a block has to say, and what it may.
    asks: Option<&'static str>,
    may: &'static [&'static str],
    /// The traits that a type has too, if it has this one.
    with: &'static [&'static str],
    /// How one is written that has none of its own to say.
    written: &'static str,
}

const ORDERS: [Order; 4] = [
    Order {
        name: "PartialEq",
        asks: Some("eq"),
        may: &["ne"],
        with: &[],
        written: "fn eq(&self, other: &Self) -> bool { .. }",
    },
    Order {
        name: "Eq",
        asks: None,
        may: &[],
        with: &["PartialEq"],
        written: "",
    },
    Order {
        name: "PartialOrd",
        asks: Some("partial_cmp"),
        may: &["lt", "le", "gt", "ge"],
        with: &["PartialEq"],
        written: "fn partial_cmp(&self, other: &Self) -> Option<Ordering> { Some(self.cmp(other)) }",
    },
    Order {
        name: "Ord",
        asks: Some("cmp"),
        may: &["max", "min", "clamp"],
        with: &["Eq", "PartialOrd"],
        written: "fn cmp(&self, other: &Self) -> Ordering { .. }",
    },
];

fn order(name: &str) -> Option<&'static Order> {
    ORDERS.iter().find(|order| order.name == name)
}

/// Whether it is one of these traits.
pub(crate) fn is_order(name: &str) -> bool {
    order(name).is_some()
}

/// Which types have them, by the names of their structs, enums and families, and the traits as they are named: `PartialEq<u32>`.
#[derive(Debug, Default)]
pub(crate) struct Orders(BTreeMap<(String, String), Noted>);

/// How a type has one.
#[derive(Clone, Copy, Debug)]
struct Noted {
    at: Span,
    derived: bool,
}

impl Module {
    /// Takes note of what a type derives.
    pub(crate) fn note_derived(&mut self, owner: &str, attrs: &[syn::Attribute], at: Span) {
        for Order { name, .. } in ORDERS {
            if derives(attrs, name) {
                let key = (owner.to_owned(), name.to_owned());
                let derived = true;
                self.orders.0.insert(key, Noted { at, derived });
            }
        }
    }

    /// Takes note of a block of one of these traits, as it is named, and says what is wrong with what it holds.
    pub(crate) fn note_order(&mut self, of: &str, block: &syn::ItemImpl) {
        let Some(order) = of.split('<').next().and_then(order) else {
            return;
        };
        for item in &block.items {
            let known = impls::name_of(item).is_none_or(|n| {
                order.asks.is_some_and(|a| n == a) || order.may.iter().any(|m| n == m)
            });
            if !known {
                self.diags
                    .error(
                        item.span(),
                        format!("Rust's `{}` has no such item", order.name),
                    )
                    .help("write it in an `impl` block of the type's own");
            }
        }
        let has = |name: &str| {
            let mut names = block.items.iter().filter_map(impls::name_of);
            names.any(|n| n == name)
        };
        if let Some(asks) = order.asks.filter(|asks| !has(asks)) {
            self.diags
                .error(
                    block.self_ty.span(),
                    format!("this `impl` of `{}` lacks `{asks}`", order.name),
                )
                .help(format!("write it here: `{}`", order.written));
        }
        let owner = match &*block.self_ty {
            syn::Type::Path(p) if p.qself.is_none() => match self.item(&p.path) {
                Some(Item::Struct(id)) => self.structs[id].name.clone(),
                Some(Item::Family(id)) => self.families[id.0].name.clone(),
                _ => return,
            },
            _ => return,
        };
        let (at, derived) = (block.self_ty.span(), false);
        let key = (owner, of.to_owned());
        if self.orders.0.get(&key).is_some_and(|known| known.derived) {
            self.diags
                .error(
                    at,
                    format!("`{}` derives `{of}`, and has a block of it", key.0),
                )
                .help("leave out one of them");
        }
        self.orders.0.insert(key, Noted { at, derived });
    }

    /// Says which traits lack those that Rust asks for beside them.
    pub(crate) fn ask_for_orders(&mut self) {
        let orders = &self.orders.0;
        for ((owner, of), noted) in orders {
            let (name, operand) = of.split_at(of.find('<').unwrap_or(of.len()));
            for other in order(name).map_or(&[][..], |order| order.with) {
                let asked = format!("{other}{operand}");
                if orders.contains_key(&(owner.clone(), asked.clone())) {
                    continue;
                }
                let body = order(other).map_or("", |order| order.written);
                let body = match operand.trim_matches(['<', '>']) {
                    "" => body.to_owned(),
                    operand => body.replace("&Self", &format!("&{operand}")),
                };
                let derive = match (noted.derived, operand) {
                    (true, _) => format!("derive `{other}`, too"),
                    (false, "") if *other != "PartialOrd" => {
                        format!("derive it, or write `impl {other} for {owner} {{ {body} }}`")
                    }
                    _ => format!("write `impl {asked} for {owner} {{ {body} }}`"),
                };
                self.diags
                    .error(noted.at, format!("`{owner}` has `{of}`, but not `{asked}`"))
                    .help(derive.replace("{  }", "{}"));
            }
        }
    }

    fn noted(&self, id: StructId, of: &str) -> Option<Noted> {
        let owner = match self.copies.get(&id) {
            Some((family, _)) => &self.families[family.0].name,
            None => &self.structs[id].name,
        };
        let key = (owner.clone(), of.to_owned());
        self.orders.0.get(&key).copied()
    }

    /// Whether it derives that trait.
    pub(crate) fn derives_order(&self, id: StructId, of: &str) -> bool {
        self.noted(id, of).is_some_and(|noted| noted.derived)
    }

    /// Whether it has a block of that trait.
    pub(crate) fn writes_order(&self, id: StructId, of: &str) -> bool {
        self.noted(id, of).is_some_and(|noted| !noted.derived)
    }

    /// Whether a type has one of Rust's traits of those that are always in sight.
    pub(crate) fn has_rusts(&self, ty: &Type, of: &str) -> bool {
        let parts = |types: &[&Type]| types.iter().all(|ty| self.has_rusts(ty, of));
        match (of, ty) {
            ("Clone" | "Into", _) => true,
            (_, Type::Scalar(s)) => of != "Ord" || !s.is_float(),
            (_, Type::Struct(id)) => self.noted(*id, of).is_some(),
            (_, Type::Tuple(types)) => parts(&types.iter().collect::<Vec<_>>()),
            (_, Type::Array(elem, _) | Type::Option(elem)) => parts(&[elem]),
            (_, Type::Result(ok, err)) => parts(&[ok, err]),
            _ => false,
        }
    }
}
