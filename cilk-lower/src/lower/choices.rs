//! What a task chooses of its children's results by a branch becomes a value, where there is an operation for it:
//!
//! ```text
//! x || y                      =>  or x, y
//! if x > y { x } else { y }   =>  max x, y
//! if x { return true; } y     =>  or x, y
//! ```
//!
//! As an operation it can be left to the children ([`reduce`](super::reduce)), and the task need not wait. `bool`, and the least or greatest of integers: of
//! floats a comparison chooses another one than `max` where one of them is no number.

use super::simplify;
use fixedbitset::FixedBitSet;
use millstream_graph::{
    flow::Liveness,
    ir::{
        BinOp, Block, BlockId, Function, FunctionKind, Local, LocalId, Operand, Program, Rvalue,
        SlotId, Stmt, StmtKind, Terminator, UnOp,
    },
    ty::Scalar,
};
use std::collections::{BTreeMap, BTreeSet};

/// So many statements of an arm are done whichever way is taken, at most.
const MOST: usize = 8;

/// Makes values of the choices in all tasks.
pub(crate) fn choose(program: &mut Program) {
    let tasks = program.functions.iter_mut();
    for task in tasks.filter(|f| f.kind == FunctionKind::Task) {
        let mut changed = false;
        while choose_one(task) {
            changed = true;
        }
        if changed {
            simplify::simplify(task, None);
        }
    }
}

fn choose_one(function: &mut Function) -> bool {
    let results = Results::of(function);
    if results.slots.is_empty() {
        return false;
    }
    let liveness = Liveness::new(function, None);
    let mut all = 0..function.blocks.len();
    let found = all.find_map(|b| {
        let choice = Choice::of(function, b, &results, &liveness)?;
        Some((b, choice.made()?))
    });
    let Some((b, made)) = found else { return false };
    function.locals = made.locals;
    function.blocks.extend(made.end);
    let block = &mut function.blocks[b];
    block.stmts.extend(made.stmts);
    block.term = made.term;
    true
}

/// Where children's results lie, and the addresses of these slots.
struct Results {
    slots: BTreeSet<SlotId>,
    addresses: BTreeMap<LocalId, SlotId>,
}

impl Results {
    fn of(function: &Function) -> Self {
        let mut addresses = BTreeMap::new();
        for stmt in function.stmts() {
            if let StmtKind::Assign {
                dst,
                value: Rvalue::SlotAddr(slot),
            } = stmt.kind
            {
                addresses.insert(dst, slot);
            }
        }
        // An address that is something else at other times is none.
        for stmt in function.stmts() {
            if let Some(dst) = stmt.kind.def()
                && !matches!(&stmt.kind, StmtKind::Assign { value: Rvalue::SlotAddr(slot), .. } if addresses.get(&dst) == Some(slot))
            {
                addresses.remove(&dst);
            }
        }
        let dest = |s: &Stmt| match &s.kind {
            StmtKind::Spawn {
                dest: Some(dest), ..
            } => addresses.get(&dest.addr.local()?).copied(),
            _ => None,
        };
        let is_scalar = |s: &SlotId| function.slots[s.index()].scalar.is_some();
        let slots = function.stmts().filter_map(dest).filter(is_scalar);
        Self {
            slots: slots.collect(),
            addresses,
        }
    }

    /// The slot of a result that a value loads.
    fn loaded(&self, value: &Rvalue) -> Option<SlotId> {
        match value {
            Rvalue::Load {
                addr, offset: 0, ..
            } => {
                let slot = self.addresses.get(&addr.local()?)?;
                self.slots.contains(slot).then_some(*slot)
            }
            _ => None,
        }
    }
}

/// What comes behind an arm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// This block.
    To(BlockId),
    /// The task's end, perhaps behind its last sync: what it returns.
    Value(Operand, bool),
}

/// One of two ways, as far as it is simple.
#[derive(Clone, Copy)]
struct Arm<'a> {
    stmts: &'a [Stmt],
    end: End,
}

/// A branch whose ways meet again.
struct Choice<'a> {
    block: &'a Block,
    cond: Operand,
    arms: [Arm<'a>; 2],
    results: &'a Results,
    /// What is read where the ways meet.
    live: Option<&'a FixedBitSet>,
    locals: Vec<Local>,
    /// A block that there is not yet.
    next: BlockId,
    /// What is done beforehand.
    stmts: Vec<Stmt>,
    /// Of a result that is loaded already, the local.
    loaded: BTreeMap<SlotId, LocalId>,
}

