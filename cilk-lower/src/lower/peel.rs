//! Leaves end where they are spawned: about half of the tasks of a recursion do nothing but find out that there is nothing to do.
//!
//! Where a task begins with a cheap test that leads on some side straight to its end, each spawn of it makes that test itself, on the
//! arguments. A child that is found to be a leaf gives its result at once, and no element is made of it. The test has no branch: it
//! becomes a condition of the spawn ([`StmtKind::Spawn`]'s `leaf`), and what the leaf gives a value that changes nothing where the child
//! is none. So nobody has to foretell whether a child is a leaf.
//!
//! Only where leaves are what a task ends by, if it does not spawn: not where it mostly ends by work of its own, after a test for none at all.
//!
//! What leaves give to the task's own result is summed up in a local, and added where the task returns. A task that is given up at a restart
//! point has not returned: there the sum goes to its frame, and comes back where it goes on.
//!
//! What is computed where it is spawned is pure and cannot fault: no memory, no check, no division. Only the entries of the children are
//! looked at, not those of their children in turn.

mod give;

use super::{edit, simplify};
use millstream_graph::{
    flow::Flow,
    ir::{
        Arg, BinOp, BlockId, Combine, Dest, FieldId, FuncId, Function, LocalId, Operand, Rvalue,
        Span, Stmt, StmtKind, Terminator, UnOp,
    },
    levelized::{LoweredSegment, LoweredTask, Tasks},
    ty::{PieceKind, Scalar},
};
use std::collections::BTreeMap;

/// Tests of more statements and branches than this are left to the task itself.
const CHEAP: usize = 24;

/// Makes the tests of children where they are spawned.
pub(crate) fn peel(program: &mut Tasks) {
    let tests: Vec<Option<Test>> = program.tasks.iter().map(test_of).collect();
    let mut tasks = program.tasks.clone();
    for (task, before) in tasks.iter_mut().zip(&program.tasks) {
        let mut sums = Vec::new();
        let mut changed = vec![false; task.segments.len()];
        for (segment, changed) in task.segments.iter_mut().zip(&mut changed) {
            let last = ends(segment);
            let fields = fields(before, &segment.body);
            let (ret, body) = (segment.ret, &mut segment.body);
            let mut site = Site {
                program,
                tests: &tests,
                task: before,
                fields,
                last,
                ret,
                sum: None,
                body,
                out: Vec::new(),
            };
            *changed = site.peel();
            sums.push(site.sum);
        }
        give::give(task, &sums, &mut changed);
        let changed = task.segments.iter_mut().zip(changed).filter(|c| c.1);
        for (segment, _) in changed {
            segment.ret = simplify::simplify(&mut segment.body, segment.ret);
            drop_known(&mut segment.body);
        }
    }
    program.tasks = tasks;
}

/// Whether the task always ends in this segment, if there is room.
fn ends(segment: &LoweredSegment) -> bool {
    let blocks = &segment.body.blocks;
    let goes_on = |b: BlockId| matches!(blocks[b.index()].term, Terminator::Continue(_));
    !segment.body.often().iter().any(goes_on)
}

/// A child that is known to be none needs no condition.
fn drop_known(body: &mut Function) {
    for stmt in body.blocks.iter_mut().flat_map(|b| &mut b.stmts) {
        if let StmtKind::Spawn { leaf, .. } = &mut stmt.kind
            && *leaf == Some(Operand::bool(false))
        {
            *leaf = None;
        }
    }
}

/// How a task begins: pure statements, then what they decide.
#[derive(Clone, Debug)]
struct Test {
    stmts: Vec<(LocalId, Rvalue)>,
    end: End,
}

#[derive(Clone, Debug)]
enum End {
    /// The task is over, and this is its result.
    Leaf(Vec<Operand>),
    /// It has more to do, from this block on.
    More(BlockId),
    /// The first if the value holds, else the second.
    Ask(Rvalue, Box<[Test; 2]>),
}

impl Test {
    const fn more_from(block: BlockId) -> Self {
        Self {
            stmts: Vec::new(),
            end: End::More(block),
        }
    }

    /// The blocks where there is more to do.
    fn more(&self, out: &mut Vec<BlockId>) {
        match &self.end {
            End::Leaf(_) => {}
            End::More(block) => out.push(*block),
            End::Ask(_, sides) => sides.iter().for_each(|s| s.more(out)),
        }
    }

