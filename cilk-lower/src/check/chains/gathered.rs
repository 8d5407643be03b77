//! What a program's own types are made of iterators by, and give: `impl Sum`, `Product`, `FromIterator` and `IntoIterator` of them.

use super::super::{Checker, places::strip};
use crate::{generics::Known, hir::Expr, items::Item, spelled::runs_over, ty::Ty};
use syn::{parse_quote_spanned, spanned::Spanned};

impl Checker<'_> {
    /// The trait of Rust's of that name, if the program has blocks of it.
    fn rusts_trait(&self, name: &str) -> Option<usize> {
        let mut ids = self.m.rusts_traits.iter();
        ids.find(|id| self.m.traits[**id].name == name).copied()
    }

    /// `a.iter().map(..).sum()` and its kin of a type that has a block for it.
    pub(super) fn gathered(&mut self, m: &syn::ExprMethodCall, want: Option<&Ty>) -> Option<Expr> {
        let (of, name) = match m.method.to_string().as_str() {
            "sum" => ("Sum", "sum"),
            "product" => ("Product", "product"),
            "collect" => ("FromIterator", "from_iter"),
            _ => return None,
        };
        let id = self.rusts_trait(of).filter(|_| m.args.is_empty())?;
        self.links(&m.receiver, &mut Vec::new())?;
        let item = self.item_of_chain(&m.receiver);
        let written = m.turbofish.as_ref().and_then(|t| t.args.first());
        let into = match (written, want.map(|want| self.shallow(want))) {
            (Some(syn::GenericArgument::Type(ty)), _) if !matches!(ty, syn::Type::Infer(_)) => {
                self.annotated(ty)
            }
            (_, Some(want)) if !matches!(want, Ty::Var(_)) => want,
            _ => match self.shallow(&item) {
                Ty::Ref { target, .. } => *target,
                item => item,
            },
        };
        let into = self.closed(&into)?;
        let impls = self.m.impls_of(id, &into);
        let fits = |c: &Self, by: &crate::traits::Impl| match by.of.args.as_slice() {
            [Known::Type(ty)] => c.may_be(&item, &Ty::from_type(ty)),
            _ => false,
        };
        let by = impls.into_iter().find(|by| fits(self, by))?;
        let Some(Item::Template(function)) = self.m.given(&by, name) else {
            return None;
        };
        let none = syn::PathArguments::None;
        Some(self.call_template(function, &none, None, &[&m.receiver], None, m.span()))
    }

    /// What a `for` over a value of a type with a block of `IntoIterator` runs over.
    pub(in super::super) fn made_iterator(&mut self, e: &syn::Expr) -> Option<syn::Expr> {
        let of = strip(e);
        if let Some(over) = self
            .made_by_reference(of)
            .or_else(|| self.begun_by_reference(of))
        {
            return Some(over);
        }
        let id = self.rusts_trait("IntoIterator")?;
        let may_be = matches!(
            of,
            syn::Expr::Path(_)
                | syn::Expr::Field(_)
                | syn::Expr::Index(_)
                | syn::Expr::Call(_)
                | syn::Expr::MethodCall(_)
                | syn::Expr::Binary(_)
                | syn::Expr::Unary(_)
                | syn::Expr::Struct(_)
        );
        if !may_be || self.links(of, &mut Vec::new()).is_some() {
            return None;
        }
        let ty = self.type_ahead(of);
        let ty = self.closed(&ty)?;
        (!self.m.impls_of(id, &ty).is_empty())
            .then(|| parse_quote_spanned!(of.span()=> (#of).into_iter()))
    }

    /// A chain that begins with `bag.into_iter()` of such a reference.
    pub(in super::super) fn begun_by_reference(&mut self, e: &syn::Expr) -> Option<syn::Expr> {
        let syn::Expr::MethodCall(m) = strip(e) else {
            return None;
        };
        if !self.m.has_methods(runs_over(false)) && !self.m.has_methods(runs_over(true)) {
            return None;
        }
        if m.method == "into_iter" && m.args.is_empty() {
            return self.made_by_reference(strip(&m.receiver));
        }
        let begun = self.begun_by_reference(&m.receiver)?;
        let mut m = m.clone();
        *m.receiver = begun;
        Some(syn::Expr::MethodCall(m))
    }

    /// The same of a reference to a value, of whose type there is an `impl IntoIterator` for references.
    fn made_by_reference(&mut self, of: &syn::Expr) -> Option<syn::Expr> {
        if !self.m.has_methods(runs_over(false)) && !self.m.has_methods(runs_over(true)) {
            return None;
        }
        if !matches!(
            of,
            syn::Expr::Reference(_) | syn::Expr::Path(_) | syn::Expr::Field(_)
        ) {
            return None;
        }
        let ty = self.type_ahead(of);
        let Ty::Ref { mutable, target } = self.shallow(&ty) else {
            return None;
        };
        let Ty::Struct(id) = self.shallow(&target) else {
            return None;
        };
        let name = runs_over(mutable);
        self.m.member(id, name)?;
        let name = syn::Ident::new(name, of.span());
        Some(parse_quote_spanned!(of.span()=> (#of).#name()))
    }
}
