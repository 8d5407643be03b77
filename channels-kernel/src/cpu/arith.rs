//! Arithmetic and comparison of integers, `bool` and addresses.

use super::body::{Gen, clif};
use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};
use millstream_graph::{ir::BinOp, ty::Scalar};

impl Gen<'_, '_> {
    pub(super) fn int_binary(&mut self, op: BinOp, ty: Scalar, a: Value, b: Value) -> Value {
        let signed = ty.is_signed();
        match op {
            BinOp::Add => self.b.ins().iadd(a, b),
            BinOp::Sub => self.b.ins().isub(a, b),
            BinOp::Mul => self.b.ins().imul(a, b),
            BinOp::Div if signed => self.b.ins().sdiv(a, b),
            BinOp::Div => self.b.ins().udiv(a, b),
            BinOp::Rem if signed => self.b.ins().srem(a, b),
            BinOp::Rem => self.b.ins().urem(a, b),
            BinOp::And => self.b.ins().band(a, b),
            BinOp::Or => self.b.ins().bor(a, b),
            BinOp::Xor => self.b.ins().bxor(a, b),
            // Cranelift takes amounts modulo the width, too.
            BinOp::Shl => self.b.ins().ishl(a, b),
            BinOp::Shr if signed => self.b.ins().sshr(a, b),
            BinOp::Shr => self.b.ins().ushr(a, b),
            BinOp::RotateLeft => self.b.ins().rotl(a, b),
            BinOp::RotateRight => self.b.ins().rotr(a, b),
            BinOp::Min if signed => self.b.ins().smin(a, b),
            BinOp::Min => self.b.ins().umin(a, b),
            BinOp::Max if signed => self.b.ins().smax(a, b),
            BinOp::Max => self.b.ins().umax(a, b),
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                self.int_compare(op, signed, a, b)
            }
            BinOp::AddOverflows | BinOp::SubOverflows => self.sum_overflows(op, signed, a, b),
            BinOp::MulOverflows => self.product_overflows(ty, a, b),
            BinOp::SaturatingAdd | BinOp::SaturatingSub => self.saturating(op, ty, a, b),
            BinOp::Pow => {
                let base = self.widen(ty, a);
                let power = self
                    .libcall("int.pow", &[base, b])
                    .expect("a power has a result");
                self.narrow(ty, power)
            }
            BinOp::Powi | BinOp::Powf | BinOp::Atan2 | BinOp::Hypot | BinOp::Copysign => {
                unreachable!("`{}` is for floats", op.name())
            }
        }
    }

    fn int_compare(&mut self, op: BinOp, signed: bool, a: Value, b: Value) -> Value {
        let code = match (op, signed) {
            (BinOp::Eq, _) => IntCC::Equal,
            (BinOp::Ne, _) => IntCC::NotEqual,
            (BinOp::Lt, true) => IntCC::SignedLessThan,
            (BinOp::Le, true) => IntCC::SignedLessThanOrEqual,
            (BinOp::Gt, true) => IntCC::SignedGreaterThan,
            (BinOp::Ge, true) => IntCC::SignedGreaterThanOrEqual,
            (BinOp::Lt, false) => IntCC::UnsignedLessThan,
            (BinOp::Le, false) => IntCC::UnsignedLessThanOrEqual,
            (BinOp::Gt, false) => IntCC::UnsignedGreaterThan,
            _ => IntCC::UnsignedGreaterThanOrEqual,
        };
        self.b.ins().icmp(code, a, b)
    }

    /// To 64 bits, by the type's sign.
    fn widen(&mut self, ty: Scalar, a: Value) -> Value {
        match (ty.size(), ty.is_signed()) {
            (8, _) => a,
            (_, true) => self.b.ins().sextend(types::I64, a),
            (_, false) => self.b.ins().uextend(types::I64, a),
        }
    }

    fn narrow(&mut self, ty: Scalar, a: Value) -> Value {
        if ty.size() == 8 {
            a
        } else {
            self.b.ins().ireduce(clif(ty), a)
        }
    }

    fn sum_overflows(&mut self, op: BinOp, signed: bool, a: Value, b: Value) -> Value {
        match (op, signed) {
            (BinOp::AddOverflows, true) => self.b.ins().sadd_overflow(a, b).1,
            (_, true) => self.b.ins().ssub_overflow(a, b).1,
            (BinOp::AddOverflows, false) => {
                let sum = self.b.ins().iadd(a, b);
                self.b.ins().icmp(IntCC::UnsignedLessThan, sum, a)
            }
            (_, false) => self.b.ins().icmp(IntCC::UnsignedLessThan, a, b),
        }
    }

    fn product_overflows(&mut self, ty: Scalar, a: Value, b: Value) -> Value {
        if ty.size() < 8 {
            // The product fits 64 bits: does it fit the type?
            let (a, b) = (self.widen(ty, a), self.widen(ty, b));
            let product = self.b.ins().imul(a, b);
            let low = self.narrow(ty, product);
            let again = self.widen(ty, low);
            return self.b.ins().icmp(IntCC::NotEqual, product, again);
        }
        if ty.is_signed() {
            let (low, high) = (self.b.ins().imul(a, b), self.b.ins().smulhi(a, b));
            let sign = self.b.ins().sshr_imm_u(low, 63);
            self.b.ins().icmp(IntCC::NotEqual, high, sign)
        } else {
            let high = self.b.ins().umulhi(a, b);
            let zero = self.b.ins().iconst(types::I64, 0);
            self.b.ins().icmp(IntCC::NotEqual, high, zero)
        }
    }

    fn saturating(&mut self, op: BinOp, ty: Scalar, a: Value, b: Value) -> Value {
        let add = op == BinOp::SaturatingAdd;
        let wrapped = if add {
            self.b.ins().iadd(a, b)
        } else {
            self.b.ins().isub(a, b)
        };
        let test = if add {
            BinOp::AddOverflows
        } else {
            BinOp::SubOverflows
        };
        let over = self.sum_overflows(test, ty.is_signed(), a, b);
        let bits = ty.bits();
        let bound = if ty.is_signed() {
            // The first operand's sign says which bound was passed.
            let (low, high) = (
                self.constant(ty, 1 << (bits - 1)),
                self.constant(ty, (1 << (bits - 1)) - 1),
            );
            let zero = self.constant(ty, 0);
            let negative = self.b.ins().icmp(IntCC::SignedLessThan, a, zero);
            self.b.ins().select(negative, low, high)
        } else {
            self.constant(ty, if add { u64::MAX } else { 0 })
        };
        self.b.ins().select(over, bound, wrapped)
    }
}
