//! Methods of numbers and bools.

use super::{Checker, nearest};
use crate::{
    build::bytes::ascii_class,
    hir::{Builtin, Expr, ExprKind},
    library::Of,
    ty::{BOOL, Class, Ty, U32},
};
use millstream_graph::{
    ir::{BinOp, UnOp},
    ty::Scalar,
};
use proc_macro2::Span;

/// Methods of floats that are one operation on the receiver.
const FLOAT_UNARY: &[&str] = &[
    "sqrt",
    "floor",
    "ceil",
    "round",
    "round_ties_even",
    "trunc",
    "exp",
    "exp2",
    "exp_m1",
    "ln",
    "ln_1p",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "cbrt",
    "abs",
];
/// Methods of floats that are one operation on the receiver and an argument of its type.
const FLOAT_BINARY: &[&str] = &["powf", "atan2", "hypot", "copysign", "min", "max"];
/// Methods of integers that count bits.
const BIT_COUNTS: &[&str] = &["count_ones", "leading_zeros", "trailing_zeros"];
/// The other methods of integers, for the hint at a misspelled one.
const INT_OTHERS: &[&str] = &[
    "min",
    "max",
    "abs",
    "pow",
    "wrapping_add",
    "wrapping_sub",
    "wrapping_mul",
    "wrapping_neg",
    "wrapping_shl",
    "wrapping_shr",
    "wrapping_pow",
    "wrapping_abs",
    "saturating_add",
    "saturating_sub",
    "saturating_mul",
    "overflowing_add",
    "overflowing_sub",
    "overflowing_mul",
    "rotate_left",
    "rotate_right",
    "swap_bytes",
    "reverse_bits",
    "count_zeros",
    "leading_ones",
    "trailing_ones",
    "abs_diff",
    "unsigned_abs",
    "signum",
    "rem_euclid",
    "div_euclid",
    "div_ceil",
    "is_power_of_two",
    "next_power_of_two",
    "next_multiple_of",
    "is_multiple_of",
    "to_be_bytes",
    "to_le_bytes",
    "to_ne_bytes",
    "ilog2",
    "ilog10",
    "ilog",
    "isqrt",
    "clamp",
    "is_positive",
    "is_negative",
];
/// The other methods of floats.
const FLOAT_OTHERS: &[&str] = &[
    "powi",
    "mul_add",
    "to_bits",
    "to_be_bytes",
    "to_le_bytes",
    "to_ne_bytes",
    "signum",
    "recip",
    "fract",
    "is_nan",
    "is_finite",
    "is_infinite",
    "is_sign_negative",
    "is_sign_positive",
    "clamp",
    "rem_euclid",
    "div_euclid",
    "log",
    "sin_cos",
    "to_degrees",
    "to_radians",
];