    /// The result of the leaves is one scalar, or nothing.
    fn fits(&self) -> bool {
        match &self.end {
            End::Leaf(values) => values.len() <= 1,
            End::More(_) => true,
            End::Ask(_, sides) => sides.iter().all(Self::fits),
        }
    }
}

/// The test that a task begins with, if it is cheap and tells some leaves.
fn test_of(task: &LoweredTask) -> Option<Test> {
    let entry = &task.segments[0];
    let body = &entry.body;
    let blobs = task
        .element
        .iter()
        .any(|f| matches!(f.kind, PieceKind::Blob(_)));
    let test = test_from(body, BlockId(0), &mut { CHEAP });
    let mut more = Vec::new();
    test.more(&mut more);
    let wanted = !blobs && !matches!(test.end, End::More(_)) && always_spawns(entry, more);
    (wanted && test.fits()).then_some(test)
}

/// Whether every way on from these blocks comes to a spawn, if there is room.
fn always_spawns(segment: &LoweredSegment, from: Vec<BlockId>) -> bool {
    let body = &segment.body;
    let spawns = |b: BlockId| {
        let mut stmts = body.blocks[b.index()].stmts.iter();
        stmts.any(|s| matches!(s.kind, StmtKind::Spawn { .. }))
    };
    let ends = |b: BlockId| {
        let term = &body.blocks[b.index()].term;
        matches!(term, Terminator::Return(_) | Terminator::Continue(_))
    };
    let often = segment.body.often();
    let onward = Flow::new(body).reach(from, |b| !spawns(b));
    let mut onward = onward.into_iter().filter(|b| often.contains(*b));
    !onward.any(|b| ends(b) && !spawns(b))
}

/// What a task decides from a block on, as long as statements are left.
fn test_from(body: &Function, id: BlockId, left: &mut usize) -> Test {
    let block = &body.blocks[id.index()];
    let pure: Option<Vec<_>> = block.stmts.iter().map(|s| pure(&s.kind)).collect();
    let (Some(mut stmts), Some(rest)) = (pure, left.checked_sub(block.stmts.len() + 1)) else {
        return Test::more_from(id);
    };
    *left = rest;
    let ask = |value: Rvalue, sides: [Test; 2]| match (&sides[0].end, &sides[1].end) {
        (End::More(_), End::More(_)) => End::More(id),
        _ => End::Ask(value, Box::new(sides)),
    };
    let end = match &block.term {
        Terminator::Return(values) => End::Leaf(values.clone()),
        Terminator::Goto(next) => {
            let next = test_from(body, *next, left);
            stmts.extend(next.stmts);
            next.end
        }
        Terminator::Branch { cond, then, other } => ask(
            Rvalue::Use(*cond),
            [*then, *other].map(|b| test_from(body, b, left)),
        ),
        Terminator::Switch { value, arms, other } => {
            let last = test_from(body, *other, left);
            let all = arms.iter().rev().fold(last, |rest, (bits, to)| {
                let is = Rvalue::Binary(
                    BinOp::Eq,
                    *value,
                    Operand::Const(body.type_of(*value), *bits),
                );
                Test {
                    stmts: Vec::new(),
                    end: ask(is, [test_from(body, *to, left), rest]),
                }
            });
            stmts.extend(all.stmts);
            all.end
        }
        _ => End::More(id),
    };
    if matches!(end, End::More(_)) {
        Test::more_from(id)
    } else {
        Test { stmts, end }
    }
}

/// What a statement assigns, if it does nothing else and cannot fault.
fn pure(kind: &StmtKind) -> Option<(LocalId, Rvalue)> {
    let StmtKind::Assign { dst, value } = kind else {
        return None;
    };
    let fine = match value {
        Rvalue::Binary(BinOp::Div | BinOp::Rem, ..) => false,
        Rvalue::Use(_)
        | Rvalue::Unary(..)
        | Rvalue::Binary(..)
        | Rvalue::Select(..)
        | Rvalue::Cast(..)
        | Rvalue::Bitcast(..) => true,
        _ => false,
    };
    fine.then(|| (*dst, value.clone()))
}

