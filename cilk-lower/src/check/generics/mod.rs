//! Uses of what has parameters: what they stand for is found as rustc finds it, from the arguments and from what is wanted.
//!
//! A call whose parameters are not all known yet, as of literals that nothing has decided on, is made when the body's types are. Structs are known where
//! they stand.

mod guesses;
mod inline;
mod lifted;
mod said;

pub(super) use guesses::Guesses;
pub(crate) use lifted::{Lifted, Made, endless};

use inline::Given;

use super::{Checker, expr::member_name};
use crate::{
    generics::{FamilyId, Param, Template, TemplateId, behind},
    hir::{Expr, ExprKind, LaterCall},
    items::Item,
    ty::{Class, Ty},
};
use millstream_graph::ty::{StructId, Type};
use proc_macro2::Span;
use std::rc::Rc;
use syn::{parse_quote, spanned::Spanned};

impl Checker<'_> {
    /// What a chain that is given says of a function's parameters. Which iterator it is has no name there.
    fn learn_items(
        &mut self,
        template: &Template,
        param: &crate::generics::Param,
        item: Option<&syn::Type>,
        chain: &syn::Expr,
        g: &mut Guesses,
    ) {
        let name = syn::Ident::new(&param.name, chain.span());
        self.there(&template.at, |c| {
            c.learn(&syn::parse_quote!(#name), &Ty::unit(), g);
        });
        if let Some(item) = item {
            let known = self.item_of_chain(chain);
            self.learn_item(template, item, &known, g);
        }
    }

    /// The same of the type of its items.
    fn learn_item(&mut self, template: &Template, item: &syn::Type, known: &Ty, g: &mut Guesses) {
        let said = self.there(&template.at, |c| {
            c.learn(item, known, g);
            c.open(item, g)
        });
        if let Some(said) = said {
            self.table.unify(&said, known);
        }
    }

    /// Calls a function with parameters. What is given to it has names of its own.
    pub(super) fn call_template(
        &mut self,
        id: TemplateId,
        written: &syn::PathArguments,
        this: Option<Expr>,
        args: &[&syn::Expr],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        self.scoped(|c| c.call_template_here(id, written, this, args, want, span))
    }

    /// Calls a function with parameters. `this` is what a method is called on, by value or borrowed as the method takes it.
    fn call_template_here(
        &mut self,
        id: TemplateId,
        written: &syn::PathArguments,
        this: Option<Expr>,
        args: &[&syn::Expr],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let template = Rc::clone(&self.m.templates[id.0]);
        if self.kind.is_none() && template.item.sig.constness.is_none() {
            return self.refuse_in_constant(span);
        }
        let inputs: Vec<(&syn::Pat, &syn::Type)> = template.inputs().collect();
        let (takes, gets) = (inputs.len(), args.len() + usize::from(this.is_some()));
        if takes != gets {
            let hidden = usize::from(this.is_some());
            return self.refuse(
                span,
                format!(
                    "`{}` takes {} arguments, here are {}",
                    template.name,
                    takes - hidden.min(takes),
                    gets - hidden
                ),
                "give it as many as it takes",
            );
        }
        let mut g = self.guesses(&template.params);
        let receiver = this.as_ref().map(|this| this.ty.clone());
        self.look_from_outside(&mut g, &template.at, receiver.as_ref());
        if !self.take_written(&template.params, written, &mut g, span) {
            return Self::broken(span);
        }
        if let (Some(want), syn::ReturnType::Type(_, ty), false) =
            (want, &template.item.sig.output, template.is_opaque())
        {
            self.there(&template.at, |c| c.learn_shape(ty, want, &mut g));
        }
        let (mut values, mut closures, mut taken) = (Vec::new(), Vec::new(), Vec::new());
        let mut iterators = Vec::new();
        let mut inputs = inputs.into_iter();
        if let Some(this) = this
            && let Some((pat, ty)) = inputs.next()
        {
            let this = self.fitted(this, ty, &template.at, &mut g);
            values.push((pat, ty, this));
        }
        for ((pat, ty), arg) in inputs.zip(args) {
            match template.params.iter().find(|p| is_param(ty, &p.name)) {
                Some(crate::generics::Param {
                    kind: crate::generics::Kind::Closure(signature),
                    ..
                }) => match self.closure_of(arg, signature.inputs.len(), &mut taken) {
                    Some(named) => closures.push((pat, Rc::clone(signature), named)),
                    None => return Self::broken(span),
                },
                param => {
                    let runs = param.and_then(|p| Some((p, template.iterator(&p.name)?)));
                    if let Some((param, item)) = &runs
                        && let Some(name) = self.given_to(arg, &mut taken)
                    {
                        self.learn_items(&template, param, item.as_ref(), &name, &mut g);
                        iterators.push((pat, name));
                        continue;
                    }
                    let value = match param.and_then(|p| said_range(&template, p, arg)) {
                        Some(range) => {
                            let value = self.argument_of(arg, &range, &template.at, &mut g);
                            self.fitted(value, ty, &template.at, &mut g)
                        }
                        None => self.argument_of(arg, ty, &template.at, &mut g),
                    };
                    if let (Some((_, Some(item))), Ty::Array(elem, _)) =
                        (&runs, self.shallow(&value.ty))
                    {
                        self.learn_item(&template, item, &elem, &mut g);
                    }
                    values.push((pat, ty, value));
                }
            }
        }
        self.learn_bounds(&template, &mut g);
        let stands = template.takes_closures() || template.code().is_some() || template.is_opaque();
        if self.kind.is_none() || stands || !iterators.is_empty() {
            let given = Given {
                values,
                closures,
                iterators,
            };
            let value = match template.takes_closures() && self.kind.is_some() {
                true => self.call_with_code((id, &template), &mut g, given, want, span),
                false => self.inline(&template, &mut g, given, want, span),
            };
            if taken.is_empty() {
                return value;
            }
            let ty = value.ty.clone();
            return Expr::new(ExprKind::Block(taken, Some(value)), ty, span);
        }
        let args: Vec<Expr> = values.into_iter().map(|(_, _, value)| value).collect();
        if args
            .iter()
            .any(|a| matches!(self.shallow(&a.ty), Ty::Error))
        {
            return Self::broken(span);
        }
        self.call_copy(template, g, args, span)
    }

    fn call_copy(
        &mut self,
        template: Rc<Template>,
        g: Guesses,
        args: Vec<Expr>,
        span: Span,
    ) -> Expr {
        if let Some(known) = self.settled(&template.params, &g) {
            let id = self.m.copy_fn(&template, &known, span);
            let ret = self.m.fns.get(id.0).map(|f| f.ret.clone());
            let ret = ret.map_or(Ty::Error, |ret| match &template.item.sig.output {
                syn::ReturnType::Type(_, ty) => self.there(&template.at, |c| c.said(ty, &ret, &g)),
                syn::ReturnType::Default => Ty::unit(),
            });
            return Expr::new(ExprKind::Call(id, args), ret, span);
        }
        let ret = match &template.item.sig.output {
            syn::ReturnType::Type(_, ty) if !matches!(**ty, syn::Type::Never(_)) => {
                self.there(&template.at, |c| c.open(ty, &g))
            }
            _ => Some(Ty::unit()),
        };
        let Some(ret) = ret.filter(|_| g.numbers_known()) else {
            // A struct or an array is known where it stands.
            return match self.params_now(&template.params, &g, &template.name, span) {
                Some(_) => self.call_copy(template, g, args, span),
                None => {
                    self.note_unknown_of(&template, &g);
                    self.unknown_value(span)
                }
            };
        };
        let later = LaterCall {
            given: self.given(&template.params, &g),
            template,
            args,
        };
        Expr::new(ExprKind::Later(later), ret, span)
    }

    /// An argument for a parameter of that type as it is written.
    fn argument_of(
        &mut self,
        arg: &syn::Expr,
        ty: &syn::Type,
        at: &crate::generics::At,
        g: &mut Guesses,
    ) -> Expr {
        if let Some(want) = self.there(at, |c| c.open(ty, g)) {
            return self.expr_as(arg, &want);
        }
        let mut value = self.expr(arg, None);
        if self.is_lent(arg, &value) && matches!(ty, syn::Type::Reference(_)) {
            value = self.borrow(value, false, arg.span());
        }
        self.fitted(value, ty, at, g)
    }

    /// A value for a parameter of that type as it is written, whose parts that are not known it tells.
    fn fitted(
        &mut self,
        value: Expr,
        ty: &syn::Type,
        at: &crate::generics::At,
        g: &mut Guesses,
    ) -> Expr {
        let actual = value.ty.clone();
        if matches!(self.shallow(&actual), Ty::Error | Ty::Never) {
            return value;
        }
        self.there(at, |c| c.learn(ty, &actual, g));
        match self.there(at, |c| c.open(ty, g)) {
            Some(want) => self.coerce(value, &want),
            None => {
                let shown = self.show(&actual);
                let written = quote::ToTokens::to_token_stream(ty).to_string();
                self.refuse(
                    value.span,
                    format!("what `{written}` is cannot be told from `{shown}`"),
                    "write the type where the value is made",
                )
            }
        }
    }

    /// The struct that a path names where a value or a pattern of it stands; none if its parameters are not known.
    pub(super) fn struct_at(&mut self, path: &syn::Path, want: Option<&Ty>) -> Option<StructId> {
        if let Some(crate::generics::Known::Type(Type::Struct(id))) = self.m.known(path) {
            return Some(*id);
        }
        match self.m.item(path)? {
            Item::Struct(id) => Some(id),
            Item::Alias(_) => {
                let path = syn::TypePath {
                    attrs: Vec::new(),
                    qself: None,
                    path: path.clone(),
                };
                match self.m.resolve_type(&syn::Type::Path(path)) {
                    Type::Struct(id) => Some(id),
                    _ => None,
                }
            }
            Item::Family(family) => {
                let last = path.segments.last()?;
                if !matches!(last.arguments, syn::PathArguments::None) {
                    return self.m.written(family, last);
                }
                match want.map(|w| self.shallow(w)) {
                    Some(Ty::Struct(id)) if self.family_of(id) == Some(family) => Some(id),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The family that a path names without its parameters.
    pub(super) fn family_at(&self, path: &syn::Path) -> Option<FamilyId> {
        match self.m.item(path)? {
            Item::Family(id) => Some(id),
            _ => None,
        }
    }

    pub(super) fn family_of(&self, id: StructId) -> Option<FamilyId> {
        self.m.copies.get(&id).map(|(family, _)| *family)
    }

    /// The struct of a family whose fields have these values, and the fields.
    pub(super) fn struct_by_fields<'e>(
        &mut self,
        family: FamilyId,
        fields: &[(String, &'e syn::Expr)],
        want: Option<&Ty>,
        span: Span,
    ) -> Option<(StructId, Vec<(usize, Expr)>)> {
        let of = Rc::clone(&self.m.families[family.0]);
        let mut g = self.guesses(&of.params);
        if let Some(Ty::Struct(id)) = want.map(|w| self.shallow(w)) {
            self.learn_copy(&of.params, family, id, &mut g);
        }
        let Some(names) = of.fields() else {
            self.error(span, format!("`{}` is an enum", of.name))
                .help("write one of its variants");
            return None;
        };
        let given = |name: &String| fields.iter().filter(|(n, _)| n == name).count();
        let lacks: Vec<String> = names
            .iter()
            .filter(|n| given(n) != 1)
            .map(|n| format!("`{n}`"))
            .collect();
        if !lacks.is_empty() || fields.len() != names.len() {
            let known: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
            self.error(span, format!("a `{}` has each of its fields once", of.name))
                .help(format!("its fields are {}", known.join(", ")));
            return None;
        }
        // In the order in which they are written.
        let index = |(name, value): &(String, &'e syn::Expr)| {
            Some((names.iter().position(|n| n == name)?, *value))
        };
        let fields: Option<Vec<_>> = fields.iter().map(index).collect();
        self.copy_by_parts(family, fields?, g, span)
    }

    /// The struct of a family that takes from another what it does not name, `Pair { b: 7, ..base }`: the one that the fields tell, or else the base's. What stands for a
    /// value of it where neither does.
    pub(super) fn struct_by_base(
        &mut self,
        family: FamilyId,
        s: &syn::ExprStruct,
        base: &syn::Expr,
    ) -> Result<StructId, Expr> {
        let of = Rc::clone(&self.m.families[family.0]);
        let names = of.fields().unwrap_or_default();
        let mut g = self.guesses(&of.params);
        // Each is looked at again, for what it is then: here only for what it tells.
        let (vars, diags) = (self.vars.len(), self.m.diags.0.len());
        for field in &s.fields {
            let index = names.iter().position(|n| *n == member_name(&field.member));
            if let Some(ty) = index.and_then(|i| of.part(i)) {
                self.argument_of(&field.expr, ty, &of.at, &mut g);
            }
        }
        self.vars.truncate(vars);
        self.m.diags.0.truncate(diags);
        if let Some(known) = self.settled(&of.params, &g) {
            return Ok(self.m.copy_struct(family, &known, s.span()));
        }
        let ty = self.type_ahead(base);
        match self.shallow(&ty) {
            Ty::Struct(id) if self.family_of(id) == Some(family) => return Ok(id),
            ty if self.family_looked_for(&ty) == Some(family) => {
                return Err(Expr::new(ExprKind::Error, ty, s.span()));
            }
            _ => {}
        }
        // What is wrong with the base is said rather than what it leaves unknown.
        let value = self.expr(base, None);
        if self.m.diags.0.len() > diags || self.shallow(&value.ty) == Ty::Error {
            return Err(Self::broken(s.span()));
        }
        let have = self.shallow(&value.ty);
        let is_open = matches!(have, Ty::Var(v) if self.table.class(v) == Class::Any);
        if !is_open {
            let have = self.show(&have);
            let text = format!("expected `{}`, found `{have}`", of.name);
            self.error(base.span(), text);
            return Err(Self::broken(s.span()));
        }
        match self.params_now(&of.params, &g, &of.name, s.span()) {
            Some(known) => Ok(self.m.copy_struct(family, &known, s.span())),
            None => {
                self.note_unknown(family, g);
                Err(self.unknown_value(s.span()))
            }
        }
    }

    /// The enum of a family where a variant with these parts is made, with the parameters that are written, and the parts.
    pub(in super::super) fn copy_of(
        &mut self,
        family: FamilyId,
        written: &syn::PathArguments,
        parts: Vec<(usize, &syn::Expr)>,
        want: Option<&Ty>,
        span: Span,
    ) -> Option<(StructId, Vec<(usize, Expr)>)> {
        let of = Rc::clone(&self.m.families[family.0]);
        let mut g = self.guesses(&of.params);
        if !self.take_written(&of.params, written, &mut g, span) {
            return None;
        }
        if let Some(Ty::Struct(id)) = want.map(|w| self.shallow(w)) {
            self.learn_copy(&of.params, family, id, &mut g);
        }
        self.copy_by_parts(family, parts, g, span)
    }

    /// The struct of a family whose parts have these values, beside what is known of its parameters, and the parts.
    fn copy_by_parts(
        &mut self,
        family: FamilyId,
        parts: Vec<(usize, &syn::Expr)>,
        mut g: Guesses,
        span: Span,
    ) -> Option<(StructId, Vec<(usize, Expr)>)> {
        let of = Rc::clone(&self.m.families[family.0]);
        let before = self.m.diags.0.len();
        let mut values = Vec::new();
        for (index, value) in parts {
            let ty = of.part(index)?;
            values.push((index, self.argument_of(value, ty, &of.at, &mut g)));
        }
        if self.m.diags.0.len() > before {
            return None;
        }
        let Some(known) = self.params_now(&of.params, &g, &of.name, span) else {
            self.note_unknown(family, g);
            return None;
        };
        let id = self.m.copy_struct(family, &known, span);
        let types = self.m.structs[id].fields.clone();
        let fields = values
            .into_iter()
            .map(|(i, value)| (i, self.coerce(value, &Ty::from_type(&types[i].1))));
        Some((id, fields.collect()))
    }

    /// Says that a constant calls what is not `const`.
    pub(super) fn refuse_in_constant(&mut self, span: Span) -> Expr {
        self.refuse(
            span,
            "a constant calls only what is `const`",
            "write `const fn`, or write the value out",
        )
    }
}

/// Whether a type is that parameter, perhaps behind references.
fn is_param(ty: &syn::Type, name: &str) -> bool {
    matches!(behind(ty), syn::Type::Path(p) if p.path.is_ident(name))
}

/// The type of a range that stands for a parameter, if the parameter's bounds say of what: `impl RangeBounds<u32>`.
fn said_range(template: &Template, param: &Param, arg: &syn::Expr) -> Option<syn::Type> {
    let syn::Expr::Range(range) = super::places::strip(arg) else {
        return None;
    };
    let bounds = template.at.bounds.get(&param.name)?;
    let mut last = bounds.iter().filter_map(|path| path.segments.last());
    let said = last.find(|last| last.ident == "RangeBounds")?;
    let of = guesses::args_of(&said.arguments).find_map(|arg| match arg {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })?;
    Some(match (&range.start, &range.limits, &range.end) {
        (Some(_), syn::RangeLimits::HalfOpen(_), Some(_)) => parse_quote!(std::ops::Range<#of>),
        (Some(_), syn::RangeLimits::Closed(_), Some(_)) => {
            parse_quote!(std::ops::RangeInclusive<#of>)
        }
        _ => return None,
    })
}
