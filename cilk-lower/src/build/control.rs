//! Branches, `match`, and what leaves a loop or the function.

use super::{Builder, Target};
use crate::{
    diag::ir_span,
    hir::{Arm, Case, Expr, ExprKind, Path, Projection, Test},
};
use millstream_graph::{
    ir::{BinOp, BlockId, CheckKind, LocalId, Operand, Rvalue, Terminator, UnOp},
    ty::{PieceKind, Scalar, Type},
};

impl Builder<'_, '_> {
    pub(super) fn branch_to(&mut self, cond: Operand, then: BlockId, other: BlockId) {
        self.terminate(Terminator::Branch { cond, then, other });
    }

    pub(super) fn control(&mut self, e: &Expr) -> Vec<Operand> {
        let ty = e.ty.to_type();
        match &*e.kind {
            ExprKind::Lazy { .. } => {
                let result = self.local(Scalar::Bool);
                let (yes, no, end) = (self.block(), self.block(), self.block());
                self.branch(e, yes, no);
                for (block, value) in [(yes, true), (no, false)] {
                    self.switch_to(block);
                    self.assign(result, Rvalue::Use(Operand::bool(value)));
                    self.goto(end);
                }
                self.switch_to(end);
                vec![Operand::Local(result)]
            }
            ExprKind::If(cond, then, other) => {
                let result = self.results(&ty);
                let (yes, no, end) = (self.block(), self.block(), self.block());
                self.branch(cond, yes, no);
                self.switch_to(yes);
                self.arm_value(then, &result, end);
                self.switch_to(no);
                match other {
                    Some(other) => self.arm_value(other, &result, end),
                    None => self.goto(end),
                }
                self.switch_to(end);
                result.into_iter().map(Operand::Local).collect()
            }
            ExprKind::Match(value, arms) => self.matching(value, arms, &ty),
            ExprKind::Labelled(id, body) => {
                let (result, exit) = (self.results(&ty), self.block());
                self.targets.push(Target {
                    id: *id,
                    exit,
                    next: None,
                    result: result.clone(),
                });
                self.arm_value(body, &result, exit);
                self.targets.pop();
                self.switch_to(exit);
                result.into_iter().map(Operand::Local).collect()
            }
            ExprKind::Loop(id, body) => {
                let (result, head, exit) = (self.results(&ty), self.block(), self.block());
                self.goto(head);
                self.switch_to(head);
                self.targets.push(Target {
                    id: *id,
                    exit,
                    next: Some(head),
                    result: result.clone(),
                });
                self.value(body);
                self.targets.pop();
                self.goto(head);
                self.switch_to(exit);
                result.into_iter().map(Operand::Local).collect()
            }
            ExprKind::While(id, cond, body) => {
                let (head, inside, exit) = (self.block(), self.block(), self.block());
                self.goto(head);
                self.switch_to(head);
                self.targets.push(Target {
                    id: *id,
                    exit,
                    next: Some(head),
                    result: Vec::new(),
                });
                self.branch(cond, inside, exit);
                self.switch_to(inside);
                self.value(body);
                self.targets.pop();
                self.goto(head);
                self.switch_to(exit);
                Vec::new()
            }
            ExprKind::For(id, over, body) => {
                self.for_loop(*id, over, body);
                Vec::new()
            }
            ExprKind::Break(id, value) => {
                let pieces = value.as_ref().map(|v| self.value(v)).unwrap_or_default();
                if let Some(at) = self.targets.iter().rposition(|t| t.id == *id) {
                    let result = self.targets[at].result.clone();
                    self.give(&pieces, &result);
                    self.goto(self.targets[at].exit);
                }
                self.nothing(&ty)
            }
            ExprKind::Continue(id) => {
                if let Some(next) = self
                    .targets
                    .iter()
                    .rfind(|t| t.id == *id)
                    .and_then(|t| t.next)
                {
                    self.goto(next);
                }
                self.nothing(&ty)
            }
            ExprKind::Return(value) => {
                let pieces = value.as_ref().map(|v| self.value(v)).unwrap_or_default();
                self.at = ir_span(e.span);
                self.finish_return(pieces);
                self.nothing(&ty)
            }
            _ => self.nothing(&ty),
        }
    }

    /// Registers for a value that comes on several ways. One that never comes needs none.
    fn results(&mut self, ty: &Type) -> Vec<LocalId> {
        let kinds = ty.pieces(self.structs());
        let results = kinds.into_iter().map(|p| match p.kind {
            PieceKind::Scalar(s) => self.local(s),
            PieceKind::Blob(_) => self.local(Scalar::Ptr),
        });
        results.collect()
    }

    fn give(&mut self, pieces: &[Operand], result: &[LocalId]) {
        let pieces = if result.len() > 1 {
            self.snapshot(pieces.to_vec())
        } else {
            pieces.to_vec()
        };
        for (local, piece) in result.iter().zip(pieces) {
            self.assign(*local, Rvalue::Use(piece));
        }
    }

