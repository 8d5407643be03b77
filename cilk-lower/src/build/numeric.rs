//! Operators and methods of numbers, with the checks that the program's mode asks for.

use super::{Builder, value::truncate};
use crate::hir::{Builtin, Expr};
use millstream_graph::{
    ir::{BinOp, CheckKind, Operand, Rvalue, UnOp},
    ty::Scalar,
};

impl Builder<'_, '_> {
    pub(super) fn binary(&mut self, op: BinOp, a: Operand, b: Operand) -> Operand {
        let ty = self.type_of(a);
        self.assign_new(op.result(ty), Rvalue::Binary(op, a, b))
    }

    pub(super) fn unary(&mut self, op: UnOp, a: Operand) -> Operand {
        let ty = self.type_of(a);
        self.assign_new(op.result(ty), Rvalue::Unary(op, a))
    }

    pub(super) fn select(&mut self, cond: Operand, a: Operand, b: Operand) -> Operand {
        self.assign_new(self.type_of(a), Rvalue::Select(cond, a, b))
    }

    pub(super) fn convert(&mut self, to: Scalar, a: Operand) -> Operand {
        match a {
            _ if self.type_of(a) == to => a,
            Operand::Const(ty, bits) if ty.is_int() && to.is_int() => {
                Operand::Const(to, truncate(super::value::sign_extend(bits, ty), to))
            }
            _ => self.assign_new(to, Rvalue::Cast(to, a)),
        }
    }

    fn is_checked(&self) -> bool {
        self.unit.module.options.checked
    }

    /// An operator as the user wrote it.
    pub(super) fn checked_binary(&mut self, op: BinOp, a: Operand, b: Operand) -> Operand {
        let ty = self.type_of(a);
        match op {
            BinOp::Shl | BinOp::Shr => return self.shift(op, a, b),
            BinOp::Div | BinOp::Rem if ty.is_int() => self.check_division(op, a, b),
            BinOp::Add | BinOp::Sub | BinOp::Mul if ty.is_int() && self.is_checked() => {
                let test = match op {
                    BinOp::Add => BinOp::AddOverflows,
                    BinOp::Sub => BinOp::SubOverflows,
                    _ => BinOp::MulOverflows,
                };
                let wraps = self.binary(test, a, b);
                let ok = self.unary(UnOp::Not, wraps);
                self.check(ok, CheckKind::Overflow(op), vec![a, b]);
            }
            _ => {}
        }
        self.binary(op, a, b)
    }

    /// A shift amount may be of any integer type; it becomes a `u32`.
    fn shift(&mut self, op: BinOp, a: Operand, b: Operand) -> Operand {
        if self.is_checked() {
            let ty = self.type_of(b);
            let width = Operand::Const(ty, u64::from(self.type_of(a).bits()));
            let below = self.binary(BinOp::Lt, b, width);
            let ok = if ty.is_signed() {
                let not_negative = self.binary(BinOp::Ge, b, Operand::Const(ty, 0));
                self.binary(BinOp::And, below, not_negative)
            } else {
                below
            };
            self.check(ok, CheckKind::Overflow(op), vec![a, b]);
        }
        let amount = self.convert(Scalar::U32, b);
        self.binary(op, a, amount)
    }

    /// Division by zero and a quotient that does not fit end the run in every mode, as they do in Rust.
    fn check_division(&mut self, op: BinOp, a: Operand, b: Operand) {
        let ty = self.type_of(a);
        if let Operand::Const(_, bits) = b
            && bits != 0
            && bits != truncate(u64::MAX, ty)
        {
            return;
        }
        let (by_zero, overflow) = match op {
            BinOp::Rem => (CheckKind::RemainderByZero, CheckKind::RemainderOverflow),
            _ => (CheckKind::DivisionByZero, CheckKind::DivisionOverflow),
        };
        let ok = self.binary(BinOp::Ne, b, Operand::Const(ty, 0));
        self.check(ok, by_zero, vec![a]);
        if ty.is_signed() {
            let least = self.binary(BinOp::Ne, a, Operand::Const(ty, 1 << (ty.bits() - 1)));
            let minus_one = self.binary(BinOp::Ne, b, Operand::Const(ty, truncate(u64::MAX, ty)));
            let ok = self.binary(BinOp::Or, least, minus_one);
            self.check(ok, overflow, vec![a, b]);
        }
    }