impl Checker<'_> {
    /// A method of a number or `bool`.
    pub(super) fn scalar_method(
        &mut self,
        receiver: Expr,
        name: &str,
        args: &[&syn::Expr],
        want: Option<&Ty>,
        (at, span): (Span, Span),
    ) -> Expr {
        let class = match self.shallow(&receiver.ty) {
            Ty::Error | Ty::Never => return Self::broken(span),
            Ty::Scalar(s) if s.is_int() => Class::Int,
            Ty::Scalar(s) if s.is_float() => Class::Float,
            Ty::Var(v) => self.table.class(v),
            _ => Class::Any,
        };
        let found = match class {
            Class::Int => self.int_method(&receiver, name, args, span),
            Class::Float => self.float_method(&receiver, name, args, span),
            Class::Any => None,
        };
        if let Some(found) = found {
            return found;
        }
        let of = match class {
            Class::Int => Of::Int,
            Class::Float => Of::Float,
            Class::Any => Of::Bool,
        };
        match self.m.library(of, name) {
            Some(id) => self.call_library(id, receiver, args, want, span),
            None => self.no_method(&receiver, class, name, args.len(), at),
        }
    }

    fn no_method(
        &mut self,
        receiver: &Expr,
        class: Class,
        name: &str,
        args: usize,
        at: Span,
    ) -> Expr {
        let shown = self.show(&receiver.ty);
        let known = |lists: &[&[&'static str]]| lists.concat();
        let known = match class {
            Class::Int => known(&[BIT_COUNTS, INT_OTHERS]),
            Class::Float => known(&[FLOAT_UNARY, FLOAT_BINARY, FLOAT_OTHERS]),
            Class::Any => Vec::new(),
        };
        if name == "is_multiple_of" && class == Class::Int {
            return self.refuse(
                at,
                format!("`{shown}` has no method `{name}`"),
                "unsigned integers have it: write `x % n == 0`",
            );
        }
        if known.contains(&name) {
            return self.refuse(
                at,
                format!(
                    "`{name}` does not take {args} argument{}",
                    if args == 1 { "" } else { "s" }
                ),
                "see docs/language.md",
            );
        }
        let help = if matches!(name, "into" | "try_into") {
            "name the type: `let y: u64 = x.into()` or `u64::from(x)` where no value is lost, else `x as u64`".to_owned()
        } else if matches!(name, "cmp" | "partial_cmp" | "total_cmp") {
            "compare with `<`, `==` and `>`".to_owned()
        } else if class == Class::Int
            && [FLOAT_UNARY, FLOAT_BINARY, FLOAT_OTHERS]
                .concat()
                .contains(&name)
        {
            format!("floats have it: `(x as f64).{name}(..)`")
        } else {
            nearest(name, known.into_iter()).map_or_else(
                || "docs/language.md lists the methods".to_owned(),
                |n| format!("did you mean `{n}`?"),
            )
        };
        self.refuse(at, format!("`{shown}` has no method `{name}`"), help)
    }

    fn float_method(
        &mut self,
        receiver: &Expr,
        name: &str,
        args: &[&syn::Expr],
        span: Span,
    ) -> Option<Expr> {
        let ty = receiver.ty.clone();
        let r = receiver.clone();
        if FLOAT_UNARY.contains(&name) && args.is_empty() {
            return Some(Expr::new(
                ExprKind::RawUnary(UnOp::from_name(name)?, r),
                ty,
                span,
            ));
        }
        if FLOAT_BINARY.contains(&name) && args.len() == 1 {
            let other = self.expr_as(args[0], &ty);
            return Some(Expr::new(
                ExprKind::RawBinary(BinOp::from_name(name)?, r, other),
                ty,
                span,
            ));
        }
        let method =
            |b: Builtin, args: Vec<Expr>, ty: Ty| Expr::new(ExprKind::Method(b, args), ty, span);
        Some(match (name, args) {
            ("powi", [n]) => {
                let n = self.expr_as(n, &Ty::Scalar(Scalar::I32));
                Expr::new(ExprKind::RawBinary(BinOp::Powi, r, n), ty, span)
            }
            ("mul_add", [a, b]) => {
                let (a, b) = (self.expr_as(a, &ty), self.expr_as(b, &ty));
                Expr::new(ExprKind::MulAdd(r, a, b), ty, span)
            }
            ("to_be_bytes" | "to_le_bytes" | "to_ne_bytes", []) => {
                let bits = self.float_method(&r, "to_bits", &[], span)?;
                return self.int_method(&bits, name, &[], span);
            }
            ("to_bits", []) => {
                let bits = if ty == Ty::Scalar(Scalar::F32) {
                    Scalar::U32
                } else {
                    Scalar::U64
                };
                if let Ty::Var(_) = self.shallow(&ty) {
                    self.table.unify(&ty, &Ty::Scalar(Scalar::F64));
                }
                let bits = if self.shallow(&ty) == Ty::Scalar(Scalar::F32) {
                    Scalar::U32
                } else {
                    bits
                };
                Expr::new(ExprKind::Bitcast(r), Ty::Scalar(bits), span)
            }
            ("signum", []) => method(Builtin::Signum, vec![r], ty),
            ("recip", []) => method(Builtin::Recip, vec![r], ty),
            ("fract", []) => method(Builtin::Fract, vec![r], ty),
            ("is_nan", []) => method(Builtin::IsNan, vec![r], BOOL),
            ("is_finite", []) => method(Builtin::IsFinite, vec![r], BOOL),
            ("is_infinite", []) => method(Builtin::IsInfinite, vec![r], BOOL),
            ("is_sign_negative", []) => method(Builtin::IsSignNegative, vec![r], BOOL),
            ("is_sign_positive", []) => Expr::new(
                ExprKind::RawUnary(UnOp::Not, method(Builtin::IsSignNegative, vec![r], BOOL)),
                BOOL,
                span,
            ),
            ("to_degrees", []) => method(Builtin::ToDegrees, vec![r], ty),
            ("to_radians", []) => method(Builtin::ToRadians, vec![r], ty),
            ("sin_cos", []) => method(Builtin::SinCos, vec![r], Ty::Tuple(vec![ty.clone(), ty])),
            ("log", [base]) => {
                let base = self.expr_as(base, &ty);
                let [x, base] =
                    [r, base].map(|e| Expr::new(ExprKind::RawUnary(UnOp::Ln, e), ty.clone(), span));
                Expr::new(ExprKind::RawBinary(BinOp::Div, x, base), ty, span)
            }
            ("rem_euclid" | "div_euclid", [other]) => {
                let other = self.expr_as(other, &ty);
                let builtin = if name == "rem_euclid" {
                    Builtin::RemEuclid
                } else {
                    Builtin::DivEuclid
                };
                method(builtin, vec![r, other], ty)
            }
            ("clamp", [lo, hi]) => {
                let (lo, hi) = (self.expr_as(lo, &ty), self.expr_as(hi, &ty));
                method(Builtin::Clamp, vec![r, lo, hi], ty)
            }
            _ => return None,
        })
    }

    fn int_method(
        &mut self,
        receiver: &Expr,
        name: &str,
        args: &[&syn::Expr],
        span: Span,
    ) -> Option<Expr> {
        let ty = receiver.ty.clone();
        let r = receiver.clone();
        if let [other] = args {
            return self.int_binary(r, name, other, span);
        }
        let unary = |op, r: Expr, ty: Ty| Expr::new(ExprKind::RawUnary(op, r), ty, span);
        let method =
            |b: Builtin, args: Vec<Expr>, ty: Ty| Expr::new(ExprKind::Method(b, args), ty, span);
        let complement = |r: Expr| {
            let ty = r.ty.clone();
            Expr::new(ExprKind::RawUnary(UnOp::Not, r), ty, span)
        };
        if self.shallow(&ty) == Ty::Scalar(Scalar::U8)
            && let Some(class) = ascii_class(name)
            && args.is_empty()
        {
            return Some(method(Builtin::IsAscii(class), vec![r], BOOL));
        }
        Some(match (name, args) {
            ("to_ascii_lowercase", []) if self.shallow(&ty) == Ty::Scalar(Scalar::U8) => {
                method(Builtin::ToAsciiLowercase, vec![r], ty)
            }
            ("to_ascii_uppercase", []) if self.shallow(&ty) == Ty::Scalar(Scalar::U8) => {
                method(Builtin::ToAsciiUppercase, vec![r], ty)
            }
            // Devices have the low byte first.
            ("to_be_bytes" | "to_le_bytes" | "to_ne_bytes", []) => {
                let bytes = u64::from(self.decided(&ty)?.bits() / 8);
                let array = Ty::Array(Box::new(Ty::Scalar(Scalar::U8)), bytes);
                let big = name == "to_be_bytes";
                method(Builtin::ToBytes { big }, vec![r], array)
            }
            ("count_ones" | "leading_zeros" | "trailing_zeros", []) => {
                unary(UnOp::from_name(name)?, r, U32)
            }
            ("count_zeros", []) => unary(UnOp::CountOnes, complement(r), U32),
            ("leading_ones", []) => unary(UnOp::LeadingZeros, complement(r), U32),
            ("trailing_ones", []) => unary(UnOp::TrailingZeros, complement(r), U32),
            ("swap_bytes" | "reverse_bits", []) => unary(UnOp::from_name(name)?, r, ty),
            ("wrapping_neg", []) => unary(UnOp::Neg, r, ty),
            ("wrapping_abs", []) => unary(UnOp::Abs, r, ty),
            ("abs", []) => method(Builtin::Abs, vec![r], ty),
            ("signum", []) => method(Builtin::Signum, vec![r], ty),
            ("is_power_of_two", []) => method(Builtin::IsPowerOfTwo, vec![r], BOOL),
            ("next_power_of_two", []) => method(Builtin::NextPowerOfTwo, vec![r], ty),
            ("ilog2", []) => method(Builtin::Ilog2, vec![r], U32),
            ("ilog10", []) => method(
                Builtin::Ilog,
                vec![r, Expr::new(ExprKind::Int(10), ty, span)],
                U32,
            ),
            ("isqrt", []) => method(Builtin::Isqrt, vec![r], ty),
            ("is_positive" | "is_negative", []) => {
                let zero = Expr::new(ExprKind::Int(0), ty, span);
                let op = if name == "is_positive" {
                    BinOp::Gt
                } else {
                    BinOp::Lt
                };
                Expr::new(ExprKind::RawBinary(op, r, zero), BOOL, span)
            }
            ("unsigned_abs", []) => {
                let unsigned = self.unsigned(&ty)?;
                method(Builtin::UnsignedAbs, vec![r], unsigned)
            }
            ("clamp", [lo, hi]) => {
                let (lo, hi) = (self.expr_as(lo, &ty), self.expr_as(hi, &ty));
                method(Builtin::Clamp, vec![r, lo, hi], ty)
            }
            // Those of the other kind alone have it.
            ("cast_unsigned" | "cast_signed", []) => {
                let unsigned = self.unsigned(&ty)?;
                let signed = name == "cast_unsigned";
                if signed != self.decided(&ty)?.is_signed() {
                    return None;
                }
                let to = if signed { unsigned } else { self.signed(&ty)? };
                Expr::new(ExprKind::Cast(r), to, span)
            }
            _ => return None,
        })
    }

    fn int_binary(&mut self, r: Expr, name: &str, other: &syn::Expr, span: Span) -> Option<Expr> {
        let ty = r.ty.clone();
        let raw = |op, r, other, ty| Expr::new(ExprKind::RawBinary(op, r, other), ty, span);
        let by_u32 = match name {
            "wrapping_shl" => Some(BinOp::Shl),
            "wrapping_shr" => Some(BinOp::Shr),
            "rotate_left" => Some(BinOp::RotateLeft),
            "rotate_right" => Some(BinOp::RotateRight),
            "wrapping_pow" => Some(BinOp::Pow),
            _ => None,
        };
        if let Some(op) = by_u32 {
            let other = self.expr_as(other, &U32);
            return Some(raw(op, r, other, ty));
        }
        if name == "pow" {
            let other = self.expr_as(other, &U32);
            return Some(Expr::new(
                ExprKind::Method(Builtin::Pow, vec![r, other]),
                ty,
                span,
            ));
        }
        let same = match name {
            "min" => Some(BinOp::Min),
            "max" => Some(BinOp::Max),
            "wrapping_add" => Some(BinOp::Add),
            "wrapping_sub" => Some(BinOp::Sub),
            "wrapping_mul" => Some(BinOp::Mul),
            "saturating_add" => Some(BinOp::SaturatingAdd),
            "saturating_sub" => Some(BinOp::SaturatingSub),
            _ => None,
        };
        if let Some(op) = same {
            let other = self.expr_as(other, &ty);
            return Some(raw(op, r, other, ty));
        }
        let (builtin, result) = match name {
            "rem_euclid" => (Builtin::RemEuclid, ty.clone()),
            "div_euclid" => (Builtin::DivEuclid, ty.clone()),
            "div_ceil" => (Builtin::DivCeil, ty.clone()),
            "is_multiple_of" if !self.decided(&ty)?.is_signed() => (Builtin::IsMultipleOf, BOOL),
            "next_multiple_of" => (Builtin::NextMultipleOf, ty.clone()),
            "ilog" => (Builtin::Ilog, U32),
            "saturating_mul" => (Builtin::SaturatingMul, ty.clone()),
            "abs_diff" => (Builtin::AbsDiff, self.unsigned(&ty)?),
            "overflowing_add" => (
                Builtin::Overflowing(BinOp::Add),
                Ty::Tuple(vec![ty.clone(), BOOL]),
            ),
            "overflowing_sub" => (
                Builtin::Overflowing(BinOp::Sub),
                Ty::Tuple(vec![ty.clone(), BOOL]),
            ),
            "overflowing_mul" => (
                Builtin::Overflowing(BinOp::Mul),
                Ty::Tuple(vec![ty.clone(), BOOL]),
            ),
            _ => return None,
        };
        let other = self.expr_as(other, &ty);
        Some(Expr::new(
            ExprKind::Method(builtin, vec![r, other]),
            result,
            span,
        ))
    }

    /// `std::hint::select_unpredictable(c, a, b)`: a selection of numbers, and of all else an `if` of what was computed before.
    pub(super) fn selected(
        &mut self,
        [test, a, b]: [&syn::Expr; 3],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let ty = self.type_ahead(a);
        let is_number = match (self.shallow(&ty), want.map(|w| self.shallow(w))) {
            (Ty::Scalar(_), _) | (Ty::Var(_), Some(Ty::Scalar(_))) => true,
            (Ty::Var(v), _) => self.table.class(v) != crate::ty::Class::Any,
            _ => false,
        };
        if !is_number {
            let chosen: syn::Expr = syn::parse_quote_spanned!(span=> {
                let (test, first, second) = (#test, #a, #b);
                if test { first } else { second }
            });
            return self.expr(&chosen, want);
        }
        let test = self.expr_as(test, &BOOL);
        let a = self.expr(a, want);
        let b = self.expr_as(b, &a.ty);
        let ty = a.ty.clone();
        Expr::new(
            ExprKind::Method(Builtin::Select, vec![test, a, b]),
            ty,
            span,
        )
    }

    /// The type of an integer. One that nothing decided yet becomes `i32`.
    fn decided(&mut self, ty: &Ty) -> Option<Scalar> {
        if let Ty::Var(_) = self.shallow(ty) {
            self.table.unify(ty, &Ty::Scalar(Scalar::I32));
        }
        self.shallow(ty).scalar()
    }

    /// The signed type of the same width.
    fn signed(&mut self, ty: &Ty) -> Option<Ty> {
        Some(Ty::Scalar(match self.decided(ty)? {
            Scalar::U8 => Scalar::I8,
            Scalar::U16 => Scalar::I16,
            Scalar::U32 => Scalar::I32,
            Scalar::U64 => Scalar::I64,
            Scalar::Usize => Scalar::Isize,
            signed => signed,
        }))
    }

    /// The unsigned type of the same width.
    fn unsigned(&mut self, ty: &Ty) -> Option<Ty> {
        Some(Ty::Scalar(match self.decided(ty)? {
            Scalar::I8 => Scalar::U8,
            Scalar::I16 => Scalar::U16,
            Scalar::I32 => Scalar::U32,
            Scalar::I64 => Scalar::U64,
            Scalar::Isize => Scalar::Usize,
            unsigned => unsigned,
        }))
    }
}
