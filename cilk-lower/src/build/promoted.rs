//! References to what is written out, `&[1, 2, 3]`: where they may leave the function they refer to memory that stays, as in Rust, and not to the function's own.

use super::Builder;
use crate::{
    diag::ir_span,
    hir::{Body, Builtin, Expr, ExprKind},
};
use millstream_graph::{
    interp::Interp,
    ir::{Data, DataId, FuncId, FunctionKind, Operand, Rvalue},
    ty::{Scalar, Structs, Type},
};

/// Whether a function may give a reference away that it makes: returns it, or writes it to what it is lent.
pub(super) fn gives_references(params: &[(syn::Pat, Type)], ret: &Type, structs: &Structs) -> bool {
    let lends = |ty: &Type| match ty {
        Type::Slice { mutable, elem: ty }
        | Type::Ref {
            mutable,
            target: ty,
        } => *mutable && ty.has_addresses(structs),
        _ => false,
    };
    ret.has_addresses(structs) || params.iter().any(|(_, ty)| lends(ty))
}

/// Whether a value is the same each time, and nothing is done to make it.
fn is_constant(e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Const(_) => true,
        ExprKind::Method(Builtin::Zeroed, _) => true,
        ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Repeat(a, _) => is_constant(a),
        ExprKind::Binary(_, a, b) => is_constant(a) && is_constant(b),
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().all(is_constant),
        ExprKind::Struct { fields, base, .. } => {
            fields.iter().all(|(_, e)| is_constant(e)) && base.iter().all(is_constant)
        }
        _ => false,
    }
}

impl Builder<'_, '_> {
    /// Where what a reference refers to lies, if it is written out and has to stay.
    pub(super) fn kept(&mut self, e: &Expr) -> Option<Operand> {
        let is_written = !e.is_place();
        is_written.then(|| self.promoted(e))?
    }

    /// Where a value lies that is the same each time, if it has to stay there and has no address itself.
    fn promoted(&mut self, e: &Expr) -> Option<Operand> {
        let ty = e.ty.to_type();
        let function = self.function?;
        let item = &self.unit.module.fns[function.0];
        if self.kind != FunctionKind::Helper
            || !gives_references(&item.params, &item.ret, self.structs())
            || ty.has_addresses(self.structs())
            || !is_constant(e)
        {
            return None;
        }
        let body = Body::made(Vec::new(), e.clone());
        let program = super::constant(self.unit.module, &body, &ty, ir_span(e.span));
        let bytes = Interp::new(&program).call(FuncId(0), &[]).ok()?;
        self.unit.data.push(Data {
            name: format!("{}.kept", item.name),
            align: ty.layout(&self.unit.module.structs).align,
            bytes,
        });
        let data = DataId::new(self.unit.data.len() - 1);
        Some(self.assign_new(Scalar::Ptr, Rvalue::DataAddr(data)))
    }
}
