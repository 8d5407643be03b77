//! Places: where a variable, field or element lies, and reading and writing it.

use super::{Builder, Home};
use crate::hir::{Expr, ExprKind};
use millstream_graph::{
    ir::{BinOp, CheckKind, LocalId, Operand, Rvalue, StmtKind},
    ty::{PieceKind, Scalar, Type},
};

/// A place of a known type.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Pieces of a variable in registers.
    Registers(Vec<LocalId>),
    /// Memory at an address and an offset.
    Memory(Operand, u64),
}

impl Builder<'_, '_> {
    /// An address a number of bytes further on.
    pub(super) fn address(&mut self, base: Operand, offset: u64) -> Operand {
        if offset == 0 {
            return base;
        }
        let index = Operand::usize(0);
        self.assign_new(
            Scalar::Ptr,
            Rvalue::PtrAdd {
                base,
                index,
                scale: 1,
                offset,
            },
        )
    }

    pub(super) fn load(&mut self, ty: Scalar, addr: Operand, offset: u64) -> Operand {
        self.assign_new(ty, Rvalue::Load { ty, addr, offset })
    }

    pub(super) fn place(&mut self, e: &Expr) -> Place {
        match &*e.kind {
            ExprKind::Var(var) => match self.home(*var) {
                Home::Registers(locals) => Place::Registers(locals),
                Home::Memory(slot) => {
                    Place::Memory(self.assign_new(Scalar::Ptr, Rvalue::SlotAddr(slot)), 0)
                }
            },
            ExprKind::Const(id) => Place::Memory(self.const_data(*id), 0),
            ExprKind::Field(base, field) => self.field_place(base, *field),
            ExprKind::Index(base, index) => self.element(base, index, &e.ty.to_type(), e.span),
            ExprKind::MatIndex(base, row, col) => {
                self.mat_element(base, row, col, &e.ty.to_type(), e.span)
            }
            ExprKind::Deref(inner) => Place::Memory(self.value(inner)[0], 0),
            // A value without a name: keep it.
            _ => {
                let ty = e.ty.to_type();
                let pieces = self.value(e);
                let base = self.temporary(&ty);
                self.store(base, 0, &ty, &pieces);
                Place::Memory(base, 0)
            }
        }
    }

    fn field_place(&mut self, base: &Expr, field: usize) -> Place {
        let ty = base.ty.to_type();
        let fields = ty.fields(self.structs());
        match self.place(base) {
            Place::Memory(addr, offset) => Place::Memory(addr, offset + fields[field].1),
            Place::Registers(locals) => {
                let (start, len) = self.piece_range(&ty, field);
                Place::Registers(locals[start..start + len].to_vec())
            }
        }
    }

    /// Which of a value's pieces belong to one of its fields.
    pub(super) fn piece_range(&self, ty: &Type, field: usize) -> (usize, usize) {
        let counts: Vec<usize> = ty
            .fields(self.structs())
            .iter()
            .map(|(t, _)| t.pieces(self.structs()).len())
            .collect();
        (counts[..field].iter().sum(), counts[field])
    }

    fn element(
        &mut self,
        base: &Expr,
        index: &Expr,
        elem: &Type,
        span: proc_macro2::Span,
    ) -> Place {
        let scale = elem.layout(self.structs()).size;
        let (addr, offset, len) = match base.ty.to_type() {
            Type::Array(_, len) => {
                let (addr, offset) = self.memory(base);
                (addr, offset, Operand::usize(len))
            }
            _ => {
                let pieces = self.value(base);
                let pieces = if index.assigns {
                    self.snapshot(pieces)
                } else {
                    pieces
                };
                (pieces[0], 0, pieces[1])
            }
        };
        let index = self.value(index)[0];
        self.at = crate::diag::ir_span(span);
        if let (Operand::Const(_, i), Operand::Const(_, n)) = (index, len)
            && i < n
        {
            return Place::Memory(addr, offset + i * scale);
        }
        self.bounds(index, len);
        Place::Memory(
            self.assign_new(
                Scalar::Ptr,
                Rvalue::PtrAdd {
                    base: addr,
                    index,
                    scale,
                    offset,
                },
            ),
            0,
        )
    }

    /// Ends the run unless `index < len`.
    pub(super) fn bounds(&mut self, index: Operand, len: Operand) {
        if self.unit.module.options.unchecked {
            return;
        }
        let ok = self.binary(BinOp::Lt, index, len);
        self.check(ok, CheckKind::Bounds, vec![index, len]);
    }

