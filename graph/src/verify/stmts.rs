//! Rules 8 to 15 and 17: each statement, value and terminator on its own.

use super::{Checker, passed};
use crate::{
    eval::truncate,
    ir::{
        AtomicOp, BinOp, BlockId, CheckKind, Combine, Dest, FuncId, FunctionKind, LocalId, Operand,
        Order, Rvalue, StmtKind, Terminator,
    },
    ty::{PieceKind, Scalar},
};
use std::collections::BTreeSet;

impl Checker<'_> {
    pub(super) fn check_stmt(&mut self, stmt: &StmtKind) {
        match stmt {
            StmtKind::Assign { dst, value } => {
                let dst = self.local(*dst);
                let value = self.check_rvalue(value);
                if let (Some(dst), Some(value)) = (dst, value)
                    && dst != value
                {
                    self.fail(format!("a value of type {value} for a local of type {dst}"));
                }
            }
            StmtKind::Store { addr, value, .. } => {
                self.expect(*addr, Scalar::Ptr, "the address");
                self.operand(*value);
            }
            StmtKind::Copy { dst, src, .. } => {
                self.expect(*dst, Scalar::Ptr, "the destination");
                self.expect(*src, Scalar::Ptr, "the source");
            }
            StmtKind::Zero { dst, .. } => self.expect(*dst, Scalar::Ptr, "the destination"),
            StmtKind::Call {
                func,
                args,
                dst,
                ret_addr,
            } => self.check_call(*func, args, *dst, *ret_addr),
            StmtKind::Spawn {
                func,
                args,
                dest,
                leaf,
            } => {
                self.check_spawn(*func, args, *dest);
                if let Some(leaf) = leaf {
                    self.check_leaf(*leaf);
                }
            }
            StmtKind::Emit { channel, args } => self.check_emit(*channel, args),
            StmtKind::Check { cond, kind, values } => self.check_check(*cond, kind, values),
            StmtKind::Atomic {
                op,
                ty,
                addr,
                args,
                dst,
                order,
            } => {
                self.expect(*addr, Scalar::Ptr, "the address");
                self.check_atomic(*op, *ty, args, *dst, *order);
            }
            StmtKind::FrameAlloc => self.check_frame_alloc(),
            StmtKind::FrameStore { field, value } => {
                let field = self.frame_field(*field);
                let value = self.operand(*value);
                if let (Some(field), Some(value)) = (field, value) {
                    self.check_field_type(field, value);
                }
            }
        }
    }

    /// The callee's signature, if it is there; its arguments are checked.
    fn callee(
        &mut self,
        func: FuncId,
        args: &[Operand],
        kind: FunctionKind,
    ) -> Option<super::Signature> {
        let Some(function) = self.program.functions.get(func.index()) else {
            self.fail(format!("there is no function {func}"));
            return None;
        };
        if function.kind != kind {
            self.fail(if kind == FunctionKind::Task {
                "only tasks are spawned"
            } else {
                "only helpers are called"
            });
        }
        let signature = self.signature(function);
        self.expect_all(args, &signature.args, "argument");
        Some(signature)
    }

    fn check_call(
        &mut self,
        func: FuncId,
        args: &[Operand],
        dst: Option<LocalId>,
        ret_addr: Option<Operand>,
    ) {
        let Some(signature) = self.callee(func, args, FunctionKind::Helper) else {
            return;
        };
        if let Some(addr) = ret_addr {
            self.expect(addr, Scalar::Ptr, "the address of the result");
        }
        let dst = match dst {
            Some(dst) => match self.local(dst) {
                Some(ty) => Some(ty),
                None => return,
            },
            None => None,
        };
        match signature.ret[..] {
            [] if dst.is_some() || ret_addr.is_some() => self.fail("this helper returns nothing"),
            [] => {}
            [piece] if matches!(piece.kind, PieceKind::Scalar(_)) => {
                if ret_addr.is_some() {
                    self.fail("a result of one scalar goes to a local");
                }
                if let Some(ty) = dst.filter(|ty| *ty != passed(piece.kind)) {
                    self.fail(format!(
                        "a result of type {} for a local of type {ty}",
                        passed(piece.kind)
                    ));
                }
            }
            _ if dst.is_some() || ret_addr.is_none() => {
                self.fail("a result that is not one scalar goes to memory")
            }
            _ => {}
        }
    }

    fn check_spawn(&mut self, func: FuncId, args: &[Operand], dest: Option<Dest>) {
        if self.function.kind == FunctionKind::Helper {
            self.fail("only tasks and kernels spawn");
        }
        let Some(signature) = self.callee(func, args, FunctionKind::Task) else {
            return;
        };
        match (dest, &signature.ret[..]) {
            (None, []) => {}
            (None, _) => self.fail("this task returns something: the spawn needs a destination"),
            (Some(_), []) => self.fail("this task returns nothing: the spawn has no destination"),
            (Some(dest), pieces) => {
                self.expect(dest.addr, Scalar::Ptr, "the destination");
                self.check_combine(dest.combine, pieces);
            }
        }
        self.check_spawn_in_segment(func, dest.map_or(Combine::Store, |d| d.combine));
    }

    fn check_combine(&mut self, combine: Combine, pieces: &[crate::ty::Piece]) {
        let ways: Vec<Combine> = match combine {
            Combine::Store => return,
            Combine::Each(ways) => ways.iter().collect(),
            one => vec![one],
        };
        if ways.len() != pieces.len() {
            return self.fail(format!(
                "`{combine}` combines {}, not {} pieces",
                match ways.len() {
                    1 => "one scalar".to_owned(),
                    n => format!("{n} scalars"),
                },
                pieces.len()
            ));
        }
        for (way, piece) in ways.into_iter().zip(pieces) {
            let accepts = |ty| way.op().is_some_and(|op| op.accepts(ty));
            if !matches!(piece.kind, PieceKind::Scalar(ty) if accepts(ty)) {
                self.fail(format!(
                    "`{way}` does not combine values of type {}",
                    passed(piece.kind)
                ));
            }
        }
    }

    fn check_check(&mut self, cond: Operand, kind: &CheckKind, values: &[Operand]) {
        self.expect(cond, Scalar::Bool, "the condition");
        if values.len() != kind.values() {
            self.fail(format!(
                "{} values for a check that has {}",
                values.len(),
                kind.values()
            ));
        }
        for value in values {
            self.operand(*value);
        }
    }

    fn check_atomic(
        &mut self,
        op: AtomicOp,
        ty: Scalar,
        args: &[Operand],
        dst: Option<LocalId>,
        order: Order,
    ) {
        let takes = match op {
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Min | AtomicOp::Max => ty.is_int(),
            _ => ty.is_int() || ty == Scalar::Bool,
        };
        if !takes {
            self.fail(format!("there is no atomic `{}` of {ty}", op.name()));
        }
        self.expect_all(args, &vec![ty; op.args()], "argument");
        if let Some(dst) = dst {
            if op == AtomicOp::Store {
                self.fail("an atomic store gives nothing");
            }
            if let Some(found) = self.local(dst).filter(|found| *found != ty) {
                self.fail(format!("a value of type {ty} for a local of type {found}"));
            }
        }
        let wrong_order = match op {
            AtomicOp::Load => matches!(order, Order::Release | Order::AcqRel),
            AtomicOp::Store => matches!(order, Order::Acquire | Order::AcqRel),
            _ => false,
        };
        if wrong_order {
            self.fail(format!(
                "an atomic `{}` cannot be `{}`",
                op.name(),
                order.name()
            ));
        }
    }

    /// Type of a value, if it has one.
    fn check_rvalue(&mut self, value: &Rvalue) -> Option<Scalar> {
        match value {
            Rvalue::Use(a) => self.operand(*a),
            Rvalue::Unary(op, a) => {
                let ty = self.operand(*a)?;
                if !op.accepts(ty) {
                    self.fail(format!("there is no `{}` of {ty}", op.name()));
                }
                Some(op.result(ty))
            }
            Rvalue::Binary(op, a, b) => self.check_binary(*op, *a, *b),
            Rvalue::MulAdd(a, b, c) => {
                let ty = self.operand(*a)?;
                if !ty.is_float() {
                    self.fail(format!("there is no `mul_add` of {ty}"));
                }
                self.expect(*b, ty, "the second operand");
                self.expect(*c, ty, "the third operand");
                Some(ty)
            }
            Rvalue::Select(cond, a, b) => {
                self.expect(*cond, Scalar::Bool, "the condition");
                let ty = self.operand(*a)?;
                self.expect(*b, ty, "the third operand");
                Some(ty)
            }
            Rvalue::Cast(to, a) => {
                let from = self.operand(*a)?;
                let number = |ty: Scalar| ty.is_int() || ty.is_float();
                if !((number(from) && number(*to)) || (from == Scalar::Bool && to.is_int())) {
                    self.fail(format!("there is no cast from {from} to {to}"));
                }
                Some(*to)
            }
            Rvalue::Bitcast(to, a) => {
                let from = self.operand(*a)?;
                if from.size() != to.size() || (from == Scalar::Bool) != (*to == Scalar::Bool) {
                    self.fail(format!("the bits of {from} are not those of {to}"));
                }
                Some(*to)
            }
            Rvalue::Load { ty, addr, .. } => {
                self.expect(*addr, Scalar::Ptr, "the address");
                Some(*ty)
            }
            Rvalue::SlotAddr(id) => self.slot(*id).map(|_| Scalar::Ptr),
            Rvalue::DataAddr(id) => {
                if id.index() >= self.program.data.len() {
                    self.fail(format!("there is no constant {id}"));
                }
                Some(Scalar::Ptr)
            }
            Rvalue::Wide => {
                if self.function.kind != FunctionKind::Task {
                    self.fail("only a task asks whether the device is wide, before it is lowered");
                }
                Some(Scalar::Bool)
            }
            Rvalue::Lanes => Some(Scalar::Usize),
            Rvalue::Uniform { id, ty } => self.check_uniform(*id, *ty),
            Rvalue::PtrAdd { base, index, .. } => {
                self.expect(*base, Scalar::Ptr, "the base");
                self.expect(*index, Scalar::Usize, "the index");
                Some(Scalar::Ptr)
            }
            Rvalue::FrameLoad(field) => match self.frame_field(*field)? {
                PieceKind::Scalar(ty) => Some(ty),
                PieceKind::Blob(_) => {
                    self.fail("an array in the frame has no value, only an address");
                    None
                }
            },
            Rvalue::FrameAddr(field) => self.frame_field(*field).map(|_| Scalar::Ptr),
        }
    }

    fn check_binary(&mut self, op: BinOp, a: Operand, b: Operand) -> Option<Scalar> {
        let ty = self.operand(a)?;
        if !op.accepts(ty) {
            self.fail(format!("there is no `{}` of {ty}", op.name()));
        }
        self.expect(b, op.second(ty), "the second operand");
        Some(op.result(ty))
    }

    fn target(&mut self, block: BlockId) {
        if block.index() >= self.function.blocks.len() {
            self.fail(format!("there is no block {block}"));
        } else if block.0 == 0 {
            self.fail("nothing goes to the entry block");
        }
    }

    pub(super) fn check_terminator(&mut self, term: &Terminator) {
        for block in term.targets() {
            self.target(block);
        }
        match term {
            Terminator::Branch { cond, .. } => self.expect(*cond, Scalar::Bool, "the condition"),
            Terminator::Switch { value, arms, .. } => {
                let Some(ty) = self.operand(*value) else {
                    return;
                };
                if !ty.is_int() && ty != Scalar::Bool {
                    self.fail(format!("there is no switch on {ty}"));
                }
                let mut seen = BTreeSet::new();
                for (bits, _) in arms {
                    if truncate(ty, *bits) != *bits {
                        self.fail(format!("the arm {bits} does not fit {ty}"));
                    }
                    if !seen.insert(*bits) {
                        self.fail(format!("the arm {bits} stands there twice"));
                    }
                }
            }
            Terminator::Return(values) => {
                let types: Vec<Scalar> = self
                    .pieces(&self.function.ret)
                    .iter()
                    .map(|p| passed(p.kind))
                    .collect();
                self.expect_all(values, &types, "returned piece");
            }
            Terminator::Sync(_) if !self.function.kind.spawns() => {
                self.fail("only tasks and kernels sync")
            }
            Terminator::Room { .. } if self.function.kind != FunctionKind::Segment => {
                self.fail("only segments ask for room");
            }
            Terminator::Room { children, .. } => {
                if *children == 0 {
                    self.fail("asks for room for no children");
                }
            }
            Terminator::Continue(segment) => self.check_continue(*segment),
            Terminator::Goto(_) | Terminator::Sync(_) | Terminator::Unreachable => {}
        }
    }
}
