//! Expressions as values.

use super::{Builder, assigned_later, places::Place};
use crate::{
    diag::ir_span,
    hir::{Expr, ExprKind, Pat, Stmt},
};
use millstream_graph::{
    ir::{AtomicOp, BinOp, ChannelId, CheckKind, Operand, Rvalue, StmtKind, Terminator, UnOp},
    ty::{PieceKind, Scalar, Type},
};

impl Builder<'_, '_> {
    /// The pieces of an expression's value. One that never comes has pieces all the same: zeros that nothing reads.
    pub(super) fn value(&mut self, e: &Expr) -> Vec<Operand> {
        self.at = ir_span(e.span);
        use ExprKind as K;
        match &*e.kind {
            K::Int(v) => vec![self.int(*v, &e.ty.to_type())],
            K::Float(v) => vec![match e.ty.to_type().scalar() {
                Some(Scalar::F32) => Operand::Const(Scalar::F32, u64::from((*v as f32).to_bits())),
                _ => Operand::Const(Scalar::F64, v.to_bits()),
            }],
            K::Bool(v) => vec![Operand::bool(*v)],
            K::Const(id) => self.constant_value(*id),
            K::Var(_) | K::Index(..) | K::MatIndex(..) | K::Deref(_) => {
                let place = self.place(e);
                self.read(&place, &e.ty.to_type())
            }
            K::Field(base, field) => self.field_value(base, *field, e),
            K::AddrOf(of)
                if matches!(e.ty, crate::ty::Ty::Ref { mutable: false, .. })
                    && let Some(kept) = self.kept(of) =>
            {
                vec![kept]
            }
            K::AddrOf(place) => {
                let (addr, offset) = self.memory(place);
                vec![self.address(addr, offset)]
            }
            K::SubSlice { base, range } => self.sub_slice(base, range, e.span),
            K::Unsize(array) => {
                let pieces = self.value(array);
                vec![pieces[0], Operand::usize(array_len(&array.ty.to_type()))]
            }
            K::Unary(op, a) => {
                let a = self.value(a)[0];
                self.at = ir_span(e.span);
                vec![self.checked_unary(*op, a)]
            }
            K::RawUnary(op, a) => {
                let a = self.value(a)[0];
                vec![self.unary(*op, a)]
            }
            K::Binary(op, a, b) => {
                let [a, b] = self.pair(a, b);
                self.at = ir_span(e.span);
                vec![self.checked_binary(*op, a, b)]
            }
            K::RawBinary(op, a, b) => {
                let [a, b] = self.pair(a, b);
                vec![self.binary(*op, a, b)]
            }
            K::SameFields { equal, left, right } => vec![self.same_fields(*equal, left, right)],
            K::MulAdd(a, b, c) => {
                let v = self.scalars(&[a.clone(), b.clone(), c.clone()]);
                vec![self.assign_new(self.type_of(v[0]), Rvalue::MulAdd(v[0], v[1], v[2]))]
            }
            K::Cast(a) => self.cast(a, e),
            K::Bitcast(a) => {
                let a = self.value(a)[0];
                let to = self.scalar_of(e);
                vec![self.assign_new(to, Rvalue::Bitcast(to, a))]
            }
            K::Call(id, args) => self.call(*id, args, &e.ty.to_type(), e.span),
            K::Method(builtin, args) => self.builtin(*builtin, args, e),
            K::Atomic {
                op,
                order,
                place,
                args,
            } => self.atomic(*op, *order, place, args, e),
            K::Tuple(elems) => self.operands(elems).concat(),
            K::Struct { id, fields, base } => self.structure(*id, fields, base.as_ref()),
            K::Array(_) | K::Repeat(..) => {
                let ty = e.ty.to_type();
                if ty.layout(self.structs()).size == 0 {
                    // Nothing to keep, but an element may fault or write elsewhere.
                    match &*e.kind {
                        K::Array(elems) => elems.iter().for_each(|e| drop(self.value(e))),
                        K::Repeat(value, _) => drop(self.value(value)),
                        _ => {}
                    }
                    return Vec::new();
                }
                let base = self.temporary(&ty);
                self.value_into(e, base, 0);
                vec![base]
            }
            K::Block(stmts, tail) => self.block_value(stmts, tail.as_ref(), e),
            K::Assign(place, value) => self.assign_to(place, value),
            K::AssignOp(op, place, value) => self.assign_op(*op, place, value, e.span),
            K::Spawn {
                func, args, dest, ..
            } => {
                self.spawn(*func, args, dest.as_ref(), e.span);
                Vec::new()
            }
            K::Sync => {
                if self.kind.spawns() {
                    let next = self.block();
                    self.terminate(Terminator::Sync(next));
                    self.switch_to(next);
                }
                Vec::new()
            }
            // A task that is called is run by one lane.
            K::Wide if !self.kind.spawns() => vec![Operand::bool(false)],
            K::Lanes if self.alone => vec![self.assign_new(Scalar::Usize, Rvalue::Lanes)],
            K::Lanes => vec![Operand::Const(Scalar::Usize, 1)],
            K::Spawns => vec![Operand::bool(self.kind.spawns())],
            K::Wide => vec![self.assign_new(Scalar::Bool, Rvalue::Wide)],
            K::Emit(channel, value) => {
                let args = self.value(value);
                self.at = ir_span(e.span);
                self.emit(StmtKind::Emit {
                    channel: ChannelId::new(*channel),
                    args,
                });
                Vec::new()
            }
            K::Assert { .. } | K::AssertCmp { .. } | K::Panic(_) => self.assertion(e),
            K::Error => self.nothing(&e.ty.to_type()),
            _ => self.control(e),
        }
    }

