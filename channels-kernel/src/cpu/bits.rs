//! Operations on one integer or `bool`.

use super::body::{Gen, clif};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use millstream_graph::{ir::UnOp, ty::Scalar};

impl Gen<'_, '_> {
    pub(super) fn int_unary(&mut self, op: UnOp, ty: Scalar, a: Value) -> Value {
        match op {
            UnOp::Neg => self.b.ins().ineg(a),
            UnOp::Not if ty == Scalar::Bool => self.b.ins().bxor_imm_u(a, 1),
            UnOp::Not => self.b.ins().bnot(a),
            UnOp::Abs if ty.is_signed() => self.b.ins().iabs(a),
            UnOp::Abs => a,
            UnOp::CountOnes => {
                let n = self.b.ins().popcnt(a);
                self.count(ty, n)
            }
            UnOp::LeadingZeros => {
                let n = self.b.ins().clz(a);
                self.count(ty, n)
            }
            UnOp::TrailingZeros => {
                let n = self.b.ins().ctz(a);
                self.count(ty, n)
            }
            UnOp::SwapBytes if ty.size() == 1 => a,
            UnOp::SwapBytes => self.b.ins().bswap(a),
            UnOp::ReverseBits => self.b.ins().bitrev(a),
            _ => unreachable!("`{}` is for floats", op.name()),
        }
    }

    /// A number of bits, as a `u32`.
    fn count(&mut self, ty: Scalar, n: Value) -> Value {
        match clif(ty) {
            types::I64 => self.b.ins().ireduce(types::I32, n),
            types::I32 => n,
            _ => self.b.ins().uextend(types::I32, n),
        }
    }
}
