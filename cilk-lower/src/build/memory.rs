//! Arrays, slices and matrix views.

use super::Builder;
use crate::{
    diag::ir_span,
    hir::{Builtin, Expr, ExprKind, SliceRange},
};
use millstream_graph::{
    ir::{BinOp, BlockId, CheckKind, LocalId, Operand, Rvalue, StmtKind, UnOp},
    ty::{PieceKind, Scalar, Type},
};

/// Up to this many elements `[x; n]` is written out.
const UNROLL: u64 = 4;

impl Builder<'_, '_> {
    pub(super) fn builtin(&mut self, builtin: Builtin, args: &[Expr], e: &Expr) -> Vec<Operand> {
        match builtin {
            Builtin::Len => vec![self.value(&args[0])[1]],
            Builtin::IsEmpty => {
                let len = self.value(&args[0])[1];
                vec![self.binary(BinOp::Eq, len, Operand::usize(0))]
            }
            Builtin::Zeroed => self.zeroed(&e.ty.to_type()),
            Builtin::AtomicNew => self.value(&args[0]),
            Builtin::AtomicInto => {
                let (base, offset) = self.memory(&args[0]);
                vec![self.load(self.scalar_of(e), base, offset)]
            }
            Builtin::AsArray => self.value(&args[0])[..1].to_vec(),
            Builtin::AsArrays(by) | Builtin::Flattened(by) => {
                let pieces = self.value(&args[0]);
                let op = match builtin {
                    Builtin::Flattened(_) => BinOp::Mul,
                    _ => BinOp::Div,
                };
                vec![pieces[0], self.binary(op, pieces[1], Operand::usize(by))]
            }
            Builtin::CasOk => self.value(&args[0]),
            Builtin::CasErr => {
                let ok = self.value(&args[0])[0];
                vec![self.unary(UnOp::Not, ok)]
            }
            Builtin::SplitAt
            | Builtin::Swap
            | Builtin::Fill
            | Builtin::CopyFromSlice
            | Builtin::Reverse
            | Builtin::RotateLeft
            | Builtin::RotateRight
            | Builtin::Contains => self.slice_builtin(builtin, args, e),
            Builtin::IsAscii(_)
            | Builtin::ToAsciiLowercase
            | Builtin::ToAsciiUppercase
            | Builtin::ToBytes { .. }
            | Builtin::FromBytes { .. } => self.byte_builtin(builtin, args, e),
            Builtin::MemSwap | Builtin::MemReplace => self.mem_builtin(builtin, args),
            Builtin::MatNew
            | Builtin::MatRows
            | Builtin::MatCols
            | Builtin::MatRow
            | Builtin::MatQuadrants
            | Builtin::MatSplitRows
            | Builtin::MatSplitCols
            | Builtin::MatSub
            | Builtin::MatSame => self.mat_builtin(builtin, args, e),
            _ => self.numeric_builtin(builtin, args),
        }
    }

    /// A value all of whose bits are zero.
    fn zeroed(&mut self, ty: &Type) -> Vec<Operand> {
        let pieces = ty.pieces(self.structs()).into_iter();
        let zero = pieces.map(|p| match p.kind {
            PieceKind::Scalar(s) => Operand::Const(s, 0),
            PieceKind::Blob(layout) => {
                let slot = self.slot(layout);
                let dst = self.assign_new(Scalar::Ptr, Rvalue::SlotAddr(slot));
                let size = layout.size;
                self.emit(StmtKind::Zero { dst, size });
                dst
            }
        });
        zero.collect()
    }

    fn checks_bounds(&self) -> bool {
        !self.unit.module.options.unchecked
    }

    /// Ends the run unless `a <= b`.
    fn at_most(&mut self, a: Operand, b: Operand, kind: CheckKind) {
        if self.checks_bounds() {
            let ok = self.binary(BinOp::Le, a, b);
            self.check(ok, kind, vec![a, b]);
        }
    }

    fn elem_size(&self, slice: &Type) -> (Type, u64) {
        match slice {
            Type::Slice { elem, .. } | Type::Array(elem, _) | Type::Mat { elem, .. } => {
                ((**elem).clone(), elem.layout(self.structs()).size)
            }
            _ => (Type::unit(), 0),
        }
    }

    fn at(&mut self, base: Operand, index: Operand, scale: u64) -> Operand {
        if index == Operand::usize(0) {
            return base;
        }
        self.assign_new(
            Scalar::Ptr,
            Rvalue::PtrAdd {
                base,
                index,
                scale,
                offset: 0,
            },
        )
    }

