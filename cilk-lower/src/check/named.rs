//! Functions and constants behind the name of a type or a trait: `T::new()`, `Shape::area(&s)`, `<T as Shape>::SIDES`.

use super::{
    Checker,
    dispatch::{Meant, of_trait},
    overloads,
};
use crate::{
    generics::{TraitUse, behind},
    hir::{Expr, ExprKind},
    items::{Item, split_path},
    ty::Ty,
};
use millstream_graph::ty::Type;
use proc_macro2::Span;
use syn::{parse_quote, parse_quote_spanned, spanned::Spanned};

/// A call by a path, but for what is called.
#[derive(Clone, Copy)]
pub(super) struct Call<'c> {
    pub(super) args: &'c [&'c syn::Expr],
    pub(super) want: Option<&'c Ty>,
    pub(super) span: Span,
}

impl Checker<'_> {
    /// What hangs on a type whose name is not all in a path: `<T as Shape>::area(&s)`. None if it is what a path alone says, too.
    pub(super) fn qualified_call(&mut self, p: &syn::ExprPath, call: Call<'_>) -> Option<Expr> {
        // `<[u8]>::len(part)` is `part.len()`.
        if let (Some(syn::Type::Slice(_)), 1) =
            (p.qself.as_ref().map(|q| &*q.ty), p.path.segments.len())
            && let ([this, rest @ ..], Some(last)) = (call.args, p.path.segments.last())
        {
            let name = &last.ident;
            let method = parse_quote_spanned!(call.span=> (#this).#name(#(#rest),*));
            return Some(self.expr(&method, call.want));
        }
        // `<[u8; 4]>::try_from(part)` is `part.try_into()` where that is wanted.
        if let Some(ty @ (syn::Type::Array(_) | syn::Type::Reference(_))) =
            p.qself.as_ref().map(|q| &*q.ty)
            && p.path.segments.len() == 1
            && p.path.segments[0].ident == "try_from"
            && let [part] = call.args
        {
            let into = self.annotated(ty);
            let tried = parse_quote_spanned!(call.span=> (#part).try_into());
            if let Some(tried) = self.tried_into(&tried, &into) {
                return Some(self.expr(&tried, None));
            }
        }
        let (said, by, last) = self.qualified(p)?;
        let name = last.ident.to_string();
        let found = match by {
            Some((Some(id), path)) => match self.meant_by(id, &path, &said, &name) {
                Some((item, of)) => Meant::Own(item, Some(of)),
                None => Meant::Refused,
            },
            Some((None, path)) => return self.call_by_rusts(&path, &said, &name, call),
            None => {
                let known = self.closed(&said)?;
                self.meant_of(&said, &known, &name, last.span())
            }
        };
        self.call_meant(found, &said, &last, call)
    }

    /// The same of a constant.
    pub(super) fn qualified_value(&mut self, p: &syn::ExprPath) -> Option<Expr> {
        let (said, by, last) = self.qualified(p)?;
        let name = last.ident.to_string();
        let found = match by {
            Some((Some(id), path)) => match self.meant_by(id, &path, &said, &name) {
                Some((item, of)) => Meant::Own(item, Some(of)),
                None => Meant::Refused,
            },
            _ => {
                let known = self.closed(&said)?;
                self.meant_of(&said, &known, &name, last.span())
            }
        };
        self.value_meant(found, &said, &name, p.span())
    }

    /// The type, the trait if it is one of the program's, and the name.
    #[expect(clippy::type_complexity, reason = "the parts of a path")]
    fn qualified(
        &mut self,
        p: &syn::ExprPath,
    ) -> Option<(Ty, Option<(Option<usize>, syn::Path)>, syn::PathSegment)> {
        let q = p.qself.as_ref()?;
        // `<T as Trait>::Item::NAME`
        if p.path.segments.len() > q.position + 1 {
            let (owner, last) = split_path(&p.path)?;
            let owner = syn::TypePath {
                attrs: Vec::new(),
                qself: Some(q.clone()),
                path: owner,
            };
            let said = self.annotated(&syn::Type::Path(owner));
            return Some((said, None, last));
        }
        let (by, last) = match split_path(&p.path) {
            Some((by, last)) if q.position > 0 => (Some(by), last),
            // `<Stack<_, 8>>::new()` is `Stack::<_, 8>::new()`.
            _ if matches!(&*q.ty, syn::Type::Path(t) if t.qself.is_none()) => return None,
            _ => (None, p.path.segments.last()?.clone()),
        };
        let by = by.map(|path| match self.m.item(&path) {
            Some(Item::Trait(id)) => (Some(id), path),
            _ => (None, path),
        });
        let said = self.annotated(&q.ty);
        Some((said, by, last))
    }

    /// A call of what one of Rust's traits gives.
    fn call_by_rusts(
        &mut self,
        path: &syn::Path,
        said: &Ty,
        name: &str,
        call: Call<'_>,
    ) -> Option<Expr> {
        let of = path.segments.last()?.ident.to_string();
        if of == "Default" && name == "default" && call.args.is_empty() {
            return Some(self.default_said(said, call.span));
        }
        self.rusts_function(&of, name, call)
    }

    /// The default of a type, as the source says it.
    pub(super) fn default_said(&mut self, said: &Ty, span: Span) -> Expr {
        let mut value = self.default_of(said, span);
        value.ty = said.clone();
        value
    }

    /// `Ord::max(a, b)` and its kin, and operators: `Mul::mul(a, b)`.
    pub(super) fn rusts_function(&mut self, of: &str, name: &str, call: Call<'_>) -> Option<Expr> {
        if let Some(operation) = overloads::by_name(of, name, call.args, call.span) {
            return Some(self.expr(&operation, call.want));
        }
        of_trait(of, name)?;
        let [this, rest @ ..] = call.args else {
            return None;
        };
        let method = syn::Ident::new(name, call.span);
        let m: syn::ExprMethodCall = parse_quote_spanned!(call.span=> (#this).#method(#(#rest),*));
        let receiver = self.expr(this, None);
        Some(self.rusts_method(&m, receiver, call.want))
    }

    /// What a name behind a type's means, if that is of the program.
    pub(super) fn call_of(
        &mut self,
        path: &syn::Path,
        known: &Type,
        call: Call<'_>,
    ) -> Option<Expr> {
        let (owner, last) = split_path(path)?;
        let said = self.owner_said(&owner, known);
        let name = last.ident.to_string();
        if let ("from", [arg], false) = (&*name, call.args, self.has_bounds(&said)) {
            if let Some(wide) = self.widened_from(arg, &Ty::from_type(known), call.span) {
                return Some(wide);
            }
            let converted = self.converted(arg, known, call.span);
            // Of numbers Rust has others.
            if converted.is_some() || matches!(known, Type::Scalar(_)) {
                return converted;
            }
            let has_blocks = |c: &mut Self, id| !c.m.impls_of(id, known).is_empty();
            let is_own = matches!(known, Type::Struct(id) if self.m.member(*id, "from").is_some());
            if !is_own && self.m.conversions.is_some_and(|id| has_blocks(self, id)) {
                let from = self.type_ahead(arg);
                return Some(self.not_converted(&from, known, last.span()));
            }
        }
        let meant = self.meant_of(&said, known, &name, path.span());
        if let (Meant::Rusts, true) = (&meant, self.has_bounds(&said)) {
            if name == "default" && call.args.is_empty() {
                return Some(self.default_said(&said, call.span));
            }
            for of in super::dispatch::TRAITS {
                if let Type::Struct(_) = known
                    && let Some(value) = self.rusts_function(of, &name, call)
                {
                    return Some(value);
                }
            }
        }
        self.call_meant(meant, &said, &last, call)
    }

    /// The same of a constant.
    pub(super) fn value_of(&mut self, path: &syn::Path, known: &Type, span: Span) -> Option<Expr> {
        let (owner, last) = split_path(path)?;
        let said = self.owner_said(&owner, known);
        let name = last.ident.to_string();
        let meant = self.meant_of(&said, known, &name, span);
        self.value_meant(meant, &said, &name, span)
    }

    fn owner_said(&mut self, owner: &syn::Path, known: &Type) -> Ty {
        let written: syn::Type = parse_quote!(#owner);
        self.said(&written, known, &super::Guesses::default())
    }

    fn value_meant(&mut self, meant: Meant, said: &Ty, name: &str, span: Span) -> Option<Expr> {
        match meant {
            Meant::Own(Item::Const(id), by) => {
                let value = self.constant(id, span);
                Some(self.as_said(value, name, by.as_ref(), said))
            }
            Meant::Own(..) => {
                let shown = self.show(said);
                let message = format!("the function `{shown}::{name}` is used as a value");
                Some(self.refuse(span, message, format!("call it: `{shown}::{name}(..)`")))
            }
            Meant::Rusts => None,
            Meant::Refused => Some(Self::broken(span)),
        }
    }

    fn call_meant(
        &mut self,
        meant: Meant,
        said: &Ty,
        last: &syn::PathSegment,
        call: Call<'_>,
    ) -> Option<Expr> {
        match meant {
            Meant::Own(item, by) => self.call_item(item, by.as_ref(), said, last, call),
            Meant::Rusts => None,
            Meant::Refused => Some(Self::broken(call.span)),
        }
    }

    fn call_item(
        &mut self,
        item: Item,
        by: Option<&TraitUse>,
        said: &Ty,
        last: &syn::PathSegment,
        call: Call<'_>,
    ) -> Option<Expr> {
        let Call { args, want, span } = call;
        let value = match item {
            Item::Fn(id) => self.call_fn(id, args, span),
            Item::Template(id) => self.call_template(id, &last.arguments, None, args, want, span),
            _ => return None,
        };
        Some(self.as_said(value, &last.ident.to_string(), by, said))
    }

    /// `Shape::area(&s)`: of which type it is follows from its arguments, or from what is wanted.
    pub(super) fn trait_call(
        &mut self,
        id: usize,
        path: &syn::Path,
        last: &syn::PathSegment,
        call: Call<'_>,
    ) -> Expr {
        let name = last.ident.to_string();
        let of = self.m.traits[id].name.clone();
        let Some(sig) = self.m.traits[id].function(&name).cloned() else {
            let message = format!("the trait `{of}` has no function `{name}`");
            return self.refuse(last.span(), message, "a trait's functions stand in it");
        };
        let is_this =
            |ty: &syn::Type| matches!(behind(ty), syn::Type::Path(p) if p.path.is_ident("Self"));
        let at = sig.inputs.iter().position(|input| match input {
            syn::FnArg::Receiver(_) => true,
            syn::FnArg::Typed(p) => is_this(&p.ty),
        });
        let gives_this = matches!(&sig.output, syn::ReturnType::Type(_, ty) if is_this(ty));
        let said = match at.and_then(|at| call.args.get(at)) {
            Some(arg) => Some(self.type_ahead(arg)),
            None => call.want.filter(|_| gives_this).cloned(),
        };
        let said = said.map(|ty| match self.shallow(&ty) {
            Ty::Ref { target, .. } => *target,
            Ty::Var(_) => self.table.finish(&ty).unwrap_or(ty),
            _ => ty,
        });
        let Some(said) = said.filter(|said| self.closed(said).is_some()) else {
            return self.refuse(
                path.span(),
                format!("of which type `{of}::{name}` is, is not known here"),
                format!("say it: `<Type as {of}>::{name}(..)`"),
            );
        };
        let value = self
            .meant_by(id, path, &said, &name)
            .and_then(|(item, by)| self.call_item(item, Some(&by), &said, last, call));
        value.unwrap_or_else(|| Expr::new(ExprKind::Error, Ty::Error, call.span))
    }
}
