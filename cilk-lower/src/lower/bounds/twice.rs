//! Loops that stand in a function twice: with checks, and without those that hold if what is asked before them does.

use super::{
    At, View,
    facts::Facts,
    region::{MOST_DEPTH, Needs, Region},
    sums::Sum,
    values::{Origin, Value},
};
use crate::lower::loops;
use millstream_graph::flow::Liveness;
use millstream_graph::{
    flow::Loop,
    ir::{
        BinOp, Block, BlockId, Function, Local, LocalId, Operand, Rvalue, Stmt, StmtKind,
        Terminator,
    },
    ty::Scalar,
};
use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
};

/// A loop of more statements stays as it is.
const MOST_STATEMENTS: usize = 256;
/// No function grows by more than this.
const MOST_MORE: usize = 1024;
/// A loop before which more had to be asked stays as well.
const MOST_QUESTIONS: usize = 24;

/// A loop that is to stand there twice.
pub(super) struct Plan {
    header: BlockId,
    blocks: Vec<BlockId>,
    /// What each turn sets for itself alone.
    own: Vec<LocalId>,
    /// The checks that the copy is without.
    pub(super) without: BTreeSet<At>,
    /// What is asked, and what comes of it.
    asks: Vec<StmtKind>,
    holds: Operand,
}

/// Such loops; none is within another.
#[derive(Default)]
pub(super) struct Plans {
    pub(super) all: Vec<Plan>,
    /// What is asked is kept in these, behind the function's own.
    locals: Vec<Local>,
}

impl View<'_> {
    /// Which loops to write twice. Checks that nothing has to be asked for are added to `needless`.
    pub(super) fn plans(
        &self,
        ret: Option<LocalId>,
        facts: &Facts<'_>,
        needless: &mut BTreeSet<At>,
    ) -> Plans {
        let mut plans = Plans::default();
        let mut liveness = None;
        let mut room = MOST_MORE;
        let mut outer_first: Vec<&Loop> = self.loops.iter().collect();
        outer_first.sort_by_key(|l| Reverse(l.blocks.len()));
        let is_within = |l: &Loop, of: &Loop| l.header != of.header && of.blocks.contains(l.header);
        let mut done: Vec<&Loop> = Vec::new();
        for of in outer_first {
            let size = loops::size(self.function, &of.blocks);
            let is_outer = !self.loops.iter().any(|l| is_within(of, l));
            let is_innermost = !self.loops.iter().any(|l| is_within(l, of));
            if !self.is_natural_loop(of)
                || done.iter().any(|l| is_within(of, l))
                || !self.checks(of, needless)
            {
                continue;
            }
            let found = Region::new(self, of).find(needless);
            if found.checks.is_empty()
                || !(is_innermost || found.all)
                || size > MOST_STATEMENTS.min(room)
                // A device that shares rounds out looks for them in the outer loops.
                || self.function.rounds && is_outer
                || !loops::may_be_copied(self.function, &of.blocks)
            {
                continue;
            }
            let liveness = liveness.get_or_insert_with(|| Liveness::new(self.function, ret));
            let mut questions = Questions::new(self, of, liveness, &mut plans.locals);
            match questions.all(&found.needs, facts) {
                Some(Operand::Const(..)) => needless.extend(found.checks),
                Some(holds) => {
                    plans.all.push(Plan {
                        header: of.header,
                        blocks: of.blocks.iter().collect(),
                        own: loops::of_one_turn(
                            self.function,
                            liveness,
                            ret,
                            (of.header, &of.blocks),
                        ),
                        without: found.checks,
                        asks: questions.asks,
                        holds,
                    });
                    room -= size;
                    done.push(of);
                }
                None => {}
            }
        }
        plans
    }
}

impl View<'_> {
    /// Whether a loop has checks beside these.
    fn checks(&self, of: &Loop, but: &BTreeSet<At>) -> bool {
        of.blocks.iter().any(|b| {
            let stmts = self.function.blocks[b.index()].stmts.iter().enumerate();
            let mut checks = stmts.filter(|(_, s)| super::is_check(&s.kind));
            checks.any(|(i, _)| !but.contains(&(b, i)))
        })
    }
}

