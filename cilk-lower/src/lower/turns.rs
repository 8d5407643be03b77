//! How many turns a loop has, where that is known before it runs: few, by a counter that a constant bounds.

use millstream_graph::{
    eval,
    flow::{BlockSet, Edge, Flow, Loop},
    ir::{Arg, BinOp, BlockId, Function, LocalId, Operand, Rvalue, Stmt, StmtKind, Terminator},
    ty::Scalar,
};
use std::collections::BTreeSet;

/// More are not counted.
const MOST: u32 = 64;

/// How many turns a loop has, unless it is left before, and what counts them. None if that is not known, or they are more than [`MOST`].
pub(super) fn exactly(function: &Function, flow: &Flow, of: &Loop) -> Option<(u32, LocalId)> {
    let counted = Counted::of(function, flow, of)?;
    Some((counted.turns()?, counted.asks.local))
}

/// How often each block may run at most; none where nobody knows.
///
/// What runs again lies in a circle. Cut where a counter is asked whether it has come to its end, which it grows to all the while: the answer may be so
/// often that it has not. What is still in a circle then, in a loop within the loop say, is divided in the same way for each of these times.
pub(super) fn each_block(function: &Function, flow: &Flow) -> Vec<Option<u32>> {
    let blocks: Vec<BlockId> = (0..flow.len()).map(BlockId::new).collect();
    let rising = blocks
        .iter()
        .filter_map(|at| Rising::of(function, flow, *at));
    let mut circles = Circles {
        flow,
        rising: rising.collect(),
        times: vec![Some(1); flow.len()],
    };
    circles.divide(&blocks, &[]);
    circles.times
}

/// A question that is asked of a counter, and that is answered the same only so often before the counter is set anew.
struct Rising {
    /// From where it is asked to where this answer goes.
    edge: Edge,
    answers: u32,
    /// Where it grows, and where it is set anew.
    grows: Vec<BlockId>,
    set: Vec<BlockId>,
}

struct Circles<'f> {
    flow: &'f Flow,
    rising: Vec<Rising>,
    times: Vec<Option<u32>>,
}

impl Circles<'_> {
    /// Multiplies how often these blocks run by how often they do so in the circles among them that these edges do not cut.
    fn divide(&mut self, blocks: &[BlockId], cut: &[Edge]) {
        let uncut = without(self.flow, |from, to| {
            !blocks.contains(&from) || !blocks.contains(&to) || cut.contains(&(from, to))
        });
        for circle in uncut.components().into_iter().filter(|c| c.cyclic) {
            let circle = circle.blocks;
            let asked = self.rising.iter().find(|r| r.divides(&uncut, &circle));
            let Some(Rising { edge, answers, .. }) = asked else {
                circle.iter().for_each(|b| self.times[b.index()] = None);
                continue;
            };
            let (edge, answers) = (*edge, *answers);
            // What is come to without that answer runs once more.
            let enters = |to: &BlockId| {
                let mut from = self.flow.sources(*to).iter();
                *to == BlockId(0) || from.any(|f| !circle.contains(f) || cut.contains(&(*f, *to)))
            };
            let entered = circle.iter().copied().filter(enters);
            let rest = without(&uncut, |from, to| (from, to) == edge);
            let before = rest.reach(entered, |_| true);
            for block in &circle {
                let answers = answers + u32::from(before.contains(block));
                let times = &mut self.times[block.index()];
                *times = times.and_then(|t| t.checked_mul(answers));
            }
            let cut = [cut, &[edge]].concat();
            self.divide(&circle, &cut);
        }
    }
}

/// A graph without some of its edges.
fn without(flow: &Flow, is_cut: impl Fn(BlockId, BlockId) -> bool + Copy) -> Flow {
    let targets = (0..flow.len()).map(BlockId::new).map(|from| {
        let targets = flow.targets(from).iter().copied();
        targets.filter(move |to| !is_cut(from, *to))
    });
    Flow::from_targets(targets)
}

/// What a branch asks: how a local compares with a constant.
#[derive(Clone, Copy)]
struct Question {
    at: BlockId,
    local: LocalId,
    /// What it was put into before, and is the same as.
    copy: Option<LocalId>,
    ty: Scalar,
    compare: BinOp,
    bound: u64,
    then: BlockId,
    other: BlockId,
}

