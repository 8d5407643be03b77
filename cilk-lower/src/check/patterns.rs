//! Patterns, and `match`.

use super::{Binding, Checker, slice_patterns::is_of_slice};
use crate::{
    consts,
    hir::{Arm, Case, Expr, ExprKind, Pat, Path, Test, VarId},
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

/// What an arm's pattern asks and binds.
#[derive(Default)]
pub(super) struct Matched {
    pub(super) cases: Vec<Case>,
    /// The arm's variables: the same in all alternatives.
    names: BTreeMap<String, VarId>,
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
        if matches!(self.shallow(&value.ty), Ty::Slice { .. })
            && given.iter().any(|arm| is_of_slice(arm.pat))
        {
            return self.match_slice(value, given, want, span);
        }
        // Behind a reference the names are references too.
        let lends = matches!(self.shallow(&value.ty), Ty::Ref { mutable: false, .. });
        let changes = matches!(self.shallow(&value.ty), Ty::Ref { mutable: true, .. })
            && given.iter().any(|arm| !self.names(arm.pat).is_empty());
        let mut stmts = Vec::new();
        let (value, lent) = if changes {
            let (reference, place) = self.lent(value, true, span);
            stmts.push(reference);
            (place.clone(), Some(place))
        } else {
            (self.behind_refs(value), None)
        };
        let ty = value.ty.clone();
        let mut arms: Vec<Arm> = Vec::new();
        let mut result: Option<Ty> = None;
        for arm in given {
            self.scopes.push(BTreeMap::new());
            let mut matched = self.lending(lends, |c| c.arm_pattern(arm.pat, &ty));
            if let Some(place) = &lent {
                self.lend_names(&matched, place, arm.pat);
                let lent = |(pat, _): &(Pat, Path)| !matches!(pat, Pat::Var(_));
                matched.cases.iter_mut().for_each(|c| c.binds.retain(lent));
            }
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
            let body = match &result {
                Some(ty) if !never => self.coerce(body, ty),
                _ => body,
            };
            arms.push(Arm {
                cases: matched.cases,
                guard,
                body,
            });
        }
        let ty = result.unwrap_or(Ty::Never);
        let matching = Expr::new(ExprKind::Match(value, arms), ty.clone(), span);
        if stmts.is_empty() {
            return matching;
        }
        Expr::new(ExprKind::Block(stmts, Some(matching)), ty, span)
    }

    /// The names of a pattern for what lies at a place that is lent to be changed: references to its parts.
    fn lend_names(&mut self, matched: &Matched, place: &Expr, pat: &syn::Pat) {
        let span = pat.span();
        if let Some(name) = self.names(pat).iter().find(|p| p.mutability.is_some()) {
            self.error(name.span(), "`mut` in a pattern of what lies behind `&mut`")
                .help("leave it out: the name is a reference, `*x += 1` changes what it refers to");
        }
        for (name, var) in &matched.names {
            let mut paths = matched.cases.iter().flat_map(|case| {
                let binds = case.binds.iter();
                binds
                    .filter(|(pat, _)| *pat == Pat::Var(*var))
                    .map(|(_, path)| path)
            });
            let Some(path) = paths.next() else { continue };
            if paths.any(|other| other != path) {
                self.error(
                    span,
                    format!("`{name}` is a reference to different parts in these patterns"),
                )
                .help("give each pattern an arm of its own");
            }
            let part = path.iter().fold(place.clone(), |part, i| {
                let ty = self.parts_of(&part.ty).into_iter().nth(*i);
                Expr::new(ExprKind::Field(part, *i), ty.unwrap_or(Ty::Error), span)
            });
            let lent = self.lent_place(part, true);
            self.bind(name, Binding::Place(lent));
        }
    }

    fn arm_pattern(&mut self, pat: &syn::Pat, ty: &Ty) -> Matched {
        let mut out = Matched {
            cases: vec![Case::default()],
            ..Matched::default()
        };
        self.tests(pat, ty, &mut Vec::new(), &mut out);
        let missing = out.names.iter().find(|(_, var)| {
            !out.cases
                .iter()
                .all(|case| case.binds.iter().any(|(pat, _)| *pat == Pat::Var(**var)))
        });
        if let Some((name, _)) = missing
            && out.cases.len() > 1
        {
            self.error(
                pat.span(),
                format!("`{name}` is bound in some of these patterns only"),
            )
            .help("bind it in each, or before the `match`");
        }
        out
    }

    /// Adds what a pattern asks of the part at `path` to every alternative in `out`.
    pub(super) fn tests(&mut self, pat: &syn::Pat, ty: &Ty, path: &mut Path, out: &mut Matched) {
        let add = |out: &mut Matched, path: &Path, test: Test| {
            out.cases
                .iter_mut()
                .for_each(|c| c.tests.push((path.clone(), test)))
        };
        let behind = matches!(self.shallow(ty), Ty::Ref { .. });
        if let Some((named, parts)) = self.variant_pattern(pat) {
            if behind {
                return self.behind_part(pat, ty, path, out);
            }
            return self.variant_tests(&named, &parts, ty, pat, path, out);
        }
        match pat {
            syn::Pat::Wild(_) => {}
            syn::Pat::Paren(p) => self.tests(&p.pat, ty, path, out),
            syn::Pat::Reference(r) if self.lends && path.is_empty() => {
                self.lending(false, |c| {
                    c.tests(&r.pat, ty, path, out);
                });
            }
            syn::Pat::Reference(_) | syn::Pat::Tuple(_) | syn::Pat::Struct(_) if behind => {
                self.behind_part(pat, ty, path, out);
            }
            syn::Pat::Ident(p) if !self.is_constant(&p.ident) => {
                if p.by_ref.is_some() {
                    self.error(p.span(), "`ref` is not part of the task language")
                        .help("bind the value itself");
                }
                let name = p.ident.to_string();
                let bound = if p.by_ref.is_some() {
                    Ty::Error
                } else {
                    ty.clone()
                };
                let var = match out.names.get(&name) {
                    Some(var) => {
                        let first = self.vars[var.0].ty.clone();
                        self.same(p.span(), &bound, &first);
                        *var
                    }
                    None => self.add_var(&name, bound),
                };
                self.vars[var.0].lent = self.lends;
                self.fix(var, p);
                self.bind(&name, Binding::Var(var));
                out.names.insert(name, var);
                out.cases
                    .iter_mut()
                    .for_each(|c| c.binds.push((Pat::Var(var), path.clone())));
                if let Some((_, sub)) = &p.subpat {
                    self.tests(sub, ty, path, out);
                }
            }
            syn::Pat::Tuple(t) => {
                let Some(fields) = self.tuple_fields(t, ty) else {
                    return self.bind_as_broken(pat);
                };
                for (i, p, ty) in fields {
                    path.push(i);
                    self.tests(p, &ty, path, out);
                    path.pop();
                }
            }
            syn::Pat::TupleStruct(s) => {
                let Some(fields) = self.tuple_struct_fields(s, ty) else {
                    return self.bind_as_broken(pat);
                };
                for (i, p, ty) in fields {
                    path.push(i);
                    self.tests(p, &ty, path, out);
                    path.pop();
                }
            }
            syn::Pat::Struct(s) => {
                for (i, p, ty) in self.struct_fields(s, ty) {
                    path.push(i);
                    self.tests(p, &ty, path, out);
                    path.pop();
                }
            }
            syn::Pat::Or(o) => {
                let before = std::mem::take(&mut out.cases);
                for case in &o.cases {
                    let so_far = std::mem::replace(&mut out.cases, before.clone());
                    self.tests(case, ty, path, out);
                    out.cases.splice(0..0, so_far);
                }
            }
            syn::Pat::Range(r) => {
                let lo = r.start.as_ref().and_then(|e| self.pattern_value(e, ty));
                let hi = r.end.as_ref().and_then(|e| self.pattern_value(e, ty));
                let closed = matches!(r.limits, syn::RangeLimits::Closed(_));
                let hi = if closed {
                    hi
                } else {
                    hi.map(|h| h.wrapping_sub(1))
                };
                if let (Some(lo), Some(hi)) = (lo, hi)
                    && lo > hi
                {
                    self.error(r.span(), "no value is in this range")
                        .help("write the lower end first");
                }
                add(
                    out,
                    path,
                    Test::Range(lo.map(|v| v as u64), hi.map(|v| v as u64)),
                );
            }
            other => {
                if let Some(value) = self.literal_pattern(other, ty) {
                    add(out, path, Test::Is(value as u64));
                }
            }
        }
    }

    /// What a part refers to, taken apart: nothing is asked of that.
    fn behind_part(&mut self, pat: &syn::Pat, ty: &Ty, path: &Path, out: &mut Matched) {
        let names = self.names(pat);
        let several = out.cases.len() > 1
            || names
                .iter()
                .any(|p| out.names.contains_key(&p.ident.to_string()));
        if self.asks(pat) || several {
            self.error(pat.span(), "this pattern asks for what lies behind a reference inside of a value")
                .help("bind the reference, and compare what it refers to in a guard: `Some(x) if *x == 0`");
            return self.bind_as_broken(pat);
        }
        let bound = self.lending(false, |c| c.pattern(pat, ty));
        out.cases
            .iter_mut()
            .for_each(|c| c.binds.push((bound.clone(), path.clone())));
    }

    fn literal_pattern(&mut self, pat: &syn::Pat, ty: &Ty) -> Option<i128> {
        let expr: syn::Expr = match pat {
            syn::Pat::Lit(l) => syn::Expr::Lit(l.clone()),
            syn::Pat::Path(p) => syn::Expr::Path(p.clone()),
            syn::Pat::Ident(p) => syn::Expr::Path(syn::ExprPath {
                attrs: Vec::new(),
                qself: None,
                path: p.ident.clone().into(),
            }),
            // A negative literal.
            syn::Pat::Verbatim(tokens) => match syn::parse2(tokens.clone()) {
                Ok(e) => e,
                Err(_) => return self.odd_pattern(pat),
            },
            _ => return self.odd_pattern(pat),
        };
        self.pattern_value(&expr, ty)
    }

    fn odd_pattern(&mut self, pat: &syn::Pat) -> Option<i128> {
        self.error(pat.span(), "this pattern is not part of the task language")
            .help("a `match` takes integers, bools, ranges, `|`, `_`, names, and tuples and structs of these");
        self.bind_as_broken(pat);
        None
    }

    /// The value of a constant in a pattern: a literal, a constant, `u32::MAX`.
    fn pattern_value(&mut self, e: &syn::Expr, ty: &Ty) -> Option<i128> {
        let checked = self.expr_as(e, ty);
        let value = self.constant_value(&checked);
        if let (Some(value), Ty::Scalar(s)) = (value, self.shallow(ty))
            && s.is_int()
            && !super::exhaustive::fits(value, s)
        {
            self.error(e.span(), format!("{value} does not fit `{s}`"));
            return None;
        }
        value.or_else(|| {
            if !matches!(*checked.kind, ExprKind::Error) {
                self.error(
                    e.span(),
                    "a pattern needs an integer or a bool that is constant",
                );
            }
            None
        })
    }

    fn constant_value(&mut self, e: &Expr) -> Option<i128> {
        match &*e.kind {
            ExprKind::Int(v) => match self.shallow(&e.ty) {
                // `i32::MIN` stands as its bits.
                Ty::Scalar(s) if s.is_signed() && *v == 1 << (s.bits() - 1) => Some(-(*v as i128)),
                _ => Some(*v as i128),
            },
            ExprKind::Bool(b) => Some(i128::from(*b)),
            ExprKind::Unary(millstream_graph::ir::UnOp::Neg, inner) => match *inner.kind {
                ExprKind::Int(v) => Some(-(v as i128)),
                _ => Some(-self.constant_value(inner)?),
            },
            ExprKind::Const(id) => {
                let (ty, bytes) = consts::value(self.m, *id, e.span)?;
                let scalar = ty.scalar().filter(|s| !s.is_float())?;
                let mut wide = [0u8; 16];
                wide[..bytes.len()].copy_from_slice(&bytes);
                let value = i128::from_le_bytes(wide);
                let shift = 128 - scalar.bits();
                Some(if scalar.is_signed() {
                    (value << shift) >> shift
                } else {
                    value
                })
            }
            _ => None,
        }
    }
}

/// Whether a pattern takes what is left of a slice: `[x, ..]` and `[x, rest @ ..]`.
fn takes_rest(slice: &syn::PatSlice) -> bool {
    slice.elems.iter().any(|p| match p {
        syn::Pat::Ident(p) => p.subpat.is_some(),
        p => matches!(p, syn::Pat::Rest(_)),
    })
}
