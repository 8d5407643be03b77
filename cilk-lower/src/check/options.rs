//! `Option`: its two values, as expressions and as patterns, and `?`. What is asked of one is in [`super::chains`], with what is asked of a search.

use super::{Checker, chains, patterns::Matched};
use crate::{
    hir::{Builtin, Expr, ExprKind, Path, Test},
    ty::{BOOL, Ty},
};
use proc_macro2::Span;
use syn::spanned::Spanned;

/// What to do with one where its value is needed.
pub(super) const TAKE_APART: &str = "take it apart: `if let Some(x) = ..`, or say what it is where there is nothing: `.unwrap_or(..)`";

impl Checker<'_> {
    /// Whether a path is that of `Option`'s `Some`, and of nothing in the program.
    pub(super) fn is_some(&self, path: &syn::Path) -> bool {
        self.is_of_option(path, "Some")
    }

    /// The same of `None`.
    pub(super) fn is_none(&self, path: &syn::Path) -> bool {
        self.is_of_option(path, "None") && self.m.variant(path).is_none()
    }

    /// Whether a pattern is that.
    pub(super) fn is_none_pattern(&self, pat: &syn::Pat) -> bool {
        match pat {
            syn::Pat::Ident(p) => self.is_none(&p.ident.clone().into()),
            syn::Pat::Path(p) => self.is_none(&p.path),
            _ => false,
        }
    }

    fn is_of_option(&self, path: &syn::Path, name: &str) -> bool {
        let own = |name: &str| self.m.named(name).is_some() || self.lookup(name).is_some();
        match &path.segments.iter().collect::<Vec<_>>()[..] {
            [one] => {
                one.ident == name && !own(name) || one.ident == chains::own(name, one.ident.span())
            }
            [.., owner, last] => last.ident == name && owner.ident == "Option" && !own("Option"),
            [] => false,
        }
    }

    /// `Some(value)`.
    pub(super) fn some(&mut self, args: &[&syn::Expr], want: Option<&Ty>, span: Span) -> Expr {
        let [value] = args else {
            return self.refuse(
                span,
                format!("`Some` takes 1 argument, here are {}", args.len()),
                "several values in one are a tuple: `Some((a, b))`",
            );
        };
        let value = match want.map(|want| self.shallow(want)) {
            Some(Ty::Option(some)) => self.expr_as(value, &some),
            _ => self.expr(value, None),
        };
        let ty = Ty::Option(Box::new(value.ty.clone()));
        let has = Expr::new(ExprKind::Bool(true), BOOL, span);
        Expr::new(ExprKind::Tuple(vec![has, value]), ty, span)
    }

    /// `None` of a type: all of it is zero.
    pub(super) fn none_of(&mut self, some: &Ty, span: Span) -> Expr {
        let ty = Ty::Option(Box::new(some.clone()));
        Expr::new(ExprKind::Method(Builtin::Zeroed, Vec::new()), ty, span)
    }

    /// `value?`
    pub(super) fn or_return(&mut self, t: &syn::ExprTry, want: Option<&Ty>) -> Expr {
        let span = t.span();
        if !matches!(self.ret, Ty::Option(_)) || self.kind.is_none() {
            return self.refuse(
                span,
                "`?` stands in a function that returns an `Option`",
                "say what happens where there is nothing: `let Some(x) = .. else { .. };`",
            );
        }
        let of = &t.expr;
        let [value, some, none] = ["value", "Some", "None"].map(|name| chains::own(name, span));
        let taken = syn::parse_quote_spanned!(span=> match (#of) {
            #some(#value) => #value,
            #none => return #none,
        });
        self.expr(&taken, want)
    }

    /// Asks whether there is a value, and what its pattern asks of that.
    pub(super) fn some_tests(
        &mut self,
        pat: &syn::PatTupleStruct,
        ty: &Ty,
        path: &mut Path,
        out: &mut Matched,
    ) {
        let some = self.option_test(true, ty, pat.span(), path, out);
        let [inner] = &pat.elems.iter().collect::<Vec<_>>()[..] else {
            self.error(
                pat.span(),
                format!("`Some` has one value, here are {}", pat.elems.len()),
            );
            return pat.elems.iter().for_each(|p| self.bind_as_broken(p));
        };
        path.push(1);
        self.tests(inner, &some, path, out);
        path.pop();
    }

    /// Asks whether an `Option` has a value, and says of what type.
    pub(super) fn option_test(
        &mut self,
        has: bool,
        ty: &Ty,
        span: Span,
        path: &mut Path,
        out: &mut Matched,
    ) -> Ty {
        let some = match self.shallow(ty) {
            Ty::Option(some) => *some,
            other => {
                let some = self.fresh_any();
                let fits = self
                    .table
                    .unify(&other, &Ty::Option(Box::new(some.clone())));
                if !fits {
                    let shown = self.show(&other);
                    self.error(span, format!("a pattern of an `Option` for `{shown}`"));
                }
                if fits { some } else { Ty::Error }
            }
        };
        path.push(0);
        out.cases
            .iter_mut()
            .for_each(|c| c.tests.push((path.clone(), Test::Is(has.into()))));
        path.pop();
        some
    }
}
