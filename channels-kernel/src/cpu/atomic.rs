//! Atomic operations on the program's memory. All are sequentially consistent: at least as strong as any order the program names.

use super::body::{Gen, MEMORY, clif};
use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, MemFlagsData, Type, Value, types};
use millstream_graph::{
    ir::{AtomicOp, LocalId, Operand},
    ty::Scalar,
};

impl Gen<'_, '_> {
    pub(super) fn atomic(
        &mut self,
        op: AtomicOp,
        ty: Scalar,
        addr: Operand,
        args: &[Operand],
        dst: Option<LocalId>,
    ) {
        let addr = self.operand(addr);
        // Memory holds bits: floats travel as integers.
        let bits = match ty {
            Scalar::F32 => types::I32,
            Scalar::F64 => types::I64,
            other => clif(other),
        };
        let args: Vec<Value> = args
            .iter()
            .map(|&a| {
                let value = self.operand(a);
                self.as_bits(bits, value)
            })
            .collect();
        let old = match op {
            AtomicOp::Load => self.b.ins().atomic_load(bits, MEMORY, addr),
            AtomicOp::Store => {
                self.b.ins().atomic_store(MEMORY, args[0], addr);
                return;
            }
            AtomicOp::CompareExchange => self.b.ins().atomic_cas(MEMORY, addr, args[0], args[1]),
            AtomicOp::Nand if ty == Scalar::Bool => self.atomic_bool_nand(addr, args[0]),
            _ => self
                .b
                .ins()
                .atomic_rmw(bits, MEMORY, rmw(op, ty), addr, args[0]),
        };
        if let Some(dst) = dst {
            let old = if clif(ty) == bits {
                old
            } else {
                self.b.ins().bitcast(clif(ty), MemFlagsData::new(), old)
            };
            self.set(dst, old);
        }
    }

    fn as_bits(&mut self, bits: Type, value: Value) -> Value {
        if self.b.func.dfg.value_type(value) == bits {
            value
        } else {
            self.b.ins().bitcast(bits, MemFlagsData::new(), value)
        }
    }

    /// A byte's nand would not be a `bool`: with `true` it is a complement, with `false` always `true`.
    fn atomic_bool_nand(&mut self, addr: Value, arg: Value) -> Value {
        let (flip, set, after) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let result = self.b.append_block_param(after, types::I8);
        self.b.ins().brif(arg, flip, &[], set, &[]);
        for (block, op) in [(flip, AtomicRmwOp::Xor), (set, AtomicRmwOp::Or)] {
            self.b.switch_to_block(block);
            let one = self.b.ins().iconst(types::I8, 1);
            let old = self.b.ins().atomic_rmw(types::I8, MEMORY, op, addr, one);
            self.b.ins().jump(after, &[old.into()]);
        }
        self.b.switch_to_block(after);
        result
    }
}

fn rmw(op: AtomicOp, ty: Scalar) -> AtomicRmwOp {
    match op {
        AtomicOp::Swap => AtomicRmwOp::Xchg,
        AtomicOp::Add => AtomicRmwOp::Add,
        AtomicOp::Sub => AtomicRmwOp::Sub,
        AtomicOp::And => AtomicRmwOp::And,
        AtomicOp::Or => AtomicRmwOp::Or,
        AtomicOp::Xor => AtomicRmwOp::Xor,
        AtomicOp::Nand => AtomicRmwOp::Nand,
        AtomicOp::Min if ty.is_signed() => AtomicRmwOp::Smin,
        AtomicOp::Min => AtomicRmwOp::Umin,
        AtomicOp::Max if ty.is_signed() => AtomicRmwOp::Smax,
        AtomicOp::Max => AtomicRmwOp::Umax,
        AtomicOp::Load | AtomicOp::Store | AtomicOp::CompareExchange => {
            unreachable!("`{}` does not read and write back", op.name())
        }
    }
}
