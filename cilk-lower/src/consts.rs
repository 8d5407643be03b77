//! Constants and array lengths: each is checked and built like a helper without arguments, and the interpreter says its value.

use crate::{
    build, check,
    diag::ir_span,
    hir::ConstId,
    items::{ConstState, Module, is_plain},
    wides,
};
use millstream_graph::{
    interp::Interp,
    ir::FuncId,
    ty::{Scalar, Type},
};
use proc_macro2::Span;
use syn::{parse_quote, parse_quote_spanned, spanned::Spanned};

/// Type and value of a constant; none if something is wrong with it, which has been said.
pub(crate) fn value(module: &mut Module, id: ConstId, used_at: Span) -> Option<(Type, Vec<u8>)> {
    // It is no value itself.
    if module.consts[id.0].rows.is_some() {
        return None;
    }
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
    let at = module.consts[id.0].at.clone();
    let (ty, bytes) = module.elsewhere(&at, |m| of(m, &item));
    module.consts[id.0].state = bytes.clone().map_or(ConstState::Failed, |bytes| {
        ConstState::Known(ty.clone(), bytes)
    });
    bytes.map(|bytes| (ty, bytes))
}

fn of(module: &mut Module, item: &syn::ItemConst) -> (Type, Option<Vec<u8>>) {
    let before = module.diags.0.len();
    let ty = module.resolve_type(&item.ty);
    if module.diags.0.len() > before {
        // What stands for a type that is none is not what is wrong.
        return (ty, None);
    }
    let bytes = match is_plain(&ty, &module.structs) {
        true => wides::value(module, &item.expr, &ty).or_else(|| eval(module, &item.expr, &ty)),
        false => {
            let shown = ty.display(&module.structs).to_string();
            let error = format!("a constant cannot be `{shown}`");
            module
                .diags
                .error(item.ty.span(), error)
                .help("it is plain data, or a reference to what stands behind it: `&[1, 2]`, or has such references, and is written out");
            None
        }
    };
    (ty, bytes)
}

/// How a constant that is a reference is named: what that refers to is the constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lent {
    /// `&T` and `&[T; N]`
    Whole,
    /// `&[T]`
    Slice,
}

/// What a constant of a reference refers to, where it stands behind it: `&[1, 2]`, `&[0; 4]`, `b"text"`, and of a known size `&table()`.
pub(crate) fn behind(item: syn::ItemConst) -> (syn::ItemConst, Option<Lent>) {
    let syn::Type::Reference(to) = &*item.ty else {
        return (item, None);
    };
    let (value, len): (syn::Expr, Option<syn::Expr>) = match &*item.expr {
        syn::Expr::Reference(r) if r.mutability.is_none() => match &*r.expr {
            syn::Expr::Array(a) => {
                let len = a.elems.len();
                ((*r.expr).clone(), Some(parse_quote!(#len)))
            }
            syn::Expr::Repeat(a) => ((*r.expr).clone(), Some((*a.len).clone())),
            value => (value.clone(), None),
        },
        syn::Expr::Lit(l) => match &l.lit {
            syn::Lit::ByteStr(text) => {
                let len = text.value().len();
                (parse_quote!(*#l), Some(parse_quote!(#len)))
            }
            _ => return (item, None),
        },
        _ => return (item, None),
    };
    let (ty, lent) = match &*to.elem {
        syn::Type::Slice(s) => {
            let (elem, Some(len)) = (&s.elem, len) else {
                return (item, None);
            };
            (parse_quote_spanned!(s.span()=> [#elem; #len]), Lent::Slice)
        }
        whole => (whole.clone(), Lent::Whole),
    };
    let (ty, expr) = (Box::new(ty), Box::new(value));
    (syn::ItemConst { ty, expr, ..item }, Some(lent))
}

/// The value of an array length.
pub(crate) fn eval_usize(module: &mut Module, expr: &syn::Expr) -> Option<u64> {
    let bytes = eval(module, expr, &Type::Scalar(Scalar::Usize))?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

pub(crate) fn eval(module: &mut Module, expr: &syn::Expr, ty: &Type) -> Option<Vec<u8>> {
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