/// The locals that only ever hold the address of one scalar field of the frame.
fn fields(task: &LoweredTask, body: &Function) -> BTreeMap<LocalId, FieldId> {
    let mut out = BTreeMap::new();
    for stmt in body.stmts() {
        let Some(dst) = stmt.kind.def() else { continue };
        let field = match stmt.kind {
            StmtKind::Assign {
                value: Rvalue::FrameAddr(field),
                ..
            } if matches!(task[field].kind, PieceKind::Scalar(_)) => Some(field),
            _ => None,
        };
        let known = out.entry(dst).or_insert(field);
        if *known != field {
            *known = None;
        }
    }
    out.into_iter()
        .filter_map(|(local, field)| Some((local, field?)))
        .collect()
}

/// Where the result of a child goes that may be a leaf.
#[derive(Clone, Copy)]
enum Target {
    /// It has none.
    Nowhere,
    /// To where the task's own result goes, combined in the same way.
    Own,
    /// To a field of the frame.
    Field(FieldId),
}

/// What a test comes to: whether the child is a leaf, and what its result is then. Where it is none, the value changes nothing when it is
/// combined, and is any if it is stored.
struct Verdict {
    leaf: Operand,
    value: Option<Operand>,
}

/// A segment whose spawns are looked at.
struct Site<'a> {
    program: &'a Tasks,
    tests: &'a [Option<Test>],
    task: &'a LoweredTask,
    fields: BTreeMap<LocalId, FieldId>,
    /// Whether the task always ends here, if there is room.
    last: bool,
    ret: Option<LocalId>,
    /// What leaves add to the task's own result.
    sum: Option<LocalId>,
    body: &'a mut Function,
    out: Vec<Stmt>,
}