    pub(super) fn checked_unary(&mut self, op: UnOp, a: Operand) -> Operand {
        let ty = self.type_of(a);
        if matches!(op, UnOp::Neg | UnOp::Abs) && ty.is_int() && self.is_checked() {
            let ok = self.binary(BinOp::Ne, a, Operand::Const(ty, 1 << (ty.bits() - 1)));
            self.check(ok, CheckKind::NegOverflow, vec![a]);
        }
        self.unary(op, a)
    }

    fn zero(ty: Scalar) -> Operand {
        Operand::Const(ty, 0)
    }

    fn one(ty: Scalar) -> Operand {
        match ty {
            Scalar::F32 => Operand::Const(ty, u64::from(1f32.to_bits())),
            Scalar::F64 => Operand::Const(ty, 1f64.to_bits()),
            _ => Operand::Const(ty, 1),
        }
    }

    fn infinity(ty: Scalar) -> Operand {
        match ty {
            Scalar::F32 => Operand::Const(ty, u64::from(f32::INFINITY.to_bits())),
            _ => Operand::Const(ty, f64::INFINITY.to_bits()),
        }
    }

    /// Methods of numbers that are more than one operation.
    pub(super) fn numeric_builtin(&mut self, builtin: Builtin, args: &[Expr]) -> Vec<Operand> {
        let v = self.scalars(args);
        let (a, ty) = (v[0], self.type_of(v[0]));
        let out = match builtin {
            Builtin::Select => self.select(a, v[1], v[2]),
            Builtin::Abs => self.checked_unary(UnOp::Abs, a),
            Builtin::UnsignedAbs => {
                let abs = if ty.is_signed() {
                    self.unary(UnOp::Abs, a)
                } else {
                    a
                };
                self.convert(unsigned(ty), abs)
            }
            Builtin::AbsDiff => {
                let less = self.binary(BinOp::Lt, a, v[1]);
                let (up, down) = (
                    self.binary(BinOp::Sub, v[1], a),
                    self.binary(BinOp::Sub, a, v[1]),
                );
                let diff = self.select(less, up, down);
                self.convert(unsigned(ty), diff)
            }
            Builtin::Signum => self.signum(a, ty),
            Builtin::RemEuclid => self.rem_euclid(a, v[1], ty),
            Builtin::DivEuclid => self.div_euclid(a, v[1], ty),
            Builtin::DivCeil => {
                self.check_division(BinOp::Div, a, v[1]);
                let (q, r) = (
                    self.binary(BinOp::Div, a, v[1]),
                    self.binary(BinOp::Rem, a, v[1]),
                );
                let rest = self.binary(BinOp::Ne, r, Self::zero(ty));
                let more = self.convert(ty, rest);
                self.binary(BinOp::Add, q, more)
            }
            Builtin::IsMultipleOf => {
                let none = self.binary(BinOp::Eq, v[1], Self::zero(ty));
                let by = self.binary(BinOp::Max, v[1], Self::one(ty));
                let rest = self.binary(BinOp::Rem, a, by);
                let rest = self.select(none, a, rest);
                self.binary(BinOp::Eq, rest, Self::zero(ty))
            }
            Builtin::IsPowerOfTwo => {
                let ones = self.unary(UnOp::CountOnes, a);
                self.binary(BinOp::Eq, ones, Operand::Const(Scalar::U32, 1))
            }
            Builtin::NextPowerOfTwo => self.next_power_of_two(a, ty),
            Builtin::Pow if self.is_checked() => self.checked_pow(a, v[1], ty),
            Builtin::Pow => self.binary(BinOp::Pow, a, v[1]),
            Builtin::Ilog2 => {
                let ok = self.binary(BinOp::Gt, a, Self::zero(ty));
                self.check(
                    ok,
                    CheckKind::Assert("`ilog2` of a number that is not positive".into()),
                    Vec::new(),
                );
                let zeros = self.unary(UnOp::LeadingZeros, a);
                self.binary(
                    BinOp::Sub,
                    Operand::Const(Scalar::U32, u64::from(ty.bits()) - 1),
                    zeros,
                )
            }
            Builtin::Ilog => self.ilog(a, v[1], ty),
            Builtin::Isqrt => self.isqrt(a, ty),
            Builtin::NextMultipleOf => {
                self.check_division(BinOp::Rem, a, v[1]);
                let r = self.binary(BinOp::Rem, a, v[1]);
                let whole = self.binary(BinOp::Eq, r, Self::zero(ty));
                let rest = self.binary(BinOp::Sub, v[1], r);
                let rest = self.select(whole, Self::zero(ty), rest);
                self.checked_binary(BinOp::Add, a, rest)
            }
            Builtin::SaturatingMul => {
                let (product, wraps) = (
                    self.binary(BinOp::Mul, a, v[1]),
                    self.binary(BinOp::MulOverflows, a, v[1]),
                );
                let greatest = truncate(u64::MAX, ty) >> u32::from(ty.is_signed());
                let mut bound = Operand::Const(ty, greatest);
                if ty.is_signed() {
                    let signs = self.binary(BinOp::Xor, a, v[1]);
                    let negative = self.binary(BinOp::Lt, signs, Self::zero(ty));
                    bound = self.select(negative, Operand::Const(ty, greatest + 1), bound);
                }
                self.select(wraps, bound, product)
            }
            Builtin::Overflowing(op) => {
                let test = match op {
                    BinOp::Add => BinOp::AddOverflows,
                    BinOp::Sub => BinOp::SubOverflows,
                    _ => BinOp::MulOverflows,
                };
                return vec![self.binary(op, a, v[1]), self.binary(test, a, v[1])];
            }
            Builtin::Clamp => {
                let ordered = self.binary(BinOp::Le, v[1], v[2]);
                let why = "`clamp` to a range whose ends are not in order".into();
                self.check(ordered, CheckKind::Assert(why), Vec::new());
                let below = self.binary(BinOp::Lt, a, v[1]);
                let above = self.binary(BinOp::Gt, a, v[2]);
                let capped = self.select(above, v[2], a);
                self.select(below, v[1], capped)
            }
            _ => return self.float_builtin(builtin, a, ty),
        };
        vec![out]
    }

