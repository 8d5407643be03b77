//! Operations on integers: Rust's own methods, once for each type.

#![allow(
    clippy::unnecessary_cast,
    reason = "the code stands once for all types; a cast is needless where the type is `u64` itself"
)]

use super::truncate;
use crate::{
    ir::{BinOp, UnOp},
    ty::Scalar,
};

/// Runs the code with `$t` as the Rust type of this scalar.
macro_rules! with_int {
    ($ty:expr, $t:ident => $body:expr, else $other:expr) => {
        match $ty {
            Scalar::I8 => {
                type $t = i8;
                $body
            }
            Scalar::I16 => {
                type $t = i16;
                $body
            }
            Scalar::I32 => {
                type $t = i32;
                $body
            }
            Scalar::I64 | Scalar::Isize => {
                type $t = i64;
                $body
            }
            Scalar::U8 => {
                type $t = u8;
                $body
            }
            Scalar::U16 => {
                type $t = u16;
                $body
            }
            Scalar::U32 => {
                type $t = u32;
                $body
            }
            Scalar::U64 | Scalar::Usize => {
                type $t = u64;
                $body
            }
            _ => $other,
        }
    };
}

pub(super) fn unary(op: UnOp, ty: Scalar, a: u64) -> u64 {
    with_int!(ty, T => {
        let x = a as T;
        match op {
            UnOp::CountOnes => u64::from(x.count_ones()),
            UnOp::LeadingZeros => u64::from(x.leading_zeros()),
            UnOp::TrailingZeros => u64::from(x.trailing_zeros()),
            UnOp::Neg => truncate(ty, x.wrapping_neg() as u64),
            UnOp::Not => truncate(ty, !x as u64),
            UnOp::Abs if ty.is_signed() && (x as i64) < 0 => truncate(ty, x.wrapping_neg() as u64),
            UnOp::Abs => a,
            UnOp::SwapBytes => truncate(ty, x.swap_bytes() as u64),
            UnOp::ReverseBits => truncate(ty, x.reverse_bits() as u64),
            _ => 0,
        }
    }, else 0)
}

pub(super) fn binary(op: BinOp, ty: Scalar, a: u64, b: u64) -> Option<u64> {
    with_int!(ty, T => {
        let (x, y, amount) = (a as T, b as T, b as u32);
        let value = match op {
            BinOp::Eq => return Some(u64::from(x == y)),
            BinOp::Ne => return Some(u64::from(x != y)),
            BinOp::Lt => return Some(u64::from(x < y)),
            BinOp::Le => return Some(u64::from(x <= y)),
            BinOp::Gt => return Some(u64::from(x > y)),
            BinOp::Ge => return Some(u64::from(x >= y)),
            BinOp::AddOverflows => return Some(u64::from(x.checked_add(y).is_none())),
            BinOp::SubOverflows => return Some(u64::from(x.checked_sub(y).is_none())),
            BinOp::MulOverflows => return Some(u64::from(x.checked_mul(y).is_none())),
            BinOp::Add => x.wrapping_add(y),
            BinOp::Sub => x.wrapping_sub(y),
            BinOp::Mul => x.wrapping_mul(y),
            BinOp::Div => x.checked_div(y)?,
            BinOp::Rem => x.checked_rem(y)?,
            BinOp::And => x & y,
            BinOp::Or => x | y,
            BinOp::Xor => x ^ y,
            BinOp::Shl => x.wrapping_shl(amount),
            BinOp::Shr => x.wrapping_shr(amount),
            BinOp::RotateLeft => x.rotate_left(amount % T::BITS),
            BinOp::RotateRight => x.rotate_right(amount % T::BITS),
            BinOp::Min => x.min(y),
            BinOp::Max => x.max(y),
            BinOp::SaturatingAdd => x.saturating_add(y),
            BinOp::SaturatingSub => x.saturating_sub(y),
            BinOp::Pow => x.wrapping_pow(amount),
            BinOp::Powi | BinOp::Powf | BinOp::Atan2 | BinOp::Hypot | BinOp::Copysign => 0,
        };
        Some(truncate(ty, value as u64))
    }, else Some(0))
}

/// The integer nearest to `x` toward zero, within the bounds of the type.
pub(super) fn from_float(ty: Scalar, x: f64) -> u64 {
    with_int!(ty, T => truncate(ty, x as T as u64), else 0)
}
