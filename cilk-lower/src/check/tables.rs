//! Constants that hold references, where they are named: an element of one is made of what says where its slices lie, and the whole of all of them.

use super::{Binding, Checker, chains::own};
use crate::{
    consts::{self, Lent},
    hir::{Expr, ExprKind, Pat, Stmt},
    items::Item,
    rows::{self, Rows},
    ty::{Ty, USIZE},
};
use proc_macro2::Span;
use quote::{format_ident, quote};
use std::rc::Rc;
use syn::parse_quote_spanned;

impl Checker<'_> {
    /// The constant that a path names, if it holds references.
    pub(super) fn rows_named(&self, path: &syn::Path) -> Option<Rc<Rows>> {
        if let Some(name) = path.get_ident()
            && self.lookup(&name.to_string()).is_some()
        {
            return None;
        }
        match self.m.item(path)? {
            Item::Const(id) => self.m.consts[id.0].rows.clone(),
            _ => None,
        }
    }

    /// Its element of that index, or all of it.
    pub(super) fn rows_of(&mut self, rows: &Rows, index: Option<&syn::Expr>, span: Span) -> Expr {
        let [ends, at] = ["ends", "row"].map(|name| own(name, span));
        let names: Vec<_> = (0..rows.data.len())
            .map(|i| {
                (
                    &rows.data[i].0,
                    format_ident!("{}_{i}", own("data", span), span = span),
                )
            })
            .collect();
        let name_of = |elem: &syn::Type| {
            let found = names.iter().find(|(of, _)| *of == elem);
            found.map(|(_, name)| name.clone())
        };
        let there = self.m.consts[rows.plain.0].at.clone();
        let mut stmts = Vec::new();
        let (ty, place) = match (&rows.ty, index) {
            (syn::Type::Array(a), Some(index)) => {
                let index = self.expr_as(index, &USIZE);
                let var = self.add_var(&at.to_string(), USIZE);
                stmts.push((var, index));
                (&*a.elem, quote!(#ends[#at]))
            }
            (ty, _) => (ty, quote!(#ends)),
        };
        let value = self.there(&there, |c| rows::value(c.m, ty, &place, &name_of));
        let value: syn::Expr = parse_quote_spanned!(span=> #value);
        let value = self.scoped(|c| {
            if let Some((var, _)) = stmts.first() {
                c.bind(&at.to_string(), Binding::Var(*var));
            }
            for (name, id) in [(&ends, rows.plain)].into_iter().chain(
                names
                    .iter()
                    .map(|(_, name)| name)
                    .zip(rows.data.iter().map(|(_, id)| *id)),
            ) {
                let Some((ty, _)) = consts::value(c.m, id, span) else {
                    return Self::broken(span);
                };
                let place = Expr::new(ExprKind::Const(id), Ty::from_type(&ty), span);
                c.bind(&name.to_string(), Binding::Place(place));
            }
            let value = c.there(&there, |c| c.expr(&value, None));
            Expr { span, ..value }
        });
        let lent = rows.lent.filter(|_| index.is_none());
        if let (Some(lent), false) = (lent, matches!(value.ty, Ty::Error)) {
            let whole = self.borrow(value, false, span);
            return match lent {
                Lent::Slice => self
                    .as_slice(whole, false)
                    .map_or_else(|| Self::broken(span), |(slice, _)| slice),
                Lent::Whole => whole,
            };
        }
        if stmts.is_empty() {
            return value;
        }
        let stmts = stmts.into_iter();
        let stmts = stmts.map(|(var, index)| Stmt::Let(Pat::Var(var), Some(index)));
        let ty = value.ty.clone();
        Expr::new(ExprKind::Block(stmts.collect(), Some(value)), ty, span)
    }
}