/// What is asked before a loop.
struct Questions<'a, 'v> {
    view: &'a View<'v>,
    /// The one block that the loop is entered from, if it is one.
    entry: Option<BlockId>,
    /// Locals that hold values there, and what was computed of them.
    held: HashMap<Value, Operand>,
    asks: Vec<StmtKind>,
    locals: &'a mut Vec<Local>,
    /// How far it is from what is asked to what is computed for it.
    depth: u32,
}

impl<'a, 'v> Questions<'a, 'v> {
    fn new(view: &'a View<'v>, of: &Loop, liveness: &Liveness, locals: &'a mut Vec<Local>) -> Self {
        let mut held = HashMap::new();
        // What another loop sets for itself alone has another name in its copy.
        let elsewhere = |at: BlockId| {
            let mut around = view.loops.iter().filter(|l| l.blocks.contains(at));
            around.any(|l| !l.blocks.contains(of.header))
        };
        for (local, value, at) in view.values.fixed() {
            let lives = || liveness.live_in(of.header).contains(local.index()) || !elsewhere(at);
            if view.dominators.dominates(at, of.header) && !of.blocks.contains(at) && lives() {
                held.entry(value).or_insert(Operand::Local(local));
            }
        }
        let sources = view.flow.sources(of.header).iter();
        let mut sources = sources.filter(|b| !of.latches.contains(b)).copied();
        let entry = sources.next().filter(|_| sources.next().is_none());
        if let Some(entry) = entry {
            let state = view.values.end(entry).iter().zip(view.values.changing());
            // What is read later was set on every way here.
            let live = state.filter(|(_, l)| liveness.live_in(of.header).contains(l.index()));
            for (value, local) in live {
                held.entry(*value).or_insert(Operand::Local(*local));
            }
        }
        Self {
            view,
            entry,
            held,
            asks: Vec::new(),
            locals,
            depth: 0,
        }
    }

    /// Asks all that has to hold; a constant, if that is known to. None if there is no way to ask, or too much.
    fn all(&mut self, needs: &Needs, facts: &Facts<'_>) -> Option<Operand> {
        let known = |sum: &&Sum| {
            let (low, high) = sum.sides();
            let terms = self.entry.zip(term(&low)).zip(term(&high));
            terms.is_none_or(|((at, low), high)| !facts.is_at_most(at, low, high))
        };
        let open: Vec<&Sum> = needs.natural.iter().filter(known).collect();
        // Of two that differ by what is not negative the lesser says both.
        let is_said = |sum: &Sum| {
            let less = |other: &&Sum| sum.plus(other, -1).is_some_and(|d| d.only_adds());
            open.iter().any(|other| *other != sum && less(other))
        };
        let open: Vec<&Sum> = open.iter().copied().filter(|s| !is_said(s)).collect();
        (open.len() <= MOST_QUESTIONS).then_some(())?;
        let mut answers = Vec::new();
        let mut by_bits: HashMap<u32, Vec<Value>> = HashMap::new();
        for (value, bits) in &needs.sizes {
            if *bits < self.view.values.ty(*value).bits() {
                by_bits.entry(*bits).or_default().push(*value);
            }
        }
        let mut by_bits: Vec<_> = by_bits.into_iter().collect();
        by_bits.sort_unstable();
        for (bits, values) in by_bits {
            let values: Option<Vec<_>> = values.iter().map(|v| self.size(*v)).collect();
            let all = values?
                .into_iter()
                .reduce(|a, b| self.binary(BinOp::Or, a, b))?;
            let bound = Operand::usize(1 << bits);
            answers.push(self.binary(BinOp::Lt, all, bound));
        }
        for sum in open {
            let (low, high) = sum.sides();
            let (low, high) = (self.sum(&low)?, self.sum(&high)?);
            answers.push(self.binary(BinOp::Le, low, high));
        }
        let all = answers
            .into_iter()
            .reduce(|a, b| self.binary(BinOp::And, a, b));
        Some(all.unwrap_or(Operand::bool(true)))
    }

    fn assign(&mut self, ty: Scalar, value: Rvalue) -> Operand {
        self.locals.push(Local { name: None, ty });
        let dst = LocalId::new(self.view.function.locals.len() + self.locals.len() - 1);
        self.asks.push(StmtKind::Assign { dst, value });
        Operand::Local(dst)
    }

