//! Which slots a pointer may point into, without regard to the order of statements.
//!
//! The memory outside the function (buffers, the parent's slots, constants) is one more place beside the slots. What is in memory
//! is kept a place at a time: the contents of a slot are the places that pointers stored in it point into.

use fixedbitset::FixedBitSet;
use millstream_graph::{
    ir::{Arg, Function, LocalId, Operand, Program, Rvalue, SlotId, Stmt, StmtKind},
    ty::{PieceKind, Scalar, Type},
};

/// The places each pointer may point into.
#[derive(Debug)]
pub(super) struct PointsTo {
    locals: Vec<FixedBitSet>,
    contents: Vec<FixedBitSet>,
    /// The place that stands for all memory outside.
    outside: usize,
    /// Locals that hold the address of a slot and nothing else, ever.
    direct: Vec<Option<SlotId>>,
}

impl PointsTo {
    /// Of a task.
    pub(super) fn new(program: &Program, function: &Function) -> Self {
        let outside = function.slots.len();
        let none = FixedBitSet::with_capacity(outside + 1);
        let mut this = Self {
            locals: vec![none.clone(); function.locals.len()],
            contents: vec![none; outside + 1],
            outside,
            direct: direct(function),
        };
        this.contents[outside].insert(outside);
        for arg in &function.args {
            match arg {
                Arg::Local(id) => this.locals[id.index()]
                    .set(outside, function.locals[id.index()].ty == Scalar::Ptr),
                Arg::Slot(id) => this.contents[id.index()].insert(outside),
            }
        }
        loop {
            let before = (this.locals.clone(), this.contents.clone());
            for stmt in function.stmts() {
                this.visit(program, stmt);
            }
            this.close();
            if before == (this.locals.clone(), this.contents.clone()) {
                return this;
            }
        }
    }

    /// The slots that an address may point into.
    pub(super) fn slots(&self, addr: Operand) -> impl Iterator<Item = SlotId> + '_ {
        let set = addr.local().map(|id| &self.locals[id.index()]);
        set.into_iter()
            .flat_map(FixedBitSet::ones)
            .filter(|i| *i != self.outside)
            .map(SlotId::new)
    }

    /// The slots that pointers in a slot may point into.
    pub(super) fn contents(&self, slot: SlotId) -> impl Iterator<Item = SlotId> + '_ {
        self.contents[slot.index()]
            .ones()
            .filter(|i| *i != self.outside)
            .map(SlotId::new)
    }

    /// The slots that others may reach: children, and whoever reads the memory outside.
    pub(super) fn escaped(&self) -> impl Iterator<Item = SlotId> + '_ {
        self.contents[self.outside]
            .ones()
            .filter(|i| *i != self.outside)
            .map(SlotId::new)
    }

    /// The slot of which an operand is the address, if it is that of no other place.
    pub(super) fn direct(&self, addr: Operand) -> Option<SlotId> {
        self.direct[addr.local()?.index()]
    }

    fn of(&self, operand: Operand) -> FixedBitSet {
        let none = || FixedBitSet::with_capacity(self.outside + 1);
        operand
            .local()
            .map_or_else(none, |id| self.locals[id.index()].clone())
    }

    fn of_contents(&self, places: &FixedBitSet) -> FixedBitSet {
        let mut out = FixedBitSet::with_capacity(self.outside + 1);
        places
            .ones()
            .for_each(|p| out.union_with(&self.contents[p]));
        out
    }

    fn put_contents(&mut self, places: &FixedBitSet, what: &FixedBitSet) {
        places
            .ones()
            .for_each(|p| self.contents[p].union_with(what));
    }

    fn visit(&mut self, program: &Program, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { dst, value } => {
                let set = self.of_value(value);
                self.locals[dst.index()].union_with(&set);
            }
            StmtKind::Store { addr, value, .. } => {
                let what = self.of(*value);
                self.put_contents(&self.of(*addr), &what);
            }
            StmtKind::Copy { dst, src, .. } => {
                let what = self.of_contents(&self.of(*src));
                self.put_contents(&self.of(*dst), &what);
            }
            StmtKind::Call {
                func,
                args,
                dst,
                ret_addr,
            } => {
                let callee = &program[*func];
                let mut reach = FixedBitSet::with_capacity(self.outside + 1);
                args.iter().for_each(|a| reach.union_with(&self.of(*a)));
                let places = reach.clone();
                reach.union_with(&self.of_contents(&places));
                if callee
                    .params
                    .iter()
                    .any(|p| writes_pointers(program, &p.ty))
                {
                    self.put_contents(&reach, &reach.clone());
                }
                if holds_pointers(program, &callee.ret) {
                    dst.iter()
                        .for_each(|d| self.locals[d.index()].union_with(&reach));
                    ret_addr
                        .iter()
                        .for_each(|a| self.put_contents(&self.of(*a), &reach));
                }
            }
            StmtKind::Spawn {
                func, args, dest, ..
            } => {
                let mut out = dest.map_or_else(
                    || FixedBitSet::with_capacity(self.outside + 1),
                    |d| self.of(d.addr),
                );
                for (arg, blob) in args.iter().zip(blob_args(program, &program[*func])) {
                    let places = self.of(*arg);
                    out.union_with(&if blob {
                        self.of_contents(&places)
                    } else {
                        places
                    });
                }
                self.contents[self.outside].union_with(&out);
            }
            StmtKind::Atomic {
                ty: Scalar::Ptr,
                addr,
                args,
                dst,
                ..
            } => {
                let places = self.of(*addr);
                args.iter()
                    .for_each(|a| self.put_contents(&places, &self.of(*a)));
                let set = self.of_contents(&places);
                dst.iter()
                    .for_each(|d| self.locals[d.index()].union_with(&set));
            }
            _ => {}
        }
    }

    fn of_value(&self, value: &Rvalue) -> FixedBitSet {
        let mut out = FixedBitSet::with_capacity(self.outside + 1);
        match value {
            Rvalue::Binary(op, ..) if op.is_comparison() => {}
            Rvalue::SlotAddr(slot) => out.insert(slot.index()),
            Rvalue::DataAddr(_)
            | Rvalue::Uniform {
                ty: Scalar::Ptr, ..
            } => out.insert(self.outside),
            Rvalue::Load {
                ty: Scalar::Ptr,
                addr,
                ..
            } => out = self.of_contents(&self.of(*addr)),
            Rvalue::Load { .. } => {}
            Rvalue::PtrAdd { base, .. } => out = self.of(*base),
            _ => value.each_operand(&mut |o| out.union_with(&self.of(o))),
        }
        out
    }

    /// What others may reach holds whatever others can put there, and they reach what it holds.
    fn close(&mut self) {
        for slot in self.contents[self.outside].clone().ones() {
            let held = self.contents[slot].clone();
            self.contents[self.outside].union_with(&held);
        }
        let shared = self.contents[self.outside].clone();
        self.put_contents(&shared.clone(), &shared);
    }
}

