//! Ranges that a call gives, `for e in graph.edges(v)`: where they are run over, or stand between brackets, they have a name before.

use super::{
    super::{Binding, Checker, closures::ends_with, places::strip},
    first::is_link,
    own,
};
use crate::{
    hir::{Expr, ExprKind, Pat, SliceRange, Stmt},
    ty::{Ty, USIZE},
};
use syn::{parse_quote_spanned, spanned::Spanned};

/// What is asked of a range as a value.
const ASKED: &[&str] = &["contains", "len", "is_empty", "clone", "start", "end"];

/// An attribute of what stands for the range that a call gives.
const GIVEN: &str = "given_range";

impl Checker<'_> {
    /// Whether what a call gives is a range, and one with its end.
    fn gives_range(&mut self, e: &syn::Expr) -> Option<bool> {
        let name = match strip(e) {
            syn::Expr::Call(call) => match strip(&call.func) {
                syn::Expr::Path(p) => &p.path.segments.last()?.ident,
                _ => return None,
            },
            syn::Expr::MethodCall(m) => &m.method,
            _ => return None,
        };
        let name = name.to_string();
        let closure = match strip(e) {
            syn::Expr::Call(_) => self.lookup(&name),
            _ => None,
        };
        let may_be = match closure {
            Some(Binding::Closure(named)) => named
                .ends_with()
                .is_some_and(|(_, end)| matches!(strip(end), syn::Expr::Range(_))),
            _ => self.m.giving_ranges.contains_key(&name),
        };
        if !may_be {
            return None;
        }
        let ty = self.type_ahead(e);
        match self.shallow(&ty) {
            Ty::Struct(id) => self.m.ranges?.is_closed(self.family_of(id)?),
            // What it is given is not known yet, of which the name says enough.
            Ty::Error if !self.m.giving_others.contains(&name) => {
                self.m.giving_ranges.get(&name).copied()
            }
            _ => None,
        }
    }

    /// The same with names for such ranges in a chain, or in what a `for` runs over, and what gives them these; none if there are none.
    pub(in super::super) fn with_ranges_named(
        &mut self,
        e: &syn::Expr,
    ) -> Option<(Vec<syn::Stmt>, syn::Expr)> {
        let (mut stmts, mut e) = (Vec::new(), e.clone());
        self.name_ranges(&mut e, &mut stmts).then_some((stmts, e))
    }

    /// The same of what a method is called on that ends a chain, or makes another of it.
    pub(super) fn with_ranges_before(
        &mut self,
        m: &syn::ExprMethodCall,
    ) -> Option<(Vec<syn::Stmt>, syn::Expr)> {
        let is_asked = ASKED.iter().any(|name| m.method == name);
        let is_call = self.m.giving_ranges.contains_key(&m.method.to_string());
        if is_asked || is_call || !is_link(m) || self.m.giving_ranges.is_empty() {
            return None;
        }
        self.with_ranges_named(&syn::Expr::MethodCall(m.clone()))
    }

    /// A value behind what gives names to the ranges in it.
    pub(in super::super) fn behind_names(
        &mut self,
        named: &[syn::Stmt],
        value: impl FnOnce(&mut Self) -> Expr,
    ) -> Expr {
        self.scoped(|c| {
            let mut stmts = Vec::new();
            c.locals(named, &mut stmts);
            let value = value(c);
            let (ty, span) = (value.ty.clone(), value.span);
            Expr::new(ExprKind::Block(stmts, Some(value)), ty, span)
        })
    }

    fn locals(&mut self, named: &[syn::Stmt], stmts: &mut Vec<Stmt>) {
        for stmt in named {
            if let syn::Stmt::Local(local) = stmt {
                self.local(local, stmts);
            }
        }
    }

    /// The same of an iterator that is given a name, in front of which what gives its ranges names has been put.
    pub(super) fn with_ranges_let(
        &mut self,
        value: &syn::Expr,
        stmts: &mut Vec<Stmt>,
    ) -> Option<syn::Expr> {
        let syn::Expr::MethodCall(m) = strip(value) else {
            return None;
        };
        let (named, value) = self.with_ranges_before(m)?;
        self.locals(&named, stmts);
        Some(value)
    }

    /// Whether there are any.
    fn name_ranges(&mut self, e: &mut syn::Expr, stmts: &mut Vec<syn::Stmt>) -> bool {
        if let Some(closed) = self.gives_range(e) {
            let (span, of) = (e.span(), &*e);
            let name = self.held_name(span);
            stmts.push(parse_quote_spanned!(span=> let #name = #of;));
            *e = match closed {
                false => parse_quote_spanned!(span=> (#name.start..#name.end)),
                true => parse_quote_spanned!(span=> (#name.first..=#name.last)),
            };
            return true;
        }
        match e {
            syn::Expr::Paren(p) => self.name_ranges(&mut p.expr, stmts),
            syn::Expr::Group(g) => self.name_ranges(&mut g.expr, stmts),
            syn::Expr::MethodCall(m) if is_link(m) || m.method == "into_iter" => {
                let mut any = self.name_ranges(&mut m.receiver, stmts);
                let runs_over = m.method == "zip" || m.method == "chain";
                for arg in &mut m.args {
                    any |= match arg {
                        syn::Expr::Closure(c) if m.method == "flat_map" => self.named_within(c),
                        arg => runs_over && self.name_ranges(arg, stmts),
                    };
                }
                any
            }
            _ => false,
        }
    }

    /// The same in what a closure of `flat_map` ends with.
    fn named_within(&mut self, closure: &mut syn::ExprClosure) -> bool {
        let Some((before, end)) = ends_with(&closure.body) else {
            return false;
        };
        let Some((named, end)) = self.with_ranges_named(end) else {
            return false;
        };
        let span = closure.body.span();
        *closure.body = parse_quote_spanned!(span=> { #(#before)* #(#named)* #end });
        true
    }

    /// The range between the brackets of an index: as it is written there, of the variable that has it, or as `slice_range` takes it from a call.
    pub(in super::super) fn index_range(&mut self, index: &syn::Expr) -> Option<syn::ExprRange> {
        if let Some(range) = self.range_of(index) {
            return Some(range);
        }
        self.gives_range(index)?;
        let (span, given) = (index.span(), own(GIVEN, index.span()));
        let mut range: syn::ExprRange = parse_quote_spanned!(span=> #index..);
        range.attrs = vec![parse_quote_spanned!(span=> #[#given])];
        Some(range)
    }

    /// That of a call.
    pub(in super::super) fn slice_range_given(
        &mut self,
        range: &syn::ExprRange,
    ) -> Option<SliceRange> {
        let given = own(GIVEN, range.span());
        let call = range.start.as_ref()?;
        if !range.attrs.iter().any(|a| a.path().is_ident(&given)) {
            return None;
        }
        let inclusive = self.gives_range(call)?;
        let (value, span) = (self.expr(call, None), call.span());
        let ty = value.ty.clone();
        let var = self.add_var(&given.to_string(), ty.clone());
        let Ty::Struct(id) = self.shallow(&ty) else {
            return None;
        };
        let number = Ty::from_type(&self.m.structs[id].fields[0].1);
        let end = |i| {
            let of = Expr::new(ExprKind::Var(var), ty.clone(), span);
            Expr::new(ExprKind::Field(of, i), number.clone(), span)
        };
        let named = vec![Stmt::Let(Pat::Var(var), Some(value))];
        let low = ExprKind::Block(named, Some(end(0)));
        let low = Expr::new(low, number.clone(), span);
        Some(SliceRange {
            lo: Some(self.coerce(low, &USIZE)),
            hi: Some(self.coerce(end(1), &USIZE)),
            inclusive,
        })
    }
}
