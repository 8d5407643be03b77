//! Which function a method's name means, and a name behind a type's: as in Rust, by the type of what it is called on. What a type has by itself goes before what traits give it,
//! if both take it equally; of a parameter's values only what the bounds say is known.

use super::Checker;
use crate::{
    generics::{Bound, TraitUse},
    hir::{Expr, ExprKind},
    impls::{self, takes_self},
    items::Item,
    traits::Impl,
    ty::{Mark, Ty},
};
use millstream_graph::ty::Type;
use proc_macro2::Span;
use std::collections::BTreeSet;
use syn::spanned::Spanned;

/// How a method takes what it is called on, and how that is there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum By {
    Value,
    Ref,
    Mut,
}

impl By {
    /// When it is found, where one is called on a value or reference: Rust looks for what takes it as it is, then behind a reference, then by borrowing.
    fn step(self, receiver: Self) -> usize {
        match (receiver, self) {
            (Self::Value, Self::Value) | (Self::Ref, Self::Ref) | (Self::Mut, Self::Mut) => 0,
            (Self::Value, Self::Ref) | (Self::Ref | Self::Mut, Self::Value) => 1,
            _ => 2,
        }
    }

    fn of_type(ty: &syn::Type) -> Self {
        match ty {
            syn::Type::Reference(r) if r.mutability.is_some() => Self::Mut,
            syn::Type::Reference(_) => Self::Ref,
            _ => Self::Value,
        }
    }

    /// How a method of `Option`, `Result` or arrays takes it.
    fn of_rusts(name: &str) -> Self {
        match name {
            "take" | "take_if" | "replace" | "insert" => Self::Mut,
            _ if name.starts_with("get_or_") || name.contains("_mut") => Self::Mut,
            "is_some" | "is_none" | "is_ok" | "is_err" | "as_ref" | "as_deref" | "as_slice"
            | "iter" | "each_ref" => Self::Ref,
            _ => Self::Value,
        }
    }

    /// Of a signature that takes `self`.
    fn of(sig: &syn::Signature) -> Option<Self> {
        match sig.inputs.first()? {
            syn::FnArg::Receiver(r) => Some(match &r.kind {
                syn::ReceiverKind::Typed(_, ty) => Self::of_type(ty),
                syn::ReceiverKind::Reference(_, _, mutability) if mutability.is_some() => Self::Mut,
                syn::ReceiverKind::Reference(..) => Self::Ref,
                _ => Self::Value,
            }),
            syn::FnArg::Typed(p) => match &*p.pat {
                syn::Pat::Ident(i) if i.ident == "self" => Some(Self::of_type(&p.ty)),
                _ => None,
            },
        }
    }
}

/// What a name may mean.
#[derive(Clone, Debug)]
enum Candidate {
    /// What the program's type has by itself.
    Itself(Item),
    By(Impl),
    /// What Rust's type has by itself, or what one of Rust's traits gives it.
    Rusts,
    RustsTrait,
}

impl Candidate {
    const fn is_inherent(&self) -> bool {
        matches!(self, Self::Itself(_) | Self::Rusts)
    }
}

/// What a name means.
#[derive(Debug)]
pub(super) enum Meant {
    /// An item of the program; of a trait, that.
    Own(Item, Option<TraitUse>),
    /// What Rust has of that name, if anything.
    Rusts,
    /// It was refused.
    Refused,
}

/// Methods of Rust's traits that are always in sight.
pub(super) fn of_trait(of: &str, name: &str) -> Option<By> {
    let by = match name {
        "max" | "min" | "clamp" => (By::Value, ["Ord", "Ord"]),
        "cmp" => (By::Ref, ["Ord", "Ord"]),
        "partial_cmp" | "lt" | "le" | "gt" | "ge" => (By::Ref, ["PartialOrd", "Ord"]),
        "eq" | "ne" => (By::Ref, ["PartialEq", "Eq"]),
        "clone" => (By::Ref, ["Clone", "Copy"]),
        "into" => (By::Value, ["Into", "Into"]),
        _ => return None,
    };
    by.1.contains(&of).then_some(by.0)
}

pub(super) const TRAITS: [&str; 5] = ["Ord", "PartialOrd", "PartialEq", "Clone", "Into"];