impl Question {
    fn of(function: &Function, at: BlockId) -> Option<Self> {
        let block = &function.blocks[at.index()];
        let Terminator::Branch {
            cond: Operand::Local(cond),
            then,
            other,
        } = block.term
        else {
            return None;
        };
        let sets = |of: LocalId| block.stmts.iter().rposition(|s| s.kind.def() == Some(of));
        let asked = sets(cond)?;
        let StmtKind::Assign {
            value: Rvalue::Binary(op, a, b),
            ..
        } = block.stmts[asked].kind
        else {
            return None;
        };
        let (compare, local, ty, bound) = match (a, b) {
            (Operand::Local(l), Operand::Const(ty, bits)) => (op, l, ty, bits),
            (Operand::Const(ty, bits), Operand::Local(l)) => (mirrored(op), l, ty, bits),
            _ => return None,
        };
        // It is what it was when that was asked.
        let is_same = sets(local).is_none_or(|set| set < asked);
        let copy = block.stmts.iter().enumerate().rev().find_map(|(i, s)| {
            let StmtKind::Assign { dst, value } = &s.kind else {
                return None;
            };
            let is_copy = *value == Rvalue::Use(Operand::Local(local)) && i < asked;
            let is_last = sets(*dst) == Some(i) && sets(local).is_none_or(|set| set < i);
            (is_copy && is_last).then_some(*dst)
        });
        (ty.is_int() && is_same && then != other).then_some(Self {
            at,
            local,
            copy,
            ty,
            compare,
            bound,
            then,
            other,
        })
    }

    const fn is_of_equality(&self) -> bool {
        matches!(self.compare, BinOp::Eq | BinOp::Ne)
    }

    /// Where it goes on if the local has not come to [`Self::end`] on its way, and if there is one number that is asked for, not to that one.
    const fn before_end(&self, way: Way) -> Option<BlockId> {
        let (then, other) = (Some(self.then), Some(self.other));
        match (self.compare, way) {
            (BinOp::Lt | BinOp::Le, Way::Up) | (BinOp::Gt | BinOp::Ge, Way::Down) => then,
            (BinOp::Gt | BinOp::Ge, Way::Up) | (BinOp::Lt | BinOp::Le, Way::Down) => other,
            (BinOp::Ne, _) => then,
            (BinOp::Eq, _) => other,
            _ => None,
        }
    }

    /// The first number on its way that is none of those before.
    const fn end(&self, way: Way) -> i128 {
        let bound = way.of(number(self.ty, self.bound));
        match (self.compare, way) {
            (BinOp::Le | BinOp::Gt, Way::Up) | (BinOp::Ge | BinOp::Lt, Way::Down) => bound + 1,
            _ => bound,
        }
    }
}

/// Whether a counter counts up or down. Down, all numbers are looked at with the other sign: so it counts up.
#[derive(Clone, Copy)]
enum Way {
    Up,
    Down,
}

impl Way {
    const fn of(self, number: i128) -> i128 {
        match self {
            Self::Up => number,
            Self::Down => -number,
        }
    }

    /// The last number of a type.
    const fn last(self, ty: Scalar) -> i128 {
        let half = 1i128 << (ty.bits() - 1);
        match (self, ty.is_signed()) {
            (Self::Up, true) => half - 1,
            (Self::Up, false) => 2 * half - 1,
            (Self::Down, true) => half,
            (Self::Down, false) => 0,
        }
    }
}

/// The comparison that says the same with its sides changed.
const fn mirrored(compare: BinOp) -> BinOp {
    match compare {
        BinOp::Lt => BinOp::Gt,
        BinOp::Le => BinOp::Ge,
        BinOp::Gt => BinOp::Lt,
        BinOp::Ge => BinOp::Le,
        other => other,
    }
}

/// The number that these bits are.
const fn number(ty: Scalar, bits: u64) -> i128 {
    let shift = 64 - ty.bits();
    match ty.is_signed() {
        true => ((bits << shift) as i64 >> shift) as i128,
        false => ((bits << shift) >> shift) as i128,
    }
}

impl Rising {
    fn of(function: &Function, flow: &Flow, at: BlockId) -> Option<Self> {
        let asks = Question::of(function, at)?;
        let counters = [Some(asks.local), asks.copy].into_iter().flatten();
        let mut ways = counters.flat_map(|local| [(local, Way::Up), (local, Way::Down)]);
        ways.find_map(|(local, way)| Self::by(function, flow, &asks, local, way))
    }

