//! Calls and spawns.

use super::Builder;
use crate::{
    diag::ir_span,
    hir::{Expr, FnId},
};
use millstream_graph::{
    ir::{Combine, Dest, FuncId, Operand, StmtKind},
    ty::{PieceKind, Type},
};

impl Builder<'_, '_> {
    fn arguments(&mut self, args: &[Expr]) -> Vec<Operand> {
        self.operands(args).concat()
    }

    pub(super) fn call(
        &mut self,
        id: FnId,
        args: &[Expr],
        ret: &Type,
        span: proc_macro2::Span,
    ) -> Vec<Operand> {
        let func = self.unit.callee(id);
        let args = self.arguments(args);
        self.at = ir_span(span);
        let pieces = ret.pieces(self.structs());
        match pieces.as_slice() {
            [] => {
                self.emit(StmtKind::Call {
                    func,
                    args,
                    dst: None,
                    ret_addr: None,
                });
                Vec::new()
            }
            [piece] if matches!(piece.kind, PieceKind::Scalar(_)) => {
                let PieceKind::Scalar(s) = piece.kind else {
                    return Vec::new();
                };
                let dst = self.local(s);
                self.emit(StmtKind::Call {
                    func,
                    args,
                    dst: Some(dst),
                    ret_addr: None,
                });
                vec![Operand::Local(dst)]
            }
            _ => {
                let memory = self.temporary(ret);
                self.emit(StmtKind::Call {
                    func,
                    args,
                    dst: None,
                    ret_addr: Some(memory),
                });
                self.read_memory(memory, 0, ret)
            }
        }
    }

    pub(super) fn spawn(
        &mut self,
        id: FnId,
        args: &[Expr],
        dest: Option<&(Expr, Combine)>,
        span: proc_macro2::Span,
    ) {
        let ret = self.unit.module.fns[id.0].ret.clone();
        if !self.kind.spawns() {
            return self.spawn_serially(id, args, &ret, dest, span);
        }
        let mut values = self.operands(args);
        if dest.is_some_and(|(d, _)| d.assigns) {
            values = values
                .into_iter()
                .zip(args)
                .map(|(v, a)| self.hold(v, &a.ty.to_type()))
                .collect();
        }
        let args = values.concat();
        let has_result = !ret.pieces(self.structs()).is_empty();
        let dest = match dest {
            _ if !has_result => None,
            Some((place, combine)) => {
                let (base, offset) = self.memory(place);
                Some(Dest {
                    addr: self.address(base, offset),
                    combine: *combine,
                })
            }
            // Nobody wants the result, but a child has to put it somewhere.
            None => Some(Dest {
                addr: self.temporary(&ret),
                combine: Combine::Store,
            }),
        };
        self.at = ir_span(span);
        self.emit(StmtKind::Spawn {
            func: FuncId::new(id.0),
            args,
            dest,
            leaf: None,
        });
    }

    /// In the serial version of a task a spawn is a call.
    fn spawn_serially(
        &mut self,
        id: FnId,
        args: &[Expr],
        ret: &Type,
        dest: Option<&(Expr, Combine)>,
        span: proc_macro2::Span,
    ) {
        let pieces = self.call(id, args, ret, span);
        let Some((place, combine)) = dest else { return };
        let ty = place.ty.to_type();
        let place = self.place(place);
        if *combine == Combine::Store {
            return self.write(&place, &ty, &pieces);
        }
        let old = self.read(&place, &ty);
        let new: Vec<Operand> = (old.into_iter().zip(pieces).enumerate())
            .map(|(i, (old, piece))| match combine.of_piece(i).op() {
                Some(op) => self.binary(op, old, piece),
                None => piece,
            })
            .collect();
        self.write(&place, &ty, &new);
    }
}