    fn arm_value(&mut self, e: &Expr, result: &[LocalId], end: BlockId) {
        let pieces = self.value(e);
        // A way that never ends gives no value; its block is not reached from here on.
        let never = matches!(e.ty, crate::ty::Ty::Never);
        if !never {
            self.give(&pieces, result);
        } else {
            let zeros: Vec<Operand> = result
                .iter()
                .map(|l| Operand::Const(self.locals[l.index()].ty, 0))
                .collect();
            self.give(&zeros, result);
        }
        self.goto(end);
    }

    /// Goes on at one of two blocks; `&&`, `||` and `!` become jumps.
    pub(super) fn branch(&mut self, cond: &Expr, then: BlockId, other: BlockId) {
        match &*cond.kind {
            ExprKind::Lazy { and, left, right } => {
                let middle = self.block();
                if *and {
                    self.branch(left, middle, other);
                } else {
                    self.branch(left, then, middle);
                }
                self.switch_to(middle);
                self.branch(right, then, other);
            }
            ExprKind::Unary(UnOp::Not, inner) => self.branch(inner, other, then),
            ExprKind::Bool(value) => self.goto(if *value { then } else { other }),
            _ => {
                let cond_value = self.value(cond)[0];
                self.at = ir_span(cond.span);
                self.branch_to(cond_value, then, other);
            }
        }
    }

    fn matching(&mut self, value: &Expr, arms: &[Arm], result: &Type) -> Vec<Operand> {
        let ty = value.ty.to_type();
        let pieces = self.value(value);
        let guards_write = arms
            .iter()
            .filter_map(|a| a.guard.as_ref())
            .any(|g| g.assigns);
        let pieces = if guards_write {
            self.hold(pieces, &ty)
        } else {
            self.snapshot(pieces)
        };
        let (result, end) = (self.results(result), self.block());
        let bodies: Vec<BlockId> = arms.iter().map(|_| self.block()).collect();
        if !self.switch_on(&pieces, arms, &bodies) {
            for (arm, body) in arms.iter().zip(&bodies) {
                self.arm_tests(arm, &ty, &pieces, *body);
            }
        }
        self.check(
            Operand::bool(false),
            CheckKind::Panic("no arm of the `match` fits".into()),
            Vec::new(),
        );
        self.terminate(Terminator::Unreachable);
        for (arm, body) in arms.iter().zip(&bodies) {
            self.switch_to(*body);
            if arm.guard.is_none() && binds_alike(arm) {
                self.bind_case(&arm.cases[0], &ty, &pieces);
            }
            self.arm_value(&arm.body, &result, end);
        }
        self.switch_to(end);
        result.into_iter().map(Operand::Local).collect()
    }

    /// A `match` of a scalar whose arms are plain values becomes a switch. What is left falls through.
    fn switch_on(&mut self, pieces: &[Operand], arms: &[Arm], bodies: &[BlockId]) -> bool {
        let [value] = pieces else { return false };
        let ty = self.type_of(*value);
        if !ty.is_int() && ty != Scalar::Bool {
            return false;
        }
        let mut cases: Vec<(u64, BlockId)> = Vec::new();
        let mut other = None;
        for (arm, body) in arms.iter().zip(bodies) {
            if arm.guard.is_some() || !binds_alike(arm) {
                return false;
            }
            for case in &arm.cases {
                match case.tests.as_slice() {
                    [] => other = other.or(Some(*body)),
                    [(path, Test::Is(bits))] if path.is_empty() => {
                        let bits = super::value::truncate(*bits, ty);
                        if other.is_none() && !cases.iter().any(|(b, _)| *b == bits) {
                            cases.push((bits, *body));
                        }
                    }
                    _ => return false,
                }
            }
        }
        let otherwise = other.unwrap_or_else(|| self.block());
        self.terminate(Terminator::Switch {
            value: *value,
            arms: cases,
            other: otherwise,
        });
        if other.is_none() {
            self.switch_to(otherwise);
        }
        true
    }

    fn arm_tests(&mut self, arm: &Arm, ty: &Type, pieces: &[Operand], body: BlockId) {
        let next_arm = self.block();
        // What several cases fit is tried by each of them, as the guard may hold for another; then it is written out for each.
        let apart = arm.guard.as_ref().filter(|_| !is_exclusive(arm));
        let matched = if arm.guard.is_some() && apart.is_none() {
            self.block()
        } else {
            body
        };
        for case in &arm.cases {
            let next_case = self.block();
            for (path, test) in &case.tests {
                let (_, part) = self.part_at(ty, path, pieces);
                self.test(part[0], *test, next_case);
            }
            if apart.is_some() || !binds_alike(arm) {
                self.bind_case(case, ty, pieces);
            }
            match apart {
                Some(guard) => self.branch(guard, matched, next_case),
                None => self.goto(matched),
            }
            self.switch_to(next_case);
        }
        self.goto(next_arm);
        if let Some(guard) = arm.guard.as_ref().filter(|_| apart.is_none()) {
            self.switch_to(matched);
            if binds_alike(arm) {
                self.bind_case(&arm.cases[0], ty, pieces);
            }
            self.branch(guard, body, next_arm);
        }
        self.switch_to(next_arm);
    }

