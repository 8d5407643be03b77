//! `let`, with an `else` too, and what a pattern's names stand for.

use super::{
    Checker,
    generics::Guesses,
    patterns::{ArmSyntax, BodySyntax},
    places::strip,
    refutable::is_rest,
};
use crate::{
    consts,
    hir::{Expr, Stmt},
    items::Item,
    resolve::types_in,
    ty::Ty,
};
use quote::ToTokens;
use syn::{spanned::Spanned, visit::Visit};

/// Whether a pattern of a `let`, of a `for` or of a parameter has what only a `match` takes apart: `ref`, names of parts of a part, cases that
/// bind the same names, and what elements leave of an array.
pub(super) fn is_taken_apart(pat: &syn::Pat) -> bool {
    struct Visitor(bool);
    impl<'p> Visit<'p> for Visitor {
        fn visit_pat_ident(&mut self, p: &'p syn::PatIdent) {
            self.0 |= p.by_ref.is_some() || p.subpat.is_some();
        }

        fn visit_pat_or(&mut self, _: &'p syn::PatOr) {
            self.0 = true;
        }

        fn visit_pat_slice(&mut self, s: &'p syn::PatSlice) {
            self.0 |= s.elems.iter().any(is_rest);
            syn::visit::visit_pat_slice(self, s);
        }
    }
    let mut visitor = Visitor(false);
    visitor.visit_pat(pat);
    visitor.0
}

