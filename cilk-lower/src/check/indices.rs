//! `impl Index<(usize, usize)> for Grid` of the program: `grid[(x, y)]` is what its function refers to.

use super::Checker;
use crate::{
    hir::{Expr, ExprKind, FnId},
    ty::Ty,
};
use millstream_graph::ty::Type;
use proc_macro2::Span;

const READ: &str = "index";
const WRITTEN: &str = "index_mut";

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
            ExprKind::Deref(of) => match &*of.kind {
                ExprKind::Call(id, args) if self.is_index(*id) => {
                    let [base, index] = args.as_slice() else {
                        return made(ExprKind::Deref(of));
                    };
                    let base = match &*base.kind {
                        ExprKind::AddrOf(base) => base.clone(),
                        ExprKind::Call(of, _) if self.is_index(*of) => {
                            Self::what_refers(base.clone())
                        }
                        _ => return made(ExprKind::Deref(of)),
                    };
                    let base = self.as_written(base);
                    self.writable(&base);
                    match self.overloaded(WRITTEN, &[&base, index], span) {
                        Some(call) => Self::what_refers(call),
                        None => {
                            let shown = self.show(&base.ty);
                            let message =
                                format!("what an index of `{shown}` refers to cannot be written");
                            let help = format!("write `impl IndexMut<..> for {shown} {{ .. }}`");
                            self.refuse(span, message, help)
                        }
                    }
                }
                _ => made(ExprKind::Deref(of)),
            },
            _ => place,
        }
    }

    fn is_index(&self, id: FnId) -> bool {
        let mut operators = self.m.operators.iter();
        operators.any(|(name, of)| *of == id && name == READ)
    }
}