    pub(super) fn sub_slice(
        &mut self,
        base: &Expr,
        range: &SliceRange,
        span: proc_macro2::Span,
    ) -> Vec<Operand> {
        let ty = base.ty.to_type();
        let (_, scale) = self.elem_size(&ty);
        let (data, len) = match ty {
            Type::Array(_, len) => {
                let (addr, offset) = self.memory(base);
                (self.address(addr, offset), Operand::usize(len))
            }
            _ => {
                let pieces = self.value(base);
                let pieces = self.snapshot(pieces);
                (pieces[0], pieces[1])
            }
        };
        let mut lo = range
            .lo
            .as_ref()
            .map_or(Operand::usize(0), |e| self.value(e)[0]);
        if range.hi.as_ref().is_some_and(|e| e.assigns) {
            lo = self.snapshot(vec![lo])[0];
        }
        let mut hi = range.hi.as_ref().map_or(len, |e| self.value(e)[0]);
        self.at = ir_span(span);
        if range.inclusive {
            // `..=usize::MAX` would wrap.
            let ok = self.binary(BinOp::Lt, hi, len);
            if self.checks_bounds() {
                self.check(ok, CheckKind::RangeEnd, vec![hi, len]);
            }
            hi = self.binary(BinOp::Add, hi, Operand::usize(1));
        }
        if range.lo.is_some() {
            self.at_most(lo, hi, CheckKind::RangeOrder);
        }
        if range.hi.is_some() && !range.inclusive {
            self.at_most(hi, len, CheckKind::RangeEnd);
        }
        let count = if lo == Operand::usize(0) {
            hi
        } else {
            self.binary(BinOp::Sub, hi, lo)
        };
        vec![self.at(data, lo, scale), count]
    }

    pub(super) fn repeat_into(&mut self, value: &Expr, len: u64, base: Operand, offset: u64) {
        let ty = value.ty.to_type();
        let size = ty.layout(self.structs()).size;
        let zero = match &*value.kind {
            ExprKind::Int(0) | ExprKind::Bool(false) => true,
            ExprKind::Float(f) => f.to_bits() == 0,
            _ => false,
        };
        if zero {
            let dst = self.address(base, offset);
            self.emit(StmtKind::Zero {
                dst,
                size: size * len,
            });
            return;
        }
        let pieces = self.value(value);
        let pieces = self.snapshot(pieces);
        if len <= UNROLL {
            for i in 0..len {
                self.store(base, offset + i * size, &ty, &pieces);
            }
            return;
        }
        let base = self.address(base, offset);
        self.for_each(Operand::usize(len), |b, i| {
            let addr = b.at(base, i, size);
            b.store(addr, 0, &ty, &pieces);
        });
    }

    /// Enters a loop over `0..len`: its counter, its head and where it is left for.
    fn enter_loop(&mut self, len: Operand) -> (LocalId, BlockId, BlockId) {
        let counter = self.local(Scalar::Usize);
        self.assign(counter, Rvalue::Use(Operand::usize(0)));
        let (head, inside, exit) = (self.block(), self.block(), self.block());
        self.goto(head);
        self.switch_to(head);
        let more = self.binary(BinOp::Lt, Operand::Local(counter), len);
        self.branch_to(more, inside, exit);
        self.switch_to(inside);
        (counter, head, exit)
    }

    /// A loop over `0..len`.
    fn for_each(&mut self, len: Operand, body: impl FnOnce(&mut Self, Operand)) {
        let (counter, head, exit) = self.enter_loop(len);
        let at = Operand::Local(counter);
        body(self, at);
        self.assign(counter, Rvalue::Binary(BinOp::Add, at, Operand::usize(1)));
        self.goto(head);
        self.switch_to(exit);
    }

    /// Whether two stretches of memory hold the same elements, up to the first that differs.
    pub(super) fn same_elements(
        &mut self,
        a: Operand,
        b: Operand,
        len: Operand,
        elem: &Type,
    ) -> Operand {
        let size = elem.layout(self.structs()).size;
        let same = self.local(Scalar::Bool);
        self.assign(same, Rvalue::Use(Operand::bool(true)));
        let (counter, head, exit) = self.enter_loop(len);
        let at = Operand::Local(counter);
        let values = [a, b].map(|base| {
            let addr = self.at(base, at, size);
            self.read_memory(addr, 0, elem)
        });
        let one = self.same(elem, &values[0], &values[1]);
        self.assign(same, Rvalue::Use(one));
        self.assign(counter, Rvalue::Binary(BinOp::Add, at, Operand::usize(1)));
        self.branch_to(one, head, exit);
        self.switch_to(exit);
        Operand::Local(same)
    }