impl Checker<'_> {
    pub(super) fn local(&mut self, local: &syn::Local, stmts: &mut Vec<Stmt>) {
        self.local_of(local, None, stmts);
    }

    /// The same of a variable whose type is known otherwise, if it is.
    pub(super) fn local_of(
        &mut self,
        local: &syn::Local,
        known: Option<Ty>,
        stmts: &mut Vec<Stmt>,
    ) {
        let (pat, ty) = match &local.pat {
            syn::Pat::Type(t) => (&*t.pat, known.or_else(|| Some(self.annotated(&t.ty)))),
            other => (other, known),
        };
        let Some(init) = &local.init else {
            let ty = ty.unwrap_or_else(|| self.fresh_any());
            let first = self.vars.len();
            let pat = self.pattern(pat, &ty);
            // What has no value yet may be given one without `mut`.
            for var in &mut self.vars[first..] {
                var.fixed = None;
                var.guarded = super::chains::is_own(&var.name);
            }
            stmts.push(Stmt::Let(pat, None));
            return;
        };
        if let Some(begun) = self.begun_by_reference(&init.expr) {
            let mut local = local.clone();
            if let Some(init) = &mut local.init {
                *init.expr = begun;
            }
            return self.local_of(&local, ty, stmts);
        }
        if let Some((_, other)) = &init.diverge {
            return self.let_match(&local.pat, &init.expr, Some(other), stmts);
        }
        let is_value = ty.as_ref().is_some_and(|ty| self.pointer_of(ty).is_some());
        if !is_value && self.let_closure(pat, &init.expr, stmts)
            || ty.is_none() && self.let_chain(pat, &init.expr, stmts)
        {
            return;
        }
        if ty.is_none() && self.let_each(pat, &init.expr, stmts) {
            return;
        }
        if super::answers::may_spawn(&init.expr) {
            self.let_spawn(pat, ty, &init.expr, stmts);
            return;
        }
        if is_taken_apart(pat) {
            return self.let_match(&local.pat, &init.expr, None, stmts);
        }
        if self.let_spawns(local, &init.expr, stmts) {
            return;
        }
        if ty.is_none()
            && matches!(pat, syn::Pat::Wild(_))
            && let Some(dropped) = self.dropped_exchange(&init.expr)
        {
            return stmts.push(Stmt::Expr(dropped));
        }
        let value = match (&ty, pat) {
            (Some(ty), _) => self.expr_as(&init.expr, ty),
            // The pattern says how many there are: `let [a, b] = std::array::from_fn(..)`.
            (None, syn::Pat::Slice(parts)) => {
                let elem = Box::new(self.fresh_any());
                let shape = Ty::Array(elem, parts.elems.len() as u64);
                self.expr(&init.expr, Some(&shape))
            }
            (None, _) => self.expr(&init.expr, None),
        };
        let ty = ty.unwrap_or_else(|| value.ty.clone());
        let lends = super::chains::is_lent(&local.attrs) || self.is_lent(&init.expr, &value);
        let pat = self.lending(lends, |c| c.pattern(pat, &ty));
        stmts.push(Stmt::Let(pat, Some(value)));
    }

    /// `let (a, b) = (x.iter(), |y| y + 1);`: where one of them is an iterator or a closure, each is bound by itself.
    pub(super) fn let_each(
        &mut self,
        pat: &syn::Pat,
        value: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) -> bool {
        let (syn::Pat::Tuple(pats), syn::Expr::Tuple(values)) = (pat, strip(value)) else {
            return false;
        };
        let is_piece = |c: &mut Self, e: &syn::Expr| match strip(e) {
            syn::Expr::Closure(_) => true,
            syn::Expr::MethodCall(m) if m.method == "peekable" => true,
            e @ syn::Expr::MethodCall(_) => c.begins_chain(e),
            e => c.gives(e).is_some(),
        };
        if pats.elems.len() != values.elems.len() || !values.elems.iter().any(|e| is_piece(self, e))
        {
            return false;
        }
        // None of the names is known before all values are.
        let mut named = Vec::new();
        for (pat, value) in pats.elems.iter().zip(&values.elems) {
            let span = value.span();
            let name = self.held_name(span);
            let mutability = match pat {
                syn::Pat::Ident(p) => p.mutability,
                _ => None,
            };
            let local: syn::Stmt =
                syn::parse_quote_spanned!(span=> let #mutability #name = #value;);
            if let syn::Stmt::Local(local) = &local {
                self.local(local, stmts);
            }
            named.push((pat, name));
        }
        for (pat, name) in named {
            match (pat, self.lookup(&name.to_string()).cloned()) {
                (syn::Pat::Ident(p), Some(piece)) if p.subpat.is_none() && p.by_ref.is_none() => {
                    if let super::Binding::Var(var) = &piece {
                        self.vars[var.0].name = p.ident.to_string();
                    }
                    self.bind(&p.ident.to_string(), piece);
                }
                (pat, _) => {
                    let local: syn::Stmt =
                        syn::parse_quote_spanned!(pat.span()=> let #pat = #name;);
                    if let syn::Stmt::Local(local) = &local {
                        self.local(local, stmts);
                    }
                }
            }
        }
        true
    }

    /// Checks a pattern with what its names stand for, and forgets that.
    pub(super) fn lending<T>(&mut self, lends: bool, pattern: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.lends, lends);
        let pat = pattern(self);
        self.lends = around;
        pat
    }

    /// `let pattern = value else { .. }` is a `match` whose value is what the pattern's names get.
    fn let_match(
        &mut self,
        pat: &syn::Pat,
        value: &syn::Expr,
        other: Option<&syn::Expr>,
        stmts: &mut Vec<Stmt>,
    ) {
        let span = pat.span();
        let (pat, ty) = match pat {
            syn::Pat::Type(t) => (&*t.pat, Some(self.annotated(&t.ty))),
            pat => (pat, None),
        };
        let bound = self.names(pat);
        let (names, by) = (
            bound.iter().map(|p| &p.ident),
            bound.iter().map(|p| (p.mutability, &p.ident)),
        );
        let by = by.map(|(mutability, name)| quote::quote!(#mutability #name));
        let by: Vec<_> = match bound.iter().any(|p| p.by_ref.is_some()) {
            true => bound.iter().map(|p| p.ident.to_token_stream()).collect(),
            false => by.collect(),
        };
        let (taken, rest) = (
            syn::parse_quote_spanned!(span=> (#(#names,)*)),
            syn::parse_quote_spanned!(span=> _),
        );
        let other = other.map(|other| ArmSyntax::new(&rest, BodySyntax::Expr(other)));
        let mut arms = vec![ArmSyntax::new(pat, BodySyntax::Expr(&taken))];
        arms.extend(other);
        let matching = match ty {
            Some(ty) => {
                let value = self.expr_as(value, &ty);
                self.matching(value, &arms, None, span)
            }
            None if arms.len() > 1 => self.matching_of(value, &arms, None, span),
            None => {
                let value = self.expr(value, None);
                if let Ty::Slice { .. } = self.shallow(&value.ty) {
                    self.error(span, "this pattern leaves slices that are shorter")
                        .help("say what happens there: `let [x, rest @ ..] = a else { .. };`, or `match`");
                    return self.bind_as_broken(pat);
                }
                self.matching(value, &arms, None, span)
            }
        };
        let ty = matching.ty.clone();
        let all: syn::Pat = syn::parse_quote_spanned!(span=> (#(#by,)*));
        let all = self.pattern(&all, &ty);
        stmts.push(Stmt::Let(all, Some(matching)));
    }

    /// `let pat: ty = value;` where the value is an argument, and the pattern a parameter. `lends`: its syntax takes it for a reference.
    pub(super) fn let_argument(
        &mut self,
        pat: &syn::Pat,
        ty: &Ty,
        value: Expr,
        lends: bool,
        stmts: &mut Vec<Stmt>,
    ) {
        let whole = match pat {
            syn::Pat::Type(t) => &*t.pat,
            pat => pat,
        };
        if !is_taken_apart(whole) {
            let pat = self.lending(lends, |c| c.pattern(pat, ty));
            stmts.push(Stmt::Let(pat, Some(value)));
            return;
        }
        let name = self.held_name(pat.span());
        let held = syn::parse_quote!(#name);
        let held = self.lending(lends, |c| c.pattern(&held, ty));
        stmts.push(Stmt::Let(held, Some(value)));
        self.let_match(pat, &syn::parse_quote!(#name), None, stmts);
    }

    /// The names that a pattern binds.
    pub(super) fn names(&self, pat: &syn::Pat) -> Vec<syn::PatIdent> {
        struct Names(Vec<syn::PatIdent>);
        impl Visit<'_> for Names {
            fn visit_pat_ident(&mut self, p: &syn::PatIdent) {
                if self.0.iter().all(|known| known.ident != p.ident) {
                    self.0.push(syn::PatIdent {
                        subpat: None,
                        ..p.clone()
                    });
                }
                syn::visit::visit_pat_ident(self, p);
            }
        }
        let mut names = Names(Vec::new());
        names.visit_pat(pat);
        names.0.retain(|p| !self.is_constant(&p.ident));
        names.0
    }

    /// Whether a name in a pattern is that of a constant, and binds nothing.
    pub(super) fn is_constant(&self, name: &syn::Ident) -> bool {
        matches!(self.m.named(&name.to_string()), Some(Item::Const(_)))
            || self.variant_named(&name.clone().into()).is_some()
    }

    /// The type behind a `:`; `_` in it is left open.
    pub(super) fn annotated(&mut self, ty: &syn::Type) -> Ty {
        match ty {
            syn::Type::Infer(_) => return self.fresh_any(),
            syn::Type::Paren(t) => return self.annotated(&t.elem),
            syn::Type::Tuple(t) => {
                return Ty::Tuple(t.elems.iter().map(|ty| self.annotated(ty)).collect());
            }
            syn::Type::Array(a) if holds_open(&a.elem) => {
                let len = consts::eval_usize(self.m, &a.len).unwrap_or(0);
                return Ty::Array(Box::new(self.annotated(&a.elem)), len);
            }
            syn::Type::Reference(r) if holds_open(&r.elem) => {
                let mutable = r.mutability.is_some();
                return match &*r.elem {
                    syn::Type::Slice(s) => Ty::Slice {
                        mutable,
                        elem: Box::new(self.annotated(&s.elem)),
                    },
                    target => Ty::Ref {
                        mutable,
                        target: Box::new(self.annotated(target)),
                    },
                };
            }
            syn::Type::Path(p) if holds_open(ty) && self.m.item(&p.path).is_none() => {
                if let Some(last) = p.path.segments.last() {
                    let held = types_in(&last.arguments);
                    match (last.ident.to_string().as_str(), &held[..]) {
                        ("Option", [some]) => {
                            return Ty::Option(Box::new(self.annotated(some)));
                        }
                        ("Result", [ok, err]) => {
                            let ok = self.annotated(ok);
                            return Ty::Result(Box::new(ok), Box::new(self.annotated(err)));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        if let Some(open) = self.partly_written(ty) {
            return open;
        }
        let before = self.m.diags.0.len();
        let known = self.m.resolve_type(ty);
        if self.m.diags.0.len() > before {
            return Ty::Error;
        }
        self.said(ty, &known, &Guesses::default())
    }
}

/// Whether a type that is written has `_` somewhere in it.
fn holds_open(ty: &syn::Type) -> bool {
    struct Open(bool);
    impl Visit<'_> for Open {
        fn visit_type_infer(&mut self, _: &syn::TypeInfer) {
            self.0 = true;
        }
    }
    let mut open = Open(false);
    open.visit_type(ty);
    open.0
}
