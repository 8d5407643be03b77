//! Items with parameters: structs and functions that are copied for each use, with the types in place.
//!
//! A *family* is a struct or enum with parameters, a *template* a function with parameters, or one in whose place its body stands: it takes closures, or is `const`. What parameters stand for is an
//! [`Env`]. A copy is an item like any other, named after its arguments, `largest<u32>`; what bounds promise is believed, and each copy is checked as it is.

mod bounds;
mod families;
mod params;

pub(crate) use bounds::{Bound, Bounds, TraitUse};
pub(crate) use families::{Family, FamilyItem, Member, MemberItem, is_name};
pub(crate) use params::{
    Code, Kind, Param, Signature, behind, code, gives_range, has_params, is_generic, is_iterator,
    is_opaque, let_be_values,
};

use crate::{
    hir::FnId,
    items::{Item, Module},
};
use millstream_graph::ty::{Scalar, Type};
use proc_macro2::Span;
use std::{collections::BTreeMap, rc::Rc};

/// A function with parameters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct TemplateId(pub(crate) usize);

/// A struct or enum with parameters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct FamilyId(pub(crate) usize);

/// What a parameter stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Known {
    Type(Type),
    /// A number, by its bits.
    Number(Scalar, u64),
}

/// What the parameters in sight stand for; also `Self`.
pub(crate) type Env = BTreeMap<String, Known>;

/// Where names are looked up.
#[derive(Clone, Default, Debug)]
pub(crate) struct At {
    /// The module within the program; empty at its top.
    pub(crate) here: String,
    pub(crate) env: Rc<Env>,
    pub(crate) bounds: Rc<Bounds>,
}

impl At {
    pub(crate) fn with(&self, more: Env) -> Self {
        let mut env = (*self.env).clone();
        env.extend(more);
        Self {
            env: Rc::new(env),
            ..self.clone()
        }
    }
}

/// A function with parameters.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) name: String,
    /// Those that are not known yet.
    pub(crate) params: Vec<Param>,
    pub(crate) item: Rc<syn::ItemFn>,
    /// Where it stands, with what is known of its parameters.
    pub(crate) at: At,
    /// Of a function of a block with parameters: what `Self` is there.
    pub(crate) of: Option<Rc<syn::Type>>,
    /// Of one that calls itself: the closures that it was given.
    pub(crate) lifted: Option<Rc<crate::check::Lifted>>,
}

impl Template {
    /// Whether its body stands in the place of its calls: it takes closures.
    pub(crate) fn takes_closures(&self) -> bool {
        self.params
            .iter()
            .any(|p| matches!(p.kind, Kind::Closure(_)))
    }

    /// What it gives, if that is a piece of code.
    pub(crate) fn code(&self) -> Option<Code> {
        code(&self.item.sig)
    }

    /// Whether only its body says what the type of its value is.
    pub(crate) fn is_opaque(&self) -> bool {
        is_opaque(&self.item.sig)
    }

    /// Whether a parameter is an iterator, and what its items are, as it is written.
    pub(crate) fn iterator(&self, name: &str) -> Option<Option<syn::Type>> {
        let generics = &self.item.sig.generics;
        let wheres = generics.where_clause.iter().flat_map(|w| &w.predicates);
        let said = wheres.filter_map(|p| match p {
            syn::WherePredicate::Type(p) => match &p.bounded_ty {
                syn::Type::Path(of) if of.path.is_ident(name) => Some(&p.bounds),
                _ => None,
            },
            _ => None,
        });
        let own = generics.type_params().filter(|t| t.ident == name);
        let bounds: Vec<_> = own.map(|t| &t.bounds).chain(said).flatten().collect();
        if !is_iterator(bounds.iter().copied()) {
            return None;
        }
        Some(item_of(bounds))
    }

    /// What the items are of the iterator that it gives, as it is written.
    pub(crate) fn item_given(&self) -> Option<syn::Type> {
        let syn::ReturnType::Type(_, ty) = &self.item.sig.output else {
            return None;
        };
        match &**ty {
            syn::Type::ImplTrait(of) => item_of(&of.bounds),
            _ => None,
        }
    }

    /// The names and types of its parameters as a function.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&syn::Pat, &syn::Type)> {
        self.item.sig.inputs.iter().filter_map(|i| match i {
            syn::FnArg::Typed(p) => Some((&*p.pat, &*p.ty)),
            syn::FnArg::Receiver(_) => None,
        })
    }
}

