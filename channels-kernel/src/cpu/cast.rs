//! Rust's `as`.

use super::body::{Gen, clif};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use millstream_graph::ty::Scalar;

impl Gen<'_, '_> {
    pub(super) fn cast(&mut self, from: Scalar, to: Scalar, a: Value) -> Value {
        match (from.is_float(), to.is_float()) {
            (false, false) => self.int_to_int(from, to, a),
            (false, true) => self.int_to_float(from, to, a),
            (true, false) => self.float_to_int(to, a),
            (true, true) => match (from, to) {
                (Scalar::F32, Scalar::F64) => self.b.ins().fpromote(types::F64, a),
                (Scalar::F64, Scalar::F32) => self.b.ins().fdemote(types::F32, a),
                _ => a,
            },
        }
    }

    fn int_to_int(&mut self, from: Scalar, to: Scalar, a: Value) -> Value {
        let ty = clif(to);
        if from.size() > to.size() {
            self.b.ins().ireduce(ty, a)
        } else if from.size() == to.size() {
            a
        } else if from.is_signed() {
            self.b.ins().sextend(ty, a)
        } else {
            self.b.ins().uextend(ty, a)
        }
    }

    fn int_to_float(&mut self, from: Scalar, to: Scalar, a: Value) -> Value {
        // Narrow integers fit the signed 32 bits that every computer converts.
        let a = match (from.size(), from.is_signed()) {
            (1 | 2, true) => self.b.ins().sextend(types::I32, a),
            (1 | 2, false) => self.b.ins().uextend(types::I32, a),
            _ => a,
        };
        let signed = from.is_signed() || from.size() < 4;
        if signed {
            self.b.ins().fcvt_from_sint(clif(to), a)
        } else {
            self.b.ins().fcvt_from_uint(clif(to), a)
        }
    }

    /// Saturates; NaN becomes 0.
    fn float_to_int(&mut self, to: Scalar, a: Value) -> Value {
        let wide = if to.size() == 8 {
            types::I64
        } else {
            types::I32
        };
        let value = if to.is_signed() {
            self.b.ins().fcvt_to_sint_sat(wide, a)
        } else {
            self.b.ins().fcvt_to_uint_sat(wide, a)
        };
        if to.size() >= 4 {
            return value;
        }
        // Held at the bounds of the narrow type.
        let bits = to.bits();
        let value = if to.is_signed() {
            let (low, high) = (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1);
            let (low, high) = (
                self.b.ins().iconst(wide, low & 0xffff_ffff),
                self.b.ins().iconst(wide, high),
            );
            let value = self.b.ins().smax(value, low);
            self.b.ins().smin(value, high)
        } else {
            let high = self.b.ins().iconst(wide, (1i64 << bits) - 1);
            self.b.ins().umin(value, high)
        };
        self.b.ins().ireduce(clif(to), value)
    }
}
