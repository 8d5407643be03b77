//! What the types that parameters stand for are said to have: the bounds in sight.

use crate::{
    generics::{At, Env, Known},
    items::{Item, Module},
};
use millstream_graph::ty::Type;
use quote::ToTokens;
use std::{collections::BTreeMap, rc::Rc};

/// The traits that parameters have, by the names of these and as they are written, `T` and `T::Item`; and what `Self` is in a block with parameters.
#[derive(Clone, Default, Debug)]
pub(crate) struct Bounds {
    of: BTreeMap<String, Vec<syn::Path>>,
    pub(crate) this: Option<Rc<syn::Type>>,
    /// In a block of a trait: which.
    pub(crate) by: Option<TraitUse>,
}

/// A trait of the program, for these of its parameters; `Self` is none of them.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TraitUse {
    pub(crate) id: usize,
    pub(crate) args: Vec<Known>,
}

/// A trait that a type has.
#[derive(Clone, Debug)]
pub(crate) enum Bound {
    Own(TraitUse),
    /// One of Rust's, and where it is written.
    Rusts(syn::Path, At),
}

/// The name of a type of which a bound is written: that of a parameter, or one with a type of it.
fn key(ty: &syn::Type) -> Option<String> {
    let syn::Type::Path(p) = ty else { return None };
    let names: Vec<String> = match &p.qself {
        None => p
            .path
            .segments
            .iter()
            .map(|s| s.ident.to_string())
            .collect(),
        Some(q) => vec![
            q.ty.to_token_stream().to_string(),
            p.path.segments.last()?.ident.to_string(),
        ],
    };
    (names.len() <= 2).then(|| names.join("::"))
}

fn paths<'b>(
    bounds: impl IntoIterator<Item = &'b syn::TypeParamBound>,
) -> impl Iterator<Item = syn::Path> {
    bounds.into_iter().filter_map(|bound| match bound {
        syn::TypeParamBound::Trait(of) => Some(of.path.clone()),
        _ => None,
    })
}

impl Bounds {
    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// What is said of it; none if it is no parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&[syn::Path]> {
        self.of.get(name).map(Vec::as_slice)
    }

    /// Says that a type has a trait.
    pub(crate) fn add(&mut self, name: &str, path: syn::Path) {
        self.of.entry(name.to_owned()).or_default().push(path);
    }

    /// These, and what is said among the parameters of an item.
    fn and(&self, generics: &syn::Generics) -> Self {
        let mut out = self.clone();
        for param in generics.type_params() {
            out.of
                .insert(param.ident.to_string(), paths(&param.bounds).collect());
        }
        for predicate in generics.where_clause.iter().flat_map(|w| &w.predicates) {
            // Of a type that is no parameter nothing has to be said.
            if let syn::WherePredicate::Type(p) = predicate
                && let Some(key) = key(&p.bounded_ty)
                && let Some(param) = key.split("::").next()
                && out.of.contains_key(param)
            {
                out.of.entry(key).or_default().extend(paths(&p.bounds));
            }
        }
        out
    }
}

impl At {
    /// The same place with what is said of an item's parameters.
    pub(crate) fn bounded(&self, generics: &syn::Generics) -> Self {
        Self {
            bounds: Rc::new(self.bounds.and(generics)),
            ..self.clone()
        }
    }

    /// Whether it is in a copy of something.
    pub(crate) fn is_copied(&self) -> bool {
        !self.bounds.is_empty() || self.env.keys().any(|name| name != "Self")
    }

    /// The same place in a block of a trait.
    pub(crate) fn by(&self, of: &TraitUse) -> Self {
        let mut bounds = (*self.bounds).clone();
        bounds.by = Some(of.clone());
        Self {
            bounds: Rc::new(bounds),
            ..self.clone()
        }
    }

    /// The same place in a block of that type.
    pub(crate) fn of(&self, this: &Rc<syn::Type>) -> Self {
        let mut bounds = (*self.bounds).clone();
        bounds.this = Some(Rc::clone(this));
        Self {
            bounds: Rc::new(bounds),
            ..self.clone()
        }
    }
}

impl Module {
    /// The traits that a bound says, those that they ask for among them, of that type.
    pub(crate) fn said_by(&mut self, path: &syn::Path, this: &Type, out: &mut Vec<Bound>) {
        let Some(Item::Trait(id)) = self.item(path) else {
            let whole = self.whole_path(path).unwrap_or_else(|| path.clone());
            return out.push(Bound::Rusts(whole, self.at.clone()));
        };
        let Some(of) = self.trait_use(id, path, this) else {
            return;
        };
        let known = |bound: &Bound| matches!(bound, Bound::Own(known) if *known == of);
        if out.iter().any(known) {
            return;
        }
        out.push(Bound::Own(of.clone()));
        let at = self.trait_at(&of, this);
        let item = Rc::clone(&self.traits[id].item);
        for more in paths(&item.supertraits) {
            self.elsewhere(&at, |m| m.said_by(&more, this, out));
        }
    }

    /// A trait with the parameters that are written behind its name.
    pub(crate) fn trait_use(
        &mut self,
        id: usize,
        path: &syn::Path,
        this: &Type,
    ) -> Option<TraitUse> {
        let last = path.segments.last()?;
        let params = self.traits[id].params.clone();
        let mut arguments = last.arguments.clone();
        if let syn::PathArguments::AngleBracketed(args) = &mut arguments {
            let is_param = |a: &syn::GenericArgument| {
                matches!(
                    a,
                    syn::GenericArgument::Type(_) | syn::GenericArgument::Const(_)
                )
            };
            args.args = args.args.iter().filter(|a| is_param(a)).cloned().collect();
        }
        let env: Env = [("Self".to_owned(), Known::Type(this.clone()))].into();
        let span = last.ident.span();
        let at = self.at.with(env);
        let args = self.elsewhere(&at, |m| m.arguments(&params, &arguments, span))?;
        (args.len() == params.len()).then_some(TraitUse { id, args })
    }

    /// Where the names of what a trait says are looked up, for that type.
    pub(crate) fn trait_at(&self, of: &TraitUse, this: &Type) -> At {
        let known = &self.traits[of.id];
        let names = known.params.iter().map(|p| p.name.clone());
        let mut env: Env = names.zip(of.args.iter().cloned()).collect();
        env.insert("Self".to_owned(), Known::Type(this.clone()));
        let mut bounds = Bounds::default().and(&known.item.generics);
        let (_, params, _) = known.item.generics.split_for_impl();
        let name = &known.item.ident;
        bounds.add("Self", syn::parse_quote!(#name #params));
        At {
            here: known.here.clone(),
            env: Rc::new(env),
            bounds: Rc::new(bounds),
        }
    }
}