    fn slice_builtin(&mut self, builtin: Builtin, args: &[Expr], e: &Expr) -> Vec<Operand> {
        let (elem, scale) = self.elem_size(&args[0].ty.to_type());
        let values = self.operands(args);
        self.at = ir_span(e.span);
        let (data, len) = (values[0][0], values[0][1]);
        match builtin {
            Builtin::SplitAt => {
                let mid = values[1][0];
                self.at_most(mid, len, CheckKind::Split);
                let rest = self.binary(BinOp::Sub, len, mid);
                return vec![data, mid, self.at(data, mid, scale), rest];
            }
            Builtin::Swap => {
                let (i, j) = (values[1][0], values[2][0]);
                self.bounds(i, len);
                self.bounds(j, len);
                let (a, b) = (self.at(data, i, scale), self.at(data, j, scale));
                self.exchange(a, b, &elem);
            }
            Builtin::Fill => {
                let value = self.snapshot(values[1].clone());
                self.for_each(len, |b, i| {
                    let addr = b.at(data, i, scale);
                    b.store(addr, 0, &elem, &value);
                });
            }
            Builtin::CopyFromSlice => {
                let (from, other) = (values[1][0], values[1][1]);
                let same = self.binary(BinOp::Eq, len, other);
                self.check(same, CheckKind::Lengths, vec![len, other]);
                self.for_each(len, |b, i| {
                    let (src, dst) = (b.at(from, i, scale), b.at(data, i, scale));
                    let value = b.read_memory(src, 0, &elem);
                    b.store(dst, 0, &elem, &value);
                });
            }
            Builtin::RotateLeft | Builtin::RotateRight => {
                let by = values[1][0];
                self.at_most(by, len, CheckKind::Split);
                let rest = self.binary(BinOp::Sub, len, by);
                let (first, second) = match builtin {
                    Builtin::RotateLeft => (by, rest),
                    _ => (rest, by),
                };
                let behind = self.at(data, first, scale);
                for (from, count) in [(data, first), (behind, second), (data, len)] {
                    self.reverse(from, count, &elem);
                }
            }
            Builtin::Contains => return vec![self.contains(data, len, values[1][0], &elem)],
            _ => self.reverse(data, len, &elem),
        }
        Vec::new()
    }

    fn reverse(&mut self, data: Operand, len: Operand, elem: &Type) {
        let scale = elem.layout(self.structs()).size;
        let half = self.binary(BinOp::Shr, len, Operand::Const(Scalar::U32, 1));
        let last = self.binary(BinOp::Sub, len, Operand::usize(1));
        self.for_each(half, |b, i| {
            let j = b.binary(BinOp::Sub, last, i);
            let (x, y) = (b.at(data, i, scale), b.at(data, j, scale));
            b.exchange(x, y, elem);
        });
    }

    /// Whether one of the elements is what stands at `wanted`.
    fn contains(&mut self, data: Operand, len: Operand, wanted: Operand, elem: &Type) -> Operand {
        let size = elem.layout(self.structs()).size;
        let found = self.local(Scalar::Bool);
        self.assign(found, Rvalue::Use(Operand::bool(false)));
        let wanted = self.read_memory(wanted, 0, elem);
        let (counter, head, exit) = self.enter_loop(len);
        let at = Operand::Local(counter);
        let addr = self.at(data, at, size);
        let one = self.read_memory(addr, 0, elem);
        let same = self.same(elem, &one, &wanted);
        self.assign(found, Rvalue::Use(same));
        self.assign(counter, Rvalue::Binary(BinOp::Add, at, Operand::usize(1)));
        self.branch_to(same, exit, head);
        self.switch_to(exit);
        Operand::Local(found)
    }

    /// Exchanges what two addresses hold; they may be the same.
    fn exchange(&mut self, a: Operand, b: Operand, ty: &Type) {
        let x = self.held(a, ty);
        let y = self.held(b, ty);
        self.store(a, 0, ty, &y);
        self.store(b, 0, ty, &x);
    }

