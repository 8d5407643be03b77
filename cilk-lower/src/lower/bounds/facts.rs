//! What is known of values where: which conditions hold, and which integers are no greater than others.
//!
//! A fact belongs to a block and holds in all that the block dominates: behind a check, and on the side of a branch that only it leads to. A
//! question goes from value to value, each known to be no less than the one before; sums are integers here, so a step over an operation asks
//! first whether it wraps. Of unsigned integers only.

use super::values::{Origin, Value, Values};
use millstream_graph::{
    flow::{Dominators, Flow, Loop},
    ir::{BinOp, BlockId, Terminator, UnOp},
    ty::Scalar,
};
use std::{cell::Cell, collections::HashMap};

/// How many steps a question may take.
const STEPS: u32 = 64;

/// An integer: a value, or 0, and so much more.
pub(super) type Term = (Option<Value>, i128);

/// What is known.
pub(super) struct Facts<'a> {
    values: &'a Values,
    flow: &'a Flow,
    loops: &'a [Loop],
    dominators: &'a Dominators,
    known: HashMap<Value, Vec<(bool, BlockId)>>,
    /// Of each value, or of 0, what it is no greater than, and no less than.
    above: HashMap<Option<Value>, Vec<(Term, BlockId)>>,
    below: HashMap<Option<Value>, Vec<(Term, BlockId)>>,
    steps: Cell<u32>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        values: &'a Values,
        flow: &'a Flow,
        loops: &'a [Loop],
        dominators: &'a Dominators,
    ) -> Self {
        Self {
            values,
            flow,
            loops,
            dominators,
            known: HashMap::new(),
            above: HashMap::new(),
            below: HashMap::new(),
            steps: Cell::new(0),
        }
    }

    /// What a branch says where it leads, if that block has no other way in: the condition's value is read from `cond`.
    pub(super) fn enter(
        &mut self,
        block: BlockId,
        term: impl Fn(BlockId) -> &'a Terminator,
        cond: impl Fn(BlockId) -> Option<Value>,
    ) {
        if let [from] = self.flow.sources(block)
            && let Terminator::Branch { then, .. } = term(*from)
            && let Some(value) = cond(*from)
        {
            self.learn(block, value, *then == block);
        }
    }

    /// A condition is so from here on, in this block and where it leads.
    pub(super) fn learn(&mut self, at: BlockId, cond: Value, holds: bool) {
        self.known.entry(cond).or_default().push((holds, at));
        match self.values.origin(cond) {
            Origin::Unary(UnOp::Not, other) => self.learn(at, other, !holds),
            Origin::Binary(op, a, b) if self.is_natural(a) => {
                let (a, b) = (self.term(a, 0), self.term(b, 0));
                let less = |(value, by): Term| (value, by - 1);
                match (op, holds) {
                    (BinOp::Lt, true) | (BinOp::Ge, false) => self.at_most(at, a, less(b)),
                    (BinOp::Gt, true) | (BinOp::Le, false) => self.at_most(at, b, less(a)),
                    (BinOp::Le, true) | (BinOp::Gt, false) => self.at_most(at, a, b),
                    (BinOp::Ge, true) | (BinOp::Lt, false) => self.at_most(at, b, a),
                    (BinOp::Eq, true) | (BinOp::Ne, false) => {
                        self.at_most(at, a, b);
                        self.at_most(at, b, a);
                    }
                    // What is not 0 is 1 at least.
                    (BinOp::Eq, false) | (BinOp::Ne, true) if b == (None, 0) => {
                        self.at_most(at, (None, 1), a);
                    }
                    _ => {}
                }
            }
            Origin::Binary(BinOp::And, a, b) if holds => {
                self.learn(at, a, true);
                self.learn(at, b, true);
            }
            _ => {}
        }
    }

    fn at_most(&mut self, at: BlockId, (low, a): Term, (high, b): Term) {
        let above = self.above.entry(low).or_default();
        above.push(((high, b - a), at));
        let below = self.below.entry(high).or_default();
        below.push(((low, a - b), at));
    }

    /// Whether a condition holds wherever a block is, as far as is known.
    pub(super) fn holds(&self, at: BlockId, cond: Value) -> bool {
        self.is(at, cond, true)
    }

    fn is(&self, at: BlockId, cond: Value, so: bool) -> bool {
        let known = self.known.get(&cond).into_iter().flatten();
        let mut known = known.filter(|(_, by)| self.dominators.dominates(*by, at));
        if known.any(|(holds, _)| *holds == so) {
            return true;
        }
        let less = |a, b| self.is_at_most(at, self.term(a, 1), self.term(b, 0));
        let no_more = |a, b| self.is_at_most(at, self.term(a, 0), self.term(b, 0));
        match self.values.origin(cond) {
            Origin::Const(bits) => (bits != 0) == so,
            Origin::Unary(UnOp::Not, other) => self.is(at, other, !so),
            Origin::Binary(op, a, b) if self.is_natural(a) => match (op, so) {
                (BinOp::Lt, true) | (BinOp::Ge, false) => less(a, b),
                (BinOp::Gt, true) | (BinOp::Le, false) => less(b, a),
                (BinOp::Le, true) | (BinOp::Gt, false) => no_more(a, b),
                (BinOp::Ge, true) | (BinOp::Lt, false) => no_more(b, a),
                (BinOp::Eq, true) | (BinOp::Ne, false) => no_more(a, b) && no_more(b, a),
                (BinOp::AddOverflows, false) => self.values.known(b).is_some_and(|by| {
                    self.is_at_most(at, self.term(a, by.into()), (None, self.greatest(a)))
                }),
                (BinOp::SubOverflows, false) => no_more(b, a),
                _ => false,
            },
            Origin::Binary(BinOp::And, a, b) if so => self.is(at, a, true) && self.is(at, b, true),
            _ => false,
        }
    }

    /// Whether one integer is no greater than another.
    pub(super) fn is_at_most(&self, at: BlockId, low: Term, high: Term) -> bool {
        self.steps.set(STEPS);
        self.reaches(at, low, high)
    }

    /// The search: from `low` up, or from `high` down.
    fn reaches(&self, at: BlockId, (low, a): Term, (high, b): Term) -> bool {
        let left = self.steps.get();
        if left == 0 {
            return false;
        }
        self.steps.set(left - 1);
        if low == high || low.is_none() && a <= b {
            return a <= b;
        }
        // No value is greater than its type's greatest.
        if high.is_none() && low.is_some_and(|v| a + self.greatest(v) <= b) {
            return true;
        }
        let here = |(_, by): &&(Term, BlockId)| self.dominators.dominates(*by, at);
        let facts = self.above.get(&low).into_iter().flatten().filter(here);
        for ((next, by), _) in facts {
            if self.reaches(at, (*next, a + by), (high, b)) {
                return true;
            }
        }
        let up = low.map(|v| self.up(at, v)).unwrap_or_default();
        if up
            .iter()
            .any(|(n, by)| self.reaches(at, (*n, a + by), (high, b)))
        {
            return true;
        }
        let facts = self.below.get(&high).into_iter().flatten().filter(here);
        for ((next, by), _) in facts {
            if self.reaches(at, (low, a), (*next, b + by)) {
                return true;
            }
        }
        let down = high.map(|v| self.down(at, v)).unwrap_or_default();
        down.iter()
            .any(|(n, by)| self.reaches(at, (low, a), (*n, b + by)))
    }

    /// What a value is no greater than, by how it is computed.
    fn up(&self, at: BlockId, value: Value) -> Vec<Term> {
        let term = |v, by| self.term(v, by);
        match self.values.origin(value) {
            Origin::Binary(BinOp::Min | BinOp::And, a, b) => vec![term(a, 0), term(b, 0)],
            Origin::Binary(BinOp::Div | BinOp::Shr, a, _) => vec![term(a, 0)],
            Origin::Binary(BinOp::Rem, a, b) if self.values.known(b) > Some(0) => {
                vec![term(b, -1), term(a, 0)]
            }
            _ => self.same(at, value),
        }
    }

    /// What a value is no less than, by how it is computed.
    fn down(&self, at: BlockId, value: Value) -> Vec<Term> {
        match self.values.origin(value) {
            Origin::Binary(BinOp::Max | BinOp::Or, a, b) => {
                vec![self.term(a, 0), self.term(b, 0)]
            }
            Origin::Meet(..) => self.counted(value, BinOp::Add),
            _ => self.same(at, value),
        }
    }

    /// What a value is equal to, or an upper bound of one that counts down.
    fn same(&self, at: BlockId, value: Value) -> Vec<Term> {
        match self.values.origin(value) {
            Origin::Cast(a) if self.is_natural(a) && self.greatest(a) <= self.greatest(value) => {
                vec![self.term(a, 0)]
            }
            Origin::Binary(BinOp::Add, a, b) => match self.values.known(b) {
                Some(by) if self.has_room(at, a, by.into()) => vec![self.term(a, by.into())],
                _ => Vec::new(),
            },
            Origin::Binary(BinOp::Sub, a, b) => match self.values.known(b) {
                Some(by) if self.reaches(at, (None, by.into()), self.term(a, 0)) => {
                    vec![self.term(a, -i128::from(by))]
                }
                _ => Vec::new(),
            },
            Origin::Meet(..) => self.counted(value, BinOp::Sub),
            _ => Vec::new(),
        }
    }

    /// Where a value that a loop counts by a constant began, up or down, if it never wraps: it is no less, or no greater.
    fn counted(&self, value: Value, op: BinOp) -> Vec<Term> {
        let Origin::Meet(header, local) = self.values.origin(value) else {
            return Vec::new();
        };
        let Some(of) = self.loops.iter().find(|l| l.header == header) else {
            return Vec::new();
        };
        let changing = self.values.changing();
        let Some(place) = changing.iter().position(|l| *l == local) else {
            return Vec::new();
        };
        let counts = |latch: &BlockId| {
            let Origin::Binary(by, a, b) = self.values.origin(self.values.end(*latch)[place])
            else {
                return false;
            };
            let Some(step) = self.values.known(b).map(i128::from) else {
                return false;
            };
            let fits = match op {
                BinOp::Add => self.has_room(*latch, value, step),
                _ => self.reaches(*latch, (None, step), (Some(value), 0)),
            };
            by == op && a == value && fits
        };
        let mut entries = self.flow.sources(header).iter();
        let first = entries.find(|b| !of.latches.contains(b));
        let entry = first.map(|b| self.values.end(*b)[place]);
        let alike =
            |b: &BlockId| of.latches.contains(b) || Some(self.values.end(*b)[place]) == entry;
        match entry {
            Some(entry) if entries.all(alike) && of.latches.iter().all(counts) => {
                vec![self.term(entry, 0)]
            }
            _ => Vec::new(),
        }
    }

    /// Whether so much can be added to a value.
    fn has_room(&self, at: BlockId, value: Value, by: i128) -> bool {
        self.reaches(at, self.term(value, by), (None, self.greatest(value)))
    }

    fn term(&self, value: Value, by: i128) -> Term {
        match self.values.known(value) {
            Some(bits) => (None, i128::from(bits) + by),
            None => (Some(value), by),
        }
    }

    fn greatest(&self, value: Value) -> i128 {
        (1 << self.values.ty(value).bits()) - 1
    }

    fn is_natural(&self, value: Value) -> bool {
        is_natural(self.values.ty(value))
    }
}

/// Whether a type's values are integers that are not negative.
pub(super) const fn is_natural(ty: Scalar) -> bool {
    ty.is_int() && !ty.is_signed()
}