    /// What only floats have.
    fn float_builtin(&mut self, builtin: Builtin, a: Operand, ty: Scalar) -> Vec<Operand> {
        let out = match builtin {
            Builtin::IsNan => self.binary(BinOp::Ne, a, a),
            Builtin::IsInfinite | Builtin::IsFinite => {
                let abs = self.unary(UnOp::Abs, a);
                let op = if builtin == Builtin::IsFinite {
                    BinOp::Lt
                } else {
                    BinOp::Eq
                };
                self.binary(op, abs, Self::infinity(ty))
            }
            Builtin::IsSignNegative => {
                let bits = if ty == Scalar::F32 {
                    Scalar::I32
                } else {
                    Scalar::I64
                };
                let raw = self.assign_new(bits, Rvalue::Bitcast(bits, a));
                self.binary(BinOp::Lt, raw, Self::zero(bits))
            }
            Builtin::Fract => {
                let whole = self.unary(UnOp::Trunc, a);
                self.binary(BinOp::Sub, a, whole)
            }
            Builtin::Recip => self.binary(BinOp::Div, Self::one(ty), a),
            // The factors of `std`.
            Builtin::ToDegrees => self.scale(a, ty, [180.0 / std::f64::consts::PI; 2]),
            Builtin::ToRadians => self.scale(
                a,
                ty,
                [
                    f64::from(std::f32::consts::PI / 180.0),
                    std::f64::consts::PI / 180.0,
                ],
            ),
            Builtin::SinCos => return vec![self.unary(UnOp::Sin, a), self.unary(UnOp::Cos, a)],
            _ => a,
        };
        vec![out]
    }

