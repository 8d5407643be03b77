//! What is known of parameters while the arguments are looked at.

use super::super::Checker;
use crate::{
    consts,
    generics::{At, FamilyId, Kind, Known, Param, Template, is_name},
    hir::Given,
    items::Item,
    ty::{Class, Mark, Ty},
};
use millstream_graph::ty::{Scalar, StructId, Type};
use proc_macro2::Span;
use std::collections::BTreeMap;
use syn::spanned::Spanned;

/// What a parameter may stand for.
#[derive(Clone, Debug)]
enum Guess {
    Type(Ty),
    Number(Scalar, Option<u64>),
    Closure,
}

/// The parameters of an item that is used, by their names.
#[derive(Clone, Default, Debug)]
pub(in super::super) struct Guesses(BTreeMap<String, Guess>);

impl Guesses {
    fn of(&self, path: &syn::Path) -> Option<&Guess> {
        self.0.get(&path.get_ident()?.to_string())
    }

    /// What a parameter stands for, as far as it is known.
    pub(super) fn known(&self, name: &str) -> Option<Ty> {
        match self.0.get(name)? {
            Guess::Type(ty) => Some(ty.clone()),
            _ => None,
        }
    }

    /// Adds what is known of other names.
    pub(super) fn extend(&mut self, more: Self) {
        for (name, guess) in more.0 {
            self.0.entry(name).or_insert(guess);
        }
    }

    /// Learns what the number parameter is that an argument names.
    pub(super) fn learn_number(&mut self, arg: &syn::GenericArgument, bits: u64) {
        if let Some((name, _)) = number_name(arg, self) {
            let name = name.clone();
            self.set(&name, bits);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number parameter that an array's length is.
    fn length(&self, len: &syn::Expr) -> Option<(&String, Option<u64>)> {
        self.0.iter().find_map(|(name, guess)| match guess {
            Guess::Number(_, n) if is_name(len, name) => Some((name, *n)),
            _ => None,
        })
    }

    /// Whether no number is left: nothing behind the call tells one.
    pub(super) fn numbers_known(&self) -> bool {
        let mut all = self.0.values();
        all.all(|guess| !matches!(guess, Guess::Number(_, None)))
    }

    fn set(&mut self, name: &str, bits: u64) {
        if let Some(Guess::Number(_, number)) = self.0.get_mut(name) {
            number.get_or_insert(bits);
        }
    }
}

impl Checker<'_> {
    /// Does something with the names that are known elsewhere.
    pub(in super::super) fn there<T>(&mut self, at: &At, f: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.m.at, at.clone());
        let value = f(self);
        self.m.at = around;
        value
    }

    /// What these parameters stand for.
    pub(in super::super) fn knowing(
        &mut self,
        known: impl IntoIterator<Item = (String, Known, Option<Ty>)>,
    ) -> Guesses {
        let one = |(name, known, said): (String, Known, Option<Ty>)| {
            let guess = match known {
                Known::Type(ty) => Guess::Type(said.unwrap_or_else(|| Ty::from_type(&ty))),
                Known::Number(s, bits) => Guess::Number(s, Some(bits)),
            };
            (name, guess)
        };
        Guesses(known.into_iter().map(one).collect())
    }

    pub(in super::super) fn guesses(&mut self, params: &[Param]) -> Guesses {
        let one = |p: &Param| {
            let guess = match &p.kind {
                Kind::Type => Guess::Type(self.table.fresh(Class::Any)),
                Kind::Number(s) => Guess::Number(*s, None),
                Kind::Closure(_) => Guess::Closure,
            };
            (p.name.clone(), guess)
        };
        Guesses(params.iter().map(one).collect())
    }

    /// Takes the parameters that are written, `::<u32, 4>`. Whether that went well.
    pub(in super::super) fn take_written(
        &mut self,
        params: &[Param],
        written: &syn::PathArguments,
        g: &mut Guesses,
        span: Span,
    ) -> bool {
        let syn::PathArguments::AngleBracketed(args) = written else {
            return true;
        };
        let args = args.args.iter();
        let args: Vec<_> = args
            .filter(|a| !matches!(a, syn::GenericArgument::Lifetime(_)))
            .collect();
        if args.len() > params.len() {
            self.error(
                span,
                format!("{} parameters where there are {}", args.len(), params.len()),
            );
            return false;
        }
        for (param, arg) in params.iter().zip(args) {
            let guess = g.0.get(&param.name).cloned();
            match (guess, arg) {
                (_, syn::GenericArgument::Type(syn::Type::Infer(_))) => {}
                (Some(Guess::Type(var)), syn::GenericArgument::Type(ty)) => {
                    let ty = self.annotated(ty);
                    self.table.unify(&var, &ty);
                }
                (Some(Guess::Number(s, _)), arg) => match self.m.param_number(arg, s) {
                    Some(bits) => g.set(&param.name, bits),
                    None => return false,
                },
                (_, arg) => {
                    self.error(arg.span(), "this parameter is not one to be written");
                    return false;
                }
            }
        }
        true
    }

