//! The steps of the interpreter: activations of functions on an explicit stack, and what each statement does.

use super::{ArgValue, Emitted, Interp, memory::Problem};
use crate::{
    eval::{eval_atomic, eval_binary, eval_cast, eval_combine, eval_mul_add, eval_unary},
    fault::FaultValue,
    ir::{
        Arg, AtomicOp, BlockId, ChannelId, CheckKind, Combine, FuncId, FunctionKind, LocalId,
        Operand, Program, Rvalue, Span, StmtKind, Terminator,
    },
    ty::PieceKind,
};

/// Why a step was not made; where, the interpreter adds.
#[derive(Debug)]
pub(super) enum Trap {
    Check {
        kind: CheckKind,
        values: Vec<FaultValue>,
    },
    Steps,
    Depth,
    Memory,
    Wild {
        address: u64,
        size: u64,
        problem: Problem,
    },
    Invalid(&'static str),
}

/// Where the result of an activation goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Done {
    /// To a register of the caller.
    Local(LocalId),
    /// To memory, in the layout of its type.
    Memory(u64),
    /// To memory that holds scalars, combined with what is there.
    Combined(u64, Combine),
    /// Nowhere.
    Dropped,
}

/// A function that has not returned yet.
#[derive(Debug)]
pub(super) struct Activation {
    pub(super) func: FuncId,
    locals: Vec<u64>,
    /// Address of each slot.
    pub(super) slots: Vec<u64>,
    block: BlockId,
    /// Which statement of the block comes next; the terminator after the last.
    next: usize,
    done: Done,
}

impl Activation {
    fn value(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Local(id) => self.locals[id.index()],
            Operand::Const(_, bits) => bits,
        }
    }

    fn values(&self, operands: &[Operand]) -> Vec<u64> {
        operands.iter().map(|o| self.value(*o)).collect()
    }

    /// Where the step stands that was made last.
    pub(super) fn span(&self, program: &Program) -> Span {
        let block = &program[self.func].blocks[self.block.index()];
        self.next
            .checked_sub(1)
            .and_then(|i| block.stmts.get(i))
            .map_or(block.span, |s| s.span)
    }
}