impl Checker<'_> {
    /// What a method's name means for what it is called on.
    pub(super) fn meant(
        &mut self,
        m: &syn::ExprMethodCall,
        receiver: &Expr,
        want: Option<&Ty>,
    ) -> Meant {
        let (name, at) = (m.method.to_string(), m.method.span());
        let (said, by) = self.called_on(m, receiver);
        let known = match self.closed(&said) {
            Some(known) if !self.m.in_library() => known,
            _ => return Meant::Rusts,
        };
        if self.has_bounds(&said) {
            return self.meant_by_bounds(&said, &known, &name, Some(by), at);
        }
        let mut found = self.by_itself(&known, &name);
        for rusts in TRAITS {
            if let Some(takes) = of_trait(rusts, &name)
                && self.m.has_rusts(&known, rusts)
            {
                // References have an order, too.
                let takes = if rusts == "Ord" && takes == By::Value {
                    by
                } else {
                    takes
                };
                found.push((takes, Candidate::RustsTrait));
            }
        }
        let given = self.m.given_to(&known, &name);
        let out_of_sight = given.len();
        for imp in given {
            let of = &self.m.traits[imp.of.id];
            if let Some(takes) = of.function(&name).and_then(By::of)
                && (self.m.sees(imp.of.id) || out_of_sight == 1 && found.is_empty())
            {
                found.push((takes, Candidate::By(imp)));
            }
        }
        let own = |(_, c): &&(By, Candidate)| matches!(c, Candidate::Itself(_) | Candidate::By(_));
        if !found.iter().any(|c| own(&c)) {
            return Meant::Rusts;
        }
        let itself = matches!(self.table.mark(&said).as_deref(), Some(Mark::Itself));
        if found.len() > 1 && !itself && self.may_be_said(&known) {
            return self.refuse_unsaid(&known, &name, &found, at);
        }
        let found = self.by_types(found, m, want);
        self.nearest_of(found, by, &known, &name, at)
    }

    /// Of what one trait gives for several of its parameters, that which takes these arguments and gives what is wanted, if that says which.
    fn by_types(
        &mut self,
        found: Vec<(By, Candidate)>,
        m: &syn::ExprMethodCall,
        want: Option<&Ty>,
    ) -> Vec<(By, Candidate)> {
        let ids = found.iter().map(|(_, c)| match c {
            Candidate::By(imp) => Some(imp.of.id),
            _ => None,
        });
        let ids: BTreeSet<Option<usize>> = ids.collect();
        if found.len() < 2 || ids.len() > 1 || ids.contains(&None) {
            return found;
        }
        let args: Vec<Ty> = m.args.iter().map(|arg| self.type_ahead(arg)).collect();
        let name = m.method.to_string();
        let fits = |c: &mut Self, found: &Candidate| {
            let Candidate::By(imp) = found else {
                return false;
            };
            let Some(Item::Fn(id)) = c.m.given(imp, &name) else {
                return false;
            };
            let item = &c.m.fns[id.0];
            let mut takes = item.params.iter().skip(1).zip(&args);
            let ret = Ty::from_type(&item.ret);
            takes.all(|((_, ty), arg)| c.is_type(arg, ty))
                && want.is_none_or(|want| match c.closed(want) {
                    Some(_) => c.is_type(&ret, &c.table.resolve(want).to_type()),
                    None => true,
                })
        };
        let all = found.clone().into_iter();
        let fitting: Vec<_> = all.filter(|(_, c)| fits(self, c)).collect();
        match fitting.len() {
            1 => fitting,
            _ => found,
        }
    }

    /// The type of what a method is called on, as far as the source says it, and whether it is a reference to that.
    fn called_on(&self, m: &syn::ExprMethodCall, receiver: &Expr) -> (Ty, By) {
        match self.shallow(&receiver.ty) {
            Ty::Ref { mutable, target } => (*target, if mutable { By::Mut } else { By::Ref }),
            _ if self.is_lent(&m.receiver, receiver) => (receiver.ty.clone(), By::Ref),
            _ => (receiver.ty.clone(), By::Value),
        }
    }

    /// What a parameter's values have of that name; `by` says how a method's receiver is there.
    fn meant_by_bounds(
        &mut self,
        said: &Ty,
        known: &Type,
        name: &str,
        by: Option<By>,
        at: Span,
    ) -> Meant {
        let mut found = Vec::new();
        for bound in self.bounds_of(said, known) {
            match bound {
                Bound::Rusts(path, _) => {
                    let of = path.segments.last().map(|s| s.ident.to_string());
                    // Ranges have it by themselves, too.
                    if of.as_deref() == Some("RangeBounds") && name == "contains" {
                        found.extend(self.by_itself(known, name));
                    }
                    if let Some(takes) = of.and_then(|of| of_trait(&of, name)) {
                        found.push((takes, Candidate::RustsTrait));
                    }
                }
                Bound::Own(of) => {
                    let item = &self.m.traits[of.id];
                    let takes = match by {
                        Some(_) => item.function(name).and_then(By::of),
                        None => item.get(name).map(|_| By::Value),
                    };
                    let Some(takes) = takes else { continue };
                    let Some(imp) = self.m.impl_by(&of, known) else {
                        let (of, shown) =
                            (self.m.trait_name(&of), self.show(&Ty::from_type(known)));
                        self.error(at, format!("`{shown}` does not have the trait `{of}`"))
                            .help(format!("write `impl {of} for {shown} {{ .. }}`"));
                        return Meant::Refused;
                    };
                    found.push((takes, Candidate::By(imp)));
                }
            }
        }
        let bounded = found.len();
        // Of blocks for all types.
        for imp in self.m.given_to(known, name) {
            let has_it =
                |(_, c): &(By, Candidate)| matches!(c, Candidate::By(by) if by.of.id == imp.of.id);
            let may_be = match bounded {
                0 => imp.is_for_all(),
                _ => self.m.is_for_any(&imp) && !found.iter().any(has_it),
            };
            if may_be {
                let takes = self.m.traits[imp.of.id].function(name).and_then(By::of);
                found.push((takes.unwrap_or(By::Value), Candidate::By(imp)));
            }
        }
        let Some(receiver) = by.filter(|_| bounded > 0) else {
            return self.nearest_of(found, by.unwrap_or(By::Value), known, name, at);
        };
        // Whether the parameter's bounds are enough for such a block is not known here.
        let step = |of: &[(By, Candidate)]| of.iter().map(|(by, _)| by.step(receiver)).min();
        let (of_bounds, of_blocks) = found.split_at(bounded);
        if step(of_blocks).is_some_and(|block| step(of_bounds).is_none_or(|bound| block <= bound)) {
            return self.refuse_several(found.iter().map(|(_, c)| c), known, name, at);
        }
        found.truncate(bounded);
        self.nearest_of(found, by.unwrap_or(By::Value), known, name, at)
    }

    /// The first that Rust finds.
    fn nearest_of(
        &mut self,
        found: Vec<(By, Candidate)>,
        receiver: By,
        known: &Type,
        name: &str,
        at: Span,
    ) -> Meant {
        let rank = |(by, c): &(By, Candidate)| (by.step(receiver), !c.is_inherent());
        let Some(first) = found.iter().map(rank).min() else {
            return Meant::Rusts;
        };
        // Such a block is for references, too, and stands nearer then.
        let for_any = |c: &Candidate| matches!(c, Candidate::By(imp) if self.m.is_for_any(imp));
        let takes = |by: By| by == By::Value || (by, receiver) == (By::Ref, By::Mut);
        let block = found.iter().find(|(by, c)| takes(*by) && for_any(c));
        if let (By::Ref | By::Mut, Some(block)) = (receiver, block)
            && first.0 >= 1
            && rank(block) > first
        {
            return self.refuse_several(found.iter().map(|(_, c)| c), known, name, at);
        }
        let mut nearest = found.into_iter().filter(|c| rank(c) == first);
        let Some((_, chosen)) = nearest.next() else {
            return Meant::Rusts;
        };
        let others: Vec<Candidate> = nearest.map(|(_, c)| c).collect();
        let same = |other: &Candidate| match (&chosen, other) {
            (Candidate::By(a), Candidate::By(b)) => a.of == b.of,
            (Candidate::RustsTrait, Candidate::RustsTrait) => true,
            _ => false,
        };
        if !others.iter().all(same) {
            let of = std::iter::once(&chosen).chain(&others);
            return self.refuse_several(of, known, name, at);
        }
        match chosen {
            Candidate::Itself(item) => Meant::Own(item, None),
            Candidate::Rusts | Candidate::RustsTrait => Meant::Rusts,
            Candidate::By(imp) => match self.m.given(&imp, name) {
                Some(item) => Meant::Own(item, Some(imp.of)),
                None => Meant::Rusts,
            },
        }
    }

    fn refuse_several<'c>(
        &mut self,
        of: impl Iterator<Item = &'c Candidate>,
        known: &Type,
        name: &str,
        at: Span,
    ) -> Meant {
        let ways = self.ways(of, known, name);
        let shown = self.show(&Ty::from_type(known));
        self.error(at, format!("several traits give `{shown}` a `{name}`"))
            .help(format!("say which: {ways}"));
        Meant::Refused
    }

    /// How each of these is called by its path.
    fn ways<'c>(
        &self,
        of: impl Iterator<Item = &'c Candidate>,
        known: &Type,
        name: &str,
    ) -> String {
        let this = known.display(&self.m.structs);
        let one = |c: &Candidate| match c {
            Candidate::By(imp) => format!("`<{this} as {}>::{name}`", self.m.trait_name(&imp.of)),
            Candidate::Itself(_) | Candidate::Rusts => format!("`{this}::{name}`"),
            Candidate::RustsTrait => {
                let mut traits = TRAITS.iter().filter(|of| of_trait(of, name).is_some());
                format!("`{}::{name}`", traits.next().copied().unwrap_or_default())
            }
        };
        let ways = of.map(one);
        ways.collect::<Vec<_>>().join(" or ")
    }

    /// Says that it is not known of whom a value is.
    fn refuse_unsaid(
        &mut self,
        known: &Type,
        name: &str,
        found: &[(By, Candidate)],
        at: Span,
    ) -> Meant {
        let shown = self.show(&Ty::from_type(known));
        let ways = self.ways(found.iter().map(|(_, c)| c), known, name);
        let message = format!(
            "whether this `{shown}` is a parameter's, whose bounds say what `{name}` is, is not known here"
        );
        self.error(at, message).help(format!(
            "say which: {ways}; or give a variable the parameter's type"
        ));
        Meant::Refused
    }

    /// What a type has of that name as a method by itself.
    fn by_itself(&mut self, known: &Type, name: &str) -> Vec<(By, Candidate)> {
        let rusts = |by: By| vec![(by, Candidate::Rusts)];
        match known {
            Type::Struct(id) => match self.m.member(*id, name) {
                Some(item) => match self.takes(item) {
                    Some(by) => vec![(by, Candidate::Itself(item))],
                    None => Vec::new(),
                },
                None if self.is_ordering(&Ty::Struct(*id)) && impls::is_of_ordering(name) => {
                    rusts(By::Value)
                }
                None => Vec::new(),
            },
            Type::Scalar(s) if impls::is_inherent(*s, name) => {
                let refers = name.contains("ascii") || name == "total_cmp";
                rusts(if refers { By::Ref } else { By::Value })
            }
            Type::Option(_) | Type::Result(..) if impls::is_of_options(name) => {
                rusts(By::of_rusts(name))
            }
            Type::Array(..) if impls::is_of_arrays(name) => rusts(By::of_rusts(name)),
            Type::Slice { .. } | Type::Ref { .. } | Type::Mat { .. } | Type::Atomic(_) => {
                rusts(By::Value)
            }
            _ => Vec::new(),
        }
    }

    /// How a function takes `self`; none if it does not.
    fn takes(&self, item: Item) -> Option<By> {
        match item {
            Item::Fn(id) => {
                let params = &self.m.fns[id.0].params;
                let ty = &params.first().filter(|_| takes_self(params))?.1;
                Some(match ty {
                    Type::Ref { mutable: true, .. } => By::Mut,
                    Type::Ref { .. } => By::Ref,
                    _ => By::Value,
                })
            }
            Item::Template(id) => By::of(&self.m.templates[id.0].item.sig),
            _ => None,
        }
    }

    /// What a name behind a type's means.
    pub(super) fn meant_of(&mut self, said: &Ty, known: &Type, name: &str, at: Span) -> Meant {
        if self.has_bounds(said) {
            return self.meant_by_bounds(said, known, name, None, at);
        }
        if let Type::Struct(id) = known
            && let Some(item) = self.m.member(*id, name)
        {
            return Meant::Own(item, None);
        }
        let mut found = match known {
            Type::Scalar(s) if impls::is_inherent(*s, name) => return Meant::Rusts,
            _ if TRAITS
                .iter()
                .any(|of| of_trait(of, name).is_some() && self.m.has_rusts(known, of)) =>
            {
                vec![(By::Value, Candidate::RustsTrait)]
            }
            _ => Vec::new(),
        };
        let given = self.m.given_to(known, name);
        let one = given.len() == 1;
        for imp in given {
            if one && found.is_empty() || self.m.sees(imp.of.id) {
                found.push((By::Value, Candidate::By(imp)));
            }
        }
        self.nearest_of(found, By::Value, known, name, at)
    }

    /// What a trait gives a type of that name.
    pub(super) fn meant_by(
        &mut self,
        id: usize,
        path: &syn::Path,
        said: &Ty,
        name: &str,
    ) -> Option<(Item, TraitUse)> {
        let at = path.span();
        let known = self.closed(said)?;
        let written = !self.m.traits[id].params.is_empty()
            && path.segments.last().is_some_and(|s| !s.arguments.is_none());
        let asked = match written {
            true => self.m.trait_use(id, path, &known),
            false => None,
        };
        let impls = match asked {
            Some(of) => self.m.impl_by(&of, &known).into_iter().collect(),
            None => self.m.impls_of(id, &known),
        };
        let mut impls = impls.into_iter();
        let (first, second) = (impls.next(), impls.next());
        let shown = self.show(said);
        let Some(imp) = first else {
            let of = self.m.traits[id].name.clone();
            self.error(at, format!("`{shown}` does not have the trait `{of}`"))
                .help(format!("write `impl {of} for {shown} {{ .. }}`"));
            return None;
        };
        if second.is_some() {
            let of = self.m.traits[id].name.clone();
            self.error(
                at,
                format!("`{shown}` has the trait `{of}` for several parameters"),
            )
            .help(format!("say which: `<{shown} as {of}<..>>::{name}(..)`"));
            return None;
        }
        let item = self.m.given(&imp, name);
        if item.is_none() {
            let of = self.m.traits[id].name.clone();
            self.error(at, format!("the trait `{of}` has no `{name}`"))
                .help("a trait's functions stand in it");
        }
        Some((item?, imp.of))
    }

    /// The type of an expression that is checked later on.
    pub(super) fn type_ahead(&mut self, e: &syn::Expr) -> Ty {
        let (vars, diags) = (self.vars.len(), self.m.diags.0.len());
        let ty = self.expr(e, None).ty;
        self.vars.truncate(vars);
        self.m.diags.0.truncate(diags);
        ty
    }

    /// Whether nothing is wrong with an expression where a value of that type is wanted.
    pub(super) fn goes_as(&mut self, e: &syn::Expr, want: &Ty) -> bool {
        let (vars, diags) = (self.vars.len(), self.m.diags.0.len());
        self.expr(e, Some(want));
        let goes = self.m.diags.0.len() == diags;
        self.vars.truncate(vars);
        self.m.diags.0.truncate(diags);
        goes
    }

    /// The same of a function of a struct with parameters, of which the source says what these are.
    fn as_said_by_struct(&mut self, mut value: Expr, said: &Ty, ret: &Type) -> Expr {
        let is_struct = matches!(self.table.mark(said).as_deref(), Some(Mark::Struct(_)));
        let ExprKind::Call(id, _) = &*value.kind else {
            return value;
        };
        let item = &self.m.fns[id.0];
        let (at, sig) = (item.at.clone(), item.sig.clone());
        if let (true, Some(sig)) = (is_struct && item.ret == *ret, sig)
            && let syn::ReturnType::Type(_, ty) = &sig.output
        {
            let mut g = super::Guesses::default();
            self.look_from_outside(&mut g, &at, Some(said));
            value.ty = self.there(&at, |c| c.said(ty, ret, &g));
        }
        value
    }

    /// What the source says of a call's value: what the trait says that its function gives.
    pub(super) fn as_said(
        &mut self,
        mut value: Expr,
        name: &str,
        by: Option<&TraitUse>,
        said: &Ty,
    ) -> Expr {
        let (Some(known), Some(ret)) = (self.closed(said), self.closed(&value.ty)) else {
            return value;
        };
        let Some(by) = by.filter(|_| self.has_bounds(said)) else {
            return self.as_said_by_struct(value, said, &ret);
        };
        let output = match self.m.traits[by.id].get(name) {
            Some(syn::TraitItem::Fn(f)) => match &f.sig.output {
                syn::ReturnType::Type(_, ty) => (**ty).clone(),
                syn::ReturnType::Default => return value,
            },
            Some(syn::TraitItem::Const(c)) => c.ty.clone(),
            _ => return value,
        };
        let g = self.said_args(by, &known, said);
        let at = self.m.trait_at(by, &known);
        value.ty = self.there(&at, |c| c.said(&output, &ret, &g));
        value
    }
}