    /// Goes on only if a test holds, else to `fail`.
    fn test(&mut self, value: Operand, test: Test, fail: BlockId) {
        let ty = self.type_of(value);
        let constant = |bits| Operand::Const(ty, super::value::truncate(bits, ty));
        let comparisons = match test {
            Test::Is(bits) => vec![(BinOp::Eq, bits)],
            Test::Range(lo, hi) => lo
                .map(|lo| (BinOp::Ge, lo))
                .into_iter()
                .chain(hi.map(|hi| (BinOp::Le, hi)))
                .collect(),
        };
        for (op, bits) in comparisons {
            let (ok, next) = (self.binary(op, value, constant(bits)), self.block());
            self.branch_to(ok, next, fail);
            self.switch_to(next);
        }
    }

    fn bind_case(&mut self, case: &Case, ty: &Type, pieces: &[Operand]) {
        for (pat, path) in &case.binds {
            let (part, pieces) = self.part_at(ty, path, pieces);
            self.bind(pat, &part, &pieces);
        }
    }

    /// Type and pieces of a part of a value. What lies behind references is read here, behind the tests that say that it is there.
    fn part_at(
        &mut self,
        ty: &Type,
        path: &[Projection],
        pieces: &[Operand],
    ) -> (Type, Vec<Operand>) {
        let (mut ty, mut at) = (ty.clone(), Part::Value(pieces.to_vec()));
        for step in path {
            (ty, at) = self.project(&ty, at, *step);
        }
        let pieces = self.pieces_of(&ty, at);
        (ty, pieces)
    }

    fn pieces_of(&mut self, ty: &Type, part: Part) -> Vec<Operand> {
        match part {
            Part::Value(pieces) => pieces,
            Part::Memory(addr, offset) => self.read_memory(addr, offset, ty),
        }
    }

    fn project(&mut self, ty: &Type, part: Part, step: Projection) -> (Type, Part) {
        if let Projection::Field(i) = step {
            let (field, offset) = ty.fields(self.structs())[i].clone();
            let part = match part {
                Part::Value(pieces) => {
                    let (start, len) = self.piece_range(ty, i);
                    Part::Value(pieces[start..start + len].to_vec())
                }
                Part::Memory(addr, start) => Part::Memory(addr, start + offset),
            };
            return (field, part);
        }
        if let (Projection::Borrow, Part::Memory(addr, offset)) = (step, &part) {
            let addr = self.address(*addr, *offset);
            let target = Box::new(ty.clone());
            let mutable = false;
            return (Type::Ref { mutable, target }, Part::Value(vec![addr]));
        }
        let pieces = self.pieces_of(ty, part);
        let elem = match ty {
            Type::Ref { target, .. } | Type::Array(target, _) => (**target).clone(),
            Type::Slice { elem, .. } => (**elem).clone(),
            _ => return (ty.clone(), Part::Value(pieces)),
        };
        let size = elem.layout(self.structs()).size;
        match (step, ty) {
            (Projection::Deref, _) => (elem, Part::Memory(pieces[0], 0)),
            (Projection::Len, _) => (Type::Scalar(Scalar::Usize), Part::Value(vec![pieces[1]])),
            (Projection::Element(i), _) => (elem, Part::Memory(pieces[0], i as u64 * size)),
            (Projection::FromEnd(i), _) => {
                let index = self.binary(BinOp::Sub, pieces[1], Operand::usize(i as u64));
                let element = Rvalue::PtrAdd {
                    base: pieces[0],
                    index,
                    scale: size,
                    offset: 0,
                };
                (elem, Part::Memory(self.assign_new(Scalar::Ptr, element), 0))
            }
            (Projection::Rest(front, back), Type::Array(_, len)) => (
                Type::Array(Box::new(elem), len - (front + back) as u64),
                Part::Memory(pieces[0], front as u64 * size),
            ),
            (Projection::Rest(front, back), _) => {
                let data = self.address(pieces[0], front as u64 * size);
                let less = Operand::usize((front + back) as u64);
                let len = self.binary(BinOp::Sub, pieces[1], less);
                (ty.clone(), Part::Value(vec![data, len]))
            }
            (Projection::Field(_) | Projection::Borrow, _) => (ty.clone(), Part::Value(pieces)),
        }
    }
}

/// A part of a value: its pieces, or where it lies.
enum Part {
    Value(Vec<Operand>),
    Memory(Operand, u64),
}

/// Whether a value fits one case of an arm at most.
fn is_exclusive(arm: &Arm) -> bool {
    let differ = |(path, test): &(Path, Test), other: &Case| {
        other.tests.iter().any(|(of, is)| {
            of == path && matches!((test, is), (Test::Is(a), Test::Is(b)) if a != b)
        })
    };
    let cases = arm.cases.iter().enumerate();
    cases.clone().all(|(i, case)| {
        let mut others = arm.cases[i + 1..].iter();
        others.all(|other| case.tests.iter().any(|test| differ(test, other)))
    })
}

/// Whether the variables of an arm get the same parts of the value in each of its cases.
fn binds_alike(arm: &Arm) -> bool {
    arm.cases
        .iter()
        .all(|case| case.binds == arm.cases[0].binds)
}