    /// Pieces for a value that never comes.
    pub(super) fn nothing(&mut self, ty: &Type) -> Vec<Operand> {
        let zeros = ty.pieces(self.structs()).into_iter().map(|p| match p.kind {
            PieceKind::Scalar(s) => Operand::Const(s, 0),
            PieceKind::Blob(_) => Operand::Const(Scalar::Ptr, 0),
        });
        zeros.collect()
    }

    pub(super) fn scalar_of(&self, e: &Expr) -> Scalar {
        e.ty.to_type().scalar().unwrap_or(Scalar::Bool)
    }

    fn int(&self, value: u128, ty: &Type) -> Operand {
        let ty = ty.scalar().unwrap_or(Scalar::I32);
        Operand::Const(ty, truncate(value as u64, ty))
    }

    /// The values of several expressions, each as it was when its turn came.
    pub(super) fn operands(&mut self, exprs: &[Expr]) -> Vec<Vec<Operand>> {
        let mut out = Vec::new();
        for (i, e) in exprs.iter().enumerate() {
            let mut pieces = self.value(e);
            if assigned_later(&exprs[i + 1..]) {
                pieces = self.hold(pieces, &e.ty.to_type());
            }
            out.push(pieces);
        }
        out
    }

    /// The same for expressions of one piece each.
    pub(super) fn scalars(&mut self, exprs: &[Expr]) -> Vec<Operand> {
        self.operands(exprs).into_iter().map(|p| p[0]).collect()
    }

    pub(super) fn pair(&mut self, a: &Expr, b: &Expr) -> [Operand; 2] {
        let mut left = self.value(a)[0];
        if b.assigns {
            left = self.snapshot(vec![left])[0];
        }
        [left, self.value(b)[0]]
    }

    fn constant_value(&mut self, id: crate::hir::ConstId) -> Vec<Operand> {
        let (ty, bytes) = self.const_bytes(id);
        let pieces = ty.pieces(self.structs());
        let mut data = None;
        let values = pieces.into_iter().map(|p| match p.kind {
            PieceKind::Scalar(s) => {
                let (at, size) = (p.offset as usize, s.size() as usize);
                let mut bits = [0u8; 8];
                bits[..size].copy_from_slice(&bytes[at..at + size]);
                Operand::Const(s, u64::from_le_bytes(bits))
            }
            PieceKind::Blob(_) => {
                let base = *data.get_or_insert_with(|| self.const_data(id));
                self.address(base, p.offset)
            }
        });
        values.collect()
    }

    fn field_value(&mut self, base: &Expr, field: usize, e: &Expr) -> Vec<Operand> {
        if base.is_place() && !matches!(*base.kind, ExprKind::Const(_)) {
            let place = self.place(e);
            return self.read(&place, &e.ty.to_type());
        }
        let (start, len) = self.piece_range(&base.ty.to_type(), field);
        self.value(base)[start..start + len].to_vec()
    }

    fn cast(&mut self, a: &Expr, e: &Expr) -> Vec<Operand> {
        let from = self.value(a)[0];
        let to = self.scalar_of(e);
        if self.type_of(from) == to {
            return vec![from];
        }
        if let Operand::Const(ty, bits) = from
            && ty.is_int()
            && to.is_int()
        {
            return vec![Operand::Const(to, truncate(sign_extend(bits, ty), to))];
        }
        vec![self.assign_new(to, Rvalue::Cast(to, from))]
    }

