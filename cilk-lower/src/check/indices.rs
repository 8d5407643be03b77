//! `impl Index<(usize, usize)> for Grid` and `impl Deref for Stack` of the program: `grid[(x, y)]` and `*stack` are what their functions refer to.

use super::Checker;
use crate::{
    hir::{Expr, ExprKind, FnId},
    ty::Ty,
};
use millstream_graph::ty::Type;
use proc_macro2::Span;

const READ: &str = "index";
const DEREF: &str = "deref";
/// How many types may stand for each other, one behind another.
const DEEPEST: usize = 16;

impl Checker<'_> {
    /// A place of a value that the program says how to index; none if it does not.
    pub(super) fn index_of_own(
        &mut self,
        base: &Expr,
        index: &syn::Expr,
        span: Span,
    ) -> Option<Expr> {
        let of = self.indexed_by(READ, &base.ty);
        let only = match of.as_slice() {
            [] => return None,
            [only] => Some(only.1.clone()),
            several => {
                let ty = self.type_ahead(index);
                let fits = several.iter().find(|(_, of)| self.may_be(&ty, of));
                fits.map(|(_, of)| of.clone())
            }
        };
        let index = match only {
            Some(ty) => self.expr_as(index, &ty),
            None => self.expr(index, None),
        };
        if let Ty::Error | Ty::Never = self.shallow(&index.ty) {
            return Some(Self::broken(span));
        }
        let call = self.overloaded(READ, &[base, &index], span);
        let Some(call) = call else {
            let (shown, index) = (self.show(&base.ty), self.show(&index.ty));
            let help = format!("write `impl Index<{index}> for {shown} {{ .. }}`");
            let message = format!("`{shown}` is not indexed by `{index}`");
            return Some(self.refuse(span, message, help));
        };
        Some(Self::what_refers(call))
    }

    /// What `*value` is of a type with an `impl Deref`; none if it has none.
    pub(super) fn dereferenced(&mut self, value: &Expr) -> Option<Expr> {
        let base = self.behind_refs(value.clone());
        if self.kind.is_none() || !matches!(self.shallow(&base.ty), Ty::Struct(_)) {
            return None;
        }
        if self.stands_for(&base) > DEEPEST {
            return None;
        }
        let call = self.overloaded(DEREF, &[&base], value.span)?;
        Some(Self::what_refers(call))
    }

    /// By how many functions a place was reached: types may stand for each other in a circle.
    fn stands_for(&self, place: &Expr) -> usize {
        match &*place.kind {
            ExprKind::Deref(of) | ExprKind::AddrOf(of) => self.stands_for(of),
            ExprKind::Call(id, args) if self.gives_place(*id).is_some() => {
                args.first().map_or(0, |of| 1 + self.stands_for(of))
            }
            _ => 0,
        }
    }

    /// The same behind a reference that is wanted to another type: `&stack` where `&[T]` is.
    pub(super) fn dereferenced_as(&mut self, e: &Expr, have: &Ty, want: &Ty) -> Option<Expr> {
        let mutable = match want {
            Ty::Slice { mutable, .. } | Ty::Ref { mutable, .. } => *mutable,
            _ => return None,
        };
        let Ty::Ref { target, .. } = have else {
            return None;
        };
        let place = Expr::new(ExprKind::Deref(e.clone()), (**target).clone(), e.span);
        let behind = self.dereferenced(&place)?;
        let lent = self.borrow(behind, mutable, e.span);
        Some(match &lent.ty {
            // What is wrong has been said.
            Ty::Ref { target, .. } if matches!(**target, Ty::Error) => Self::broken(e.span),
            _ => lent,
        })
    }

    /// What a call refers to.
    fn what_refers(call: Expr) -> Expr {
        match call.ty.clone() {
            Ty::Ref { target, .. } => {
                let span = call.span;
                Expr::new(ExprKind::Deref(call), *target, span)
            }
            // Of a slice that is the place itself.
            _ => call,
        }
    }

    /// Whether the program says how values of a type are indexed: then that is meant, and not what the type stands for.
    pub(super) fn has_own_index(&mut self, of: &Ty) -> bool {
        !self.indexed_by(READ, of).is_empty()
    }

    /// Functions that index values of a type, and what they take.
    fn indexed_by(&mut self, method: &str, base: &Ty) -> Vec<(FnId, Ty)> {
        let Ty::Struct(id) = self.shallow(base) else {
            return Vec::new();
        };
        self.m.operators_of(id, method);
        let named = self.m.operators.iter().filter(|(name, _)| name == method);
        let of = named.filter_map(|(_, of)| {
            let params = &self.m.fns.get(of.0)?.params;
            match params.as_slice() {
                [(_, Type::Ref { target, .. }), (_, index)] if **target == Type::Struct(id) => {
                    Some((*of, Ty::from_type(index)))
                }
                _ => None,
            }
        });
        of.collect()
    }

    /// The same place where it is written to: what is indexed by the program's functions is by those that say so.
    pub(super) fn as_written(&mut self, place: Expr) -> Expr {
        let (ty, span) = (place.ty.clone(), place.span);
        let made = |kind| Expr::new(kind, ty.clone(), span);
        match *place.kind {
            ExprKind::Field(base, i) => made(ExprKind::Field(self.as_written(base), i)),
            ExprKind::Index(base, i) => {
                let base = self.as_written(base);
                made(ExprKind::Index(base, i))
            }
            ExprKind::Deref(of) => match self.written_by(&of, span) {
                Some(written) => written,
                None => made(ExprKind::Deref(of)),
            },
            // A slice is the place itself.
            ExprKind::Call(..) => self.written_by(&place, span).unwrap_or(place),
            _ => place,
        }
    }

    /// What a call that gives a place refers to where that is written to; none if it is no such call.
    fn written_by(&mut self, call: &Expr, span: Span) -> Option<Expr> {
        let ExprKind::Call(id, args) = &*call.kind else {
            return None;
        };
        let read = self.gives_place(*id)?;
        let (base, rest) = args.split_first()?;
        let base = match &*base.kind {
            ExprKind::AddrOf(base) => base.clone(),
            ExprKind::Call(of, _) if self.gives_place(*of).is_some() => {
                Self::what_refers(base.clone())
            }
            _ => return None,
        };
        let base = self.as_written(base);
        self.writable(&base);
        let all: Vec<&Expr> = std::iter::once(&base).chain(rest).collect();
        let written = format!("{read}_mut");
        if let Some(call) = self.overloaded(&written, &all, span) {
            return Some(Self::what_refers(call));
        }
        let shown = self.show(&base.ty);
        let (what, by) = match read {
            READ => ("an index", "IndexMut<..>"),
            _ => ("`*`", "DerefMut"),
        };
        Some(self.refuse(
            span,
            format!("what {what} of `{shown}` refers to cannot be written"),
            format!("write `impl {by} for {shown} {{ .. }}`"),
        ))
    }

    /// By which name a function gives a place that is read.
    fn gives_place(&self, id: FnId) -> Option<&'static str> {
        let mut operators = self.m.operators.iter();
        let (name, _) = operators.find(|(_, of)| *of == id)?;
        [READ, DEREF].into_iter().find(|read| name == read)
    }
}
