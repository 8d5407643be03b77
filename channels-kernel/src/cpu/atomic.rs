//! Atomic operations on the program's memory. All but stores are sequentially consistent: at least as strong as any order that the program names, and
//! on x86-64 it costs nothing, since a load is a plain one in any order, and what reads and writes back locks the line in any order.
//!
//! A store is what it is named. Sequentially consistent, it is an exchange there, which waits until all stores before it are seen. Where less is named it is a
//! plain store, and that is enough for two reasons:
//! - *The processor*: what is aligned and has at most 8 bytes is stored at once, and an x86-64 makes stores seen in the order of the program, after what was
//!   read and written before. Elsewhere that is so for `Relaxed` only, and `Release` is an atomic store.
//! - *The compiler*: Cranelift keeps stores and loads that may change where they stand to one another, and takes a store that names no alias region, as all of ours,
//!   for a fence: nothing that memory held before is reckoned to be there afterwards, and no store before it is left out as overwritten. What it may leave out is a
//!   second store of one value to one place with no access between them that others could take part in, which is as if both had happened at once. Loads are atomic
//!   in its eyes and never left out, so a loop that waits sees what others store.

use super::body::{Gen, MEMORY, clif};
use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, MemFlagsData, Type, Value, types};
use millstream_graph::{
    ir::{AtomicOp, LocalId, Operand, Order},
    ty::Scalar,
};

impl Gen<'_, '_> {
    pub(super) fn atomic(
        &mut self,
        (op, order): (AtomicOp, Order),
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
            AtomicOp::Store if is_plain(order) => {
                self.b.ins().store(MEMORY, args[0], addr, 0);
                return;
            }
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

/// Whether a store in this order is a plain one of this computer.
const fn is_plain(order: Order) -> bool {
    match order {
        Order::Relaxed => true,
        Order::Release => cfg!(target_arch = "x86_64"),
        Order::Acquire | Order::AcqRel | Order::SeqCst => false,
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
