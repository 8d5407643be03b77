//! `impl From<A> for B` of the program: `B::from(a)`, `a.into()`, and errors that `?` makes of others.

use super::Checker;
use crate::{
    generics::{Bound, Known},
    hir::Expr,
    items::Item,
    ty::{Class, Ty},
};
use millstream_graph::ty::{Scalar, Type};
use proc_macro2::Span;

/// What is called to make a value of another.
enum Conversion {
    /// It is one already.
    Itself,
    By(Item),
}

/// The type in `Into<B>`.
fn into_of(path: &syn::Path) -> Option<&syn::Type> {
    let last = path.segments.last().filter(|last| last.ident == "Into")?;
    match &last.arguments {
        syn::PathArguments::AngleBracketed(args) => args.args.iter().find_map(|arg| match arg {
            syn::GenericArgument::Type(ty) => Some(ty),
            _ => None,
        }),
        _ => None,
    }
}

impl Checker<'_> {
    /// `B::from(a)`, if the program says how.
    pub(super) fn converted(&mut self, arg: &syn::Expr, into: &Type, span: Span) -> Option<Expr> {
        self.m.conversions?;
        let from = self.type_ahead(arg);
        match self.conversion(&from, into)? {
            Conversion::Itself => Some(self.expr_as(arg, &Ty::from_type(into))),
            Conversion::By(Item::Fn(id)) => Some(self.call_fn(id, &[arg], span)),
            Conversion::By(Item::Template(id)) => {
                let none = syn::PathArguments::None;
                Some(self.call_template(id, &none, None, &[arg], None, span))
            }
            Conversion::By(_) => None,
        }
    }

    /// `a.into()`, if it is known what is wanted.
    pub(super) fn converted_as_wanted(
        &mut self,
        m: &syn::ExprMethodCall,
        want: Option<&Ty>,
    ) -> Option<Expr> {
        let into = self.m.conversions.and(want)?.clone();
        if m.method != "into" || !m.args.is_empty() || self.m.in_library() {
            return None;
        }
        let into = self.closed(&into)?;
        self.converted(&m.receiver, &into, m.method.span())
    }

    /// What `x.into()` of a parameter's value gives where nothing else says it: what the one bound does, `T: Into<u64>`.
    pub(super) fn bound_conversion(
        &mut self,
        m: &syn::ExprMethodCall,
        want: Option<&Ty>,
    ) -> Option<Ty> {
        if m.method != "into" || !m.args.is_empty() || self.m.in_library() {
            return None;
        }
        if want.is_some_and(|want| self.closed(want).is_some()) {
            return None;
        }
        let said = self.type_ahead(&m.receiver);
        let known = self.has_bounds(&said).then(|| self.closed(&said))??;
        let bounds = self.bounds_of(&said, &known).into_iter();
        let mut given = bounds.filter_map(|bound| match bound {
            Bound::Rusts(path, at) => Some((into_of(&path)?.clone(), at)),
            Bound::Own(_) => None,
        });
        match (given.next(), given.next()) {
            (Some((ty, at)), None) => Some(self.there(&at, |c| c.annotated(&ty))),
            _ => None,
        }
    }

    /// Says that there is no such conversion, and which ones there are.
    pub(super) fn not_converted(&mut self, from: &Ty, into: &Type, at: Span) -> Expr {
        let from = self.table.finish(from).unwrap_or_else(|| from.clone());
        let (from, shown) = (self.show(&from), self.show(&Ty::from_type(into)));
        let impls = match self.m.conversions {
            Some(id) => self.m.impls_of(id, into),
            None => Vec::new(),
        };
        let known: Vec<String> = impls
            .iter()
            .map(|by| format!("`impl {} for {shown}`", self.m.trait_name(&by.of)))
            .collect();
        let write = format!("write `impl From<{from}> for {shown} {{ .. }}`");
        let help = match known.is_empty() {
            true => write,
            false => format!(
                "there is {}: make one of these first, or {write}",
                known.join(", ")
            ),
        };
        self.refuse(
            at,
            format!("there is no `impl From<{from}> for {shown}`"),
            help,
        )
    }

    /// Whether `?` makes one error of another.
    pub(super) fn is_converted(&mut self, from: &Ty, into: &Ty) -> bool {
        let into = self.closed(into);
        into.is_some_and(|into| self.conversion(from, &into).is_some())
    }

    /// How a type is made of another. Where a literal may be of several types it is of the one that Rust takes where nothing says more.
    fn conversion(&mut self, from: &Ty, into: &Type) -> Option<Conversion> {
        let id = self.m.conversions?;
        if self.may_be(from, &Ty::from_type(into)) {
            return Some(Conversion::Itself);
        }
        let impls = self.m.impls_of(id, into).into_iter();
        let takes = impls.filter_map(|by| match by.of.args.as_slice() {
            [Known::Type(ty)] => Some((Ty::from_type(ty), by)),
            _ => None,
        });
        let mut fitting: Vec<_> = takes.filter(|(ty, _)| self.may_be(from, ty)).collect();
        if fitting.len() > 1 {
            let usual = |ty: &Ty| matches!(ty, Ty::Scalar(Scalar::I32 | Scalar::F64));
            fitting.retain(|(ty, _)| usual(ty));
        }
        let [(_, by)] = fitting.as_slice() else {
            return None;
        };
        self.m.given(by, "from").map(Conversion::By)
    }

    /// Whether a value of which the type is not all known may be of this one.
    pub(super) fn may_be(&self, from: &Ty, ty: &Ty) -> bool {
        match (self.shallow(from), ty) {
            (Ty::Var(v), Ty::Scalar(s)) => match self.table.class(v) {
                Class::Any => true,
                Class::Int => s.is_int(),
                Class::Float => s.is_float(),
            },
            (Ty::Var(v), _) => self.table.class(v) == Class::Any,
            (Ty::Tuple(a), Ty::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.may_be(a, b))
            }
            (Ty::Array(a, n), Ty::Array(b, m)) => n == *m && self.may_be(&a, b),
            (
                Ty::Ref { mutable, target },
                Ty::Ref {
                    mutable: of,
                    target: to,
                },
            ) => mutable == *of && self.may_be(&target, to),
            (a, b) => self.table.resolve(&a) == *b,
        }
    }
}