    fn structure(
        &mut self,
        id: millstream_graph::ty::StructId,
        fields: &[(usize, Expr)],
        base: Option<&Expr>,
    ) -> Vec<Operand> {
        let ty = Type::Struct(id);
        let exprs: Vec<Expr> = fields
            .iter()
            .map(|(_, e)| e.clone())
            .chain(base.cloned())
            .collect();
        let mut values = self.operands(&exprs);
        let rest = if base.is_some() {
            values.pop().unwrap_or_default()
        } else {
            Vec::new()
        };
        let mut out = Vec::new();
        for i in 0..ty.fields(self.structs()).len() {
            match fields.iter().position(|(f, _)| *f == i) {
                Some(given) => out.extend(values[given].iter().copied()),
                None => {
                    let (start, len) = self.piece_range(&ty, i);
                    out.extend(rest.iter().skip(start).take(len).copied());
                }
            }
        }
        out
    }

    fn block_value(&mut self, stmts: &[Stmt], tail: Option<&Expr>, e: &Expr) -> Vec<Operand> {
        for stmt in stmts {
            match stmt {
                Stmt::Expr(e) => drop(self.value(e)),
                Stmt::Let(pat, init) => self.let_(pat, init.as_ref()),
            }
        }
        match tail {
            Some(tail) => self.value(tail),
            None => self.nothing(&e.ty.to_type()),
        }
    }

    fn let_(&mut self, pat: &Pat, init: Option<&Expr>) {
        match (pat, init) {
            (Pat::Var(var), None) => {
                // Registers must hold something on every path; rustc sees to it that nothing reads it.
                if let super::Home::Registers(locals) = self.home(*var) {
                    for local in locals {
                        let ty = self.locals[local.index()].ty;
                        self.assign(local, Rvalue::Use(Operand::Const(ty, 0)));
                    }
                }
            }
            (_, None) => {}
            // Nothing comes to the names.
            (_, Some(init)) if matches!(init.ty, crate::ty::Ty::Never) => {
                self.value(init);
                pat.clone()
                    .vars(&mut |var| self.let_(&Pat::Var(*var), None));
            }
            (Pat::Var(var), Some(init)) => match self.home(*var) {
                super::Home::Memory(slot) => {
                    let base = self.assign_new(Scalar::Ptr, Rvalue::SlotAddr(slot));
                    self.value_into(init, base, 0);
                }
                super::Home::Registers(_) => {
                    let pieces = self.value(init);
                    self.bind(pat, &init.ty.to_type(), &pieces);
                }
            },
            (_, Some(init)) => {
                let pieces = self.value(init);
                let pieces = if pieces.len() > 1 {
                    self.snapshot(pieces)
                } else {
                    pieces
                };
                self.bind(pat, &init.ty.to_type(), &pieces);
            }
        }
    }

    /// Gives the variables of a pattern their parts of a value.
    pub(super) fn bind(&mut self, pat: &Pat, ty: &Type, pieces: &[Operand]) {
        match pat {
            Pat::Wild => {}
            Pat::Var(var) => {
                let place = match self.home(*var) {
                    super::Home::Registers(locals) => Place::Registers(locals),
                    super::Home::Memory(slot) => {
                        Place::Memory(self.assign_new(Scalar::Ptr, Rvalue::SlotAddr(slot)), 0)
                    }
                };
                let ty = self.body.vars[var.0].ty.to_type();
                self.write(&place, &ty, pieces);
            }
            Pat::Fields(fields) => {
                let types = ty.fields(self.structs());
                for (i, pat) in fields {
                    let (start, len) = self.piece_range(ty, *i);
                    self.bind(pat, &types[*i].0, &pieces[start..start + len]);
                }
            }
            Pat::Elements(elems) => {
                let Type::Array(elem, _) = ty else { return };
                let size = elem.layout(self.structs()).size;
                for (i, pat) in elems
                    .iter()
                    .enumerate()
                    .filter(|(_, p)| !matches!(p, Pat::Wild))
                {
                    let values = pieces
                        .first()
                        .map(|base| self.read_memory(*base, i as u64 * size, elem));
                    self.bind(pat, elem, &values.unwrap_or_default());
                }
            }
            Pat::Deref(inner) => {
                let Type::Ref { target, .. } = ty else { return };
                let values = self.read_memory(pieces[0], 0, target);
                self.bind(inner, target, &values);
            }
            Pat::Behind(parts) => {
                let Type::Ref { mutable, target } = ty else {
                    return;
                };
                let parts: Vec<(usize, &Pat)> = match &**parts {
                    Pat::Fields(fields) => fields.iter().map(|(i, p)| (*i, p)).collect(),
                    Pat::Elements(elems) => elems.iter().enumerate().collect(),
                    _ => Vec::new(),
                };
                for (i, pat) in parts {
                    let (part, offset) = match &**target {
                        Type::Array(elem, _) => (
                            (**elem).clone(),
                            i as u64 * elem.layout(self.structs()).size,
                        ),
                        other => other.fields(self.structs())[i].clone(),
                    };
                    let addr = self.address(pieces[0], offset);
                    self.bind(
                        pat,
                        &Type::Ref {
                            mutable: *mutable,
                            target: Box::new(part),
                        },
                        &[addr],
                    );
                }
            }
        }
    }

