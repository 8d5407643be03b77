//! Patterns, and `match`.

use super::{
    Binding, Checker,
    refutable::{Needs, is_rest, needs_of},
};
use crate::{
    hir::{Arm, Expr, ExprKind, Pat},
    items::Item,
    ty::Ty,
};
use std::collections::BTreeMap;
use syn::spanned::Spanned;

/// An arm of a `match`, or of what is one under another name.
pub(super) struct ArmSyntax<'s> {
    pub(super) pat: &'s syn::Pat,
    pub(super) guard: Option<&'s syn::Expr>,
    pub(super) body: BodySyntax<'s>,
}

/// What an arm does.
#[derive(Clone, Copy)]
pub(super) enum BodySyntax<'s> {
    Expr(&'s syn::Expr),
    Block(&'s syn::Block),
}

impl quote::ToTokens for BodySyntax<'_> {
    fn to_tokens(&self, tokens: &mut proc_macro2::TokenStream) {
        match self {
            BodySyntax::Expr(e) => e.to_tokens(tokens),
            BodySyntax::Block(b) => b.to_tokens(tokens),
        }
    }
}

impl<'s> ArmSyntax<'s> {
    pub(super) fn new(pat: &'s syn::Pat, body: BodySyntax<'s>) -> Self {
        Self {
            pat,
            guard: None,
            body,
        }
    }
}

/// Whether a pattern takes a reference away.
pub(super) fn is_reference(pat: &syn::Pat) -> bool {
    match pat {
        syn::Pat::Reference(_) => true,
        syn::Pat::Paren(p) => is_reference(&p.pat),
        _ => false,
    }
}

