//! What the source says of types: in a copy of a function a parameter's values are of a known type, and have what the parameter's bounds say, not what that type has by itself.

use super::{super::Checker, Guesses};
use crate::{
    generics::{At, Bound, Known, Template, TraitUse},
    hir::Expr,
    items::Item,
    ty::{Class, Mark, Ty},
};
use millstream_graph::ty::{StructId, Type};
use std::rc::Rc;

impl Checker<'_> {
    /// A type as it is written, which is this one.
    pub(in super::super) fn said(&mut self, written: &syn::Type, known: &Type, g: &Guesses) -> Ty {
        let plain = Ty::from_type(known);
        if g.is_empty() && self.m.at.bounds.is_empty() {
            return plain;
        }
        let before = self.m.diags.0.len();
        let said = self.open(written, g);
        // It was resolved before.
        self.m.diags.0.truncate(before);
        said.filter(|said| self.closed(said).as_ref() == Some(known))
            .unwrap_or(plain)
    }

    /// The type that a parameter in sight stands for, with its bounds.
    pub(super) fn said_of(&mut self, path: &syn::Path, g: &Guesses) -> Option<Ty> {
        let name = path.get_ident()?.to_string();
        if name == "Self"
            && let Some(this) = self.m.at.bounds.this.clone()
        {
            return self.open(&this, g);
        }
        let bounds = self.m.at.bounds.get(&name)?.to_vec();
        let Some(Known::Type(ty)) = self.m.known(path).cloned() else {
            return None;
        };
        let at = self.m.at.clone();
        let bounds = bounds.into_iter().map(|path| (path, at.clone())).collect();
        Some(self.table.marked(Ty::from_type(&ty), Mark::Param(bounds)))
    }

    /// A type of a parameter's, `T::Item`, which is this one, with what its trait and the bounds in sight say of it.
    pub(super) fn said_of_part(
        &mut self,
        owner: Option<&syn::Type>,
        name: &syn::Ident,
        known: &Type,
        g: &Guesses,
    ) -> Ty {
        let plain = Ty::from_type(known);
        let Some(owner) = owner else { return plain };
        let Some(said) = self.open(owner, g) else {
            return plain;
        };
        let (Some(this), true) = (self.closed(&said), self.has_bounds(&said)) else {
            return plain;
        };
        if let Some(said) = self.said_to_be(&said, &this, name, known) {
            return said;
        }
        let at = self.m.at.clone();
        let key = format!("{}::{name}", quote::ToTokens::to_token_stream(owner));
        let here = at.bounds.get(&key).unwrap_or_default().iter();
        let mut bounds: Vec<(syn::Path, At)> =
            here.map(|path| (path.clone(), at.clone())).collect();
        for bound in self.bounds_of(&said, &this) {
            let Bound::Own(of) = bound else { continue };
            let item = self.m.traits[of.id].get(&name.to_string()).cloned();
            if let Some(syn::TraitItem::Type(t)) = item {
                let at = self.m.trait_at(&of, &this);
                let paths = t.bounds.iter().filter_map(|bound| match bound {
                    syn::TypeParamBound::Trait(of) => Some(of.path.clone()),
                    _ => None,
                });
                bounds.extend(paths.map(|path| (path, at.clone())));
            }
        }
        self.table.marked(plain, Mark::Param(bounds))
    }

    /// Learns from the traits that a parameter's type has what other parameters in its bounds are: `T: Into2<U>`, `I: Source<Item = U>`.
    pub(super) fn learn_bounds(&mut self, template: &Template, g: &mut Guesses) {
        let at = &template.at;
        for param in &template.params {
            let Some(paths) = at.bounds.get(&param.name) else {
                continue;
            };
            for path in paths {
                let Some(Item::Trait(id)) = self.there(at, |c| c.m.item(path)) else {
                    continue;
                };
                let Some(known) = g.known(&param.name).and_then(|ty| self.closed(&ty)) else {
                    continue;
                };
                let [by] = &self.m.impls_of(id, &known)[..] else {
                    continue;
                };
                let Some(last) = path.segments.last() else {
                    continue;
                };
                let mut args = by.of.args.iter();
                for arg in super::guesses::args_of(&last.arguments) {
                    let (ty, known) = match arg {
                        syn::GenericArgument::AssocType(of) => {
                            let known = self.m.type_given(by, &of.ident.to_string());
                            (Some(&of.ty), known.map(Known::Type))
                        }
                        syn::GenericArgument::Type(ty) => (Some(ty), args.next().cloned()),
                        _ => (None, args.next().cloned()),
                    };
                    match (ty, known) {
                        (Some(ty), Some(Known::Type(known))) => {
                            self.there(at, |c| c.learn(ty, &Ty::from_type(&known), g));
                        }
                        (_, Some(Known::Number(_, bits))) => g.learn_number(arg, bits),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Adds what is known where a function stands, as its caller says it: what its own bounds say of that is for its body alone.
    pub(in super::super) fn look_from_outside(
        &mut self,
        g: &mut Guesses,
        at: &At,
        receiver: Option<&Ty>,
    ) {
        let mut known = Vec::new();
        for (name, of) in at.env.iter() {
            if let Known::Type(ty) = of {
                let var = self.table.fresh(Class::Any);
                known.push((name.clone(), var, Ty::from_type(ty)));
            }
        }
        let numbers = at.env.iter().filter_map(|(name, of)| match of {
            Known::Number(..) => Some((name.clone(), of.clone(), None)),
            Known::Type(_) => None,
        });
        let types = known.iter().map(|(name, var, plain)| {
            let known = Known::Type(plain.to_type());
            (name.clone(), known, Some(var.clone()))
        });
        let more = self.knowing(types.chain(numbers).collect::<Vec<_>>());
        g.extend(more);
        let receiver = receiver.map(|ty| match self.shallow(ty) {
            Ty::Ref { target, .. } => *target,
            _ => ty.clone(),
        });
        if let (Some(receiver), Some(Known::Type(this))) = (receiver, at.env.get("Self"))
            && self.closed(&receiver).as_ref() == Some(this)
        {
            if let Some(of) = at.bounds.this.clone() {
                self.there(at, |c| c.learn(&of, &receiver, g));
            }
            for (_, var, _) in known.iter().filter(|(name, ..)| name == "Self") {
                self.table.unify(var, &receiver);
            }
        }
        for (_, var, plain) in &known {
            self.table.unify(var, plain);
        }
    }

    /// What `Self` and a trait's parameters are for a type, as the source says it.
    pub(in super::super) fn said_args(&mut self, by: &TraitUse, this: &Type, said: &Ty) -> Guesses {
        let params = self.m.traits[by.id].params.clone();
        let mut args: Vec<Option<Ty>> = vec![None; params.len()];
        if let Some(Mark::Param(bounds)) = self.table.mark(said).as_deref() {
            for (path, at) in bounds {
                let is_it = self.there(at, |c| c.m.item(path)) == Some(Item::Trait(by.id));
                let Some(last) = path.segments.last().filter(|_| is_it) else {
                    continue;
                };
                let written = super::guesses::args_of(&last.arguments);
                for ((to, arg), known) in args.iter_mut().zip(written).zip(&by.args) {
                    if let (syn::GenericArgument::Type(ty), Known::Type(known)) = (arg, known) {
                        let g = Guesses::default();
                        *to = Some(self.there(at, |c| c.said(ty, known, &g)));
                    }
                }
            }
        }
        let names = params.into_iter().map(|p| p.name);
        let given = names.zip(by.args.clone()).zip(args);
        let given = given.map(|((name, known), said)| (name, known, said));
        let this = Known::Type(this.clone());
        let this = ("Self".to_owned(), this, Some(said.clone()));
        self.knowing(given.chain([this]).collect::<Vec<_>>())
    }

    /// What a bound says that a type of a parameter's is: `T: Source<Item = T>`.
    fn said_to_be(
        &mut self,
        owner: &Ty,
        this: &Type,
        name: &syn::Ident,
        known: &Type,
    ) -> Option<Ty> {
        let mark = self.table.mark(owner)?;
        let Mark::Param(bounds) = &*mark else {
            return None;
        };
        bounds.iter().find_map(|(path, at)| {
            let args = super::guesses::args_of(&path.segments.last()?.arguments);
            let mut args = args.filter_map(|arg| match arg {
                syn::GenericArgument::AssocType(of) => Some(of),
                _ => None,
            });
            let written = &args.find(|of| of.ident == *name)?.ty;
            let this = Known::Type(this.clone());
            let g = self.knowing([("Self".to_owned(), this, Some(owner.clone()))]);
            let said = self.there(at, |c| c.open(written, &g))?;
            (self.closed(&said).as_ref() == Some(known)).then_some(said)
        })
    }

    /// A value whose type the source names itself, so that it is no parameter's.
    pub(in super::super) fn itself(&mut self, mut value: Expr) -> Expr {
        if !self.m.at.bounds.is_empty()
            && let ty @ (Ty::Struct(_) | Ty::Scalar(_)) = self.shallow(&value.ty)
        {
            value.ty = self.table.marked(ty, Mark::Itself);
        }
        value
    }

    /// Whether a type is a parameter's, as far as the source says it.
    pub(in super::super) fn has_bounds(&self, ty: &Ty) -> bool {
        matches!(self.table.mark(ty).as_deref(), Some(Mark::Param(_)))
    }

    /// What the source says that values of a type have, which is this one.
    pub(in super::super) fn bounds_of(&mut self, ty: &Ty, known: &Type) -> Vec<Bound> {
        let mut out = Vec::new();
        if let Some(Mark::Param(bounds)) = self.table.mark(ty).as_deref() {
            for (path, at) in bounds {
                self.m.elsewhere(at, |m| m.said_by(path, known, &mut out));
            }
        }
        out
    }

    /// The type of a struct's field, where the source says of what type the struct is.
    pub(in super::super) fn field_type(&mut self, of: &Ty, id: StructId, field: usize) -> Ty {
        let known = self.m.structs[id].fields[field].1.clone();
        let mark = self.table.mark(of);
        let (Some(Mark::Struct(said)), Some((family, args))) =
            (mark.as_deref(), self.m.copies.get(&id).cloned())
        else {
            return Ty::from_type(&known);
        };
        let family = Rc::clone(&self.m.families[family.0]);
        let Some(written) = family.part(field) else {
            return Ty::from_type(&known);
        };
        let names = family.params.iter().map(|p| p.name.clone());
        let given = names.zip(args).zip(said);
        let given = given.map(|((name, known), said)| (name, known, said.clone()));
        let g = self.knowing(given.collect::<Vec<_>>());
        self.there(&family.at, |c| c.said(written, &known, &g))
    }

    /// Whether a type is one that a parameter in sight stands for, or a type of it, though the source does not say of the value that it is of that.
    pub(in super::super) fn may_be_said(&mut self, ty: &Type) -> bool {
        let at = self.m.at.clone();
        let types: Vec<Type> = at
            .env
            .iter()
            .filter(|(name, _)| at.bounds.get(name).is_some())
            .filter_map(|(_, known)| match known {
                Known::Type(ty) => Some(ty.clone()),
                Known::Number(..) => None,
            })
            .collect();
        let mut parts = Vec::new();
        for of in &types {
            for (id, item) in self.m.traits.clone().into_iter().enumerate() {
                for name in item.types() {
                    for by in self.m.impls_of(id, of) {
                        parts.extend(self.m.type_given(&by, &name));
                    }
                }
            }
        }
        types.contains(ty) || parts.contains(ty)
    }
}
