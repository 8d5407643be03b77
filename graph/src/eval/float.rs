//! Operations on floats: Rust's own methods, once for each type.

use crate::{
    ir::{BinOp, UnOp},
    ty::Scalar,
};

macro_rules! floats {
    ($t:ident: $unary:ident $binary:ident $eval:ident $mul_add:ident $powi:ident $min:ident $max:ident) => {
        /// An operation on one float; NaN for one that only integers have.
        #[must_use]
        pub fn $unary(op: UnOp, x: $t) -> $t {
            match op {
                UnOp::Neg => -x,
                UnOp::Abs => x.abs(),
                UnOp::Sqrt => x.sqrt(),
                UnOp::Floor => x.floor(),
                UnOp::Ceil => x.ceil(),
                UnOp::Round => x.round(),
                UnOp::RoundTiesEven => x.round_ties_even(),
                UnOp::Trunc => x.trunc(),
                UnOp::Exp => x.exp(),
                UnOp::Exp2 => x.exp2(),
                UnOp::ExpM1 => x.exp_m1(),
                UnOp::Ln => x.ln(),
                UnOp::Ln1p => x.ln_1p(),
                UnOp::Log2 => x.log2(),
                UnOp::Log10 => x.log10(),
                UnOp::Sin => x.sin(),
                UnOp::Cos => x.cos(),
                UnOp::Tan => x.tan(),
                UnOp::Asin => x.asin(),
                UnOp::Acos => x.acos(),
                UnOp::Atan => x.atan(),
                UnOp::Sinh => x.sinh(),
                UnOp::Cosh => x.cosh(),
                UnOp::Tanh => x.tanh(),
                UnOp::Cbrt => x.cbrt(),
                UnOp::Not
                | UnOp::CountOnes
                | UnOp::LeadingZeros
                | UnOp::TrailingZeros
                | UnOp::SwapBytes
                | UnOp::ReverseBits => $t::NAN,
            }
        }

        /// An operation on two floats that gives a float; NaN for one that only integers have, or that gives a `bool`.
        #[must_use]
        pub fn $binary(op: BinOp, x: $t, y: $t) -> $t {
            match op {
                BinOp::Add => x + y,
                BinOp::Sub => x - y,
                BinOp::Mul => x * y,
                BinOp::Div => x / y,
                BinOp::Rem => x % y,
                BinOp::Min => $min(x, y),
                BinOp::Max => $max(x, y),
                BinOp::Powf => x.powf(y),
                BinOp::Atan2 => x.atan2(y),
                BinOp::Hypot => x.hypot(y),
                BinOp::Copysign => x.copysign(y),
                _ => $t::NAN,
            }
        }

        pub(super) fn $eval(op: BinOp, a: u64, b: u64) -> u64 {
            let float = |bits: u64| $t::from_bits(bits as _);
            let (x, y) = (float(a), float(b));
            match op {
                BinOp::Eq => u64::from(x == y),
                BinOp::Ne => u64::from(x != y),
                BinOp::Lt => u64::from(x < y),
                BinOp::Le => u64::from(x <= y),
                BinOp::Gt => u64::from(x > y),
                BinOp::Ge => u64::from(x >= y),
                BinOp::Powi => $powi(x, b as u32 as i32).to_bits() as u64,
                op => $binary(op, x, y).to_bits() as u64,
            }
        }

        /// `a * b + c`, rounded once.
        #[must_use]
        pub fn $mul_add(a: $t, b: $t, c: $t) -> $t {
            a.mul_add(b, c)
        }

        /// `a` to the power `n` by repeated squaring, rounded after each product, as the compiler's runtime does it.
        #[must_use]
        pub fn $powi(mut a: $t, mut n: i32) -> $t {
            let recip = n < 0;
            let mut result = 1.0;
            loop {
                if n % 2 != 0 {
                    result *= a;
                }
                n /= 2;
                if n == 0 {
                    break;
                }
                a *= a;
            }
            if recip { 1.0 / result } else { result }
        }

        /// The lesser, a number if either is one; -0.0 is less than 0.0.
        #[must_use]
        pub fn $min(x: $t, y: $t) -> $t {
            if x < y || y.is_nan() || (x == y && x.is_sign_negative()) {
                x
            } else {
                y
            }
        }

        /// The greater, a number if either is one; 0.0 is greater than -0.0.
        #[must_use]
        pub fn $max(x: $t, y: $t) -> $t {
            if x > y || y.is_nan() || (x == y && x.is_sign_positive()) {
                x
            } else {
                y
            }
        }
    };
}

floats!(f32: unary_f32 binary_f32 eval_f32 mul_add_f32 powi_f32 min_f32 max_f32);
floats!(f64: unary_f64 binary_f64 eval_f64 mul_add_f64 powi_f64 min_f64 max_f64);

/// The value of a float of either type; exact.
pub(super) fn widen(ty: Scalar, bits: u64) -> f64 {
    if ty == Scalar::F32 {
        f64::from(f32::from_bits(bits as u32))
    } else {
        f64::from_bits(bits)
    }
}

pub(super) fn convert(from: Scalar, to: Scalar, bits: u64) -> u64 {
    match (from, to) {
        (Scalar::F64, Scalar::F32) => u64::from((f64::from_bits(bits) as f32).to_bits()),
        (Scalar::F32, Scalar::F64) => f64::from(f32::from_bits(bits as u32)).to_bits(),
        _ => bits,
    }
}

/// The float nearest to an integer, rounded once.
pub(super) fn from_int(from: Scalar, to: Scalar, bits: u64) -> u64 {
    let signed = super::sign_extend(from, bits);
    match (to, from.is_signed()) {
        (Scalar::F32, true) => u64::from((signed as f32).to_bits()),
        (Scalar::F32, false) => u64::from((bits as f32).to_bits()),
        (_, true) => (signed as f64).to_bits(),
        (_, false) => (bits as f64).to_bits(),
    }
}