impl Checker<'_> {
    /// Checks a pattern that always matches and binds its names.
    pub(super) fn pattern(&mut self, pat: &syn::Pat, ty: &Ty) -> Pat {
        if let Ty::Ref { mutable, target } = self.shallow(ty) {
            match (pat, &self.shallow(&target)) {
                (syn::Pat::Reference(r), _) => {
                    let inner = self.lending(false, |c| c.pattern(&r.pat, &target));
                    return Pat::Deref(Box::new(inner));
                }
                (syn::Pat::Tuple(_), Ty::Tuple(_))
                | (syn::Pat::Struct(_) | syn::Pat::TupleStruct(_), Ty::Struct(_))
                | (syn::Pat::Slice(_), Ty::Array(..)) => {
                    // Behind two references the names are references too, not references to these.
                    let parts = self.lending(false, |c| c.parts(pat, &target, Some(mutable)));
                    return Pat::Behind(Box::new(parts));
                }
                _ => {}
            }
        }
        self.parts(pat, ty, None)
    }

    /// The same for a value that is there itself or, with the mutability of the reference, behind one: then its parts are as well.
    fn parts(&mut self, pat: &syn::Pat, ty: &Ty, behind: Option<bool>) -> Pat {
        if let Some((named, parts)) = self.variant_pattern(pat) {
            let fields = if self.variants(named.sum).len() > 1 {
                self.leaves_others(&named, pat.span());
                None
            } else {
                self.variant_parts(&named, &parts, ty, pat.span())
            };
            let Some(fields) = fields else {
                self.bind_as_broken(pat);
                return Pat::Wild;
            };
            let fields = fields.into_iter();
            return Pat::Fields(
                fields
                    .map(|(i, p, ty)| (i, self.part_pattern(p, ty, behind)))
                    .collect(),
            );
        }
        match pat {
            syn::Pat::Wild(_) => Pat::Wild,
            syn::Pat::Paren(p) => self.pattern(&p.pat, ty),
            syn::Pat::Type(t) => {
                let annotated = self.annotated(&t.ty);
                self.same(t.ty.span(), ty, &annotated);
                self.pattern(&t.pat, ty)
            }
            syn::Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => {
                let name = p.ident.to_string();
                let var = self.add_var(&name, ty.clone());
                self.vars[var.0].lent = self.lends;
                self.fix(var, p);
                self.bind(&name, Binding::Var(var));
                Pat::Var(var)
            }
            syn::Pat::Tuple(t) => {
                let Some(fields) = self.tuple_fields(t, ty) else {
                    self.bind_as_broken(pat);
                    return Pat::Wild;
                };
                Pat::Fields(
                    fields
                        .into_iter()
                        .map(|(i, p, ty)| (i, self.part_pattern(p, ty, behind)))
                        .collect(),
                )
            }
            syn::Pat::Struct(s) => {
                let fields = self.struct_fields(s, ty);
                Pat::Fields(
                    fields
                        .into_iter()
                        .map(|(i, p, ty)| (i, self.part_pattern(p, ty, behind)))
                        .collect(),
                )
            }
            syn::Pat::TupleStruct(s) => {
                let Some(fields) = self.tuple_struct_fields(s, ty) else {
                    self.bind_as_broken(pat);
                    return Pat::Wild;
                };
                Pat::Fields(
                    fields
                        .into_iter()
                        .map(|(i, p, ty)| (i, self.part_pattern(p, ty, behind)))
                        .collect(),
                )
            }
            syn::Pat::Path(p) if self.unit_struct(&p.path, ty) => Pat::Wild,
            syn::Pat::Slice(s) if !takes_rest(s) => {
                let elem = self.fresh_any();
                self.same(
                    pat.span(),
                    ty,
                    &Ty::Array(Box::new(elem.clone()), s.elems.len() as u64),
                );
                let elems = s.elems.iter();
                Pat::Elements(
                    elems
                        .map(|p| self.part_pattern(p, elem.clone(), behind))
                        .collect(),
                )
            }
            syn::Pat::Reference(_) => {
                if !matches!(self.shallow(ty), Ty::Error) {
                    let have = self.show(ty);
                    self.error(pat.span(), format!("a pattern of a reference for `{have}`"))
                        .help("leave out the `&`");
                }
                self.bind_as_broken(pat);
                Pat::Wild
            }
            other => {
                let rest = matches!(other, syn::Pat::Slice(_));
                self.error(other.span(), "this pattern is not part of the task language")
                    .help(match rest {
                        true => "a slice may be shorter: `let [x, rest @ ..] = a else { .. };`, or `match`",
                        false => "patterns are names, `_`, tuples, structs, arrays and `&` of these; in `match` also integers, bools and ranges",
                    });
                self.bind_as_broken(other);
                Pat::Wild
            }
        }
    }

    /// The pattern of a part, which behind a reference is one too: then `&` would take that away twice.
    fn part_pattern(&mut self, pat: &syn::Pat, ty: Ty, behind: Option<bool>) -> Pat {
        let Some(mutable) = behind else {
            return self.pattern(pat, &ty);
        };
        if is_reference(pat) && !matches!(self.shallow(&ty), Ty::Ref { .. }) {
            self.refuse_reference(pat);
            return Pat::Wild;
        }
        let target = Box::new(ty);
        self.pattern(pat, &Ty::Ref { mutable, target })
    }

    /// Says that a name is a reference without more.
    pub(super) fn refuse_reference(&mut self, pat: &syn::Pat) {
        self.error(pat.span(), "`&` of a part of what a reference refers to")
            .help("a name there is a reference already: leave out the `&`, and write `*x` for the value");
        self.bind_as_broken(pat);
    }

    /// Binds the names of a pattern for something that is wrong, so that their uses are not errors of their own.
    pub(super) fn bind_broken(&mut self, pat: &syn::Pat) {
        match pat {
            syn::Pat::Ident(p) => {
                let name = p.ident.to_string();
                let var = self.add_var(&name, Ty::Error);
                self.bind(&name, Binding::Var(var));
            }
            syn::Pat::Paren(p) => self.bind_broken(&p.pat),
            syn::Pat::Reference(r) => self.bind_broken(&r.pat),
            syn::Pat::Type(t) => self.bind_broken(&t.pat),
            syn::Pat::Tuple(t) => t.elems.iter().for_each(|p| self.bind_broken(p)),
            syn::Pat::TupleStruct(t) => t.elems.iter().for_each(|p| self.bind_broken(p)),
            syn::Pat::Struct(s) => s.fields.iter().for_each(|f| self.bind_broken(&f.pat)),
            _ => {}
        }
    }

    /// Binds the names in a pattern that was refused, so that their uses are not errors of their own.
    pub(super) fn bind_as_broken(&mut self, pat: &syn::Pat) {
        struct Names(Vec<String>);
        impl syn::visit::Visit<'_> for Names {
            fn visit_pat_ident(&mut self, p: &syn::PatIdent) {
                self.0.push(p.ident.to_string());
                syn::visit::visit_pat_ident(self, p);
            }
        }
        let mut names = Names(Vec::new());
        syn::visit::Visit::visit_pat(&mut names, pat);
        for name in names.0 {
            let var = self.add_var(&name, Ty::Error);
            self.bind(&name, Binding::Var(var));
        }
    }

    fn unit_struct(&self, path: &syn::Path, ty: &Ty) -> bool {
        matches!((self.m.item(path), self.shallow(ty)), (Some(Item::Struct(a)), Ty::Struct(b)) if a == b)
    }

    pub(super) fn same(&mut self, span: proc_macro2::Span, have: &Ty, want: &Ty) {
        if !self.table.unify(have, want) {
            let (have, want) = (self.show(have), self.show(want));
            self.error(span, format!("expected `{want}`, found `{have}`"));
        }
    }

    pub(super) fn match_expr(&mut self, m: &syn::ExprMatch, want: Option<&Ty>) -> Expr {
        let arms: Vec<ArmSyntax<'_>> = m
            .arms
            .iter()
            .map(|arm| {
                let (pat, guard) = match &arm.pat {
                    syn::Pat::Guard(g) => (&*g.pat, Some(&*g.guard)),
                    other => (other, None),
                };
                let body = BodySyntax::Expr(&arm.body);
                ArmSyntax { pat, guard, body }
            })
            .collect();
        self.matching_of(&m.expr, &arms, want, m.span())
    }

    /// A `match` of a value. What is one under another name comes here with arms of its own, not as text to be parsed again: a value
    /// may be what cannot stand between `match` and `{`.
    pub(super) fn matching(
        &mut self,
        value: Expr,
        given: &[ArmSyntax<'_>],
        want: Option<&Ty>,
        span: proc_macro2::Span,
    ) -> Expr {
        let needs = given.iter().map(|arm| needs_of(arm.pat)).max();
        let reference = matches!(self.shallow(&value.ty), Ty::Ref { .. });
        let value = match needs {
            Some(Needs::Memory { mutable }) if !reference => self.borrow(value, mutable, span),
            // Without names the value itself serves.
            Some(Needs::Nothing) if reference => self.behind_refs(value),
            _ => value,
        };
        let lent = !reference && matches!(needs, Some(Needs::Memory { .. }));
        let ty = value.ty.clone();
        let mut arms: Vec<Arm> = Vec::new();
        let mut result: Option<Ty> = None;
        for arm in given {
            self.scopes.push(BTreeMap::new());
            let cases = self.arm_pattern(arm.pat, &ty, lent);
            let guard = arm.guard.map(|g| self.expr_as(g, &crate::ty::BOOL));
            let hint = result.clone();
            let hint = hint.as_ref().or(want);
            let body = match arm.body {
                BodySyntax::Expr(e) => self.expr(e, hint),
                BodySyntax::Block(b) => self.block(b, hint),
            };
            self.scopes.pop();
            let never = matches!(self.shallow(&body.ty), Ty::Never);
            if result.is_none() && !never {
                result = Some(match want.map(|w| self.shallow(w)) {
                    Some(w @ (Ty::Slice { .. } | Ty::Ref { .. })) => w,
                    _ => body.ty.clone(),
                });
            }
            // Ways before it may have been literals that only this one says are wide.
            let is_literal = |arm: &Arm| self.literal_as_wide(&arm.body, &body.ty).is_some();
            if !arms.is_empty() && arms.iter().all(is_literal) {
                let ty = body.ty.clone();
                let wide = arms.into_iter().map(|arm| Arm {
                    body: self.coerce(arm.body, &ty),
                    ..arm
                });
                arms = wide.collect();
                result = Some(ty);
            }
            let body = match &result {
                Some(ty) if !never => self.coerce(body, ty),
                _ => body,
            };
            arms.push(Arm { cases, guard, body });
        }
        let ty = result.unwrap_or(Ty::Never);
        Expr::new(ExprKind::Match(value, arms), ty, span)
    }
}

/// Whether a pattern takes what is left of a slice: `[x, ..]` and `[x, rest @ ..]`.
fn takes_rest(slice: &syn::PatSlice) -> bool {
    slice.elems.iter().any(is_rest)
}
