//! What each operation of the IR does to bits: the one definition of their meaning.
//!
//! The interpreter runs it, and code generators call it where a machine has no instruction (`exp`, `sin`, ..) and test themselves against
//! it. A value is its bits, zero-extended to 64; every function gives such bits back and asks for them. Nothing here panics: an operand
//! of a type that the operation does not accept gives 0, but the verifier refuses such programs.
//!
//! Integer operations are Rust's wrapping ones, float operations Rust's own, and in three places we say more than Rust does:
//! - `min` and `max` of floats order -0.0 before 0.0, and are a number if either operand is (IEEE 754-2019 `minimumNumber`).
//! - `powi` is the repeated squaring of the compiler's runtime, with all its roundings ([`powi_f32`], [`powi_f64`]).
//! - The bits of a NaN that an operation makes are not defined: compare floats by value.

mod float;
mod int;

pub use float::{
    binary_f32, binary_f64, max_f32, max_f64, min_f32, min_f64, mul_add_f32, mul_add_f64, powi_f32,
    powi_f64, unary_f32, unary_f64,
};

use crate::{
    ir::{AtomicOp, BinOp, Combine, UnOp},
    ty::Scalar,
};

/// The low bits of a value of this type, the others zero.
#[must_use]
pub const fn truncate(ty: Scalar, bits: u64) -> u64 {
    match ty {
        Scalar::Bool => bits & 1,
        ty => bits & (u64::MAX >> (64 - ty.bits())),
    }
}

/// The value as a signed number, if its type is signed; else its bits.
#[must_use]
pub const fn sign_extend(ty: Scalar, bits: u64) -> i64 {
    let spare = 64 - ty.bits();
    if ty.is_signed() {
        ((bits << spare) as i64) >> spare
    } else {
        bits as i64
    }
}

/// One operand of type `ty`.
#[must_use]
pub fn eval_unary(op: UnOp, ty: Scalar, a: u64) -> u64 {
    match ty {
        Scalar::F32 => u64::from(unary_f32(op, f32::from_bits(a as u32)).to_bits()),
        Scalar::F64 => unary_f64(op, f64::from_bits(a)).to_bits(),
        Scalar::Bool => u64::from(matches!(op, UnOp::Not) && a == 0),
        ty => int::unary(op, ty, a),
    }
}

/// Two operands, the first of type `ty`, the second of [`BinOp::second`]. None if there is no result: a division of integers by zero, or
/// one whose quotient does not fit.
#[must_use]
pub fn eval_binary(op: BinOp, ty: Scalar, a: u64, b: u64) -> Option<u64> {
    Some(match ty {
        Scalar::F32 => float::eval_f32(op, a, b),
        Scalar::F64 => float::eval_f64(op, a, b),
        // Neither arithmetic nor shifts take these; the others mean what they mean on unsigned numbers.
        Scalar::Bool => truncate(ty, int::binary(op, Scalar::U8, a, b)?),
        Scalar::Ptr => int::binary(op, Scalar::U64, a, b)?,
        ty => int::binary(op, ty, a, b)?,
    })
}

/// `a * b + c`, rounded once, of floats.
#[must_use]
pub fn eval_mul_add(ty: Scalar, a: u64, b: u64, c: u64) -> u64 {
    match ty {
        Scalar::F32 => {
            let x = |bits: u64| f32::from_bits(bits as u32);
            u64::from(mul_add_f32(x(a), x(b), x(c)).to_bits())
        }
        _ => mul_add_f64(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c)).to_bits(),
    }
}

/// Rust's `as`: integers are cut or extended by the sign of their own type, floats go to the nearest integer toward zero and stop at
/// the bounds, NaN becomes 0.
#[must_use]
pub fn eval_cast(from: Scalar, to: Scalar, a: u64) -> u64 {
    match (from.is_float(), to.is_float()) {
        (false, false) => truncate(to, sign_extend(from, a) as u64),
        (true, false) => int::from_float(to, float::widen(from, a)),
        (false, true) => float::from_int(from, to, a),
        (true, true) => float::convert(from, to, a),
    }
}

/// What a destination holds after a result arrived, if it held `old` before.
#[must_use]
pub fn eval_combine(combine: Combine, ty: Scalar, old: u64, new: u64) -> u64 {
    match combine.op() {
        // None of these operations divides, so there always is a result.
        Some(op) => eval_binary(op, ty, old, new).unwrap_or(new),
        None => new,
    }
}

/// What memory holds after an atomic operation, if it held `old` before; none if the operation does not write.
#[must_use]
pub fn eval_atomic(op: AtomicOp, ty: Scalar, old: u64, args: &[u64]) -> Option<u64> {
    let arg = |i: usize| args.get(i).copied().unwrap_or(0);
    let combined = |op| eval_binary(op, ty, old, arg(0));
    match op {
        AtomicOp::Load => None,
        AtomicOp::Store | AtomicOp::Swap => Some(arg(0)),
        AtomicOp::Add => combined(BinOp::Add),
        AtomicOp::Sub => combined(BinOp::Sub),
        AtomicOp::And => combined(BinOp::And),
        AtomicOp::Or => combined(BinOp::Or),
        AtomicOp::Xor => combined(BinOp::Xor),
        AtomicOp::Nand => Some(truncate(ty, !(old & arg(0)))),
        AtomicOp::Min => combined(BinOp::Min),
        AtomicOp::Max => combined(BinOp::Max),
        AtomicOp::CompareExchange => (old == arg(0)).then(|| arg(1)),
    }
}