    /// Evaluates an expression right into memory that nothing else reads yet.
    pub(super) fn value_into(&mut self, e: &Expr, base: Operand, offset: u64) {
        let ty = e.ty.to_type();
        match &*e.kind {
            ExprKind::Array(elems) => {
                let size = elems
                    .first()
                    .map_or(0, |e| e.ty.to_type().layout(self.structs()).size);
                for (i, elem) in elems.iter().enumerate() {
                    self.value_into(elem, base, offset + i as u64 * size);
                }
            }
            ExprKind::Repeat(value, len) => self.repeat_into(value, *len, base, offset),
            ExprKind::Tuple(elems) => {
                let fields = ty.fields(self.structs());
                for (elem, (_, at)) in elems.iter().zip(fields) {
                    self.value_into(elem, base, offset + at);
                }
            }
            ExprKind::Struct {
                fields, base: None, ..
            } => {
                let offsets = ty.fields(self.structs());
                for (i, elem) in fields {
                    self.value_into(elem, base, offset + offsets[*i].1);
                }
            }
            _ => {
                let pieces = self.value(e);
                self.store(base, offset, &ty, &pieces);
            }
        }
    }

    fn assign_to(&mut self, place: &Expr, value: &Expr) -> Vec<Operand> {
        let ty = place.ty.to_type();
        let pieces = self.value(value);
        let pieces = if place.assigns || self.overlaps(place, value, &ty) {
            self.hold(pieces, &ty)
        } else {
            pieces
        };
        let place = self.place(place);
        self.write(&place, &ty, &pieces);
        Vec::new()
    }

    /// Whether parts of a value may lie in memory where other parts are written first: `s = S { a: s.b, b: s.a }`, where both are arrays.
    fn overlaps(&self, place: &Expr, value: &Expr, ty: &Type) -> bool {
        let kinds = ty.pieces(self.structs());
        let arrays = kinds.len() > 1 && kinds.iter().any(|p| matches!(p.kind, PieceKind::Blob(_)));
        let whole = value.is_place() || matches!(*value.kind, ExprKind::Call(..));
        arrays
            && !whole
            && place
                .root()
                .is_none_or(|(var, _)| value.clone().mentions(var))
    }

    fn assign_op(
        &mut self,
        op: BinOp,
        place: &Expr,
        value: &Expr,
        span: proc_macro2::Span,
    ) -> Vec<Operand> {
        let ty = place.ty.to_type();
        // Rust evaluates the right side first for numbers.
        let mut value = self.value(value)[0];
        if place.assigns {
            value = self.snapshot(vec![value])[0];
        }
        let place = self.place(place);
        let old = self.read(&place, &ty)[0];
        self.at = ir_span(span);
        let new = self.checked_binary(op, old, value);
        self.write(&place, &ty, &[new]);
        Vec::new()
    }

    fn same_fields(&mut self, equal: bool, left: &Expr, right: &Expr) -> Operand {
        let values = self.operands(&[left.clone(), right.clone()]);
        let all = self.same(&left.ty.to_type(), &values[0], &values[1]);
        if equal {
            all
        } else {
            self.unary(UnOp::Not, all)
        }
    }

