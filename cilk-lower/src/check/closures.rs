//! Closures that have a name: `let at = |x, y| grid[y * w + x];`. A call is the closure's body with its parameters, checked where the closure stands: nothing
//! is passed, and there is no value.

use super::{Binding, Checker, chains, places::strip};
use crate::{
    hir::{Expr, ExprKind, Stmt},
    ty::Ty,
};
use proc_macro2::Span;
use std::{collections::BTreeMap, rc::Rc};
use syn::spanned::Spanned;

/// How many calls of closures a function may have, those in closures counted as often as these are called.
const MOST_CALLS: usize = 4096;

/// A closure, and what its names stand for.
#[derive(Debug)]
pub(super) struct Named {
    closure: syn::ExprClosure,
    scopes: Vec<BTreeMap<String, Binding>>,
}

impl Checker<'_> {
    /// `let name = |..| ..;`, if it is that.
    pub(super) fn let_closure(&mut self, pat: &syn::Pat, value: &syn::Expr) -> bool {
        let (syn::Pat::Ident(name), syn::Expr::Closure(closure)) = (pat, strip(value)) else {
            return false;
        };
        let (span, name) = (closure.span(), name.ident.to_string());
        if let Some(why) = chains::what_leaves(&closure.body) {
            self.refuse(why.span, why.message, why.help);
        } else if closure.asyncness.is_some() || closure.capture.is_some() {
            self.refuse(
                span,
                "a closure that takes what it captures with it is not part of the task language",
                "leave out the `move`: it stays where it is",
            );
        }
        let named = Named {
            closure: closure.clone(),
            scopes: self.scopes.clone(),
        };
        self.bind(&name, Binding::Closure(Rc::new(named)));
        true
    }

    /// Calls it.
    pub(super) fn call_closure(
        &mut self,
        named: &Named,
        args: &[&syn::Expr],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let closure = &named.closure;
        if closure.inputs.len() != args.len() {
            let (takes, gets) = (closure.inputs.len(), args.len());
            return self.refuse(
                span,
                format!("this closure takes {takes} arguments, and gets {gets}"),
                "give it as many as stand between its `|`",
            );
        }
        self.closure_calls += 1;
        match self.closure_calls.checked_sub(MOST_CALLS) {
            None | Some(0) => {}
            Some(1) => {
                let message = "closures are called too often in this function";
                return self.refuse(span, message, "write a function in place of one of them");
            }
            // Once is enough.
            Some(_) => return Self::broken(span),
        }
        let mut stmts = Vec::new();
        let given: Vec<_> = closure
            .inputs
            .iter()
            .zip(args)
            .map(|(pat, arg)| self.closure_argument(pat, arg))
            .collect();
        let around = std::mem::replace(&mut self.scopes, named.scopes.clone());
        self.scopes.push(BTreeMap::new());
        for (pat, value, lends) in given {
            let ty = value.ty.clone();
            let pat = self.lending(lends, |c| c.pattern(pat, &ty));
            stmts.push(Stmt::Let(pat, Some(value)));
        }
        let body = match &closure.output {
            syn::ReturnType::Type(_, ty) => {
                let ty = self.annotated(ty);
                self.expr_as(&closure.body, &ty)
            }
            syn::ReturnType::Default => self.expr(&closure.body, want),
        };
        self.scopes = around;
        let ty = body.ty.clone();
        Expr::new(ExprKind::Block(stmts, Some(body)), ty, span)
    }

    /// A parameter's pattern, its value, and whether that is lent to it: what a chain lends is there itself.
    fn closure_argument<'s>(
        &mut self,
        pat: &'s syn::Pat,
        arg: &syn::Expr,
    ) -> (&'s syn::Pat, Expr, bool) {
        let (pat, ty) = match pat {
            syn::Pat::Type(t) => (&*t.pat, Some(&t.ty)),
            pat => (pat, None),
        };
        if let syn::Expr::Reference(r) = arg
            && let syn::Expr::Path(p) = &*r.expr
            && p.path
                .get_ident()
                .is_some_and(|name| chains::is_own(&name.to_string()))
        {
            let value = self.expr(&r.expr, None);
            return match pat {
                syn::Pat::Reference(r) => (&r.pat, value, false),
                pat => (pat, value, true),
            };
        }
        let value = match ty {
            Some(ty) => {
                let ty = self.annotated(ty);
                self.expr_as(arg, &ty)
            }
            None => self.expr(arg, None),
        };
        (pat, value, false)
    }
}