/// What a choice becomes.
struct Made {
    locals: Vec<Local>,
    stmts: Vec<Stmt>,
    term: Terminator,
    /// The next block.
    end: Option<Block>,
}

fn arm(function: &Function, block: BlockId) -> Option<Arm<'_>> {
    let Block { stmts, term, .. } = &function.blocks[block.index()];
    let value = |term: &Terminator| match term {
        Terminator::Return(values) => match values[..] {
            [value] => Some(value),
            _ => None,
        },
        _ => None,
    };
    let end = match term {
        Terminator::Goto(to) => End::To(*to),
        Terminator::Sync(end) => {
            let end = &function.blocks[end.index()];
            End::Value(value(&end.term).filter(|_| end.stmts.is_empty())?, true)
        }
        term => End::Value(value(term)?, false),
    };
    (stmts.len() <= MOST).then_some(Arm { stmts, end })
}

impl<'a> Choice<'a> {
    fn of(
        function: &'a Function,
        at: usize,
        results: &'a Results,
        liveness: &'a Liveness,
    ) -> Option<Self> {
        let block = &function.blocks[at];
        let Terminator::Branch { cond, then, other } = block.term else {
            return None;
        };
        let none = |to| {
            let end = End::To(to);
            Some(Arm { stmts: &[], end })
        };
        let (a, b) = (arm(function, then), arm(function, other));
        let meet = |a: Option<Arm<'a>>, b: Option<Arm<'a>>| {
            let (a, b) = (a?, b?);
            let same = match (a.end, b.end) {
                (End::To(a), End::To(b)) => a == b && a.index() != at,
                (End::Value(..), End::Value(..)) => true,
                _ => false,
            };
            (same && then != other).then_some([a, b])
        };
        let arms = meet(a, b)
            .or_else(|| meet(a, none(other)))
            .or_else(|| meet(none(then), b))?;
        let live = match arms[0].end {
            End::To(to) => Some(liveness.live_in(to)),
            End::Value(..) => None,
        };
        let mut loaded = BTreeMap::new();
        for stmt in &block.stmts {
            let def = stmt.kind.def();
            loaded.retain(|_, l| Some(*l) != def);
            match &stmt.kind {
                StmtKind::Assign { dst, value } => {
                    loaded.extend(results.loaded(value).map(|slot| (slot, *dst)));
                }
                _ => loaded.clear(),
            }
        }
        Some(Self {
            block,
            cond,
            arms,
            results,
            live,
            locals: function.locals.clone(),
            next: BlockId::new(function.blocks.len()),
            stmts: Vec::new(),
            loaded,
        })
    }

    fn add(&mut self, ty: Scalar, value: Rvalue) -> Operand {
        let dst = LocalId::new(self.locals.len());
        self.locals.push(Local { name: None, ty });
        let (kind, span) = (StmtKind::Assign { dst, value }, self.block.span);
        self.stmts.push(Stmt { kind, span });
        Operand::Local(dst)
    }

    fn type_of(&self, operand: Operand) -> Scalar {
        match operand {
            Operand::Local(id) => self.locals[id.index()].ty,
            Operand::Const(ty, _) => ty,
        }
    }

    /// Does what an arm does, whichever way is taken, and gives what its locals are then.
    fn done(&mut self, arm: Arm<'_>) -> Option<BTreeMap<LocalId, Operand>> {
        let mut now = BTreeMap::new();
        for stmt in arm.stmts {
            let StmtKind::Assign { dst, value } = &stmt.kind else {
                return None;
            };
            let ty = self.locals[dst.index()].ty;
            let is = |o: Operand| is_now(&now, o);
            let value = match value {
                Rvalue::Use(o) => is(*o),
                // A local of its own: the arm may be another's, too, and what is a variable's address is set once.
                Rvalue::SlotAddr(_) => self.add(ty, value.clone()),
                Rvalue::Load { .. } => {
                    let slot = self.results.loaded(value)?;
                    match self.loaded.get(&slot) {
                        Some(local) => Operand::Local(*local),
                        None => {
                            let mut value = value.clone();
                            value.operands_mut(|o| *o = is(*o));
                            let loaded = self.add(ty, value);
                            self.loaded.extend(loaded.local().map(|l| (slot, l)));
                            loaded
                        }
                    }
                }
                Rvalue::Unary(op, a) => {
                    let a = is(*a);
                    self.add(ty, Rvalue::Unary(*op, a))
                }
                Rvalue::Binary(op, a, b) if !matches!(op, BinOp::Div | BinOp::Rem) => {
                    let (a, b) = (is(*a), is(*b));
                    self.add(ty, Rvalue::Binary(*op, a, b))
                }
                _ => return None,
            };
            now.insert(*dst, value);
        }
        Some(now)
    }