    fn mat_element(
        &mut self,
        base: &Expr,
        row: &Expr,
        col: &Expr,
        elem: &Type,
        span: proc_macro2::Span,
    ) -> Place {
        let pieces = self.value(base);
        let pieces = if row.assigns || col.assigns {
            self.snapshot(pieces)
        } else {
            pieces
        };
        let row = self.value(row)[0];
        let row = if col.assigns {
            self.snapshot(vec![row])[0]
        } else {
            row
        };
        let col = self.value(col)[0];
        self.at = crate::diag::ir_span(span);
        let [data, rows, cols, stride] = pieces[..] else {
            return Place::Memory(pieces[0], 0);
        };
        self.bounds(row, rows);
        self.bounds(col, cols);
        let start = self.binary(BinOp::Mul, row, stride);
        let index = self.binary(BinOp::Add, start, col);
        let scale = elem.layout(self.structs()).size;
        Place::Memory(
            self.assign_new(
                Scalar::Ptr,
                Rvalue::PtrAdd {
                    base: data,
                    index,
                    scale,
                    offset: 0,
                },
            ),
            0,
        )
    }

    /// A place in memory; a value in registers gets memory of its own.
    pub(super) fn memory(&mut self, e: &Expr) -> (Operand, u64) {
        match self.place(e) {
            Place::Memory(addr, offset) => (addr, offset),
            Place::Registers(locals) => {
                let ty = e.ty.to_type();
                let base = self.temporary(&ty);
                let pieces: Vec<Operand> = locals.into_iter().map(Operand::Local).collect();
                self.store(base, 0, &ty, &pieces);
                (base, 0)
            }
        }
    }

    /// The pieces of what a place holds.
    pub(super) fn read(&mut self, place: &Place, ty: &Type) -> Vec<Operand> {
        match place {
            Place::Registers(locals) => locals.iter().copied().map(Operand::Local).collect(),
            Place::Memory(addr, offset) => self.read_memory(*addr, *offset, ty),
        }
    }

    pub(super) fn read_memory(&mut self, addr: Operand, offset: u64, ty: &Type) -> Vec<Operand> {
        let pieces = ty.pieces(self.structs());
        let read = pieces.into_iter().map(|p| match p.kind {
            PieceKind::Scalar(s) => self.load(s, addr, offset + p.offset),
            PieceKind::Blob(_) => self.address(addr, offset + p.offset),
        });
        read.collect()
    }

    pub(super) fn write(&mut self, place: &Place, ty: &Type, pieces: &[Operand]) {
        match place {
            Place::Registers(locals) => {
                // All pieces are read before the first is written: `p = (p.1, p.0)`.
                let pieces = if locals.len() > 1 {
                    self.snapshot(pieces.to_vec())
                } else {
                    pieces.to_vec()
                };
                for (local, piece) in locals.iter().zip(pieces) {
                    self.assign(*local, Rvalue::Use(piece));
                }
            }
            Place::Memory(addr, offset) => self.store(*addr, *offset, ty, pieces),
        }
    }

    /// Writes the pieces of a value to memory.
    pub(super) fn store(&mut self, base: Operand, offset: u64, ty: &Type, values: &[Operand]) {
        let pieces = ty.pieces(self.structs());
        for (piece, value) in pieces.into_iter().zip(values) {
            match piece.kind {
                PieceKind::Scalar(_) => self.emit(StmtKind::Store {
                    addr: base,
                    offset: offset + piece.offset,
                    value: *value,
                }),
                PieceKind::Blob(layout) => {
                    let dst = self.address(base, offset + piece.offset);
                    self.emit(StmtKind::Copy {
                        dst,
                        src: *value,
                        size: layout.size,
                    });
                }
            }
        }
    }

    /// A value that stays as it is, whatever is assigned from here on: arrays are copied, and what is in registers.
    pub(super) fn hold(&mut self, pieces: Vec<Operand>, ty: &Type) -> Vec<Operand> {
        let kinds = ty.pieces(self.structs());
        let pieces = self.snapshot(pieces);
        let held = pieces
            .into_iter()
            .zip(kinds)
            .map(|(piece, p)| match p.kind {
                PieceKind::Scalar(_) => piece,
                PieceKind::Blob(layout) => {
                    let slot = self.slot(layout);
                    let dst = self.assign_new(Scalar::Ptr, Rvalue::SlotAddr(slot));
                    self.emit(StmtKind::Copy {
                        dst,
                        src: piece,
                        size: layout.size,
                    });
                    dst
                }
            });
        held.collect()
    }

    /// Copies of values in registers, so that assignments that follow do not change them.
    pub(super) fn snapshot(&mut self, pieces: Vec<Operand>) -> Vec<Operand> {
        let copies = pieces.into_iter().map(|p| match p {
            Operand::Const(..) => p,
            Operand::Local(_) => self.assign_new(self.type_of(p), Rvalue::Use(p)),
        });
        copies.collect()
    }
}