    fn by(
        function: &Function,
        flow: &Flow,
        asks: &Question,
        local: LocalId,
        way: Way,
    ) -> Option<Self> {
        let to = asks.before_end(way)?;
        let Counter { least, grows, set } = Counter::of(function, flow, asks, local, way)?;
        let step = grows.iter().map(|(_, by)| *by).min()?;
        // The first answer is at the least value or above, and each further one a step above the last, all below the end.
        let answers = (asks.end(way) - least).max(0) as u128;
        let answers = u32::try_from(answers.div_ceil(step as u128)).ok()?;
        (answers <= MOST).then(|| Self {
            edge: (asks.at, to),
            answers,
            grows: grows.into_iter().map(|(at, _)| at).collect(),
            set,
        })
    }

    /// Whether, in a circle of what is not cut yet, the counter only grows, and does so each time before this is asked again.
    fn divides(&self, uncut: &Flow, circle: &[BlockId]) -> bool {
        let (at, to) = self.edge;
        let within = |b: &BlockId| circle.contains(b);
        let ungrown = |b: BlockId| !self.grows.contains(&b);
        within(&at)
            && uncut.targets(at).contains(&to)
            && !self.set.iter().any(within)
            && (!ungrown(at) || !uncut.reach([to], ungrown).contains(&at))
    }
}

/// A local that is set to constants, and that only grows from there, or only shrinks, the second time and later after an answer that it has not come to its
/// end: so it never wraps, nor does one that goes one by one miss its end.
struct Counter {
    least: i128,
    /// Where something is added to it, and how much.
    grows: Vec<(BlockId, i128)>,
    /// Where it is set to a constant.
    set: Vec<BlockId>,
}

impl Counter {
    fn of(
        function: &Function,
        flow: &Flow,
        asks: &Question,
        local: LocalId,
        way: Way,
    ) -> Option<Self> {
        let ty = asks.ty;
        if function.args.contains(&Arg::Local(local)) {
            return None;
        }
        let (mut constants, mut set, mut grows) = (Vec::new(), Vec::new(), Vec::new());
        for (block, stmt, kind) in defs(function, local) {
            let StmtKind::Assign { value, .. } = kind else {
                return None;
            };
            let before = &function.blocks[block.index()].stmts[..stmt];
            match *just_set(before, value, local) {
                Rvalue::Use(Operand::Const(_, bits)) => {
                    set.push(block);
                    constants.push(way.of(number(ty, bits)));
                }
                Rvalue::Binary(BinOp::Add, Operand::Local(from), Operand::Const(_, by))
                    if from == local =>
                {
                    grows.push((block, way.of(number(ty, by))));
                }
                Rvalue::Binary(BinOp::Sub, Operand::Local(from), Operand::Const(_, by))
                    if from == local =>
                {
                    grows.push((block, way.of(-number(ty, by))));
                }
                _ => return None,
            }
        }
        let (least, first) = (*constants.iter().min()?, *constants.iter().max()?);
        // Of questions whether it is some number only those are of use that ask for the end of all.
        let blocks = (0..function.blocks.len()).map(BlockId::new);
        let questions = blocks.filter_map(|b| Question::of(function, b));
        let questions = questions.filter(|q| {
            let of_use = !q.is_of_equality() || asks.is_of_equality() && q.bound == asks.bound;
            [Some(q.local), q.copy].contains(&Some(local)) && of_use
        });
        let (mut answers, mut end) = (BTreeSet::new(), asks.end(way));
        for question in questions {
            answers.insert((question.at, question.before_end(way)?));
            end = end.max(question.end(way));
        }
        let unanswered = without(flow, |from, to| answers.contains(&(from, to)));
        let unasked = |from: &mut dyn Iterator<Item = BlockId>, at: BlockId| {
            let from = from.flat_map(|b| unanswered.targets(b)).copied();
            unanswered.reach(from, |_| true).contains(&at)
        };
        let grown = || grows.iter().map(|(at, _)| *at);
        for at in grown() {
            let again = unasked(&mut grown(), at) || grown().filter(|g| *g == at).count() > 1;
            (!again && !set.contains(&at)).then_some(())?;
        }
        grows.iter().all(|(_, by)| *by > 0).then_some(())?;
        let step = grows.iter().map(|(_, by)| *by).max()?;
        // The most that it is where it grows: where the first answer is known, it is not asked for.
        let begun = grown().any(|at| unasked(&mut set.iter().copied(), at));
        let most = if begun { first.max(end - 1) } else { end - 1 };
        if asks.is_of_equality() {
            (step == 1 && end == asks.end(way) && first.max(most + 1) <= end).then_some(())?;
        }
        (most + step <= way.last(ty)).then_some(Self { least, grows, set })
    }
}