impl Site<'_> {
    /// Says whether any spawn has a test.
    fn peel(&mut self) -> bool {
        let mut any = false;
        for b in 0..self.body.blocks.len() {
            for stmt in std::mem::take(&mut self.body.blocks[b].stmts) {
                let peeled = match &stmt.kind {
                    StmtKind::Spawn {
                        func,
                        args,
                        dest,
                        leaf: None,
                    } => self.spawn(*func, args, *dest, stmt.span),
                    _ => None,
                };
                any |= peeled.is_some();
                self.out.push(peeled.unwrap_or(stmt));
            }
            self.body.blocks[b].stmts = std::mem::take(&mut self.out);
        }
        any
    }

    /// The spawn with its test before it, if its child has one.
    fn spawn(
        &mut self,
        func: FuncId,
        args: &[Operand],
        dest: Option<Dest>,
        span: Span,
    ) -> Option<Stmt> {
        let child = self.program.task_of(func)?;
        let test = self.tests[child.index()].as_ref()?;
        let callee = &self.program[child].segments[0].body;
        let target = self.target(dest)?;
        let neutral = dest.and_then(|d| {
            let ty = callee.ret.scalar()?;
            Some(Operand::Const(ty, d.combine.neutral(ty)?))
        });
        // Where the order of combining shows, all results are combined in the same way.
        if dest.is_some_and(|d| d.combine != Combine::Store) && neutral.is_none() {
            return None;
        }
        let values = args.iter().copied().chain(dest.map(|d| d.addr));
        let known = callee
            .args
            .iter()
            .zip(values)
            .filter_map(|(arg, value)| match arg {
                Arg::Local(id) => Some((*id, value)),
                Arg::Slot(_) => None,
            });
        let Verdict { leaf, value } = self.decide(callee, test, known.collect(), neutral, span);
        if let Some(value) = value.filter(|v| Some(*v) != neutral) {
            self.deliver(target, dest?.combine, value, span)?;
        }
        Some(Stmt {
            kind: StmtKind::Spawn {
                func,
                args: args.to_vec(),
                dest,
                leaf: Some(leaf),
            },
            span,
        })
    }

    /// Where a leaf's result goes, if this segment can give it there.
    fn target(&self, dest: Option<Dest>) -> Option<Target> {
        let Some(dest) = dest else {
            return Some(Target::Nowhere);
        };
        let own = self.ret.map(Operand::Local) == Some(dest.addr);
        // What the leaves give is part of what the task returns.
        if own && self.last && dest.combine == self.task.combine && dest.combine != Combine::Store {
            return Some(Target::Own);
        }
        self.fields
            .get(&dest.addr.local()?)
            .map(|field| Target::Field(*field))
    }

    fn put(&mut self, kind: StmtKind, span: Span) {
        self.out.push(Stmt { kind, span });
    }

    fn set(&mut self, ty: Scalar, value: Rvalue, span: Span) -> Operand {
        let dst = edit::add_local(self.body, None, ty);
        self.put(StmtKind::Assign { dst, value }, span);
        Operand::Local(dst)
    }

    /// Computes a test, without branches. `known` has the values of the callee's locals.
    fn decide(
        &mut self,
        callee: &Function,
        test: &Test,
        mut known: BTreeMap<LocalId, Operand>,
        neutral: Option<Operand>,
        span: Span,
    ) -> Verdict {
        let put = |o: &mut Operand, known: &BTreeMap<LocalId, Operand>| {
            if let Operand::Local(id) = *o {
                *o = known
                    .get(&id)
                    .copied()
                    .unwrap_or(Operand::Const(callee.type_of(*o), 0));
            }
        };
        let named = |mut value: Rvalue, known: &BTreeMap<LocalId, Operand>| {
            value.operands_mut(|o| put(o, known));
            value
        };
        for (dst, value) in &test.stmts {
            let value = match named(value.clone(), &known) {
                Rvalue::Use(value) => value,
                value => self.set(callee.locals[dst.index()].ty, value, span),
            };
            known.insert(*dst, value);
        }
        match &test.end {
            End::More(_) => Verdict {
                leaf: Operand::bool(false),
                value: neutral,
            },
            End::Leaf(values) => {
                let value = values.first().map(|v| {
                    let mut v = *v;
                    put(&mut v, &known);
                    v
                });
                Verdict {
                    leaf: Operand::bool(true),
                    value,
                }
            }
            End::Ask(cond, sides) => {
                let cond = match named(cond.clone(), &known) {
                    Rvalue::Use(cond) => cond,
                    value => self.set(Scalar::Bool, value, span),
                };
                let a = self.decide(callee, &sides[0], known.clone(), neutral, span);
                let b = self.decide(callee, &sides[1], known, neutral, span);
                let leaf = self.either(cond, a.leaf, b.leaf, span);
                let value = match (a.value, b.value) {
                    (Some(a), Some(b)) if a != b => {
                        Some(self.set(self.body.type_of(a), Rvalue::Select(cond, a, b), span))
                    }
                    (a, b) => a.or(b),
                };
                Verdict { leaf, value }
            }
        }
    }

    /// `cond ? a : b` of truth values.
    fn either(&mut self, cond: Operand, a: Operand, b: Operand, span: Span) -> Operand {
        let (yes, no) = (Operand::bool(true), Operand::bool(false));
        let mut and_or = |op, a, b| self.set(Scalar::Bool, Rvalue::Binary(op, a, b), span);
        if a == b {
            a
        } else if (a, b) == (yes, no) {
            cond
        } else if a == yes {
            and_or(BinOp::Or, cond, b)
        } else if b == no {
            and_or(BinOp::And, cond, a)
        } else {
            let not = self.set(Scalar::Bool, Rvalue::Unary(UnOp::Not, cond), span);
            match (a == no, b == yes) {
                (true, true) => not,
                (true, false) => self.set(Scalar::Bool, Rvalue::Binary(BinOp::And, not, b), span),
                (false, true) => self.set(Scalar::Bool, Rvalue::Binary(BinOp::Or, not, a), span),
                (false, false) => self.set(Scalar::Bool, Rvalue::Select(cond, a, b), span),
            }
        }
    }

    /// Combines what a leaf gives.
    fn deliver(
        &mut self,
        target: Target,
        combine: Combine,
        value: Operand,
        span: Span,
    ) -> Option<()> {
        let ty = self.body.type_of(value);
        match target {
            Target::Nowhere => {}
            Target::Own => {
                let sum = *self
                    .sum
                    .get_or_insert_with(|| edit::add_local(self.body, Some("leaves".into()), ty));
                let value = Rvalue::Binary(combine.op()?, Operand::Local(sum), value);
                self.put(StmtKind::Assign { dst: sum, value }, span);
            }
            Target::Field(field) => {
                let value = match combine.op() {
                    None => value,
                    Some(op) => {
                        let old = self.set(ty, Rvalue::FrameLoad(field), span);
                        self.set(ty, Rvalue::Binary(op, old, value), span)
                    }
                };
                self.put(StmtKind::FrameStore { field, value }, span);
            }
        }
        Some(())
    }
}