/// For each argument of a call of this function, whether it is the address of a blob that the callee gets a copy of.
pub(super) fn blob_args(program: &Program, callee: &Function) -> Vec<bool> {
    let pieces = callee
        .params
        .iter()
        .flat_map(|p| p.ty.pieces(&program.structs));
    pieces
        .map(|p| matches!(p.kind, PieceKind::Blob(_)))
        .collect()
}

fn direct(function: &Function) -> Vec<Option<SlotId>> {
    let mut defs = vec![0u32; function.locals.len()];
    let mut out = vec![None; function.locals.len()];
    for arg in &function.args {
        if let Arg::Local(id) = arg {
            defs[id.index()] += 1;
        }
    }
    for stmt in function.stmts() {
        if let Some(dst) = stmt.kind.def() {
            defs[dst.index()] += 1;
            if let StmtKind::Assign {
                value: Rvalue::SlotAddr(slot),
                ..
            } = stmt.kind
            {
                out[dst.index()] = Some(slot);
            }
        }
    }
    let single = |id: LocalId| defs[id.index()] == 1;
    out.iter()
        .enumerate()
        .map(|(i, s)| s.filter(|_| single(LocalId::new(i))))
        .collect()
}

fn holds_pointers(program: &Program, ty: &Type) -> bool {
    match ty {
        Type::Scalar(Scalar::Ptr) | Type::Slice { .. } | Type::Ref { .. } | Type::Mat { .. } => {
            true
        }
        Type::Scalar(_) | Type::Atomic(_) | Type::Channel(_) => false,
        Type::Array(elem, _) => holds_pointers(program, elem),
        Type::Tuple(_) | Type::Struct(_) | Type::Option(_) | Type::Result(..) => ty
            .fields(&program.structs)
            .iter()
            .any(|(t, _)| holds_pointers(program, t)),
    }
}

/// Whether a callee may store a pointer through an argument of this type.
fn writes_pointers(program: &Program, ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Atomic(_) | Type::Channel(_) => false,
        Type::Slice { elem: inner, .. }
        | Type::Mat { elem: inner, .. }
        | Type::Ref { target: inner, .. } => holds_pointers(program, inner),
        Type::Array(elem, _) => writes_pointers(program, elem),
        Type::Tuple(_) | Type::Struct(_) | Type::Option(_) | Type::Result(..) => ty
            .fields(&program.structs)
            .iter()
            .any(|(t, _)| writes_pointers(program, t)),
    }
}
