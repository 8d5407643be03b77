//! Patterns that may not fit: what they ask of parts of a value, and what their names stand for, by Rust's default binding modes.

use super::{Binding, Checker, patterns::is_reference};
use crate::{
    consts,
    hir::{Case, Expr, ExprKind, Pat, Path, Projection, Test, VarId},
    ty::Ty,
};
use std::collections::BTreeMap;
use syn::{
    spanned::Spanned,
    visit::{self, Visit},
};

/// What an arm's pattern asks and binds.
#[derive(Default)]
pub(super) struct Matched {
    cases: Vec<Case>,
    /// The arm's variables: the same in all alternatives.
    names: BTreeMap<String, VarId>,
    /// Whether the part that is looked at lies behind a reference that the pattern does not name, and whether that is `&mut`: names are references then.
    behind: Option<bool>,
}

/// What a pattern needs of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Needs {
    /// What it is.
    Nothing,
    /// Also the reference behind which it lies, if it does.
    Reference,
    /// Its memory: for `ref` and `ref mut`.
    Memory { mutable: bool },
}

pub(super) fn needs_of(pat: &syn::Pat) -> Needs {
    struct Visitor(Needs);
    impl<'p> Visit<'p> for Visitor {
        fn visit_pat_ident(&mut self, p: &'p syn::PatIdent) {
            let needs = match p.by_ref {
                Some(_) => Needs::Memory {
                    mutable: p.mutability.is_some(),
                },
                None => Needs::Reference,
            };
            self.0 = self.0.max(needs);
            visit::visit_pat_ident(self, p);
        }

        fn visit_pat_reference(&mut self, p: &'p syn::PatReference) {
            self.0 = self.0.max(Needs::Reference);
            visit::visit_pat_reference(self, p);
        }
    }
    let mut visitor = Visitor(Needs::Nothing);
    visitor.visit_pat(pat);
    visitor.0
}

/// Whether a pattern stands for what the others of a slice leave.
pub(super) fn is_rest(pat: &syn::Pat) -> bool {
    match pat {
        syn::Pat::Rest(_) => true,
        syn::Pat::Ident(p) => {
            let rest = p.subpat.as_ref().map(|(_, sub)| &**sub);
            matches!(rest, Some(syn::Pat::Rest(_)))
        }
        _ => false,
    }
}

impl Matched {
    /// Adds a test to every alternative.
    pub(super) fn ask(&mut self, path: &Path, test: Test) {
        let cases = self.cases.iter_mut();
        cases.for_each(|c| c.tests.push((path.clone(), test)));
    }

    /// Gives a variable the part at this path in every alternative.
    fn give(&mut self, var: VarId, path: &Path) {
        let cases = self.cases.iter_mut();
        cases.for_each(|c| c.binds.push((Pat::Var(var), path.clone())));
    }
}