    /// The product with a factor that differs between `f32` and `f64`.
    fn scale(&mut self, a: Operand, ty: Scalar, [single, double]: [f64; 2]) -> Operand {
        let bits = if ty == Scalar::F32 {
            u64::from((single as f32).to_bits())
        } else {
            double.to_bits()
        };
        self.binary(BinOp::Mul, a, Operand::Const(ty, bits))
    }

    /// How often a number can be divided by the base until nothing is left, less one.
    fn ilog(&mut self, a: Operand, base: Operand, ty: Scalar) -> Operand {
        let ok = self.binary(BinOp::Gt, a, Self::zero(ty));
        self.check(
            ok,
            CheckKind::Assert("`ilog` of a number that is not positive".into()),
            Vec::new(),
        );
        let ok = self.binary(BinOp::Gt, base, Self::one(ty));
        self.check(
            ok,
            CheckKind::Assert("the base of `ilog` is at least 2".into()),
            Vec::new(),
        );
        let (rest, log) = (self.local(ty), self.local(Scalar::U32));
        self.assign(rest, Rvalue::Use(a));
        self.assign(log, Rvalue::Use(Self::zero(Scalar::U32)));
        let (head, body, done) = (self.block(), self.block(), self.block());
        self.goto(head);
        self.switch_to(head);
        let more = self.binary(BinOp::Ge, Operand::Local(rest), base);
        self.branch_to(more, body, done);
        self.switch_to(body);
        self.assign(rest, Rvalue::Binary(BinOp::Div, Operand::Local(rest), base));
        self.assign(
            log,
            Rvalue::Binary(BinOp::Add, Operand::Local(log), Self::one(Scalar::U32)),
        );
        self.goto(head);
        self.switch_to(done);
        Operand::Local(log)
    }

    /// The root of the nearest `f64` is the one of the number or, where the number was rounded up to a square, one more.
    fn isqrt(&mut self, a: Operand, ty: Scalar) -> Operand {
        if ty.is_signed() {
            let ok = self.binary(BinOp::Ge, a, Self::zero(ty));
            self.check(
                ok,
                CheckKind::Assert("`isqrt` of a negative number".into()),
                Vec::new(),
            );
        }
        let wide = self.convert(Scalar::U64, a);
        let float = self.convert(Scalar::F64, wide);
        let root = self.unary(UnOp::Sqrt, float);
        let root = self.convert(Scalar::U64, root);
        let divisor = self.binary(BinOp::Max, root, Self::one(Scalar::U64));
        let quotient = self.binary(BinOp::Div, wide, divisor);
        let above = self.binary(BinOp::Gt, root, quotient);
        let above = self.convert(Scalar::U64, above);
        let root = self.binary(BinOp::Sub, root, above);
        self.convert(ty, root)
    }

    fn signum(&mut self, a: Operand, ty: Scalar) -> Operand {
        if ty.is_float() {
            // A NaN stays what it is; a zero has the sign of its bit.
            let one = self.binary(BinOp::Copysign, Self::one(ty), a);
            let nan = self.binary(BinOp::Ne, a, a);
            return self.select(nan, a, one);
        }
        let up = self.binary(BinOp::Gt, a, Self::zero(ty));
        let down = self.binary(BinOp::Lt, a, Self::zero(ty));
        let (up, down) = (self.convert(ty, up), self.convert(ty, down));
        self.binary(BinOp::Sub, up, down)
    }

    fn rem_euclid(&mut self, a: Operand, b: Operand, ty: Scalar) -> Operand {
        if ty.is_int() {
            self.check_division(BinOp::Rem, a, b);
        }
        let r = self.binary(BinOp::Rem, a, b);
        if ty.is_int() && !ty.is_signed() {
            return r;
        }
        let negative = self.binary(BinOp::Lt, r, Self::zero(ty));
        let abs = self.unary(UnOp::Abs, b);
        let lifted = self.binary(BinOp::Add, r, abs);
        self.select(negative, lifted, r)
    }