    /// A written type with what is guessed of its parameters; none if it is an array or a struct of which that is not enough.
    pub(in super::super) fn open(&mut self, ty: &syn::Type, g: &Guesses) -> Option<Ty> {
        match ty {
            syn::Type::Paren(p) => self.open(&p.elem, g),
            syn::Type::Group(p) => self.open(&p.elem, g),
            syn::Type::Tuple(t) => {
                let types: Option<Vec<Ty>> = t.elems.iter().map(|t| self.open(t, g)).collect();
                Some(Ty::Tuple(types?))
            }
            syn::Type::Array(a) => {
                let elem = self.open(&a.elem, g)?;
                let len = match g.length(&a.len) {
                    Some((_, len)) => len?,
                    None => consts::eval_usize(self.m, &a.len)?,
                };
                Some(Ty::Array(Box::new(elem), len))
            }
            syn::Type::Reference(r) => {
                let mutable = r.mutability.is_some();
                if let syn::Type::Slice(s) = &*r.elem {
                    let elem = Box::new(self.open(&s.elem, g)?);
                    return Some(Ty::Slice { mutable, elem });
                }
                let target = self.open(&r.elem, g)?;
                Some(match self.shallow(&target) {
                    // Of references to references the last alone says enough.
                    Ty::Ref { .. } | Ty::Slice { .. } | Ty::Mat { .. } => target,
                    _ => Ty::Ref {
                        mutable,
                        target: Box::new(target),
                    },
                })
            }
            syn::Type::Path(p) if p.qself.is_none() => self.open_path(&p.path, ty, g),
            syn::Type::Path(p) => {
                let known = self.m.resolve_type(ty);
                let owner = p.qself.as_ref().map(|q| &*q.ty);
                let last = p.path.segments.last()?;
                Some(self.said_of_part(owner, &last.ident, &known, g))
            }
            syn::Type::FnPtr(f) => {
                let inputs = (f.inputs.iter())
                    .map(|input| self.open(&input.ty, g).and_then(|ty| self.closed(&ty)));
                let inputs = inputs.collect::<Option<Vec<_>>>()?;
                let output = match &f.output {
                    syn::ReturnType::Default => Type::unit(),
                    syn::ReturnType::Type(_, ty) => {
                        let ty = self.open(ty, g)?;
                        self.closed(&ty)?
                    }
                };
                Some(Ty::from_type(&self.m.pointer_to(inputs, output)))
            }
            other => Some(Ty::from_type(&self.m.resolve_type(other))),
        }
    }