    fn binary(&mut self, op: BinOp, a: Operand, b: Operand) -> Operand {
        let ty = op.result(match op {
            BinOp::And => Scalar::Bool,
            _ => Scalar::Usize,
        });
        self.assign(ty, Rvalue::Binary(op, a, b))
    }

    /// A value as it is before the loop.
    fn value(&mut self, value: Value) -> Option<Operand> {
        if self.depth == MOST_DEPTH {
            return None;
        }
        self.depth += 1;
        let found = self.value_of(value);
        self.depth -= 1;
        found
    }

    fn value_of(&mut self, value: Value) -> Option<Operand> {
        let values = self.view.values;
        let ty = values.ty(value);
        if let Some(bits) = values.known(value) {
            return Some(Operand::Const(ty, bits));
        }
        if let Some(held) = self.held.get(&value) {
            return Some(*held);
        }
        let again = match values.origin(value) {
            Origin::Unary(op, a) => Rvalue::Unary(op, self.value(a)?),
            Origin::Binary(op, a, b) if !matches!(op, BinOp::Div | BinOp::Rem) => {
                Rvalue::Binary(op, self.value(a)?, self.value(b)?)
            }
            Origin::Cast(a) => Rvalue::Cast(ty, self.value(a)?),
            Origin::Select(c, a, b) => {
                Rvalue::Select(self.value(c)?, self.value(a)?, self.value(b)?)
            }
            _ => return None,
        };
        let made = self.assign(ty, again);
        self.held.insert(value, made);
        Some(made)
    }

    /// The same as a `usize`.
    fn size(&mut self, value: Value) -> Option<Operand> {
        let operand = self.value(value)?;
        Some(match self.view.values.ty(value) {
            Scalar::Usize => operand,
            _ => self.assign(Scalar::Usize, Rvalue::Cast(Scalar::Usize, operand)),
        })
    }

    fn sum(&mut self, sum: &Sum) -> Option<Operand> {
        let mut all = None;
        for (product, count) in sum.terms() {
            let mut one = (count != 1 || product.is_empty()).then(|| Operand::usize(count as u64));
            for value in product {
                let value = self.size(*value)?;
                one = Some(match one {
                    Some(one) => self.binary(BinOp::Mul, one, value),
                    None => value,
                });
            }
            all = match (all, one) {
                (Some(all), Some(one)) => Some(self.binary(BinOp::Add, all, one)),
                (all, one) => all.or(one),
            };
        }
        Some(all.unwrap_or(Operand::usize(0)))
    }
}

/// A sum that is a value, or 0, and so much more.
fn term(sum: &Sum) -> Option<(Option<Value>, i128)> {
    let mut out = (None, 0);
    for (product, count) in sum.terms() {
        match product {
            [] => out.1 = i128::from(count),
            [value] if count == 1 && out.0.is_none() => out.0 = Some(*value),
            _ => return None,
        }
    }
    Some(out)
}

/// Writes the loops twice. Numbers of blocks and statements stay what they were.
pub(super) fn write(function: &mut Function, plans: Plans) {
    function.locals.extend(plans.locals);
    for plan in plans.all {
        let guard = BlockId::new(function.blocks.len());
        for (i, block) in function.blocks.iter_mut().enumerate() {
            if !plan.blocks.contains(&BlockId::new(i)) {
                let enter = |t: &mut BlockId| {
                    if *t == plan.header {
                        *t = guard;
                    }
                };
                block.term.targets_mut(enter);
            }
        }
        let copy_of = |block: BlockId| {
            let at = plan.blocks.iter().position(|b| *b == block);
            at.map_or(block, |at| BlockId::new(guard.index() + 1 + at))
        };
        let span = function.blocks[plan.header.index()].span;
        let stmt = |kind| Stmt { kind, span };
        function.blocks.push(Block {
            stmts: plan.asks.into_iter().map(stmt).collect(),
            term: Terminator::Branch {
                cond: plan.holds,
                then: copy_of(plan.header),
                other: plan.header,
            },
            span,
        });
        loops::copy(function, &plan.blocks, &plan.own, copy_of);
        for block in &plan.blocks {
            super::take_out(function, copy_of(*block), *block, &plan.without);
        }
    }
}
