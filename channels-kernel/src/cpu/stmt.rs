//! Statements and terminators.

use super::{
    abi::{WorkerContext, status},
    body::{Exit, Gen, MEMORY, Place, clif},
    program::CheckSite,
};
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, TrapCode, Type, Value, types};
use cranelift_frontend::Switch;
use millstream_graph::{
    ir::{
        self, BlockId, CheckKind, Combine, FuncId, LocalId, Operand, Rvalue, Stmt, StmtKind,
        Terminator,
    },
    ty::{Layout, PieceKind, Scalar},
};
use std::mem::offset_of;

/// Up to so many bytes are copied and zeroed by instructions in place.
const SMALL: u64 = 128;
/// So many statements at most are written once more at each end of a loop's turns.
const SHORT_TEST: usize = 4;

/// Where an edge leads that closes a loop, and what of the function's blocks that is.
#[derive(Clone, Copy)]
struct Closing {
    target: Block,
    header: BlockId,
}

impl<'p> Gen<'_, 'p> {
    pub(super) fn stmt(&mut self, stmt: &'p Stmt) {
        match &stmt.kind {
            StmtKind::Assign { dst, value } => self.assign(*dst, value),
            StmtKind::Store {
                addr,
                offset,
                value,
            } => self.store(*addr, *offset, *value),
            StmtKind::Copy { dst, src, size } => {
                let (dst, src) = (self.operand(*dst), self.operand(*src));
                self.copy_bytes(
                    dst,
                    src,
                    Layout {
                        size: *size,
                        align: 1,
                    },
                );
            }
            StmtKind::Zero { dst, size } => {
                let dst = self.operand(*dst);
                self.zero_bytes(dst, *size);
            }
            StmtKind::Call {
                func,
                args,
                dst,
                ret_addr,
            } => self.helper_call(*func, args, *dst, *ret_addr),
            StmtKind::Spawn {
                func,
                args,
                dest,
                leaf,
            } => self.spawn(*func, args, dest.map(|d| d.addr), *leaf),
            StmtKind::Emit { channel, args } => self.emit(*channel, args),
            StmtKind::Check { cond, kind, values } => self.check(*cond, kind, values, stmt),
            StmtKind::Atomic {
                op,
                ty,
                addr,
                args,
                dst,
                order,
            } => self.atomic((*op, *order), *ty, *addr, args, *dst),
            StmtKind::FrameAlloc => self.frame_alloc(),
            StmtKind::FrameStore { field, value } => {
                let value = self.operand(*value);
                self.frame_store(*field, value);
            }
        }
    }

    fn assign(&mut self, dst: LocalId, value: &Rvalue) {
        if self.body().aliases.contains_key(&dst) {
            return;
        }
        let value = self.rvalue(value);
        self.set(dst, value);
    }

    fn store(&mut self, addr: Operand, offset: u64, value: Operand) {
        let value = self.operand(value);
        if let Some(var) = self.register_of(addr) {
            self.b.def_var(var, value);
            return;
        }
        let addr = self.operand(addr);
        let (addr, at) = self.displaced(addr, offset);
        self.b.ins().store(MEMORY, value, addr, at);
    }

    /// The register that stands for the memory at this address.
    pub(super) fn register_of(&self, addr: Operand) -> Option<cranelift_frontend::Variable> {
        let Operand::Local(local) = addr else {
            return None;
        };
        match self.body().slots[self.body().aliases.get(&local)?.index()] {
            Place::Register(var) => Some(var),
            _ => None,
        }
    }

    /// Copies a blob; both may be the same.
    pub(super) fn copy_bytes(&mut self, dst: Value, src: Value, layout: Layout) {
        if layout.size > SMALL {
            let size = self.b.ins().iconst(types::I64, layout.size as i64);
            self.libcall("copy", &[dst, src, size]);
            return;
        }
        // Bytes have no alignment here: the program may copy part of something.
        let flags = MemFlagsData::new().with_notrap();
        let pieces: Vec<_> = pieces(layout.size).collect();
        let loads: Vec<_> = pieces
            .iter()
            .map(|&(ty, at)| self.b.ins().load(ty, flags, src, at))
            .collect();
        for (value, (_, at)) in loads.into_iter().zip(pieces) {
            self.b.ins().store(flags, value, dst, at);
        }
    }

    fn zero_bytes(&mut self, dst: Value, size: u64) {
        if size > SMALL {
            let size = self.b.ins().iconst(types::I64, size as i64);
            self.libcall("zero", &[dst, size]);
            return;
        }
        let flags = MemFlagsData::new().with_notrap();
        for (ty, at) in pieces(size) {
            let zero = self.b.ins().iconst(ty, 0);
            self.b.ins().store(flags, zero, dst, at);
        }
    }

    fn helper_call(
        &mut self,
        func: FuncId,
        args: &[Operand],
        dst: Option<LocalId>,
        ret_addr: Option<Operand>,
    ) {
        let program = self.unit.program;
        let callee = &program.program[func];
        let facts = self.unit.facts[func.index()];
        let values: Vec<Value> = args.iter().map(|&a| self.operand(a)).collect();
        let mut ret_addr = ret_addr.map(|a| self.operand(a));
        if facts.inline {
            self.inline(callee, &values, dst, ret_addr);
            return;
        }
        let pieces = callee.ret.pieces(&program.program.structs);
        let scalar = matches!(pieces[..], [p] if matches!(p.kind, PieceKind::Scalar(_)));
        if pieces.is_empty() || scalar {
            ret_addr = None;
        }
        let ctx = self.ctx();
        let all: Vec<Value> = [ctx].into_iter().chain(values).chain(ret_addr).collect();
        let result = self.call(func, &all);
        if facts.can_fail {
            let ctx = self.ctx();
            let status = self.b.ins().load(
                types::I32,
                MEMORY,
                ctx,
                offset_of!(WorkerContext, status) as i32,
            );
            self.leave_if(status, |_| {});
        }
        if let (Some(dst), Some(result)) = (dst, result) {
            self.set(dst, result);
        }
    }

    fn check(&mut self, cond: Operand, kind: &CheckKind, values: &[Operand], stmt: &Stmt) {
        if matches!(cond, Operand::Const(_, bits) if bits != 0) {
            return;
        }
        let site = self.unit.sites.len() as u32;
        let types = values.iter().map(|&v| self.type_of(v)).collect();
        let function = self.body().name.to_owned();
        self.unit.sites.push(CheckSite {
            kind: kind.clone(),
            span: stmt.span,
            function,
            types,
        });
        let cond = self.operand(cond);
        self.leave_unless(cond, |g| {
            let ctx = g.ctx();
            for (i, &value) in values.iter().enumerate().take(2) {
                let ty = g.type_of(value);
                let value = g.operand(value);
                let bits = g.bits(ty, value);
                g.b.ins().store(
                    MEMORY,
                    bits,
                    ctx,
                    (offset_of!(WorkerContext, values) + 8 * i) as i32,
                );
            }
            g.say(status::FAULT, site);
        });
    }

    /// A value's bits, zero-extended to 64.
    fn bits(&mut self, ty: Scalar, value: Value) -> Value {
        let value = match ty {
            Scalar::F32 => self.b.ins().bitcast(types::I32, MemFlagsData::new(), value),
            Scalar::F64 => self.b.ins().bitcast(types::I64, MemFlagsData::new(), value),
            _ => value,
        };
        if ty.size() < 8 {
            self.b.ins().uextend(types::I64, value)
        } else {
            value
        }
    }

    pub(super) fn terminator(&mut self, from: BlockId, term: &'p Terminator) {
        if matches!(self.body().exit, Exit::Segment) && !matches!(term, Terminator::Continue(_)) {
            self.flush();
        }
        match term {
            Terminator::Goto(to) => {
                let to = self.edge(from, *to);
                self.b.ins().jump(to.0, &[]);
                self.poll(to);
            }
            Terminator::Branch { cond, then, other } => {
                let cond = self.operand(*cond);
                let (then, other) = (self.edge(from, *then), self.edge(from, *other));
                self.b.ins().brif(cond, then.0, &[], other.0, &[]);
                self.poll(then);
                self.poll(other);
            }
            Terminator::Switch { value, arms, other } => {
                let ty = self.type_of(*value);
                let mask = if ty.size() == 8 {
                    u64::MAX
                } else {
                    (1 << (ty.size() * 8)) - 1
                };
                let value = self.operand(*value);
                let other = self.edge(from, *other);
                let mut switch = Switch::new();
                let mut edges = vec![other];
                for &(bits, to) in arms {
                    let to = self.edge(from, to);
                    switch.set_entry(u128::from(bits & mask), to.0);
                    edges.push(to);
                }
                switch.emit(&mut self.b, value, other.0);
                edges.into_iter().for_each(|e| self.poll(e));
            }
            Terminator::Room {
                children,
                then,
                other,
            } => {
                let Some(room) = self.has_room(*children, *then) else {
                    let then = self.edge(from, *then);
                    self.b.ins().jump(then.0, &[]);
                    return self.poll(then);
                };
                let (then, other) = (self.edge(from, *then), self.edge(from, *other));
                let full = self.b.create_block();
                self.b.set_cold_block(full);
                self.b.ins().brif(room, then.0, &[], full, &[]);
                self.poll(then);
                self.b.switch_to_block(full);
                self.end_run_here();
                self.open_rare();
                self.b.ins().jump(other.0, &[]);
                self.poll(other);
            }
            Terminator::Return(values) => self.end(values),
            Terminator::Continue(next) => {
                self.enq_continuation(*next);
                self.flush();
                self.next_element();
            }
            Terminator::Sync(_) => unreachable!("the lowering split segments at their syncs"),
            Terminator::Unreachable => {
                self.b.ins().trap(TrapCode::unwrap_user(1));
            }
        }
    }

    /// The block that an edge goes to, and where it leads from there: an edge that closes a loop goes through a block that polls.
    fn edge(&mut self, from: BlockId, to: BlockId) -> (Block, Option<Closing>) {
        let target = match self.body().lanes.get(&to) {
            Some((lanes, entry)) if lanes.body != from => *entry,
            _ => self.block(to),
        };
        if self.body().flow.back_edges().contains(&(from, to)) {
            let closing = Closing { target, header: to };
            (self.b.create_block(), Some(closing))
        } else {
            (target, None)
        }
    }

    /// Writes the block of a closing edge: leaves if the run is cancelled, and asks whether there is another turn where that is a short question.
    fn poll(&mut self, (block, closing): (Block, Option<Closing>)) {
        let Some(Closing { target, header }) = closing else {
            return;
        };
        self.ends_turn(block);
        match self.short_test(header) {
            Some(test) => self.ask_again(header, test),
            None => {
                self.b.ins().jump(target, &[]);
            }
        }
    }

    /// Begins the block at the end of a turn: leaves if the run is cancelled.
    pub(super) fn ends_turn(&mut self, block: Block) {
        self.b.switch_to_block(block);
        let cancel = self
            .cancel
            .expect("functions with loops load the flag's address");
        let cancel = self.kept(cancel);
        let flag = self.b.ins().load(types::I32, MEMORY, cancel, 0);
        self.leave_if(flag, |g| g.say(status::CANCELLED, 0));
    }

    /// A loop's header that does nothing but ask whether there is another turn: what it computes for that, and where it goes.
    fn short_test(&self, header: BlockId) -> Option<&'p ir::Block> {
        let block = &self.body().func.blocks[header.index()];
        let short = block.stmts.len() <= SHORT_TEST
            && block
                .stmts
                .iter()
                .all(|s| matches!(s.kind, StmtKind::Assign { .. }));
        // What goes on in another loop is asked there.
        let back = &self.body().flow.back_edges();
        let inside = block.term.targets().all(|to| !back.contains(&(header, to)));
        (short && inside && matches!(block.term, Terminator::Branch { .. })).then_some(block)
    }

    /// Asks at the end of a turn what the header asks, so that a turn jumps once and not twice.
    fn ask_again(&mut self, header: BlockId, test: &'p ir::Block) {
        for stmt in &test.stmts {
            self.stmt(stmt);
        }
        if let Terminator::Branch { cond, then, other } = &test.term {
            let cond = self.operand(*cond);
            let (then, other) = (self.edge(header, *then), self.edge(header, *other));
            self.b.ins().brif(cond, then.0, &[], other.0, &[]);
        }
    }

    /// The end of the body: results go where its exit says.
    fn end(&mut self, values_of: &[Operand]) {
        let body = self.body();
        let (exit, pieces) = (
            body.exit,
            body.func.ret.pieces(&self.unit.program.program.structs),
        );
        let values: Vec<Value> = values_of.iter().map(|&v| self.operand(v)).collect();
        match exit {
            Exit::Segment => {
                // What changes nothing is not delivered: the children bring the result.
                let nothing = self.combine().is_some_and(|combine| {
                    values_of.iter().enumerate().all(|(i, value)| {
                        let way = combine.of_piece(i);
                        matches!(value, Operand::Const(ty, bits) if way.neutral(*ty) == Some(*bits))
                    })
                });
                if !nothing {
                    self.give_result(&values);
                }
                self.next_element();
            }
            Exit::Helper { ret_addr } => {
                let Some(to) = ret_addr else {
                    self.b.ins().return_(&values);
                    return;
                };
                self.store_pieces(to, &pieces, &values);
                self.b.ins().return_(&[]);
            }
            Exit::Inlined {
                after,
                dst,
                ret_addr,
            } => {
                let scalar = matches!(pieces[..], [p] if matches!(p.kind, PieceKind::Scalar(_)));
                if scalar {
                    if let Some(dst) = dst {
                        self.b.def_var(dst, values[0]);
                    }
                } else if let Some(to) = ret_addr {
                    self.store_pieces(to, &pieces, &values);
                }
                self.b.ins().jump(after, &[]);
            }
        }
    }

    fn store_pieces(
        &mut self,
        to: Value,
        pieces: &[millstream_graph::ty::Piece],
        values: &[Value],
    ) {
        for (piece, &value) in pieces.iter().zip(values) {
            let (addr, at) = self.displaced(to, piece.offset);
            match piece.kind {
                PieceKind::Scalar(_) => {
                    self.b.ins().store(MEMORY, value, addr, at);
                }
                PieceKind::Blob(layout) => {
                    let addr = self.b.ins().iadd_imm_u(addr, i64::from(at));
                    self.copy_bytes(addr, value, layout);
                }
            }
        }
    }

    /// How the task's result is combined, if it goes through a return address.
    fn combine(&mut self) -> Option<Combine> {
        self.channels.as_ref().and_then(|c| c.ret)?;
        let task = self.task();
        Some(self.unit.program[task].combine)
    }

    /// The task's result goes through its return address, stored or combined with what is there. Not atomic: stacks are private.
    fn give_result(&mut self, values: &[Value]) {
        let Some(ret) = self.channels.as_ref().and_then(|c| c.ret) else {
            return;
        };
        let program = self.unit.program;
        let task = self.task();
        let pieces = program.program[program.func(task)]
            .ret
            .pieces(&program.program.structs);
        let to = self.operand(Operand::Local(ret));
        let combine = program[task].combine;
        if combine == Combine::Store {
            self.store_pieces(to, &pieces, values);
            return;
        }
        for (i, (piece, &value)) in pieces.iter().zip(values).enumerate() {
            let (PieceKind::Scalar(ty), Some(op)) = (piece.kind, combine.of_piece(i).op()) else {
                unreachable!("only scalars are combined")
            };
            let (addr, at) = self.displaced(to, piece.offset);
            let old = self.b.ins().load(clif(ty), MEMORY, addr, at);
            let new = self.binary(op, ty, old, value);
            self.b.ins().store(MEMORY, new, addr, at);
        }
    }
}

/// Registers that cover so many bytes, and their offsets.
fn pieces(size: u64) -> impl Iterator<Item = (Type, i32)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let ty = match size - at {
            0 => return None,
            1 => types::I8,
            2..4 => types::I16,
            4..8 => types::I32,
            8.. => types::I64,
        };
        let here = at as i32;
        at += u64::from(ty.bytes());
        Some((ty, here))
    })
}