/// What bounds say of the items of an iterator.
fn item_of<'b>(bounds: impl IntoIterator<Item = &'b syn::TypeParamBound>) -> Option<syn::Type> {
    let paths = bounds.into_iter().filter_map(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => Some(&bound.path),
        _ => None,
    });
    let mut args = paths.filter_map(|path| match &path.segments.last()?.arguments {
        syn::PathArguments::AngleBracketed(args) => Some(&args.args),
        _ => None,
    });
    args.find_map(|args| {
        args.iter().find_map(|arg| match arg {
            syn::GenericArgument::AssocType(item) if item.ident == "Item" => Some(item.ty.clone()),
            _ => None,
        })
    })
}

/// How long the name of a copy may get: longer ones come of copies in copies without an end.
const LONGEST: usize = 400;

impl Module {
    /// Does something with the names that are known elsewhere.
    pub(crate) fn elsewhere<T>(&mut self, at: &At, f: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.at, at.clone());
        let value = f(self);
        self.at = around;
        value
    }

    /// Declares a function with parameters. Those that stand for `impl` in its arguments are among them.
    pub(crate) fn template(&mut self, name: String, mut item: syn::ItemFn) -> TemplateId {
        let params = self.params_of_fn(&mut item);
        let at = self.at.bounded(&item.sig.generics);
        self.note_code(&item.sig);
        self.templates.push(Rc::new(Template {
            name,
            params,
            item: Rc::new(item),
            at,
            of: None,
            lifted: None,
        }));
        TemplateId(self.templates.len() - 1)
    }

    /// Notes that there is a function of this name which gives a piece of code, or a range.
    pub(crate) fn note_code(&mut self, sig: &syn::Signature) {
        let name = sig.ident.to_string();
        match gives_range(sig) {
            Some(closed) => drop(self.giving_ranges.insert(name, closed)),
            None => drop(self.giving_others.insert(name)),
        }
        if let Some(code) = code(sig) {
            self.codes.insert(sig.ident.to_string(), code);
        }
    }

    /// The copy of a function for these arguments.
    pub(crate) fn copy_fn(&mut self, template: &Template, known: &[Known], span: Span) -> FnId {
        let name = match known {
            [] => template.name.clone(),
            known => format!("{}<{}>", template.name, self.shown(known)),
        };
        if let Some(Item::Fn(id)) = self.names.get(&name) {
            return *id;
        }
        if name.len() > LONGEST {
            let of = &template.item.sig.ident;
            let (message, help) = match template.lifted {
                Some(_) => crate::check::endless(of),
                None => (
                    format!("copies of `{of}` have no end: each calls one with a larger type"),
                    "let it call itself with the type that it was called with",
                ),
            };
            self.diags.error(span, message).help(help);
            return FnId(0);
        }
        let names = template.params.iter().map(|p| p.name.clone());
        let at = self.at_of(template, names.zip(known.iter().cloned()).collect());
        let item = Rc::clone(&template.item);
        let id = self.elsewhere(&at, |m| m.resolve_fn(name.clone(), &item));
        self.fns[id.0].used = (!known.is_empty()).then_some(span);
        if let Some(lifted) = &template.lifted {
            let captured = known.iter().filter_map(|known| match known {
                Known::Type(ty) => Some(ty.clone()),
                Known::Number(..) => None,
            });
            let patterns = crate::check::Lifted::patterns(known.len());
            let more: Vec<_> = patterns.zip(captured).collect();
            let item = &mut self.fns[id.0];
            item.params.extend(more);
            item.lifted = Some(Rc::clone(lifted));
        }
        self.names.insert(name, Item::Fn(id));
        id
    }

    /// Where the names of a copy are looked up.
    pub(crate) fn at_of(&mut self, template: &Template, known: Env) -> At {
        let at = template.at.with(known);
        let Some(of) = &template.of else { return at };
        let this = self.elsewhere(&at, |m| m.resolve_type(of));
        at.with([("Self".to_owned(), Known::Type(this))].into())
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

    /// Arguments as they are written.
    pub(crate) fn shown(&self, known: &[Known]) -> String {
        let one = |known: &Known| match known {
            Known::Type(ty) => ty.display(&self.structs).to_string(),
            Known::Number(Scalar::Bool, bits) => (*bits != 0).to_string(),
            Known::Number(s, bits) => self.signed(*bits, *s).to_string(),
        };
        known.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// What a parameter in sight stands for.
    pub(crate) fn known(&self, path: &syn::Path) -> Option<&Known> {
        let name = path.get_ident()?.to_string();
        self.at.env.get(&name)
    }
}
