//! Values: what an assignment computes.

use super::body::{Gen, MEMORY, clif};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_module::Module;
use millstream_graph::{
    ir::{BinOp, Operand, Rvalue},
    ty::Scalar,
};

impl Gen<'_, '_> {
    pub(super) fn rvalue(&mut self, value: &Rvalue) -> Value {
        match value {
            Rvalue::Use(a) => self.operand(*a),
            Rvalue::Unary(op, a) => {
                let ty = self.type_of(*a);
                let a = self.operand(*a);
                if ty.is_float() {
                    self.float_unary(*op, ty, a)
                } else {
                    self.int_unary(*op, ty, a)
                }
            }
            Rvalue::Binary(op, a, b) => self.binary_operands(*op, *a, *b),
            Rvalue::MulAdd(a, b, c) => {
                let ty = self.type_of(*a);
                let (a, b, c) = (self.operand(*a), self.operand(*b), self.operand(*c));
                if ty.is_float() {
                    return self.b.ins().fma(a, b, c);
                }
                let product = self.b.ins().imul(a, b);
                self.b.ins().iadd(product, c)
            }
            Rvalue::Select(cond, a, b) => {
                let (cond, a, b) = (self.operand(*cond), self.operand(*a), self.operand(*b));
                self.b.ins().select(cond, a, b)
            }
            Rvalue::Cast(to, a) => {
                let from = self.type_of(*a);
                let a = self.operand(*a);
                self.cast(from, *to, a)
            }
            Rvalue::Bitcast(to, a) => {
                let from = self.type_of(*a);
                let a = self.operand(*a);
                if clif(from) == clif(*to) {
                    a
                } else {
                    self.b.ins().bitcast(clif(*to), MemFlagsData::new(), a)
                }
            }
            Rvalue::Load { ty, addr, offset } => {
                if let Some(var) = self.register_of(*addr) {
                    return self.b.use_var(var);
                }
                let addr = self.operand(*addr);
                let (addr, at) = self.displaced(addr, *offset);
                self.b.ins().load(clif(*ty), MEMORY, addr, at)
            }
            Rvalue::SlotAddr(slot) => self.slot_addr(*slot),
            Rvalue::Wide => unreachable!("the lowering has decided for each device"),
            // Of a program that was lowered for a GPU.
            Rvalue::Lanes => self.b.ins().iconst(types::I64, 1),
            Rvalue::DataAddr(data) => {
                let id = self.unit.data[data.index()];
                let global = self.unit.module.declare_data_in_func(id, self.b.func);
                self.b.ins().symbol_value(types::I64, global)
            }
            Rvalue::Uniform { id, ty } => {
                let slot = self.uniforms[id];
                self.b.ins().stack_load(types::I64, clif(*ty), slot, 0)
            }
            Rvalue::PtrAdd {
                base,
                index,
                scale,
                offset,
            } => self.ptr_add(*base, *index, *scale, *offset),
            Rvalue::FrameLoad(field) => self.frame_load(*field),
            Rvalue::FrameAddr(field) => self.frame_addr(*field),
        }
    }

    fn ptr_add(&mut self, base: Operand, index: Operand, scale: u64, offset: u64) -> Value {
        let mut addr = self.operand(base);
        let mut offset = offset;
        if let Operand::Const(_, index) = index {
            offset = offset.wrapping_add(index.wrapping_mul(scale));
        } else if scale > 0 {
            let index = self.operand(index);
            let scaled = self.scaled(index, scale);
            addr = self.b.ins().iadd(addr, scaled);
        }
        if offset == 0 {
            addr
        } else {
            self.b.ins().iadd_imm_u(addr, offset as i64)
        }
    }

    fn binary_operands(&mut self, op: BinOp, a: Operand, b: Operand) -> Value {
        let ty = self.type_of(a);
        if let (BinOp::Pow | BinOp::Powi, Operand::Const(second, bits)) = (op, b) {
            let power = if second == Scalar::I32 {
                i64::from(bits as u32 as i32)
            } else {
                bits as i64
            };
            if power.unsigned_abs() <= 64 {
                let a = self.operand(a);
                return self.constant_power(ty, a, power);
            }
        }
        let (a, b) = (self.operand(a), self.operand(b));
        self.binary(op, ty, a, b)
    }

    /// An operation on two operands of which the first has this type.
    pub(super) fn binary(&mut self, op: BinOp, ty: Scalar, a: Value, b: Value) -> Value {
        if ty.is_float() {
            self.float_binary(op, ty, a, b)
        } else {
            self.int_binary(op, ty, a, b)
        }
    }

    /// A small constant power, in the order of multiplications of [`millstream_graph::eval::powi_f64`].
    fn constant_power(&mut self, ty: Scalar, a: Value, power: i64) -> Value {
        let one = match ty {
            Scalar::F32 => self.b.ins().f32const(1.0),
            Scalar::F64 => self.b.ins().f64const(1.0),
            _ => self.b.ins().iconst(clif(ty), 1),
        };
        let mul = |g: &mut Self, x, y| {
            if ty.is_float() {
                g.b.ins().fmul(x, y)
            } else {
                g.b.ins().imul(x, y)
            }
        };
        let (mut result, mut square, mut rest) = (None, a, power.unsigned_abs());
        while rest > 0 {
            if rest & 1 == 1 {
                result = Some(match result {
                    Some(r) => mul(self, r, square),
                    None => square,
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = mul(self, square, square);
            }
        }
        let result = result.unwrap_or(one);
        if power < 0 {
            self.b.ins().fdiv(one, result)
        } else {
            result
        }
    }
}
