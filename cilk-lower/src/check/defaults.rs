//! `Default::default()`, of the types whose default Rust knows or derives.

use super::Checker;
use crate::{
    hir::{Builtin, Expr, ExprKind},
    items::Item,
    ty::Ty,
};
use millstream_graph::ty::{StructId, Type};
use proc_macro2::Span;

/// The longest array that Rust has a default of.
const LONGEST: u64 = 32;

impl Checker<'_> {
    /// A type's default, or what is wrong.
    pub(super) fn default_of(&mut self, ty: &Ty, span: Span) -> Expr {
        let ty = self.shallow(ty);
        if let Ty::Struct(id) = &ty
            && let Some(Item::Fn(id)) = self.m.own_default(*id)
        {
            return self.call_fn(id, &[], span);
        }
        let kind = match &ty {
            Ty::Scalar(s) if s.is_float() => ExprKind::Float(0.0),
            Ty::Scalar(s) if s.is_int() => ExprKind::Int(0),
            Ty::Scalar(_) => ExprKind::Bool(false),
            Ty::Atomic(s) => {
                let value = self.default_of(&Ty::Scalar(*s), span);
                ExprKind::Method(Builtin::AtomicNew, vec![value])
            }
            Ty::Tuple(fields) => {
                ExprKind::Tuple(fields.iter().map(|t| self.default_of(t, span)).collect())
            }
            Ty::Array(elem, len) if *len <= LONGEST => {
                ExprKind::Repeat(self.default_of(elem, span), *len)
            }
            Ty::Option(some) => return self.none_of(some, span),
            Ty::Struct(id) if self.m.enum_defaults.contains_key(id) => {
                let def = &self.m.structs[*id];
                let Some(default) = def.numbered(self.m.enum_defaults[id]).cloned() else {
                    return Self::broken(span);
                };
                return self.sum_value(&default, Vec::new(), ty, span);
            }
            Ty::Struct(id) if self.m.defaults.contains(id) || self.is_open_range(*id) => {
                let types = self.m.structs[*id].fields.clone();
                let fields = types.iter().enumerate();
                let fields =
                    fields.map(|(i, (_, t))| (i, self.default_of(&Ty::from_type(t), span)));
                return Expr::structure(*id, fields.collect(), span);
            }
            Ty::Error | Ty::Never => return Self::broken(span),
            Ty::Var(_) => {
                return self.refuse(
                    span,
                    "the type must be known here",
                    "write the type where the variable is declared, or `T::default()`",
                );
            }
            other => {
                let shown = self.show(other);
                let help = match other {
                    Ty::Struct(_) => "put `#[derive(Default)]` in front of the struct",
                    Ty::Array(..) => "write `[0; N]`: Rust has defaults of up to 32 elements",
                    _ => "write the value out",
                };
                return self.refuse(span, format!("`{shown}` has no default"), help);
            }
        };
        Expr::new(kind, ty, span)
    }

    /// Whether that is `a..b`, which has a default as `a..=b` has not.
    fn is_open_range(&self, id: StructId) -> bool {
        let ranges = self.m.ranges.filter(|_| self.m.is_range(&Type::Struct(id)));
        let family = self.family_of(id);
        ranges.is_some_and(|ranges| family.and_then(|of| ranges.is_closed(of)) == Some(false))
    }
}
