//! Constants and array lengths: each is checked and built like a helper without arguments, and the interpreter says its value.

use crate::{
    build, check,
    diag::ir_span,
    hir::ConstId,
    items::{ConstState, Module},
};
use millstream_graph::{
    interp::Interp,
    ir::FuncId,
    ty::{Scalar, Type},
};
use proc_macro2::Span;
use syn::spanned::Spanned;

/// Type and value of a constant; none if something is wrong with it, which has been said.
pub(crate) fn value(module: &mut Module, id: ConstId, used_at: Span) -> Option<(Type, Vec<u8>)> {
    let item = match &module.consts[id.0].state {
        ConstState::Known(ty, bytes) => return Some((ty.clone(), bytes.clone())),
        ConstState::Failed => return None,
        ConstState::InProgress => {
            let name = module.consts[id.0].name.clone();
            module
                .diags
                .error(used_at, format!("the constant `{name}` depends on itself"));
            return None;
        }
        ConstState::Source(item) => item.clone(),
    };
    module.consts[id.0].state = ConstState::InProgress;
    let ty = module.resolve_type(&item.ty);
    let bytes = eval(module, &item.expr, &ty);
    module.consts[id.0].state = bytes.clone().map_or(ConstState::Failed, |bytes| {
        ConstState::Known(ty.clone(), bytes)
    });
    bytes.map(|bytes| (ty, bytes))
}

/// The value of an array length.
pub(crate) fn eval_usize(module: &mut Module, expr: &syn::Expr) -> Option<u64> {
    let bytes = eval(module, expr, &Type::Scalar(Scalar::Usize))?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

fn eval(module: &mut Module, expr: &syn::Expr, ty: &Type) -> Option<Vec<u8>> {
    let before = module.diags.0.len();
    let body = check::constant(module, expr, ty);
    if module.diags.0.len() > before {
        return None;
    }
    let program = build::constant(module, &body?, ty, ir_span(expr.span()));
    match Interp::new(&program).call(FuncId(0), &[]) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            let error = error.to_string();
            let what = error.split(", in `constant`").next().unwrap_or_default();
            module
                .diags
                .error(expr.span(), format!("this constant has no value: {what}"));
            None
        }
    }
}