    /// A value read from memory that is about to be overwritten: arrays are copied away.
    pub(super) fn held(&mut self, addr: Operand, ty: &Type) -> Vec<Operand> {
        let arrays = ty
            .pieces(self.structs())
            .iter()
            .any(|p| matches!(p.kind, millstream_graph::ty::PieceKind::Blob(_)));
        if !arrays {
            return self.read_memory(addr, 0, ty);
        }
        let copy = self.temporary(ty);
        self.emit(StmtKind::Copy {
            dst: copy,
            src: addr,
            size: ty.layout(self.structs()).size,
        });
        self.read_memory(copy, 0, ty)
    }

    fn mem_builtin(&mut self, builtin: Builtin, args: &[Expr]) -> Vec<Operand> {
        let Type::Ref { target, .. } = args[0].ty.to_type() else {
            return Vec::new();
        };
        let values = self.operands(args);
        let place = values[0][0];
        if builtin == Builtin::MemSwap {
            self.exchange(place, values[1][0], &target);
            return Vec::new();
        }
        let old = self.held(place, &target);
        self.store(place, 0, &target, &values[1]);
        old
    }

    fn mat_builtin(&mut self, builtin: Builtin, args: &[Expr], e: &Expr) -> Vec<Operand> {
        let (_, scale) = self.elem_size(&args[0].ty.to_type());
        let values = self.operands(args);
        self.at = ir_span(e.span);
        if builtin == Builtin::MatNew {
            let (data, len, rows, cols) = (values[0][0], values[0][1], values[1][0], values[2][0]);
            // A product that wraps could fit by chance.
            let wraps = self.binary(BinOp::MulOverflows, rows, cols);
            let fits = self.unary(UnOp::Not, wraps);
            self.check(fits, CheckKind::Overflow(BinOp::Mul), vec![rows, cols]);
            let size = self.binary(BinOp::Mul, rows, cols);
            let same = self.binary(BinOp::Eq, len, size);
            self.check(same, CheckKind::Lengths, vec![len, size]);
            return vec![data, rows, cols, cols];
        }
        let [data, rows, cols, stride] = values[0][..] else {
            return Vec::new();
        };
        let row_at = |b: &mut Self, row: Operand| {
            let index = b.binary(BinOp::Mul, row, stride);
            b.at(data, index, scale)
        };
        match builtin {
            Builtin::MatRows => vec![rows],
            Builtin::MatCols => vec![cols],
            Builtin::MatRow => {
                self.bounds(values[1][0], rows);
                vec![row_at(self, values[1][0]), cols]
            }
            Builtin::MatSplitRows => {
                let mid = values[1][0];
                self.at_most(mid, rows, CheckKind::Split);
                let rest = self.binary(BinOp::Sub, rows, mid);
                vec![
                    data,
                    mid,
                    cols,
                    stride,
                    row_at(self, mid),
                    rest,
                    cols,
                    stride,
                ]
            }
            Builtin::MatSplitCols => {
                let mid = values[1][0];
                self.at_most(mid, cols, CheckKind::Split);
                let rest = self.binary(BinOp::Sub, cols, mid);
                vec![
                    data,
                    rows,
                    mid,
                    stride,
                    self.at(data, mid, scale),
                    rows,
                    rest,
                    stride,
                ]
            }
            Builtin::MatQuadrants => {
                let one = Operand::Const(Scalar::U32, 1);
                let (top, left) = (
                    self.binary(BinOp::Shr, rows, one),
                    self.binary(BinOp::Shr, cols, one),
                );
                let (bottom, right) = (
                    self.binary(BinOp::Sub, rows, top),
                    self.binary(BinOp::Sub, cols, left),
                );
                let below = row_at(self, top);
                let (ne, se) = (self.at(data, left, scale), self.at(below, left, scale));
                [
                    [data, top, left, stride],
                    [ne, top, right, stride],
                    [below, bottom, left, stride],
                    [se, bottom, right, stride],
                ]
                .concat()
            }
            Builtin::MatSub => {
                let [row, col, height, width] = [1, 2, 3, 4].map(|i| values[i][0]);
                for (start, size, all) in [(row, height, rows), (col, width, cols)] {
                    self.at_most(start, all, CheckKind::RangeEnd);
                    let room = self.binary(BinOp::Sub, all, start);
                    self.at_most(size, room, CheckKind::RangeEnd);
                }
                let start = row_at(self, row);
                vec![self.at(start, col, scale), height, width, stride]
            }
            _ => values[0].clone(),
        }
    }
}
