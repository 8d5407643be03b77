//! Branches, `match`, and what leaves a loop or the function.

use super::{Builder, Target};
use crate::{
    diag::ir_span,
    hir::{Arm, Case, Expr, ExprKind, Path, Test},
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
                let piece = pieces[self.piece_at(ty, path)];
                self.test(piece, *test, next_case);
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
            let (start, part) = self.part_at(ty, path);
            let len = part.pieces(self.structs()).len();
            self.bind(pat, &part, &pieces[start..start + len]);
        }
    }

    fn piece_at(&self, ty: &Type, path: &Path) -> usize {
        self.part_at(ty, path).0
    }

    /// First piece and type of a part of a value.
    fn part_at(&self, ty: &Type, path: &Path) -> (usize, Type) {
        let (mut at, mut ty) = (0, ty.clone());
        for field in path {
            let (start, _) = self.piece_range(&ty, *field);
            at += start;
            ty = ty.fields(self.structs())[*field].0.clone();
        }
        (at, ty)
    }
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