impl Checker<'_> {
    /// What a pattern asks of a value, or of what the value refers to, if it was `lent` for `ref`.
    pub(super) fn arm_pattern(&mut self, pat: &syn::Pat, ty: &Ty, lent: bool) -> Vec<Case> {
        let mut out = Matched {
            cases: vec![Case::default()],
            ..Matched::default()
        };
        match self.shallow(ty) {
            Ty::Ref { target, .. } if lent => {
                self.tests(pat, &target, &mut vec![Projection::Deref], &mut out);
            }
            _ => self.tests(pat, ty, &mut Vec::new(), &mut out),
        }
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
        out.cases
    }

    /// Adds what a pattern asks of a part of the part at `path`.
    pub(super) fn part_tests(
        &mut self,
        step: Projection,
        pat: &syn::Pat,
        ty: &Ty,
        path: &mut Path,
        out: &mut Matched,
    ) {
        path.push(step);
        self.tests(pat, ty, path, out);
        path.pop();
    }

    /// Adds what a pattern asks of the part at `path` to every alternative in `out`.
    pub(super) fn tests(&mut self, pat: &syn::Pat, ty: &Ty, path: &mut Path, out: &mut Matched) {
        if let syn::Pat::Lit(syn::ExprLit {
            lit: syn::Lit::ByteStr(text),
            ..
        }) = pat
        {
            // As rustc reads it: a slice or array of these bytes.
            let (span, bytes) = (pat.span(), text.value());
            let bytes = bytes.into_iter().map(proc_macro2::Literal::u8_suffixed);
            let elements = quote::quote_spanned!(span=> [#(#bytes),*]);
            let parser = syn::Pat::parse_single;
            return match syn::parse::Parser::parse2(parser, elements) {
                Ok(elements) => self.tests(&elements, ty, path, out),
                Err(_) => self.bind_as_broken(pat),
            };
        }
        if let Ty::Ref { mutable, target } = self.shallow(ty)
            && self.looks_behind(pat)
        {
            let explicit = match pat {
                syn::Pat::Reference(r) => Some(&*r.pat),
                _ => None,
            };
            let behind = match explicit {
                Some(_) => None,
                None => Some(mutable && out.behind.unwrap_or(true)),
            };
            let around = std::mem::replace(&mut out.behind, behind);
            self.part_tests(
                Projection::Deref,
                explicit.unwrap_or(pat),
                &target,
                path,
                out,
            );
            out.behind = around;
            return;
        }
        if let Some((named, parts)) = self.variant_pattern(pat) {
            return self.variant_tests(&named, &parts, ty, pat, path, out);
        }
        // A slice is a reference already, and behind `&` the names of its elements are these themselves.
        if let (syn::Pat::Reference(r), Ty::Slice { mutable, .. }) = (pat, self.shallow(ty))
            && let syn::Pat::Slice(s) = &*r.pat
            && mutable == r.mutability.is_some()
            && out.behind.is_none()
        {
            return self.element_tests(s, ty, None, path, out);
        }
        let fields = match pat {
            syn::Pat::Wild(_) => return,
            syn::Pat::Paren(p) => return self.tests(&p.pat, ty, path, out),
            syn::Pat::Reference(_) if is_reference(pat) && out.behind.is_some() => {
                return self.refuse_reference(pat);
            }
            syn::Pat::Ident(p) if !self.is_constant(&p.ident) => {
                return self.named_part(p, ty, path, out);
            }
            syn::Pat::Tuple(t) => self.tuple_fields(t, ty),
            syn::Pat::TupleStruct(s) => self.tuple_struct_fields(s, ty),
            syn::Pat::Struct(s) => Some(self.struct_fields(s, ty)),
            syn::Pat::Slice(s) => {
                let behind = match self.shallow(ty) {
                    Ty::Slice { mutable, .. } => Some(mutable && out.behind.unwrap_or(true)),
                    _ => out.behind,
                };
                return self.element_tests(s, ty, behind, path, out);
            }
            syn::Pat::Or(o) => {
                let before = std::mem::take(&mut out.cases);
                for case in &o.cases {
                    let so_far = std::mem::replace(&mut out.cases, before.clone());
                    self.tests(case, ty, path, out);
                    out.cases.splice(0..0, so_far);
                }
                return;
            }
            syn::Pat::Range(r) => return self.range_test(r, ty, path, out),
            other => {
                if let Some(value) = self.literal_pattern(other, ty) {
                    out.ask(path, Test::Is(value as u64));
                }
                return;
            }
        };
        let Some(fields) = fields else {
            return self.bind_as_broken(pat);
        };
        for (i, p, ty) in fields {
            self.part_tests(Projection::Field(i), p, &ty, path, out);
        }
    }

    /// Whether a pattern of a reference is one of what that refers to.
    fn looks_behind(&self, pat: &syn::Pat) -> bool {
        match pat {
            syn::Pat::Wild(_) | syn::Pat::Paren(_) | syn::Pat::Or(_) => false,
            syn::Pat::Ident(p) => self.is_constant(&p.ident),
            _ => true,
        }
    }

    /// A name for a part: for what it is, or a reference to it.
    fn named_part(&mut self, p: &syn::PatIdent, ty: &Ty, path: &mut Path, out: &mut Matched) {
        let mut borrows = match p.by_ref {
            Some(_) => Some(p.mutability.is_some()),
            // In the editions in which rustc takes this, the name is the value.
            None if p.mutability.is_some() && out.behind == Some(false) => None,
            None => out.behind,
        };
        if p.by_ref.is_none() && p.mutability.is_some() && out.behind == Some(true) {
            self.error(p.span(), "`mut` in a pattern of what lies behind `&mut`")
                .help("leave it out: the name is a reference, `*x += 1` changes what it refers to");
        }
        // What is a reference itself is copied, and looked through as two are.
        let lent = matches!(
            self.shallow(ty),
            Ty::Ref { .. } | Ty::Slice { .. } | Ty::Mat { .. }
        );
        if lent && borrows == Some(true) {
            let shown = self.show(ty);
            self.error(
                p.span(),
                format!("a reference to `{shown}` is not part of the task language"),
            )
            .help("take it as it is: it is copied");
        }
        if lent {
            borrows = None;
        }
        let bound = match borrows {
            Some(mutable) => Ty::Ref {
                mutable,
                target: Box::new(ty.clone()),
            },
            None => ty.clone(),
        };
        let name = p.ident.to_string();
        let var = match out.names.get(&name) {
            Some(var) => {
                let first = self.vars[var.0].ty.clone();
                self.same(p.span(), &bound, &first);
                *var
            }
            None => self.add_var(&name, bound),
        };
        self.vars[var.0].lent = lent && (out.behind.is_some() || p.by_ref.is_some());
        if p.by_ref.is_none() {
            self.fix(var, p);
        }
        self.bind(&name, Binding::Var(var));
        out.names.insert(name, var);
        match borrows {
            Some(_) => {
                path.push(Projection::Borrow);
                out.give(var, path);
                path.pop();
            }
            None => out.give(var, path),
        }
        if let Some((_, sub)) = &p.subpat {
            self.tests(sub, ty, path, out);
        }
    }

    /// The elements of an array or a slice, and what these leave. Names of elements are by `behind` what those of any part are.
    fn element_tests(
        &mut self,
        s: &syn::PatSlice,
        ty: &Ty,
        behind: Option<bool>,
        path: &mut Path,
        out: &mut Matched,
    ) {
        let mut rests = s.elems.iter().enumerate().filter(|(_, p)| is_rest(p));
        let (rest, second) = (rests.next().map(|(i, _)| i), rests.next());
        if let Some((_, second)) = second {
            self.error(second.span(), "`..` stands twice in this pattern")
                .help("one of them is what the other elements leave: name elements in place of the other");
            s.elems.iter().for_each(|p| self.bind_as_broken(p));
            return;
        }
        let count = s.elems.len() - usize::from(rest.is_some());
        let around = out.behind;
        let (elem, len) = match self.shallow(ty) {
            Ty::Slice { elem, .. } => {
                path.push(Projection::Len);
                let test = match rest {
                    Some(_) => Test::Range(Some(count as u64), None),
                    None => Test::Is(count as u64),
                };
                if count > 0 || rest.is_none() {
                    out.ask(path, test);
                }
                path.pop();
                out.behind = behind;
                (*elem, None)
            }
            Ty::Array(elem, len) if rest.is_some() && count as u64 <= len => (*elem, Some(len)),
            _ => {
                let elem = self.fresh_any();
                let array = Ty::Array(Box::new(elem.clone()), count as u64);
                self.same(s.span(), ty, &array);
                (elem, Some(count as u64))
            }
        };
        for (i, p) in s.elems.iter().enumerate() {
            let to_end = s.elems.len() - i;
            match rest {
                Some(at) if i == at => {
                    let syn::Pat::Ident(name) = p else { continue };
                    let name = syn::PatIdent {
                        subpat: None,
                        ..name.clone()
                    };
                    let ty = match (len, self.shallow(ty)) {
                        (Some(len), _) => Ty::Array(Box::new(elem.clone()), len - count as u64),
                        (None, Ty::Slice { elem, mutable }) => Ty::Slice {
                            mutable: mutable && around.unwrap_or(true),
                            elem,
                        },
                        (None, other) => other,
                    };
                    // The rest of a slice is one itself, not what a reference refers to.
                    let elements = out.behind;
                    out.behind = elements.filter(|_| len.is_some());
                    path.push(Projection::Rest(at, count - at));
                    self.named_part(&name, &ty, path, out);
                    path.pop();
                    out.behind = elements;
                }
                Some(at) if i > at => {
                    let step = match len {
                        Some(len) => Projection::Element(len as usize - to_end),
                        None => Projection::FromEnd(to_end),
                    };
                    self.part_tests(step, p, &elem, path, out);
                }
                _ => self.part_tests(Projection::Element(i), p, &elem, path, out),
            }
        }
        out.behind = around;
    }

    fn range_test(&mut self, r: &syn::PatRange, ty: &Ty, path: &Path, out: &mut Matched) {
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
        let [lo, hi] = [lo, hi].map(|end| end.map(|v| v as u64));
        out.ask(path, Test::Range(lo, hi));
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
            .help("a `match` takes integers, bools, ranges, `|`, `_`, names, `&`, and tuples, structs, enums, arrays and slices of these");
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