    fn open_path(&mut self, path: &syn::Path, ty: &syn::Type, g: &Guesses) -> Option<Ty> {
        if let Some(guess) = g.of(path) {
            return match guess {
                Guess::Type(ty) => Some(ty.clone()),
                _ => None,
            };
        }
        if let Some(ty) = self.said_of(path, g) {
            return Some(ty);
        }
        // `T::Item` of a parameter.
        if let Some((owner, last)) = crate::items::split_path(path)
            && let Some(name) = owner.get_ident()
        {
            let name = name.to_string();
            let at = match g.of(&owner) {
                Some(Guess::Type(var)) => {
                    let known = Known::Type(self.closed(var)?);
                    self.m.at.with([(name.clone(), known)].into())
                }
                _ => self.m.at.clone(),
            };
            if g.of(&owner).is_some() || at.bounds.get(&name).is_some() {
                let known = self.there(&at, |c| c.m.resolve_type(ty));
                let owner = syn::parse_quote!(#owner);
                return Some(self.said_of_part(Some(&owner), &last.ident, &known, g));
            }
        }
        let item = self.m.item(path);
        let last = path.segments.last()?;
        let inner = |s: &syn::PathSegment| match &s.arguments {
            syn::PathArguments::AngleBracketed(args) => args.args.iter().find_map(|a| match a {
                syn::GenericArgument::Type(ty) => Some(ty.clone()),
                _ => None,
            }),
            _ => None,
        };
        let name = last.ident.to_string();
        match (item, name.as_str(), inner(last)) {
            (None, "Option", Some(some)) => Some(Ty::Option(Box::new(self.open(&some, g)?))),
            (None, "Result", Some(_)) => {
                let mut types = types_of(&last.arguments);
                let (ok, err) = (types.next()?, types.next()?);
                Some(Ty::result(self.open(ok, g)?, self.open(err, g)?))
            }
            (None, "Mat" | "MatMut", Some(elem)) => Some(Ty::Mat {
                mutable: name == "MatMut",
                elem: Box::new(self.open(&elem, g)?),
            }),
            (Some(Item::Alias(id)), ..) if !self.m.aliases[id].params.is_empty() => {
                let alias = self.m.aliases[id].clone();
                let mut of = self.guesses(&alias.params);
                if !self.take_open(&alias.params, &last.arguments, &mut of, g) {
                    return None;
                }
                self.there(&alias.at, |c| c.open(&alias.ty, &of))
            }
            (Some(Item::Family(id)), ..) => {
                let family = std::rc::Rc::clone(&self.m.families[id.0]);
                let is_bare = matches!(last.arguments, syn::PathArguments::None);
                if is_bare && family.params.iter().all(|p| p.default.is_some()) {
                    return self.m.written(id, last).map(Ty::Struct);
                }
                let mut of = self.guesses(&family.params);
                if !self.take_open(&family.params, &last.arguments, &mut of, g) {
                    return None;
                }
                let known = self.settled(&family.params, &of)?;
                let ty = Ty::Struct(self.m.copy_struct(id, &known, path.span()));
                let args = family.params.iter().map(|p| match of.0.get(&p.name) {
                    Some(Guess::Type(ty)) => Some(ty.clone()),
                    _ => None,
                });
                let args = args.collect();
                Some(self.table.marked(ty, Mark::Struct(args)))
            }
            (item, ..) => {
                let known = Ty::from_type(&self.m.resolve_type(ty));
                let is_itself = match (item, &known) {
                    (Some(Item::Struct(_)), _) => true,
                    (None, Ty::Scalar(_)) => self.m.known(path).is_none(),
                    _ => false,
                };
                Some(match is_itself {
                    true => self.table.marked(known, Mark::Itself),
                    false => known,
                })
            }
        }
    }

    /// Notes which struct a function gives whose parameters do not follow from its arguments.
    pub(super) fn note_unknown_of(&mut self, template: &Template, g: &Guesses) {
        let syn::ReturnType::Type(_, ty) = &template.item.sig.output else {
            return;
        };
        self.note_open();
        let syn::Type::Path(p) = &**ty else {
            return;
        };
        let (family, args) = match (
            self.there(&template.at, |c| c.family_at(&p.path)),
            p.path.segments.last(),
        ) {
            (Some(family), Some(last)) => (family, &last.arguments),
            _ => return,
        };
        let params = self.m.families[family.0].params.clone();
        let mut of = self.guesses(&params);
        for (param, arg) in params.iter().zip(args_of(args)) {
            match (of.0.get(&param.name).cloned(), arg) {
                (Some(Guess::Type(var)), syn::GenericArgument::Type(ty)) => {
                    if let Some(ty) = self.there(&template.at, |c| c.open(ty, g)) {
                        self.table.unify(&var, &ty);
                    }
                }
                (Some(Guess::Number(s, _)), arg) => {
                    let bits = match number_name(arg, g) {
                        Some((_, bits)) => bits,
                        None => self.there(&template.at, |c| c.m.param_number(arg, s)),
                    };
                    if let Some(bits) = bits {
                        of.set(&param.name, bits);
                    }
                }
                _ => {}
            }
        }
        self.note_unknown(family, of);
    }

    /// Lets the parameters of a block be those of the struct that it is for, `impl<A> Stack<A>`, as far as these are known.
    pub(in super::super) fn share(
        &mut self,
        params: &[Param],
        of: &syn::Type,
        known: &Guesses,
        g: &mut Guesses,
    ) {
        for (param, arg) in params.iter().zip(args_of(&arguments_of(of))) {
            match (known.0.get(&param.name), arg) {
                (Some(Guess::Type(var)), syn::GenericArgument::Type(ty)) => {
                    let var = var.clone();
                    self.learn(ty, &var, g);
                }
                (Some(Guess::Number(_, Some(bits))), arg) => g.learn_number(arg, *bits),
                _ => {}
            }
        }
    }

    /// Lets parameters of the same struct be the same.
    pub(in super::super) fn merge(&mut self, params: &[Param], g: &mut Guesses, other: &Guesses) {
        for Param { name, .. } in params {
            match (g.0.get(name).cloned(), other.0.get(name)) {
                (Some(Guess::Type(a)), Some(Guess::Type(b))) => {
                    self.table.unify(&a, b);
                }
                (_, Some(Guess::Number(_, Some(bits)))) => g.set(name, *bits),
                _ => {}
            }
        }
    }

    /// Learns the numbers of a struct from those of such a block.
    pub(in super::super) fn share_back(
        &mut self,
        params: &[Param],
        of: &syn::Type,
        g: &Guesses,
        known: &mut Guesses,
    ) {
        for (param, arg) in params.iter().zip(args_of(&arguments_of(of))) {
            if let Some((_, Some(bits))) = number_name(arg, g) {
                known.set(&param.name, bits);
            }
        }
    }

    /// Takes the arguments of a family in which parameters stand.
    fn take_open(
        &mut self,
        params: &[Param],
        written: &syn::PathArguments,
        of: &mut Guesses,
        g: &Guesses,
    ) -> bool {
        for (param, arg) in params.iter().zip(args_of(written)) {
            match (of.0.get(&param.name).cloned(), arg) {
                (Some(Guess::Type(var)), syn::GenericArgument::Type(ty)) => {
                    let Some(ty) = self.open(ty, g) else {
                        return false;
                    };
                    self.table.unify(&var, &ty);
                }
                (Some(Guess::Number(s, _)), arg) => {
                    let bits = match number_name(arg, g) {
                        Some((_, bits)) => bits,
                        None => self.m.param_number(arg, s),
                    };
                    let Some(bits) = bits else { return false };
                    of.set(&param.name, bits);
                }
                _ => return false,
            }
        }
        true
    }

    /// Learns from a value's type what the parameters in the written one are.
    pub(in super::super) fn learn(&mut self, ty: &syn::Type, actual: &Ty, g: &mut Guesses) {
        let (said, actual) = (actual, self.shallow(actual));
        match (ty, &actual) {
            (syn::Type::Paren(p), _) => self.learn(&p.elem, &actual, g),
            (syn::Type::Group(p), _) => self.learn(&p.elem, &actual, g),
            (syn::Type::Tuple(t), Ty::Tuple(of)) => {
                for (t, of) in t.elems.iter().zip(of) {
                    self.learn(t, of, g);
                }
            }
            (syn::Type::Array(a), Ty::Array(elem, len)) => {
                if let Some((name, _)) = g.length(&a.len) {
                    let name = name.clone();
                    g.set(&name, *len);
                }
                self.learn(&a.elem, elem, g);
            }
            (syn::Type::Reference(r), _) => match (&*r.elem, &actual) {
                (syn::Type::Slice(s), Ty::Slice { elem, .. }) => self.learn(&s.elem, elem, g),
                (syn::Type::Slice(s), Ty::Ref { target, .. }) => {
                    if let Ty::Array(elem, _) = self.shallow(target) {
                        self.learn(&s.elem, &elem, g);
                    }
                }
                (inner, Ty::Ref { target, .. }) => self.learn(inner, target, g),
                _ => {}
            },
            (syn::Type::Path(p), _) => self.learn_path(&p.path, said, g),
            (syn::Type::FnPtr(f), Ty::Struct(id)) => {
                let Some(of) = self.m.pointer(*id).map(|of| &self.m.pointers[of]) else {
                    return;
                };
                let (inputs, output) = (of.inputs.clone(), of.output.clone());
                for (written, known) in f.inputs.iter().zip(&inputs) {
                    self.learn(&written.ty, &Ty::from_type(known), g);
                }
                if let syn::ReturnType::Type(_, written) = &f.output {
                    self.learn(written, &Ty::from_type(&output), g);
                }
            }
            _ => {}
        }
    }

    fn learn_path(&mut self, path: &syn::Path, said: &Ty, g: &mut Guesses) {
        if let Some(Guess::Type(var)) = g.of(path) {
            let var = var.clone();
            self.table.unify(&var, said);
            return;
        }
        let actual = &self.shallow(said);
        let Some(last) = path.segments.last() else {
            return;
        };
        if let Some(Item::Alias(id)) = self.m.item(path) {
            return self.learn_alias(id, &last.arguments, said, g);
        }
        let arg = args_of(&last.arguments).next().cloned();
        match (actual, arg) {
            (Ty::Option(some), Some(syn::GenericArgument::Type(ty))) if last.ident == "Option" => {
                self.learn(&ty, some, g);
            }
            (Ty::Result(ok, err), Some(_)) if last.ident == "Result" => {
                for (ty, actual) in types_of(&last.arguments).zip([ok, err]) {
                    self.learn(ty, actual, g);
                }
            }
            (Ty::Mat { elem, .. }, Some(syn::GenericArgument::Type(ty))) => {
                self.learn(&ty, elem, g);
            }
            (Ty::Struct(id), Some(_)) => self.learn_struct(path, *id, said, g),
            _ => {}
        }
    }

    /// The same of the type that an alias with parameters is short for.
    fn learn_alias(&mut self, id: usize, written: &syn::PathArguments, said: &Ty, g: &mut Guesses) {
        let alias = self.m.aliases[id].clone();
        let mut of = self.guesses(&alias.params);
        self.there(&alias.at, |c| c.learn(&alias.ty, said, &mut of));
        for (param, arg) in alias.params.iter().zip(args_of(written)) {
            match (of.0.get(&param.name), arg) {
                (Some(Guess::Type(ty)), syn::GenericArgument::Type(arg)) => {
                    let ty = ty.clone();
                    self.learn(arg, &ty, g);
                }
                (Some(Guess::Number(_, Some(bits))), arg) => {
                    g.learn_number(arg, *bits);
                }
                _ => {}
            }
        }
    }

    fn learn_struct(&mut self, path: &syn::Path, id: StructId, said: &Ty, g: &mut Guesses) {
        let mark = self.table.mark(said);
        let Some((family, known)) = self.m.copies.get(&id).cloned() else {
            return;
        };
        if self.family_at(path) != Some(family) {
            return;
        }
        let Some(last) = path.segments.last() else {
            return;
        };
        for (i, (arg, known)) in args_of(&last.arguments).zip(known).enumerate() {
            match (arg, known) {
                (syn::GenericArgument::Type(ty), Known::Type(of)) => {
                    let said = match mark.as_deref() {
                        Some(Mark::Struct(args)) => args.get(i).cloned().flatten(),
                        _ => None,
                    };
                    self.learn(ty, &said.unwrap_or_else(|| Ty::from_type(&of)), g);
                }
                (arg, Known::Number(_, bits)) => {
                    g.learn_number(arg, bits);
                }
                _ => {}
            }
        }
    }

    /// Learns what the parameters of a family are in this struct of it.
    pub(in super::super) fn learn_copy(
        &mut self,
        params: &[Param],
        family: FamilyId,
        id: StructId,
        g: &mut Guesses,
    ) {
        let Some((of, known)) = self.m.copies.get(&id).cloned() else {
            return;
        };
        for (param, known) in params.iter().zip(known).filter(|_| of == family) {
            match (g.0.get(&param.name).cloned(), known) {
                (Some(Guess::Type(var)), Known::Type(ty)) => {
                    self.table.unify(&var, &Ty::from_type(&ty));
                }
                (_, Known::Number(_, bits)) => g.set(&param.name, bits),
                _ => {}
            }
        }
    }

    /// Learns from what is wanted only where no coercion lies in between: of what has parts.
    pub(super) fn learn_shape(&mut self, ty: &syn::Type, want: &Ty, g: &mut Guesses) {
        if let Ty::Struct(_) | Ty::Array(..) | Ty::Option(_) | Ty::Result(..) | Ty::Tuple(_) =
            self.shallow(want)
        {
            let alone = matches!(ty, syn::Type::Path(p) if g.of(&p.path).is_some());
            if !alone {
                self.learn(ty, want, g);
            }
        }
    }

    /// A type without anything unknown.
    pub(in super::super) fn closed(&self, ty: &Ty) -> Option<Type> {
        let ty = self.table.resolve(ty);
        (!is_open(&ty)).then(|| ty.to_type())
    }

    /// What the parameters are, if that is known.
    pub(in super::super) fn settled(&self, params: &[Param], g: &Guesses) -> Option<Vec<Known>> {
        let one = |p: &Param| match g.0.get(&p.name)? {
            Guess::Type(ty) => self.closed(ty).map(Known::Type),
            Guess::Number(s, bits) => bits.map(|bits| Known::Number(*s, bits)),
            Guess::Closure => None,
        };
        let open = |p: &&Param| !matches!(p.kind, Kind::Closure(_));
        params.iter().filter(open).map(one).collect()
    }

    /// What the parameters are, now: literals that nothing has decided on are what they are at the end of a body.
    pub(in super::super) fn params_now(
        &mut self,
        params: &[Param],
        g: &Guesses,
        name: &str,
        span: Span,
    ) -> Option<Vec<Known>> {
        let open = |p: &&Param| !matches!(p.kind, Kind::Closure(_));
        for param in params.iter().filter(open) {
            let known = match g.0.get(&param.name) {
                Some(Guess::Type(ty)) => match self.table.finish(ty) {
                    _ if self.closed(ty).is_some() => true,
                    Some(known) if !self.ahead.leaves_open() => self.table.unify(ty, &known),
                    _ => false,
                },
                Some(Guess::Number(_, bits)) => bits.is_some(),
                _ => false,
            };
            if !known {
                self.ahead.leaves_open();
                let (of, name) = (&param.name, name.to_owned());
                self.error(span, format!("what the parameter `{of}` of `{name}` is, is not known here"))
                    .help("write it, as in `name::<u32>(..)`, or write the type of the variable that the value goes to");
                return None;
            }
        }
        self.settled(params, g)
    }

    pub(super) fn given(&self, params: &[Param], g: &Guesses) -> Vec<Given> {
        let one = |p: &Param| match g.0.get(&p.name)? {
            Guess::Type(ty) => Some(Given::Type(ty.clone())),
            Guess::Number(s, bits) => bits.map(|bits| Given::Number(*s, bits)),
            Guess::Closure => None,
        };
        params.iter().filter_map(one).collect()
    }
}

pub(super) fn args_of(written: &syn::PathArguments) -> impl Iterator<Item = &syn::GenericArgument> {
    let args = match written {
        syn::PathArguments::AngleBracketed(args) => Some(args.args.iter()),
        _ => None,
    };
    args.into_iter()
        .flatten()
        .filter(|a| !matches!(a, syn::GenericArgument::Lifetime(_)))
}

/// What stands in angle brackets behind a type's name.
fn arguments_of(ty: &syn::Type) -> syn::PathArguments {
    match ty {
        syn::Type::Path(p) => {
            let last = p.path.segments.last();
            last.map_or(syn::PathArguments::None, |s| s.arguments.clone())
        }
        _ => syn::PathArguments::None,
    }
}

fn types_of(written: &syn::PathArguments) -> impl Iterator<Item = &syn::Type> {
    args_of(written).filter_map(|arg| match arg {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// The number parameter that an argument names.
fn number_name<'g>(
    arg: &syn::GenericArgument,
    g: &'g Guesses,
) -> Option<(&'g String, Option<u64>)> {
    match arg {
        syn::GenericArgument::Const(e) => g.length(e),
        syn::GenericArgument::Type(syn::Type::Path(p)) => {
            let name = p.path.get_ident()?.to_string();
            g.0.iter().find_map(|(n, guess)| match guess {
                Guess::Number(_, bits) if *n == name => Some((n, *bits)),
                _ => None,
            })
        }
        _ => None,
    }
}

fn is_open(ty: &Ty) -> bool {
    match ty {
        Ty::Var(_) | Ty::Never | Ty::Error | Ty::CasResult => true,
        Ty::Tuple(types) => types.iter().any(is_open),
        Ty::Result(ok, err) => is_open(ok) || is_open(err),
        Ty::Array(e, _)
        | Ty::Option(e)
        | Ty::Channel(e)
        | Ty::Slice { elem: e, .. }
        | Ty::Ref { target: e, .. }
        | Ty::Mat { elem: e, .. } => is_open(e),
        Ty::Scalar(_) | Ty::Struct(_) | Ty::Atomic(_) => false,
    }
}