    fn div_euclid(&mut self, a: Operand, b: Operand, ty: Scalar) -> Operand {
        if ty.is_int() {
            self.check_division(BinOp::Div, a, b);
        }
        let q = self.binary(BinOp::Div, a, b);
        if ty.is_int() && !ty.is_signed() {
            return q;
        }
        let q = if ty.is_float() {
            self.unary(UnOp::Trunc, q)
        } else {
            q
        };
        let r = self.binary(BinOp::Rem, a, b);
        let negative = self.binary(BinOp::Lt, r, Self::zero(ty));
        let positive_divisor = self.binary(BinOp::Gt, b, Self::zero(ty));
        let (less, more) = (
            self.binary(BinOp::Sub, q, Self::one(ty)),
            self.binary(BinOp::Add, q, Self::one(ty)),
        );
        let adjusted = self.select(positive_divisor, less, more);
        self.select(negative, adjusted, q)
    }

    /// The least power of two that is not below `a`: 1 for 0 and 1. One that does not fit wraps to 0, or is an error in checked mode.
    fn next_power_of_two(&mut self, a: Operand, ty: Scalar) -> Operand {
        let small = self.binary(BinOp::Le, a, Self::one(ty));
        let below = self.binary(BinOp::Sub, a, Self::one(ty));
        let zeros = self.unary(UnOp::LeadingZeros, below);
        let all = Operand::Const(ty, truncate(u64::MAX, ty));
        let mask = self.binary(BinOp::Shr, all, zeros);
        let next = self.binary(BinOp::Add, mask, Self::one(ty));
        let next = self.select(small, Self::one(ty), next);
        if self.is_checked() {
            let ok = self.binary(BinOp::Ne, next, Self::zero(ty));
            self.check(
                ok,
                CheckKind::Overflow(BinOp::Add),
                vec![mask, Self::one(ty)],
            );
        }
        next
    }

    /// Repeated squaring with each product checked.
    fn checked_pow(&mut self, base: Operand, exponent: Operand, ty: Scalar) -> Operand {
        let (result, b, e) = (self.local(ty), self.local(ty), self.local(Scalar::U32));
        self.assign(result, Rvalue::Use(Self::one(ty)));
        self.assign(b, Rvalue::Use(base));
        self.assign(e, Rvalue::Use(exponent));
        let (result, b, e) = (Operand::Local(result), Operand::Local(b), Operand::Local(e));
        let set = |this: &mut Self, to: Operand, value: Operand| {
            if let Operand::Local(id) = to {
                this.assign(id, Rvalue::Use(value));
            }
        };
        let (head, body, odd, halve, square, done) = (
            self.block(),
            self.block(),
            self.block(),
            self.block(),
            self.block(),
            self.block(),
        );
        self.goto(head);
        self.switch_to(head);
        let more = self.binary(BinOp::Ne, e, Self::zero(Scalar::U32));
        self.branch_to(more, body, done);
        self.switch_to(body);
        let low = self.binary(BinOp::And, e, Self::one(Scalar::U32));
        let is_odd = self.binary(BinOp::Ne, low, Self::zero(Scalar::U32));
        self.branch_to(is_odd, odd, halve);
        self.switch_to(odd);
        let product = self.checked_binary(BinOp::Mul, result, b);
        set(self, result, product);
        self.goto(halve);
        self.switch_to(halve);
        let half = self.binary(BinOp::Shr, e, Self::one(Scalar::U32));
        set(self, e, half);
        let again = self.binary(BinOp::Ne, e, Self::zero(Scalar::U32));
        self.branch_to(again, square, done);
        self.switch_to(square);
        let squared = self.checked_binary(BinOp::Mul, b, b);
        set(self, b, squared);
        self.goto(head);
        self.switch_to(done);
        result
    }
}

const fn unsigned(ty: Scalar) -> Scalar {
    match ty {
        Scalar::I8 => Scalar::U8,
        Scalar::I16 => Scalar::U16,
        Scalar::I32 => Scalar::U32,
        Scalar::I64 => Scalar::U64,
        Scalar::Isize => Scalar::Usize,
        other => other,
    }
}