impl Interp<'_> {
    /// Starts an activation.
    pub(super) fn enter(&mut self, func: FuncId, args: &[u64], done: Done) -> Result<(), Trap> {
        if self.stack.len() >= self.limits.depth {
            return Err(Trap::Depth);
        }
        let function = &self.program[func];
        self.stats.tasks += u64::from(function.kind == FunctionKind::Task);
        if let Some(recorder) = &mut self.recorder {
            if function.kind.spawns() {
                recorder.task(func, self.stats.steps);
            }
            recorder.block(func, BlockId(0), self.stats);
        }
        if let Some(lanes) = &mut self.lanes {
            if function.kind.spawns() {
                lanes.task(func);
            }
            lanes.block(func, BlockId(0));
        }
        let mut activation = Activation {
            func,
            locals: vec![0; function.locals.len()],
            slots: Vec::new(),
            block: BlockId(0),
            next: 0,
            done,
        };
        for slot in &function.slots {
            activation
                .slots
                .push(self.memory.slot(slot.layout.size, slot.layout.align)?);
        }
        for (value, arg) in args.iter().zip(&function.args) {
            match arg {
                Arg::Local(id) => activation.locals[id.index()] = *value,
                Arg::Slot(id) => self.memory.copy(
                    activation.slots[id.index()],
                    *value,
                    function.slots[id.index()].layout.size,
                )?,
            }
        }
        self.stack.push(activation);
        self.stats.depth = self.stats.depth.max(self.stack.len());
        Ok(())
    }

    fn top(&mut self) -> &mut Activation {
        let top = self.stack.len() - 1;
        &mut self.stack[top]
    }

    fn value(&mut self, operand: Operand) -> u64 {
        self.top().value(operand)
    }

    /// Runs one statement or terminator of the activation on top.
    pub(super) fn step(&mut self) -> Result<(), Trap> {
        if self.stats.steps >= self.limits.steps {
            return Err(Trap::Steps);
        }
        self.stats.steps += 1;
        let program = self.program;
        let top = self.top();
        let block = &program[top.func].blocks[top.block.index()];
        let next = top.next;
        top.next += 1;
        match block.stmts.get(next) {
            Some(stmt) => self.statement(&stmt.kind),
            None => self.terminator(&block.term),
        }
    }

    fn statement(&mut self, stmt: &StmtKind) -> Result<(), Trap> {
        match stmt {
            StmtKind::Assign { dst, value } => {
                let bits = self.rvalue(value)?;
                self.top().locals[dst.index()] = bits;
                Ok(())
            }
            StmtKind::Store {
                addr,
                offset,
                value,
            } => {
                let ty = self.program[self.top().func].type_of(*value);
                let (addr, bits) = (self.value(*addr), self.value(*value));
                self.memory.store(ty, addr.wrapping_add(*offset), bits)
            }
            StmtKind::Copy { dst, src, size } => {
                let (dst, src) = (self.value(*dst), self.value(*src));
                self.memory.copy(dst, src, *size)
            }
            StmtKind::Zero { dst, size } => {
                let dst = self.value(*dst);
                self.memory.zero(dst, *size)
            }
            StmtKind::Call {
                func,
                args,
                dst,
                ret_addr,
            } => {
                let done = match (dst, ret_addr) {
                    (Some(dst), _) => Done::Local(*dst),
                    (None, Some(addr)) => Done::Memory(self.value(*addr)),
                    (None, None) => Done::Dropped,
                };
                let args = self.top().values(args);
                self.enter(*func, &args, done)
            }
            StmtKind::Spawn {
                func, args, dest, ..
            } => {
                let done = match dest {
                    Some(dest) if dest.combine == Combine::Store => {
                        Done::Memory(self.value(dest.addr))
                    }
                    Some(dest) => Done::Combined(self.value(dest.addr), dest.combine),
                    None => Done::Dropped,
                };
                let args = self.top().values(args);
                self.enter(*func, &args, done)
            }
            StmtKind::Emit { channel, args } => self.emit(*channel, args),
            StmtKind::Check { cond, kind, values } => self.check(*cond, kind, values),
            StmtKind::Atomic {
                op,
                ty,
                addr,
                args,
                dst,
                ..
            } => {
                let (addr, args) = (self.value(*addr), self.top().values(args));
                // A store reads nothing: the memory may be undefined.
                let old = if *op == AtomicOp::Store {
                    0
                } else {
                    self.memory.load(*ty, addr)?
                };
                if let Some(new) = eval_atomic(*op, *ty, old, &args) {
                    self.memory.store(*ty, addr, new)?;
                }
                if let Some(dst) = dst {
                    self.top().locals[dst.index()] = old;
                }
                Ok(())
            }
            StmtKind::FrameAlloc | StmtKind::FrameStore { .. } => {
                Err(Trap::Invalid("a statement of segments in a function"))
            }
        }
    }

    fn emit(&mut self, channel: ChannelId, args: &[Operand]) -> Result<(), Trap> {
        let program = self.program;
        let pieces = program.element(&program[self.top().func], channel);
        let pieces = pieces.ok_or(Trap::Invalid("an emit into no channel"))?;
        let mut element = Vec::new();
        for (piece, bits) in pieces.into_iter().zip(self.top().values(args)) {
            element.push(match piece {
                PieceKind::Scalar(_) => ArgValue::Scalar(bits),
                PieceKind::Blob(layout) => ArgValue::Blob(self.memory.bytes(bits, layout.size)?),
            });
        }
        self.emitted.push(Emitted { channel, element });
        Ok(())
    }

    fn check(&mut self, cond: Operand, kind: &CheckKind, values: &[Operand]) -> Result<(), Trap> {
        if self.value(cond) != 0 {
            return Ok(());
        }
        let function = &self.program[self.top().func];
        let values = values
            .iter()
            .map(|v| FaultValue {
                ty: function.type_of(*v),
                bits: self.value(*v),
            })
            .collect();
        Err(Trap::Check {
            kind: kind.clone(),
            values,
        })
    }

    fn rvalue(&mut self, value: &Rvalue) -> Result<u64, Trap> {
        let program = self.program;
        let top = self.top();
        let function = &program[top.func];
        Ok(match value {
            Rvalue::Use(a) => top.value(*a),
            Rvalue::Unary(op, a) => eval_unary(*op, function.type_of(*a), top.value(*a)),
            Rvalue::Binary(op, a, b) => {
                let result = eval_binary(*op, function.type_of(*a), top.value(*a), top.value(*b));
                result.ok_or(Trap::Invalid("a division without a result"))?
            }
            Rvalue::MulAdd(a, b, c) => eval_mul_add(
                function.type_of(*a),
                top.value(*a),
                top.value(*b),
                top.value(*c),
            ),
            Rvalue::Select(cond, a, b) => top.value(if top.value(*cond) != 0 { *a } else { *b }),
            Rvalue::Cast(ty, a) => eval_cast(function.type_of(*a), *ty, top.value(*a)),
            Rvalue::Bitcast(_, a) => top.value(*a),
            Rvalue::Load { ty, addr, offset } => {
                let addr = top.value(*addr).wrapping_add(*offset);
                self.memory.load(*ty, addr)?
            }
            Rvalue::SlotAddr(id) => top.slots[id.index()],
            Rvalue::DataAddr(id) => self.data[id.index()],
            Rvalue::Wide => u64::from(self.lanes.is_some()),
            Rvalue::Lanes => 1,
            Rvalue::Uniform { id, .. } => {
                let bits = self.uniforms.get(id.index()).copied();
                bits.ok_or(Trap::Invalid("a uniform that nobody gave"))?
            }
            Rvalue::PtrAdd {
                base,
                index,
                scale,
                offset,
            } => top
                .value(*base)
                .wrapping_add(top.value(*index).wrapping_mul(*scale))
                .wrapping_add(*offset),
            Rvalue::FrameLoad(_) | Rvalue::FrameAddr(_) => {
                return Err(Trap::Invalid("a value of segments in a function"));
            }
        })
    }

    fn terminator(&mut self, term: &Terminator) -> Result<(), Trap> {
        let target = match term {
            Terminator::Goto(b) => *b,
            Terminator::Sync(b) => {
                if let Some(recorder) = &mut self.recorder {
                    recorder.sync(self.stats.steps);
                }
                if let Some(lanes) = &mut self.lanes {
                    lanes.sync(*b);
                }
                *b
            }
            Terminator::Branch { cond, then, other } => {
                if self.value(*cond) != 0 {
                    *then
                } else {
                    *other
                }
            }
            Terminator::Switch { value, arms, other } => {
                let bits = self.value(*value);
                arms.iter()
                    .find(|(arm, _)| *arm == bits)
                    .map_or(*other, |(_, b)| *b)
            }
            Terminator::Return(values) => return self.leave(values),
            Terminator::Room { .. } | Terminator::Continue(_) => {
                return Err(Trap::Invalid("a terminator of segments in a function"));
            }
            Terminator::Unreachable => return Err(Trap::Invalid("reached what is unreachable")),
        };
        let top = self.top();
        top.block = target;
        top.next = 0;
        let func = top.func;
        if let Some(recorder) = &mut self.recorder {
            recorder.block(func, target, self.stats);
        }
        if let Some(lanes) = &mut self.lanes {
            lanes.block(func, target);
        }
        Ok(())
    }

    /// Ends the activation on top: its result goes where it belongs, then its slots are gone.
    fn leave(&mut self, values: &[Operand]) -> Result<(), Trap> {
        let (func, done) = (self.top().func, self.top().done);
        let bits = self.top().values(values);
        let pieces = &self.results[func.index()].0;
        match done {
            Done::Memory(base) => {
                for (piece, bits) in pieces.iter().zip(&bits) {
                    let at = base.wrapping_add(piece.offset);
                    match piece.kind {
                        PieceKind::Scalar(ty) => self.memory.store(ty, at, *bits)?,
                        PieceKind::Blob(layout) => self.memory.copy(at, *bits, layout.size)?,
                    }
                }
            }
            Done::Combined(base, combine) => {
                for (i, (piece, bits)) in pieces.iter().zip(&bits).enumerate() {
                    let at = base.wrapping_add(piece.offset);
                    let PieceKind::Scalar(ty) = piece.kind else {
                        return Err(Trap::Invalid("only scalars are combined"));
                    };
                    let old = self.memory.load(ty, at)?;
                    let new = eval_combine(combine.of_piece(i), ty, old, *bits);
                    self.memory.store(ty, at, new)?;
                }
            }
            Done::Local(_) | Done::Dropped => {}
        }
        if let Some(recorder) = &mut self.recorder
            && self.program[func].kind.spawns()
        {
            recorder.end(self.stats.steps);
        }
        if let Some(lanes) = &mut self.lanes
            && self.program[func].kind.spawns()
        {
            lanes.end();
        }
        if let Some(activation) = self.stack.pop() {
            activation
                .slots
                .into_iter()
                .for_each(|s| self.memory.free(s));
        }
        if let Done::Local(dst) = done {
            self.top().locals[dst.index()] = bits[0];
        }
        Ok(())
    }
}
