//! Floating point, to the bits of Rust's: nothing is contracted, nothing reordered.

use super::body::Gen;
use cranelift_codegen::ir::{InstBuilder, Value, condcodes::FloatCC};
use millstream_graph::{
    ir::{BinOp, UnOp},
    ty::Scalar,
};

impl Gen<'_, '_> {
    pub(super) fn float_unary(&mut self, op: UnOp, ty: Scalar, a: Value) -> Value {
        match op {
            UnOp::Neg => self.b.ins().fneg(a),
            UnOp::Abs => self.b.ins().fabs(a),
            UnOp::Sqrt => self.b.ins().sqrt(a),
            UnOp::Floor => self.b.ins().floor(a),
            UnOp::Ceil => self.b.ins().ceil(a),
            UnOp::Trunc => self.b.ins().trunc(a),
            UnOp::RoundTiesEven => self.b.ins().nearest(a),
            UnOp::Round => self.round(ty, a),
            _ => self.float_library(op.name(), ty, &[a]),
        }
    }

    pub(super) fn float_binary(&mut self, op: BinOp, ty: Scalar, a: Value, b: Value) -> Value {
        match op {
            BinOp::Add => self.b.ins().fadd(a, b),
            BinOp::Sub => self.b.ins().fsub(a, b),
            BinOp::Mul => self.b.ins().fmul(a, b),
            BinOp::Div => self.b.ins().fdiv(a, b),
            BinOp::Min => self.lesser(FloatCC::LessThan, a, b),
            BinOp::Max => self.lesser(FloatCC::GreaterThan, a, b),
            BinOp::Copysign => self.b.ins().fcopysign(a, b),
            BinOp::Eq => self.b.ins().fcmp(FloatCC::Equal, a, b),
            BinOp::Ne => self.b.ins().fcmp(FloatCC::NotEqual, a, b),
            BinOp::Lt => self.b.ins().fcmp(FloatCC::LessThan, a, b),
            BinOp::Le => self.b.ins().fcmp(FloatCC::LessThanOrEqual, a, b),
            BinOp::Gt => self.b.ins().fcmp(FloatCC::GreaterThan, a, b),
            BinOp::Ge => self.b.ins().fcmp(FloatCC::GreaterThanOrEqual, a, b),
            _ => self.float_library(op.name(), ty, &[a, b]),
        }
    }

    fn float_library(&mut self, op: &str, ty: Scalar, args: &[Value]) -> Value {
        self.libcall(&format!("{ty}.{op}"), args)
            .expect("float functions have a result")
    }

    /// The lesser (or greater, as `less` says), a number if either is one; -0.0 is less than 0.0.
    fn lesser(&mut self, less: FloatCC, a: Value, b: Value) -> Value {
        // These two differ only where the operands are zeros of different signs, or not both numbers.
        let (a_first, b_first) = (self.b.ins().fcmp(less, a, b), self.b.ins().fcmp(less, b, a));
        let (x, y) = (
            self.b.ins().select(a_first, a, b),
            self.b.ins().select(b_first, b, a),
        );
        let pick = if less == FloatCC::LessThan {
            self.b.ins().bor(x, y)
        } else {
            self.b.ins().band(x, y)
        };
        let (nan, b_nan) = (
            self.b.ins().fcmp(FloatCC::Unordered, a, b),
            self.b.ins().fcmp(FloatCC::Unordered, b, b),
        );
        let number = self.b.ins().select(b_nan, a, b);
        self.b.ins().select(nan, number, pick)
    }

    /// To nearest, half away from zero: adds the largest number below one half, so that a sum that rounds up is still below the
    /// next integer unless the operand was half way to it.
    fn round(&mut self, ty: Scalar, a: Value) -> Value {
        let below_half = if ty == Scalar::F32 {
            let half = self.b.ins().f32const(0.5f32.next_down());
            self.b.ins().fcopysign(half, a)
        } else {
            let half = self.b.ins().f64const(0.5f64.next_down());
            self.b.ins().fcopysign(half, a)
        };
        let sum = self.b.ins().fadd(a, below_half);
        self.b.ins().trunc(sum)
    }
}