    fn made(mut self) -> Option<Made> {
        let [a, b] = self.arms;
        let (then, other) = (self.done(a)?, self.done(b)?);
        let (term, end) = match (a.end, b.end) {
            (End::Value(x, synced), End::Value(y, also)) => {
                let value = self.chosen(is_now(&then, x), is_now(&other, y))?;
                let ty = self.type_of(x);
                let values = vec![self.add(ty, value)];
                let end = Block {
                    stmts: Vec::new(),
                    term: Terminator::Return(values),
                    span: self.block.span,
                };
                match synced || also {
                    true => (Terminator::Sync(self.next), Some(end)),
                    false => (end.term, None),
                }
            }
            (End::To(to), _) => {
                let all: BTreeSet<LocalId> = then.keys().chain(other.keys()).copied().collect();
                let live = self.live?;
                let read: Vec<LocalId> = all
                    .into_iter()
                    .filter(|l| live.contains(l.index()))
                    .collect();
                if read.is_empty() {
                    return None;
                }
                let mut values = Vec::new();
                for local in read {
                    let own = Operand::Local(local);
                    let value = self.chosen(is_now(&then, own), is_now(&other, own))?;
                    let ty = self.type_of(own);
                    values.push((local, self.add(ty, value)));
                }
                for (dst, value) in values {
                    let kind = StmtKind::Assign {
                        dst,
                        value: Rvalue::Use(value),
                    };
                    let span = self.block.span;
                    self.stmts.push(Stmt { kind, span });
                }
                (Terminator::Goto(to), None)
            }
            _ => return None,
        };
        (!self.loaded.is_empty()).then_some(Made {
            locals: self.locals,
            stmts: self.stmts,
            term,
            end,
        })
    }

    /// The value that is `then` if the condition holds, and `other` if not, where it is an operation on results.
    fn chosen(&self, then: Operand, other: Operand) -> Option<Rvalue> {
        let results: BTreeSet<LocalId> = self.loaded.values().copied().collect();
        let is_result = |o: Operand| o.local().is_some_and(|l| results.contains(&l));
        let is = |o: Operand, value: u64| o == Operand::Const(Scalar::Bool, value);
        let cond = self.cond;
        if self.type_of(then) == Scalar::Bool {
            return match () {
                () if is(then, 1) && is(other, 0) => Some(Rvalue::Use(cond)),
                () if is(then, 0) && is(other, 1) => Some(Rvalue::Unary(UnOp::Not, cond)),
                () if is(then, 1) || then == cond => Some(Rvalue::Binary(BinOp::Or, cond, other)),
                () if is(other, 0) || other == cond => Some(Rvalue::Binary(BinOp::And, cond, then)),
                () => None,
            };
        }
        let (op, x, y) = self.compared()?;
        if !self.type_of(then).is_int() || !(is_result(x) || is_result(y)) {
            return None;
        }
        let greater = match op {
            BinOp::Gt | BinOp::Ge => (x, y) == (then, other),
            BinOp::Lt | BinOp::Le => (y, x) == (then, other),
            _ => return None,
        };
        let less = match op {
            BinOp::Gt | BinOp::Ge => (y, x) == (then, other),
            _ => (x, y) == (then, other),
        };
        match (greater, less) {
            (true, _) => Some(Rvalue::Binary(BinOp::Max, x, y)),
            (_, true) => Some(Rvalue::Binary(BinOp::Min, x, y)),
            _ => None,
        }
    }

    /// What the condition compares, if that is still what it was.
    fn compared(&self) -> Option<(BinOp, Operand, Operand)> {
        let stmts = &self.block.stmts;
        let at = stmts
            .iter()
            .rposition(|s| s.kind.def() == self.cond.local() && self.cond.local().is_some())?;
        let StmtKind::Assign {
            value: Rvalue::Binary(op, x, y),
            ..
        } = stmts[at].kind
        else {
            return None;
        };
        let changed = |o: Operand| {
            let mut later = stmts[at + 1..].iter();
            o.local().is_some() && later.any(|s| s.kind.def() == o.local())
        };
        (!changed(x) && !changed(y)).then_some((op, x, y))
    }
}

/// What an operand is after an arm.
fn is_now(now: &BTreeMap<LocalId, Operand>, operand: Operand) -> Operand {
    let local = operand.local();
    local.and_then(|l| now.get(&l).copied()).unwrap_or(operand)
}