/// A loop that counts: a local is compared with a constant before each turn, and a constant is added to it in each.
struct Counted {
    first: u64,
    asks: Question,
    /// It goes on while the answer is this.
    while_: bool,
    step: (BinOp, u64),
}

impl Counted {
    fn of(function: &Function, flow: &Flow, of: &Loop) -> Option<Self> {
        let asks = Question::of(function, of.header)?;
        let while_ = of.blocks.contains(asks.then);
        if while_ == of.blocks.contains(asks.other) {
            return None;
        }
        let (at, mut value) = only_def(function, &of.blocks, asks.local)?;
        if let Rvalue::Use(Operand::Local(next)) = value {
            value = only_def(function, &of.blocks, *next)?.1;
        }
        let Rvalue::Binary(op, Operand::Local(from), Operand::Const(_, by)) = value else {
            return None;
        };
        let dominators = flow.dominators();
        let each_turn = of.latches.iter().all(|l| dominators.dominates(at, *l));
        (*from == asks.local && at != of.header && each_turn).then_some(())?;
        Some(Self {
            first: first_value(function, flow, of, asks.local)?,
            asks,
            while_,
            step: (*op, *by),
        })
    }

    /// Counts.
    fn turns(&self) -> Option<u32> {
        let Question {
            ty, compare, bound, ..
        } = self.asks;
        let mut value = self.first;
        for turn in 0..=MOST {
            let goes_on = eval::eval_binary(compare, ty, value, bound)? != 0;
            if goes_on != self.while_ {
                return Some(turn);
            }
            value = eval::eval_binary(self.step.0, ty, value, self.step.1)?;
        }
        None
    }
}

/// What a value is that was put into another local just before, behind these statements: where `counter` is still what it was then.
fn just_set<'f>(before: &'f [Stmt], value: &'f Rvalue, counter: LocalId) -> &'f Rvalue {
    let Rvalue::Use(Operand::Local(other)) = *value else {
        return value;
    };
    let mut last = before.iter().rev();
    match last.find(|s| [Some(other), Some(counter)].contains(&s.kind.def())) {
        Some(Stmt {
            kind: StmtKind::Assign { dst, value },
            ..
        }) if *dst == other => value,
        _ => value,
    }
}

/// The places where a local is set: in which block, at which statement, and how.
fn defs(
    function: &Function,
    local: LocalId,
) -> impl Iterator<Item = (BlockId, usize, &StmtKind)> + '_ {
    let blocks = function.blocks.iter().enumerate();
    blocks.flat_map(move |(b, block)| {
        let stmts = block.stmts.iter().enumerate();
        let sets = stmts.filter(move |(_, s)| s.kind.def() == Some(local));
        sets.map(move |(i, s)| (BlockId::new(b), i, &s.kind))
    })
}

/// The one place in these blocks where a local is set, and to what.
fn only_def<'f>(
    function: &'f Function,
    blocks: &BlockSet,
    local: LocalId,
) -> Option<(BlockId, &'f Rvalue)> {
    let mut all = defs(function, local).filter(|(block, ..)| blocks.contains(*block));
    match (all.next(), all.next()) {
        (Some((block, _, StmtKind::Assign { value, .. })), None) => Some((block, value)),
        _ => None,
    }
}

/// The constant that a local has where a loop begins.
fn first_value(function: &Function, flow: &Flow, of: &Loop, local: LocalId) -> Option<u64> {
    let mut sources = flow.sources(of.header).iter();
    let mut at = *sources.find(|s| !of.blocks.contains(**s))?;
    if sources.any(|s| !of.blocks.contains(*s)) {
        return None;
    }
    for _ in 0..function.blocks.len() {
        let mut stmts = function.blocks[at.index()].stmts.iter().rev();
        if let Some(stmt) = stmts.find(|s| s.kind.def() == Some(local)) {
            return match stmt.kind {
                StmtKind::Assign {
                    value: Rvalue::Use(Operand::Const(_, bits)),
                    ..
                } => Some(bits),
                _ => None,
            };
        }
        let [before] = flow.sources(at) else {
            return None;
        };
        at = *before;
    }
    None
}
