//! Values that are known: operations on constants, and those that give back an operand.

use millstream_graph::{
    eval,
    ir::{BinOp, Function, Operand, Rvalue},
    ty::Scalar,
};

/// A simpler value that is always the same, if there is one.
pub(super) fn fold(function: &Function, value: &Rvalue) -> Option<Rvalue> {
    let known = |ty: Scalar, bits: u64| {
        (!is_nan(ty, bits)).then_some(Rvalue::Use(Operand::Const(ty, bits)))
    };
    match *value {
        Rvalue::Unary(op, Operand::Const(ty, a)) => {
            known(op.result(ty), eval::eval_unary(op, ty, a))
        }
        Rvalue::Binary(op, Operand::Const(ty, a), Operand::Const(_, b)) => {
            known(op.result(ty), eval::eval_binary(op, ty, a, b)?)
        }
        Rvalue::Binary(op, a, b) => identity(function, op, a, b),
        Rvalue::MulAdd(Operand::Const(ty, a), Operand::Const(_, b), Operand::Const(_, c)) => {
            known(ty, eval::eval_mul_add(ty, a, b, c))
        }
        Rvalue::Select(Operand::Const(_, c), a, b) => Some(Rvalue::Use(if c != 0 { a } else { b })),
        Rvalue::Select(_, a, b) if a == b => Some(Rvalue::Use(a)),
        Rvalue::Cast(ty, Operand::Const(from, a)) => known(ty, eval::eval_cast(from, ty, a)),
        Rvalue::Cast(ty, a) | Rvalue::Bitcast(ty, a) if function.type_of(a) == ty => {
            Some(Rvalue::Use(a))
        }
        Rvalue::Bitcast(ty, Operand::Const(_, a)) => known(ty, a),
        Rvalue::PtrAdd {
            base,
            index: Operand::Const(ty, index),
            scale,
            offset,
        } if index != 0 => {
            let offset = index.wrapping_mul(scale).wrapping_add(offset);
            Some(Rvalue::PtrAdd {
                base,
                index: Operand::Const(ty, 0),
                scale,
                offset,
            })
        }
        Rvalue::PtrAdd {
            base,
            index: Operand::Const(_, 0),
            offset: 0,
            ..
        } => Some(Rvalue::Use(base)),
        _ => None,
    }
}

/// Operations of which one operand decides. Integers and `bool` only: floats have signed zeros and NaN.
fn identity(function: &Function, op: BinOp, a: Operand, b: Operand) -> Option<Rvalue> {
    let ty = function.type_of(a);
    if ty.is_float() {
        return None;
    }
    let is = |o: Operand, value: u64| matches!(o, Operand::Const(_, bits) if bits == value);
    let ones = eval::truncate(ty, u64::MAX);
    let constant = |ty, bits| Some(Rvalue::Use(Operand::Const(ty, bits)));
    let first = Some(Rvalue::Use(a));
    let second = Some(Rvalue::Use(b));
    match op {
        BinOp::Add | BinOp::Or | BinOp::Xor | BinOp::Sub | BinOp::Shl | BinOp::Shr if is(b, 0) => {
            first
        }
        BinOp::Add | BinOp::Or | BinOp::Xor if is(a, 0) => second,
        BinOp::Mul | BinOp::Div if is(b, 1) => first,
        BinOp::Mul if is(a, 1) => second,
        BinOp::Mul | BinOp::And if is(a, 0) || is(b, 0) => constant(ty, 0),
        BinOp::And if is(b, ones) => first,
        BinOp::And if is(a, ones) => second,
        BinOp::Or if is(a, ones) || is(b, ones) => constant(ty, ones),
        BinOp::AddOverflows | BinOp::SubOverflows if is(b, 0) => constant(Scalar::Bool, 0),
        BinOp::Lt if !ty.is_signed() && is(b, 0) => constant(Scalar::Bool, 0),
        BinOp::Ge if !ty.is_signed() && is(b, 0) => constant(Scalar::Bool, 1),
        BinOp::Eq | BinOp::Le | BinOp::Ge if a == b => constant(Scalar::Bool, 1),
        BinOp::Ne | BinOp::Lt | BinOp::Gt if a == b => constant(Scalar::Bool, 0),
        _ => None,
    }
}

pub(in crate::lower) fn is_nan(ty: Scalar, bits: u64) -> bool {
    match ty {
        Scalar::F32 => f32::from_bits(bits as u32).is_nan(),
        Scalar::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}