    /// Whether two values of a type are equal in all their parts.
    pub(super) fn same(&mut self, ty: &Type, a: &[Operand], b: &[Operand]) -> Operand {
        match ty {
            Type::Array(..) if a.is_empty() => Operand::bool(true),
            Type::Array(elem, len) => self.same_elements(a[0], b[0], Operand::usize(*len), elem),
            Type::Slice { elem, .. } => {
                let lengths = self.binary(BinOp::Eq, a[1], b[1]);
                let len = self.select(lengths, a[1], Operand::usize(0));
                let elements = self.same_elements(a[0], b[0], len, elem);
                self.binary(BinOp::And, lengths, elements)
            }
            Type::Tuple(_) | Type::Struct(_) | Type::Option(_) | Type::Result(..) => {
                let fields = ty.fields(self.structs());
                (0..fields.len()).fold(Operand::bool(true), |all, i| {
                    let (start, len) = self.piece_range(ty, i);
                    let one =
                        self.same(&fields[i].0, &a[start..start + len], &b[start..start + len]);
                    if all == Operand::bool(true) {
                        one
                    } else {
                        self.binary(BinOp::And, all, one)
                    }
                })
            }
            _ => self.binary(BinOp::Eq, a[0], b[0]),
        }
    }

    fn assertion(&mut self, e: &Expr) -> Vec<Operand> {
        let skip = |debug: bool, b: &Self| debug && !b.unit.module.options.checked;
        match &*e.kind {
            ExprKind::Assert { debug, .. } | ExprKind::AssertCmp { debug, .. }
                if skip(*debug, self) => {}
            ExprKind::Assert { text, cond, .. } => {
                let cond = self.value(cond)[0];
                self.at = ir_span(e.span);
                self.check(cond, CheckKind::Assert(text.clone()), Vec::new());
            }
            ExprKind::AssertCmp {
                text,
                equal,
                left,
                right,
                ..
            } => {
                let kind = if *equal {
                    CheckKind::AssertEq(text.clone())
                } else {
                    CheckKind::AssertNe(text.clone())
                };
                if left.ty.is_scalar() {
                    let [a, b] = self.pair(left, right);
                    let cond = self.binary(if *equal { BinOp::Eq } else { BinOp::Ne }, a, b);
                    self.at = ir_span(e.span);
                    self.check(cond, kind, vec![a, b]);
                } else {
                    let cond = self.same_fields(*equal, left, right);
                    self.at = ir_span(e.span);
                    self.check(cond, CheckKind::Assert(text.clone()), Vec::new());
                }
            }
            ExprKind::Panic(text) => {
                self.check(
                    Operand::bool(false),
                    CheckKind::Panic(text.clone()),
                    Vec::new(),
                );
                self.terminate(Terminator::Unreachable);
            }
            _ => {}
        }
        Vec::new()
    }

    pub(super) fn atomic(
        &mut self,
        op: AtomicOp,
        order: millstream_graph::ir::Order,
        place: &Expr,
        args: &[Expr],
        e: &Expr,
    ) -> Vec<Operand> {
        let (base, offset) = self.memory(place);
        let addr = self.address(base, offset);
        let addr = if assigned_later(args) {
            self.snapshot(vec![addr])[0]
        } else {
            addr
        };
        let args = self.scalars(args);
        let crate::ty::Ty::Atomic(ty) = place.ty else {
            return self.nothing(&e.ty.to_type());
        };
        let dst = (op != AtomicOp::Store).then(|| self.local(ty));
        self.emit(StmtKind::Atomic {
            op,
            ty,
            addr,
            args: args.clone(),
            dst,
            order,
        });
        match dst {
            None => Vec::new(),
            // Whether the exchange took place.
            Some(old) if op == AtomicOp::CompareExchange => {
                vec![self.binary(BinOp::Eq, Operand::Local(old), args[0])]
            }
            Some(old) => vec![Operand::Local(old)],
        }
    }
}

fn array_len(ty: &Type) -> u64 {
    match ty {
        Type::Ref { target, .. } => array_len(target),
        Type::Array(_, len) => *len,
        _ => 0,
    }
}

/// The low bits of a value that a type holds.
pub(super) const fn truncate(bits: u64, ty: Scalar) -> u64 {
    if ty.bits() >= 64 {
        bits
    } else {
        bits & ((1 << ty.bits()) - 1)
    }
}

pub(super) const fn sign_extend(bits: u64, ty: Scalar) -> u64 {
    if !ty.is_signed() {
        return bits;
    }
    let shift = 64 - ty.bits();
    (((bits << shift) as i64) >> shift) as u64
}
